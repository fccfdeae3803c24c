"""Two rings that were one: whom a broker asks, when, and what one answer starts."""

import pytest
from msgspec.structs import replace

from rings import BARE, Net, grown, key, ref
from weft.core.ids import NodeId
from weft.overlay.keys import before
from weft.overlay.lookup import Found, Seek, Sought
from weft.overlay.reunion import BACKOFF_MAX, AskLost, AskOurs, LostDue, Reunion
from weft.overlay.ring.messages import Candidate
from weft.overlay.settings import Settings

INTERVAL = 10.0
ASKING = Settings(ping_interval_s=None, update_interval_s=None, walk_interval_s=None, lost_interval_s=INTERVAL)
HEALING = Settings(update_interval_s=None, walk_interval_s=None, lost_interval_s=INTERVAL)


def reunion(net: Net, broker: int) -> Reunion:
    return net.peers[broker].reunion


def two_rings(ones: list[int], others: list[int], settings: Settings = ASKING) -> Net:
    """Two rings that have never met, on one network."""
    net = grown(ones, settings=settings)
    net.join(others[0], None)
    for broker in others[1:]:
        net.join(broker, others[0])
        net.settle()
    return net


def due(net: Net, broker: int) -> None:
    """Time to ask somebody."""
    net.do(broker, lambda peer, now, out: peer.reunion.on_lost_due(now, LostDue(), out))


def test_who_is_lost_is_asked_within_an_interval_or_so():
    net = grown([1, 2, 3], settings=ASKING)
    reunion(net, 1).lost(net.now, NodeId(2))
    assert 0.75 * INTERVAL <= net.peers[1].deadline - net.now <= 1.25 * INTERVAL
    net.pass_time(net.peers[1].deadline)
    seek = net.find(Seek)
    assert seek.to == 2
    assert seek.message.key == before(key(1)), "where does our own key belong?"


def test_who_stays_lost_is_asked_less_and_less_often_but_always():
    net = grown([1, 2], settings=replace(ASKING, request_timeout_s=1e9))
    reunion(net, 1).lost(net.now, NodeId(9))
    waits = []
    for _ in range(BACKOFF_MAX + 3):
        start = net.now
        net.pass_time(net.peers[1].deadline)
        waits.append(net.now - start)
    asked = [flight.to for flight in net.flying if flight.source == 1]
    assert asked == [9, 2] * len(waits), "and each time somebody who was met and is not lost"
    rounds = [min(1 + tried, BACKOFF_MAX) for tried in range(len(waits))]
    for wait, times in zip(waits, rounds, strict=True):
        assert 0.75 * INTERVAL * times <= wait <= 1.25 * INTERVAL * times, waits


def test_of_several_lost_the_one_asked_longest_ago_comes_first():
    net = grown([1, 2], settings=ASKING)
    for node in (7, 8, 9):
        reunion(net, 1).lost(net.now, NodeId(node))
    for _ in range(4):
        due(net, 1)
    assert [flight.to for flight in net.flying if flight.to != 2] == [7, 8, 9, 7]


def test_when_all_the_lost_are_dead_somebody_met_is_the_way_back():
    """All that broker 8 held in its tables have crashed; 1, which it met once, is alive and in another ring (schedule 567)."""
    net = two_rings([1, 2], [8], HEALING)
    net.peers[8].contacts.meet(NodeId(1))
    for dead in (5, 6, 7):
        reunion(net, 8).lost(net.now, NodeId(dead))
    net.run(300.0)
    assert net.order() == [1, 2, 8]
    net.is_whole()


def test_who_is_lost_again_is_asked_soon_again():
    net = grown([1, 2], settings=ASKING)
    machine = reunion(net, 1)
    machine.lost(net.now, NodeId(9))
    for _ in range(5):
        due(net, 1)
    assert machine.missing[NodeId(9)] == 5
    machine.lost(net.now, NodeId(9))
    assert machine.missing[NodeId(9)] == 0
    assert net.peers[1].local.timers.deadline <= net.now + 1.25 * INTERVAL


def test_the_lost_are_bounded_and_the_newest_kept():
    net = grown([1, 2], settings=ASKING)
    for node in range(100, 100 + ASKING.lost_max + 5):
        reunion(net, 1).lost(net.now, NodeId(node))
    missing = list(reunion(net, 1).missing)
    assert missing == list(range(105, 105 + ASKING.lost_max))


def test_we_never_lose_ourselves():
    net = grown([1, 2], settings=ASKING)
    reunion(net, 1).lost(net.now, NodeId(1))
    assert reunion(net, 1).missing == {}


def test_an_answer_that_is_our_own_place_means_one_ring():
    net = grown([1, 2, 3], settings=ASKING)
    reunion(net, 1).lost(net.now, NodeId(2))
    due(net, 1)
    net.settle()
    assert reunion(net, 1).missing == {}
    assert net.count("reunion.hint") == 0
    assert not [flight for flight in net.sent if flight.kind == "Candidate"]


