"""Who has the greatest key not above this one? Bare first, then careful; each ask ends exactly once."""

import pytest

from rings import BARE, PINGING, Flight, Net, grown, key, ref, whole
from weft.core.ids import NodeId
from weft.core.limits import TTL_HOPS
from weft.core.machine import Outbox, Trace
from weft.overlay import lookup as lookup_module
from weft.overlay.api import Found
from weft.overlay.hops import Hop
from weft.overlay.keys import before, number_key
from weft.overlay.lookup import DOUBLES_FROM, Gone, Seek, Sought
from weft.overlay.peer import ForCaller


def look(net: Net, broker: int, number: int) -> int:
    return net.do(broker, lambda peer, now, out: peer.lookup(now, number_key(number, NodeId(1)), out))


def test_the_answer_is_the_greatest_key_not_above_and_who_follows():
    net = whole(8)
    for number, at, right in ((35, 3, 4), (30, 2, 3), (5, 8, 1), (99, 8, 1), (10, 1, 2)):
        request = look(net, 5, number)
        net.settle()
        found = net.heard(Found, 5)[-1]
        assert (found.request, found.at, found.right) == (request, ref(at), ref(right)), number


def test_key_30_of_broker_1_is_below_key_30_of_broker_3():
    net = whole(8)
    net.do(5, lambda peer, now, out: peer.lookup(now, key(3), out))
    net.settle()
    assert net.heard(Found, 5)[-1].at == ref(3)


def test_the_first_try_is_bare_and_the_answer_comes_straight():
    net = whole(8)
    look(net, 1, 85)
    seeks = []
    while net.kinds() == ["Seek"]:
        seeks.append(net.arrive(Seek))
    assert [flight.message.hops for flight in seeks] == list(range(1, len(seeks) + 1))
    assert all(not flight.message.careful for flight in seeks)
    (answer,) = net.flying
    assert (answer.source, answer.to, answer.kind) == (8, 1, "Sought")
    net.settle()
    (found,) = net.heard(Found)
    assert found.hops == len(seeks) == 1, "BFT[0] knows"


def test_our_own_key_needs_no_message():
    net = whole(8)
    request = look(net, 3, 35)
    assert net.flying == []
    assert net.heard(Found, 3) == [Found(request, number_key(35, NodeId(1)), ref(3), ref(4), 0)]


def test_an_answer_that_does_not_come_is_asked_for_carefully():
    net = whole(8)
    look(net, 1, 45)
    net.lose(Seek)
    net.pass_time(BARE.request_timeout_s)
    (hop,) = net.flying
    assert isinstance(hop.message, Hop)
    assert hop.message.body.careful
    net.settle()
    (found,) = net.heard(Found)
    assert found.at == ref(4)


def test_a_careful_hop_that_fails_is_routed_around():
    net = whole(8)
    look(net, 1, 65)  # by FFT[2] = 5, then 6
    assert net.find(Seek).to == 5
    net.crash(5)
    net.run(60.0)
    (found,) = net.heard(Found)
    assert found.at == ref(6)
    assert net.peers[1].contacts.is_shunned(NodeId(5), BARE.request_timeout_s + 4.0)


def test_the_dead_are_no_answer_but_who_is_below_them_is():
    net = whole(2)
    look(net, 1, 25)
    net.crash(2)
    net.run(99.0)
    (found,) = net.heard(Found)
    assert found.at == ref(1), "2 does not answer: as far as we can see, we are next"


def test_when_nobody_answers_the_asker_hears_it_once():
    net = whole(2)
    out = Outbox()
    request = net.peers[1].lookups.ask(0.0, key(2), ForCaller(7, key(2)), NodeId(9), out)
    net._carry_out(1, out)
    net.run(999.0)
    assert net.heard(Found) == [Found(7, key(2), None, None, 0)]
    assert net.count("lookup.failed") == 1
    assert net.peers[1].deadline is None
    seeks = [flight.message for flight in net.sent if flight.kind == "Seek"]
    careful = [flight.message.number for flight in net.sent if flight.kind == "Hop"]
    assert [seek.request for seek in seeks] == [request], "bare once"
    assert len(set(careful)) == BARE.request_tries, "and so often carefully"
    assert len(careful) == BARE.request_tries * BARE.hop_tries


def test_a_second_answer_is_late():
    net = whole(8)
    look(net, 1, 35)
    seek = net.arrive(Seek, to=3)
    net.flying.append(seek)
    net.settle()
    assert len(net.heard(Found)) == 1
    assert net.count("lookup.late") == 1


def test_a_lookup_that_has_come_too_far_is_dropped_and_counted():
    net = whole(8)
    seek = Seek(key(5), 1, NodeId(1), TTL_HOPS - 1, False, None)
    (handed,) = net.give(1, 2, seek)
    assert handed.message.hops == TTL_HOPS
    assert net.give(2, handed.to, handed.message) == []
    assert net.count("lookup.ttl") == 1


def test_tables_that_lead_in_a_circle_end_by_the_hop_count():
    net = whole(2)
    for one, other in ((1, 2), (2, 1)):  # each holds the other just below the key sought, and not itself
        peer = net.peers[one]
        peer.contacts.unsettle(ref(one))
        peer.contacts.add(ref(other, number=45))
    net.give(9, 1, Seek(key(5), 1, NodeId(9), 0, False, None))
    net.settle()
    assert net.count("lookup.ttl") == 1
    assert max(flight.message.hops for flight in net.sent if flight.kind == "Seek") == TTL_HOPS


