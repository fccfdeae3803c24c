"""The front door and the verbs: what a caller may not do is said at once, what a peer may not do is counted."""

from itertools import pairwise

import pytest

from rings import BARE, Net, grown, key, ref
from weft.core.errors import Misuse
from weft.core.ids import NodeId
from weft.core.machine import Message, Outbox
from weft.overlay import peer as peer_module
from weft.overlay.api import Entry, Found, Joined, JoinFailed, Left, NeighbourChanged
from weft.overlay.keys import ALM, CLUSTER_DEPTH_MAX, RANK_LIMIT, TOPIC_BYTES_MAX, Key, number_key
from weft.overlay.lookup import Gone, Seek, Sought
from weft.overlay.peer import Peer
from weft.overlay.ring.messages import FIRST, NOTE_BYTES_MAX, Candidate, Kind, SetR, SetRAck, Status
from weft.overlay.settings import Settings
from weft.overlay.skipgraph.machine import SkipGraph
from weft.overlay.suzaku.machine import Suzaku
from weft.overlay.values import LABELS_MAX

ALL = pytest.mark.parametrize("kind", [Peer, Suzaku, SkipGraph])


def joined(*brokers: int) -> Net:
    return grown(brokers or [1, 2, 3])


# Misuse


def test_a_key_joins_at_its_own_broker_only():
    net = joined()
    with pytest.raises(Misuse, match="key of broker 2 joined at broker 1"):
        net.do(1, lambda peer, now, out: peer.join(now, key(2), None, out))


@pytest.mark.parametrize(
    ("bad", "why"),
    [
        (Key("L", "x" * (TOPIC_BYTES_MAX + 1), ALM, 0, (), NodeId(1)), "longer"),
        (Key("L", "x", ALM, RANK_LIMIT, (), NodeId(1)), "rank"),
        (Key("L", "x", ALM, 0, ("a",) * (CLUSTER_DEPTH_MAX + 1), NodeId(1)), "deeper"),
        (Key("L", "x", ALM, 0, (), NodeId(0)), "broker id"),
    ],
)
def test_a_key_that_cannot_be_is_refused_at_once(bad, why):
    net = joined()
    with pytest.raises(Misuse, match=why):
        net.do(1, lambda peer, now, out: peer.join(now, bad, None, out))
    assert net.flying == []


def test_a_key_joins_once():
    net = joined()
    with pytest.raises(Misuse, match="has joined already"):
        net.join(2)
    net.join(4)
    with pytest.raises(Misuse, match="about to"):
        net.join(4)
    net.leave(2)
    with pytest.raises(Misuse, match="has joined already"):
        net.join(2)
    net.settle()
    net.join(2)
    net.settle()
    assert sorted(net.order()) == [1, 2, 3, 4]