def test_each_of_our_keys_finds_its_own_place_in_one_ring():
    net = grown([1, 3], settings=ASKING)
    net.join(1, None, 40)
    net.settle()
    for me in net.peers[1].contacts.own:
        reunion(net, 1).missing[NodeId(3)] = 0
        net.do(1, lambda peer, now, out, me=me: peer.lookups.ask(now, before(me.key), AskLost(NodeId(3), me), 3, out))
        net.settle()
        assert reunion(net, 1).missing == {}
    assert net.count("reunion.hint") == 0


def test_two_keys_of_one_broker_may_be_in_two_rings():
    """2's key 20 was cut off, and is a ring of one; its key 25 has joined 1's ring meanwhile."""
    net = two_rings([1, 3], [2], HEALING)
    link = net.link(2)
    net.peers[2].contacts.unsettle(link.me)  # as long as 25 looks for its place, 20 leads nowhere
    net.join(2, 1, 25)
    net.settle()
    net.peers[2].contacts.settle(link.me)
    assert net.link(1).right.key == key(2, 25)
    net.run(600.0)
    assert net.link(2).left == ref(1)
    net.is_whole()


def test_no_answer_means_still_lost():
    net = grown([1, 2], settings=ASKING)
    reunion(net, 1).lost(net.now, NodeId(9))
    due(net, 1)
    net.run(net.now + 9.0)
    assert NodeId(9) in reunion(net, 1).missing


def test_two_rings_one_hint_message_by_message():
    """1 and 5 are a ring, 3 and 7 another. 1 asks 3, whose ring would have it between 7 and 3."""
    net = two_rings([1, 5], [3, 7])
    net.peers[1].contacts.met.clear()  # only the lost is asked
    reunion(net, 1).lost(net.now, NodeId(3))
    due(net, 1)
    while "Sought" not in net.kinds():
        net.deliver(net.flying.pop(0))
    said = net.find(Sought).message
    assert (said.at, said.right) == (ref(7), ref(3))
    net.arrive(Sought)
    hints = [flight for flight in net.sent if flight.kind == "Candidate"]
    assert [(hint.to, hint.message) for hint in hints] == [(3, Candidate(ref(3), 0, ref(1)))], "1 is our last before 3"
    net.settle()
    assert net.link(3).left == ref(1), "from this one crossing the checks zip the rest together"
    assert net.link(1).right == ref(3)
    assert net.count("reunion.hint") == 1


def test_nobody_is_told_to_look_at_itself():
    """By the time that we look, the other ring's node is last before its own place: it is in our ring already."""
    net = grown([1, 3], settings=ASKING)
    found = Found(ref(3), ref(1), 1)
    net.do(1, lambda peer, now, out: peer.reunion.on_our_answer(now, AskOurs(ref(3)), found, out))
    net.do(1, lambda peer, now, out: peer.reunion.on_our_answer(now, AskOurs(ref(3)), Found(None, None, 0), out))
    assert net.flying == []
    net.do(1, lambda peer, now, out: peer.reunion.on_our_answer(now, AskOurs(ref(2)), found, out))
    assert net.kinds() == ["Candidate"]


def test_a_hint_may_have_to_be_looked_up_in_our_own_ring():
    net = two_rings([1, 2, 3, 5], [4, 7])
    reunion(net, 5).lost(net.now, NodeId(7))
    due(net, 5)
    net.settle()
    hint = next(flight for flight in net.sent if flight.kind == "Candidate")
    assert (hint.to, hint.message) == (7, Candidate(ref(7), 0, ref(5)))


@pytest.mark.parametrize(
    ("ones", "others"),
    [([1], [2]), ([1, 2], [3, 4]), ([1, 3, 5], [2, 4, 6]), ([1, 2, 3, 7, 8], [4, 5, 6]), ([1, 4], [2, 3, 5, 6, 7])],
)
def test_two_rings_become_one_from_one_loss(ones, others):
    net = two_rings(ones, others, HEALING)
    net.peers[ones[0]].contacts.meet(NodeId(others[0]))
    net.run(600.0)
    assert net.order() == sorted([*ones, *others])
    net.is_whole()


def test_when_nobody_is_lost_somebody_met_is_asked_at_leisure():
    net = grown([1, 2], settings=ASKING)
    net.peers[1].contacts.met = {NodeId(2): None}
    assert net.peers[1].local.timers.deadline - net.now >= 0.75 * INTERVAL * BACKOFF_MAX
    due(net, 1)
    assert net.find(Seek).to == 2


def test_who_is_in_no_ring_asks_nobody():
    net = Net(settings=ASKING)
    net.add(1)
    reunion(net, 1).lost(0.0, NodeId(2))
    due(net, 1)
    assert net.flying == []


def test_without_an_interval_nobody_is_remembered():
    net = grown([1, 2], settings=BARE)
    reunion(net, 1).lost(net.now, NodeId(2))
    assert reunion(net, 1).missing == {}
    assert net.peers[1].deadline is None