def test_a_node_that_is_not_there_is_gone_and_the_seek_goes_on():
    net = whole(4)
    ghost = ref(2, incarnation=9)
    sent = net.give(1, 2, Seek(key(3), 77, NodeId(1), 1, False, ghost))
    assert Flight(2, 1, Gone(ghost)) in sent
    assert [flight.kind for flight in sent] == ["Gone", "Seek"]


def test_gone_takes_it_out_of_the_tables():
    net = whole(8)
    assert any(entry.ref == ref(5) for entry in net.peers[1].rights(key(1)))
    net.give(5, 1, Gone(ref(5)))
    assert all(entry.ref != ref(5) for entry in net.peers[1].rights(key(1)))


@pytest.mark.parametrize(
    "message",
    [
        Gone(ref(3)),
        Seek(key(3), 1, NodeId(5), -1, False, None),
        Seek(key(3), 1, NodeId(5), 1, False, ref(3)),
    ],
)
def test_these_violate(message):
    net = whole(8)
    assert net.give(5, 2, message) == []
    assert net.count("violation") == 1


def test_who_knows_nobody_says_so():
    net = Net()
    net.add(1)
    assert net.give(7, 1, Seek(key(3), 1, NodeId(7), 1, False, None)) == []
    assert net.count("lookup.stranded") == 1
    assert net.traces[-1][1].kind == "lookup.stranded"


def test_who_has_no_tables_hands_on_to_somebody_it_met():
    net = Net()
    net.add(1)
    for node in (5, 6, 7):
        net.peers[1].contacts.meet(NodeId(node))
    (handed,) = net.give(6, 1, Seek(key(3), 1, NodeId(7), 1, False, None))
    assert handed.to == 5, "neither back to 6 nor to the asker"
    assert handed.message == Seek(key(3), 1, NodeId(7), 2, False, None)


def test_asks_under_way_are_bounded(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(lookup_module, "PENDING_MAX", 2)
    net = whole(8)
    for _ in range(3):
        look(net, 1, 45)
    assert [found.at for found in net.heard(Found)] == [None]
    assert net.count("lookup.refused") == 1
    net.settle()
    assert [found.at for found in net.heard(Found)] == [None, ref(4), ref(4)]


def test_an_answer_to_another_request_is_late():
    net = whole(8)
    net.give(3, 1, Sought(999, ref(3), ref(4), 1))
    assert net.heard(Found) == []
    assert net.count("lookup.late") == 1
    assert isinstance(net.traces[-1][1], Trace)


def test_each_asker_hears_its_own_purpose():
    net = grown([1, 2, 3])
    heard = []
    lookups = net.peers[1].lookups
    lookups.askers[ForCaller] = lambda now, purpose, found, out: heard.append((purpose.number, found.at))
    out = Outbox()
    for number, broker in ((7, 2), (8, 3)):
        lookups.ask(0.0, before(key(broker + 1)), ForCaller(number, key(broker)), None, out)
    net._carry_out(1, out)
    net.settle()
    assert sorted(heard) == [(7, ref(2)), (8, ref(3))]


def test_a_seek_that_goes_round_is_not_doubled_at_each_hop() -> None:
    """Found by seed 33102: tables that disagree, and a network that doubles messages, made millions of Seeks of one."""
    net = whole(8)
    seek = Seek(number_key(85, NodeId(1)), 77, NodeId(3), DOUBLES_FROM, False, None)
    assert [len(net.give(3, 1, seek)) for _ in range(3)] == [1, 0, 0]
    assert net.count("lookup.doubled") == 2


def test_a_short_seek_may_come_twice() -> None:
    net = whole(8)
    seek = Seek(number_key(85, NodeId(1)), 77, NodeId(3), DOUBLES_FROM - 1, False, None)
    assert [len(net.give(3, 1, seek)) for _ in range(2)] == [1, 1]


def test_who_is_left_of_a_dead_node_does_not_answer_for_those_beyond_it():
    """Found by the churn experiment: 3 knows nobody beyond 4, which has crashed, and 5 is sought."""
    net = grown(range(1, 9), settings=PINGING)
    net.settle()
    net.crash(4)
    request = net.do(2, lambda peer, now, out: peer.lookup(now, key(5), out))
    net.run(PINGING.request_timeout_s + PINGING.hop_timeout_s * PINGING.hop_tries)
    assert net.count("lookup.hole") == 1, "3 had to answer: joins and repairs ask for just this border"
    assert net.heard(Found, 2) == []
    net.run(30.0)
    (found,) = net.heard(Found, 2)
    assert (found.request, found.at, found.right) == (request, ref(5), ref(6)), "the ring has been mended"


def test_a_hole_that_stays_can_be_told_from_the_answer():
    net = grown(range(1, 9))
    net.crash(4)
    net.do(2, lambda peer, now, out: peer.lookup(now, key(5), out))
    net.run(60.0)
    (found,) = net.heard(Found, 2)
    assert (found.at, found.right) == (ref(3), ref(4)), "there may be others between 4 and what is sought"