def test_keys_per_broker_are_bounded(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(peer_module, "VIRTUAL_NODES_MAX", 2)
    net = joined()
    net.join(1, None, 11)
    with pytest.raises(Misuse, match="more than 2 keys"):
        net.join(1, None, 12)


@pytest.mark.parametrize(
    "verb",
    [
        lambda peer, now, out: peer.leave(now, key(9), out),
        lambda peer, now, out: peer.aggregate(now, key(9), {}, out),
        lambda peer, now, out: peer.note(key(9), b""),
    ],
    ids=["leave", "aggregate", "note"],
)
def test_what_is_done_with_a_key_that_is_not_ours_is_misuse(verb):
    net = joined()
    with pytest.raises(Misuse, match=r"not (ours|in the ring here)"):
        net.do(1, verb)


def test_notes_and_labels_are_bounded():
    net = joined()
    with pytest.raises(Misuse, match=f"longer than {NOTE_BYTES_MAX} bytes"):
        net.peers[1].note(key(1), b"x" * (NOTE_BYTES_MAX + 1))
    labels = {f"l{n}": 1.0 for n in range(LABELS_MAX + 1)}
    with pytest.raises(Misuse, match=f"more than {LABELS_MAX} labels"):
        net.do(1, lambda peer, now, out: peer.aggregate(now, key(1), labels, out))


def test_a_lookup_before_any_key_has_joined_is_misuse():
    net = Net()
    net.add(1)
    with pytest.raises(Misuse, match="before any key has joined"):
        net.do(1, lambda peer, now, out: peer.lookup(now, key(1), out))


# Joining and leaving


@ALL
def test_the_first_key_founds_and_the_next_joins_through_it(kind):
    net = Net(kind)
    net.join(1, None)
    net.join(1, None, 15)
    net.settle()
    assert net.peers[1].keys() == [key(1), key(1, 15)]
    assert [event.key for event in net.heard(Joined)] == [key(1), key(1, 15)]
    net.is_whole()


def test_a_second_key_waits_for_the_first_to_find_its_place():
    """Both are asked for before the broker is in any ring; the second has nobody to ask but whom the first was told."""
    net = joined(1, 4)
    net.join(2, 1)
    net.join(2, None, 25)
    net.run(10.0)
    assert net.peers[2].keys() == [key(2), key(2, 25)]
    net.is_whole()


def test_a_second_key_joins_by_our_own_tables():
    net = joined()
    mark = len(net.sent)
    net.join(2, 3, 25)
    assert [flight.to for flight in net.sent[mark:]] == [2], "SetR to ourselves: 25's place is right of our own 20"
    net.settle()
    net.is_whole()


def test_every_other_try_asks_the_introducer_in_case_our_tables_lead_nowhere():
    net = joined(1, 2, 3, 4, 5)
    net.join(2, 4, 35)
    first = [net.lose(Seek).to]
    while not any(flight.kind == "Seek" and flight.to == 4 for flight in net.flying):
        net.flying.clear()
        net.pass_time(net.peers[2].deadline)
    assert first == [3], "by our own tables"
    net.settle()
    assert net.heard(Joined, 2)[-1].key == key(2, 35)


def test_who_is_found_dead_is_routed_around_and_remembered_as_lost():
    net = grown([1, 2, 3], settings=Settings(ping_interval_s=None, lost_interval_s=10.0))
    net.do(3, lambda peer, now, out: peer.ring_dead(now, ref(2), out))
    assert net.peers[3].contacts.is_shunned(NodeId(2), net.now)
    assert NodeId(2) in net.peers[3].reunion.missing


def test_a_former_life_in_the_ring_is_waited_for():
    """2 crashed and is back before anybody noticed: its place is taken by its ghost, until that is repaired."""
    net = joined(1, 2, 3)
    net.crash(2)
    net.add(2, run=1)
    net.join(2)
    net.run(1.0)
    assert net.peers[2].keys() == []
    assert net.count("join.failed") == 0
    net.do(3, lambda peer, now, out: peer.ring.upkeep.check(now, net.link(3), net.link(3).left, out))
    net.run(60.0)
    assert net.peers[2].keys() == [key(2)]
    net.is_whole()


def test_a_join_waits_longer_after_each_failure_and_is_given_up():
    net = Net()
    net.join(1, 9)
    net.run(10_000.0)
    assert net.heard(JoinFailed) == [JoinFailed(key(1), f"no place in the ring after {BARE.join_tries} tries")]
    assert not net.peers[1].is_member(key(1))
    assert net.peers[1].deadline is None
    net.join(1, None)
    assert net.peers[1].keys() == [key(1)], "and may be tried anew"


def test_a_join_may_be_called_off_while_its_place_is_looked_for():
    net = joined(1, 3)
    net.join(2)
    net.leave(2)
    assert net.heard(Left) == [Left(key(2))]
    net.settle()
    assert not net.peers[2].is_member(key(2))
    assert net.order() == [1, 3]


def test_a_join_may_be_called_off_while_it_waits_for_the_next_try():
    net = Net()
    net.join(1, 9)
    while net.peers[1].lookups._pending:
        net.pass_time(net.peers[1].deadline)
    net.leave(1)
    assert net.heard(Left) == [Left(key(1))]
    assert net.peers[1].deadline is None


def test_a_join_that_was_called_off_does_not_find_a_place_for_the_next():
    """Both lookups answer: only the second join's answer counts, and the key is inserted once."""
    net = joined(1, 3)
    net.join(2)
    net.leave(2)
    net.join(2)
    net.settle()
    assert net.sent_since(0)["Sought"] == 3, "3's own, and two for 2"
    assert [flight.message.new for flight in net.sent if flight.kind == "SetR" and flight.source == 2] == [ref(2)]
    assert len(net.heard(Joined, 2)) == 1
    net.is_whole()


def test_what_was_announced_and_noted_before_is_forgotten_after_a_leave():
    net = joined()
    net.peers[2].note(key(2), b"old")
    net.do(2, lambda peer, now, out: peer.aggregate(now, key(2), {"free": 1.0}, out))
    net.leave(2)
    net.settle()
    net.join(2)
    net.settle()
    assert net.peers[2].values(key(2)) == {}
    assert net.link(2).note == b""


def test_a_note_and_values_may_be_given_while_a_key_is_on_its_way_in():
    net = joined(1, 4)
    net.join(2)
    net.peers[2].note(key(2), b"early")
    net.do(2, lambda peer, now, out: peer.aggregate(now, key(2), {"free": 1.0}, out))
    net.settle()
    assert net.peers[2].values(key(2)) == {"free": 1.0}
    net.join(3)
    net.settle()
    assert net.heard(Joined, 3) == [Joined(key(3), b"early")]


def test_values_are_a_copy():
    net = joined()
    values = {"free": 1.0}
    net.do(1, lambda peer, now, out: peer.aggregate(now, key(1), values, out))
    values["free"] = 9.0
    assert net.peers[1].values(key(1)) == {"free": 1.0}


# What is told


def test_each_change_of_neighbours_is_told_once_and_nothing_else_is():
    net = joined()
    told = net.heard(NeighbourChanged, 2)
    assert all(one != other for one, other in pairwise(told))
    net.events.clear()
    net.do(2, lambda peer, now, out: peer.ring_changed(now, net.link(2), out))
    assert net.events == []


def test_a_key_is_ours_from_join_to_left():
    net = joined(1, 3)
    net.join(2)
    peer = net.peers[2]
    assert peer.is_member(key(2))
    assert peer.keys() == []
    net.settle()
    assert peer.keys() == [key(2)]
    net.leave(2)
    assert peer.is_member(key(2))
    net.settle()
    assert not peer.is_member(key(2))


def test_a_lookup_answers_with_its_number():
    net = joined()
    number = net.do(1, lambda peer, now, out: peer.lookup(now, number_key(25, NodeId(9)), out))
    net.settle()
    assert net.heard(Found) == [Found(number, number_key(25, NodeId(9)), ref(2), ref(3), 1)]


def test_the_bare_peer_has_its_ring_neighbours_for_tables():
    peer = joined().peers[2]
    assert peer.rights(key(2)) == [Entry(ref(3), 0)]
    assert peer.lefts(key(2)) == [Entry(ref(1), 0)]
    assert peer.neighbours(key(2)) == (ref(1), ref(3))


@ALL
def test_contacts_are_what_tables_hold_and_nothing_stays_behind(kind):
    net = grown(range(1, 8), kind)
    for broker in (2, 4, 6):
        net.leave(broker)
        net.run(net.now + 30.0)
    for broker, peer in net.peers.items():
        tables = {entry.ref for k in peer.keys() for entry in (*peer.rights(k), *peer.lefts(k))}
        known = set(peer.contacts.inside(key(0), key(99), net.now))
        assert known == tables | set(peer.contacts.own), broker
        assert len(peer.contacts) == len(known)


# Bad input


class Strange(Message, frozen=True):
    pass


def test_a_message_of_unknown_kind_is_counted_and_traced():
    net = joined()
    assert net.give(3, 1, Strange()) == []
    assert net.count("violation.unknown") == 1
    at, trace = net.traces[-1]
    assert (at, trace.kind, trace.subject, trace.detail) == (1, "violation.unknown", 3, "Strange")


@pytest.mark.parametrize(
    "message",
    [
        Gone(ref(2)),
        Seek(key(3), 1, NodeId(3), -1, False, None),
        Seek(key(3), 1, NodeId(3), 1, False, ref(3)),
        Sought(1, ref(3), ref(1), -1),
        Sought(1, ref(3), ref(1), 1 << 40),
    ],
)
def test_a_message_that_breaks_the_protocol_is_counted_and_traced_with_its_sender(message):
    net = joined()
    assert net.give(3, 1, message) == []
    assert net.peers[1].local.counts == {"violation": 1}
    at, trace = net.traces[-1]
    assert (at, trace.kind, trace.subject) == (1, "violation", 3)
    assert trace.detail


@ALL
def test_no_message_of_the_protocols_raises_at_a_broker_that_holds_nothing(kind):
    net = Net(kind)
    net.add(1)
    messages = [
        SetR(ref(1), 0, ref(3), ref(2), FIRST, Kind.INSERT, 1, None),
        Candidate(ref(1), 0, ref(3)),
        Gone(ref(3)),
        Seek(key(3), 1, NodeId(3), 1, False, ref(1)),
    ]
    for message in messages:
        net.give(3, 1, message)
    assert net.peers[1].keys() == []
    assert net.count("violation") + net.count("violation.unknown") == 0, "late, not wrong"


def test_what_we_hear_from_ends_its_shunning():
    net = joined()
    contacts = net.peers[1].contacts
    contacts.shun(NodeId(3), 100.0)
    net.give(3, 1, Strange())
    assert not contacts.is_shunned(NodeId(3), 0.0)


@ALL
def test_every_message_and_timer_has_one_handler(kind):
    """Components contribute disjoint parts of the dispatch: none hides another's."""
    peer = kind(NodeId(1), BARE)
    own = {Peer: (), Suzaku: ("fingers",), SkipGraph: ("levels",)}[kind]
    parts = [peer.hops, peer.lookups, peer.ring, peer.spread, *(getattr(peer, name) for name in own)]
    assert sum(len(part.handlers) for part in parts) == len(peer._handlers)
    assert sum(len(part.timers) for part in parts) + len(peer.reunion.timers) + 1 == len(peer._timers)


def test_an_answer_to_an_insertion_that_was_called_off_is_dropped():
    net = joined(1, 3)
    net.join(2)
    while "SetRAck" not in net.kinds():
        net.deliver(net.flying.pop(0))
    ack = net.find(SetRAck)
    net.settle()
    assert net.give(ack.source, 2, ack.message) == []
    assert net.link(2).status is Status.IN


def test_a_timer_that_is_not_due_does_nothing():
    net = joined()
    net.join(4)
    out = Outbox()
    net.peers[4].timeout(net.now, out)
    assert out.effects == []
