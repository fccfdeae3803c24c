"""Suzaku as an overlay: its routing entries, what it leaves behind, how several keys of a broker share what they know."""

import pytest

from rings import BARE, Net, grown, key, ref, whole
from weft.core.errors import Misuse
from weft.core.ids import NodeId
from weft.overlay.api import Found, Left, NeighbourChanged
from weft.overlay.keys import number_key
from weft.overlay.lookup import Gone
from weft.overlay.ring.messages import SetR
from weft.overlay.suzaku.machine import Suzaku
from weft.overlay.suzaku.messages import Handover, Replace


def brokers(entries) -> list[int]:
    return [entry.ref.node for entry in entries]


def test_entries_are_the_two_finger_tables():
    peer = whole(8).peers[1]
    assert brokers(peer.rights(key(1))) == [2, 3, 5]
    assert brokers(peer.lefts(key(1))) == [8, 7, 5]
    assert [entry.level for entry in peer.rights(key(1))] == [0, 1, 2]


def test_who_is_alone_has_no_entries():
    peer = grown([1], Suzaku).peers[1]
    assert list(peer.rights(key(1))) == list(peer.lefts(key(1))) == []


def test_all_fingers_are_contacts_and_nothing_else_is():
    peer = whole(16).peers[1]
    known = [each.node for each in peer.contacts.inside(key(0), key(99), 0.0)]
    assert known == [1, 2, 3, 5, 9, 13, 15, 16]


def test_routing_uses_the_tables_of_all_keys_of_the_broker():
    """Broker 1 has a second key, 95: what lies behind it is one hop from the first key too."""
    net = grown([1, 2, 3, 4, 5, 6, 7, 8, 9], Suzaku)
    for broker, number in ((1, 95), (10, 100)):
        net.join(broker, 2, number)
        net.settle()
    net.do(1, lambda peer, now, out: peer.lookup(now, key(10), out))
    net.settle()
    assert net.heard(Found, 1)[-1].hops == 1
    net.do(1, lambda peer, now, out: peer.lookup(now, number_key(97, NodeId(1)), out))
    assert net.heard(Found, 1)[-1].hops == 0, "95 is our own"


def test_a_leave_hands_over_who_points_here():
    net = whole(8)
    net.peers[5].fingers.tables[key(5)].reverse.clear()
    for source in (1, 4, 6):
        net.peers[5].fingers.tables[key(5)].pointed_by(ref(source))
    net.leave(5)
    job = net.find(SetR, to=4).message.job
    assert job == Handover(ref(5), (ref(1), ref(4), ref(6)))
    net.arrive(SetR)
    told = {flight.to: flight.message for flight in net.flying if flight.kind == "Replace"}
    assert told == {1: Replace(ref(1), ref(5), ref(4)), 6: Replace(ref(6), ref(5), ref(4))}, "4 need not tell itself"
    net.settle()
    assert brokers(net.peers[1].rights(key(1))) == [2, 3, 4]
    assert brokers(net.peers[6].rights(key(6))) == [7, 8, 2], "never pointed at 5 at a level of its own"


def test_who_takes_over_is_pointed_at_from_now_on():
    net = whole(8)
    net.peers[4].fingers.tables[key(4)].reverse.clear()
    net.peers[5].fingers.tables[key(5)].pointed_by(ref(1))
    net.leave(5)
    net.settle()
    assert ref(1) in net.peers[4].fingers.tables[key(4)].reverse


def test_who_has_left_leaves_no_table_and_no_timer():
    net = grown(range(1, 6), Suzaku, settings=BARE)
    net.leave(3)
    net.settle()
    peer = net.peers[3]
    assert net.heard(Left) == [Left(key(3))]
    assert peer.fingers.tables == {}
    assert len(peer.contacts) == 0
    assert peer.deadline is None


def test_the_same_key_may_come_back():
    net = grown(range(1, 6), Suzaku)
    for _ in range(3):
        net.leave(3)
        net.settle()
        net.join(3)
        net.settle()
    assert brokers(net.peers[3].rights(key(3)))[0] == 4
    net.is_whole()


def test_gone_is_taken_out_of_the_tables_of_all_keys():
    net = whole(8)
    peer = net.peers[1]
    ghost = ref(5)
    net.give(5, 1, Gone(ghost))
    assert ghost not in [entry.ref for entry in (*peer.rights(key(1)), *peer.lefts(key(1)))]
    assert ghost not in peer.contacts.inside(key(0), key(99), 0.0)


def test_neighbours_told_above_are_those_of_the_fingers():
    net = grown([1, 2, 3], Suzaku)
    last = {event.key: event for event in net.heard(NeighbourChanged)}
    for broker in (1, 2, 3):
        peer = net.peers[broker]
        told = last[key(broker)]
        assert (told.left, told.right) == (peer.lefts(key(broker))[0].ref, peer.rights(key(broker))[0].ref)


def test_a_newcomers_tables_are_right_as_soon_as_it_has_asked():
    net = Net(Suzaku)
    net.join(1, None)
    for broker in (2, 3, 4):
        net.join(broker)
        net.settle()
    assert brokers(net.peers[4].rights(key(4))) == [1, 2]
    assert brokers(net.peers[4].lefts(key(4))) == [3, 2]


def test_a_lookup_before_any_key_is_misuse():
    net = Net(Suzaku)
    net.add(1)
    with pytest.raises(Misuse, match="before any key"):
        net.do(1, lambda peer, now, out: peer.lookup(now, key(3), out))
