"""Looking left, and what comes of it: held, walked, repaired, inserted anew, alone."""

import pytest

from rings import PINGING, Net, grown, key, ref
from weft.core.ids import NodeId
from weft.overlay.api import Ref
from weft.overlay.lookup import Gone
from weft.overlay.ring.messages import (
    FIRST,
    Candidate,
    Kind,
    LeaveDue,
    Ping,
    PingDue,
    Pong,
    PongDue,
    PropagateNeighbours,
    Seq,
    SetL,
    SetR,
    SetRAck,
    Status,
)
from weft.overlay.ring.tables import CHECK_STEPS_MAX
from weft.overlay.ring.upkeep import NOTIFY_TICKS

INTERVAL, TIMEOUT, TRIES = PINGING.ping_interval_s, PINGING.ping_timeout_s, PINGING.ping_tries


def look(net: Net, broker: int, candidate: int | None = None) -> Ping:
    """``broker`` looks at its left neighbour (or at ``candidate``) now."""
    link = net.link(broker)
    at = link.left if candidate is None else ref(candidate)
    net.do(broker, lambda peer, now, out: peer.ring.upkeep.check(now, link, at, out))
    return net.find(Ping).message


def repairs(net: Net) -> list[tuple[int, str]]:
    """Who repaired, and how."""
    return [(at, trace.detail) for at, trace in net.traces if trace.kind == "ring.repair"]


# Held


def test_a_look_at_a_whole_ring_changes_nothing():
    net = grown([1, 2, 3])
    ping = look(net, 2)
    assert ping == Ping(ref(1), 0, ref(2), True, net.link(2).left_seq)
    net.arrive(Ping)
    pong = net.find(Pong).message
    assert pong == Pong(ref(2), 0, ref(1), Status.IN, ref(2), net.link(2).left_seq, net.link(1).for_right())
    net.arrive(Pong)
    assert net.flying == []
    assert net.link(2).check is None
    assert repairs(net) == []


def test_each_node_looks_left_at_its_own_pace_and_again_each_interval():
    net = grown(range(1, 9), settings=PINGING)
    first = [peer.deadline for peer in net.peers.values()]
    assert len(set(first)) == 8
    mark = len(net.sent)
    net.run(10 * INTERVAL)
    sent = net.sent_since(mark)
    assert 8 * 9 <= sent["Ping"] <= 8 * 11
    assert sent["SetR"] == sent["SetL"] == 0


def test_a_set_l_that_was_lost_is_made_good_by_the_next_look():
    net = grown([1, 3])
    net.join(2)
    while "SetL" not in net.kinds():
        net.deliver(net.flying.pop(0))
    net.lose(SetL)
    net.settle()
    assert net.link(3).left == ref(1)
    look(net, 3)
    net.settle()
    assert net.link(3).left == ref(2)
    assert net.link(3).left_seq == net.link(2).right_seq
    net.is_whole()


def test_a_number_that_fell_behind_is_agreed_on_again():
    net = grown([1, 2, 3])
    net.link(2).left_seq = Seq(3, 1)
    look(net, 2)
    net.settle()
    assert repairs(net) == [(2, "left-only")]
    assert net.link(2).left_seq == net.link(1).right_seq == Seq(4, 0)
    net.is_whole()


def test_the_list_of_a_live_left_neighbour_is_taken_over_whole():
    net = grown([1, 2, 3, 4])
    net.link(4).lefts = (ref(3), ref(9))
    look(net, 4)
    net.settle()
    assert net.link(4).lefts == (ref(3), ref(2), ref(1))


# Walked


def test_somebody_nearer_is_walked_to():
    net = grown([1, 2, 3, 4])
    link = net.link(4)
    link.left, link.left_seq = ref(1), FIRST
    look(net, 4)
    pinged = []
    while net.flying:
        flight = net.flying.pop(0)
        pinged += [flight.to] if flight.kind == "Ping" else []
        net.deliver(flight)
    assert pinged == [1, 2, 3]
    assert link.left == ref(3)
    net.is_whole()


def test_a_walk_is_bounded():
    """A peer that always knows somebody nearer is left alone after so many, until the next ping."""
    net = grown([1, 2])
    link = net.link(2)
    net.do(2, lambda peer, now, out: peer.ring.upkeep.check(now, link, ref(1), out))
    for step in range(CHECK_STEPS_MAX + 1):
        ping = net.lose(Ping)
        seen = ping.message.at
        nearer = Ref(key(1)._replace(literals=f"{10:012d}{step:03d}"), NodeId(1), 1)
        net.give(1, 2, Pong(ref(2), 0, seen, Status.IN, nearer, FIRST, ()))
    assert net.flying == []
    assert net.count("ring.check.long") == 1
    assert link.check is None


def test_a_candidate_nearer_than_our_left_is_looked_at():
    net = grown([1, 3])
    net.give(9, 3, Candidate(ref(3), 0, ref(2)))
    assert net.find(Ping).to == 2
    assert net.link(3).left == ref(1), "looked at, not believed"


@pytest.mark.parametrize("candidate", [1, 3, 5])
def test_a_candidate_that_is_not_nearer_is_no_news(candidate):
    net = grown([1, 3])
    assert net.give(9, 3, Candidate(ref(3), 0, ref(candidate))) == []


def test_who_takes_us_for_its_right_neighbour_is_looked_at():
    net = grown([1, 3])
    (ping,) = net.give(2, 3, PropagateNeighbours(ref(3), 0, (ref(2), ref(1))))
    assert (ping.to, ping.message.held) == (2, False)


def test_now_and_then_the_right_neighbour_is_told_that_it_is_ours():
    net = grown([1, 2, 3], settings=PINGING)
    mark = len(net.sent)
    net.run(INTERVAL * NOTIFY_TICKS * 4)
    told = net.sent_since(mark)["PropagateNeighbours"]
    assert 3 * 3 <= told <= 3 * 4


# Repaired


def test_a_dead_left_neighbour_is_found_out_and_bridged():
    net = grown([1, 2, 3, 4], settings=PINGING)
    net.crash(3)
    net.run(60.0)
    assert [who for who, _ in repairs(net)] == [4], "its right neighbour, and nobody else"
    assert net.order() == [1, 2, 4]
    net.is_whole()


def test_a_repair_message_by_message():
    net = grown([1, 2, 3])
    net.crash(2)
    look(net, 3)
    for _ in range(TRIES):
        net.lose(Ping)
        net.pass_time(net.now + TIMEOUT)
    assert net.find(Ping).to == 1, "the next of the known left neighbours"
    net.arrive(Ping)
    assert net.find(Pong).message.right == ref(2), "the dead"
    net.arrive(Pong)
    asked = net.find(SetR).message
    assert (asked.at, asked.new, asked.cur, asked.kind) == (ref(1), ref(3), ref(2), Kind.BOTH)
    assert asked.seq == net.link(3).left_seq.repaired()
    net.arrive(SetR)
    assert net.kinds() == ["SetRAck"], "no SetL: the left pointer is the asker's own"
    assert net.link(1).right == ref(3)
    net.arrive(SetRAck)
    assert net.link(3).left == ref(1)
    net.settle()
    net.is_whole()


@pytest.mark.parametrize("dead", [(2,), (2, 3), (2, 3, 4), (2, 4), (3, 4, 5), (2, 3, 4, 5, 6, 7)])
def test_several_that_die_at_once(dead):
    net = grown(range(1, 9), settings=PINGING)
    for broker in dead:
        net.crash(broker)
    net.run(200.0)
    assert net.order() == [broker for broker in range(1, 9) if broker not in dead]
    net.is_whole()


def test_all_others_die_and_who_is_left_is_a_ring_of_one():
    net = grown([1, 2, 3], settings=PINGING)
    net.crash(1)
    net.crash(3)
    net.run(300.0)
    assert net.count("ring.isolated") == 1
    assert (net.link(2).left, net.link(2).right) == (ref(2), ref(2))
    net.is_whole()


def test_when_all_known_left_neighbours_are_dead_a_lookup_finds_one():
    net = grown(range(1, 9), settings=PINGING)
    net.link(8).lefts = (ref(7), ref(6))
    for broker in (6, 7):
        net.crash(broker)
    net.run(200.0)
    assert net.order() == [1, 2, 3, 4, 5, 8]
    net.is_whole()


def test_one_lost_ping_is_no_death():
    net = grown([1, 2], settings=PINGING)
    look(net, 2)
    for _ in range(TRIES - 1):
        net.lose(Ping)
        net.pass_time(net.now + TIMEOUT)
    net.settle()
    assert repairs(net) == []
    assert not net.peers[2].contacts.is_shunned(NodeId(1), net.now)


def test_who_says_gone_needs_no_time_to_be_dead():
    net = grown([1, 2, 3])
    net.do(2, lambda peer, now, out: peer.ring.drop(now, peer.ring.links[0, key(2)], out))
    look(net, 3)
    net.settle()
    assert net.now == 0.0
    assert net.order() == [1, 3]
    net.is_whole()


def test_gone_of_somebody_we_do_not_look_at_repairs_nothing():
    net = grown([1, 2, 3])
    assert net.give(2, 3, Gone(ref(2))) == []
    assert net.link(3).left == ref(2)


def test_a_left_neighbour_that_came_back_is_somebody_else_in_its_own_place():
    net = grown([1, 2, 3], settings=PINGING)
    net.crash(2)
    net.add(2, run=1)
    net.join(2)
    net.run(100.0)
    assert net.order() == [1, 2, 3]
    assert net.link(3).left == net.link(2).me != ref(2)
    net.is_whole()


def test_a_repair_that_nobody_answers_goes_on_with_the_next():
    net = grown([1, 2, 3, 4], settings=PINGING)
    net.crash(3)
    while "SetR" not in net.kinds():
        if net.flying:
            net.deliver(net.flying.pop(0))
        else:
            net.pass_time(min(peer.deadline for peer in net.peers.values()))
    assert net.find(SetR).to == 2
    net.crash(2)
    net.run(net.now + 100.0)
    assert net.order() == [1, 4]
    net.is_whole()


def test_a_repair_that_is_refused_is_tried_by_the_next_look():
    net = grown([1, 2, 3])
    link = net.link(3)
    link.left_seq = Seq(5, 0)
    look(net, 3)
    net.arrive(Ping)
    net.arrive(Pong)
    net.link(2).right = ref(4)  # somebody else was quicker
    net.settle()
    assert link.request is None
    assert link.left == ref(2)
    net.link(2).right = ref(3)
    look(net, 3)
    net.settle()
    net.is_whole()


def test_a_repair_that_a_newer_set_l_has_overtaken_changes_nothing():
    """While 3's repair flies, a SetL with a higher number says who is left of it: the answer is too late, and 3 looks again."""
    net = grown([1, 2, 3])
    net.link(3).left_seq = Seq(1, 0)
    look(net, 3)
    while "SetRAck" not in net.kinds():
        net.deliver(net.flying.pop(0))
    newer = ref(2, number=25)
    net.give(2, 3, SetL(ref(3), 0, newer, Seq(7, 0), (newer, ref(2))))
    net.arrive(SetRAck)
    assert (net.link(3).left, net.link(3).left_seq) == (newer, Seq(7, 0))
    assert net.find(Ping).message.at == newer


def test_a_candidate_on_a_broker_that_has_just_been_silent_is_passed_over():
    net = grown([1, 2, 3, 4])
    net.crash(3)
    net.peers[4].contacts.shun(NodeId(2), 1000.0)
    look(net, 4)
    net.pass_time(TRIES * TIMEOUT)
    assert [flight.to for flight in net.flying if flight.kind == "Ping" and flight.to != 3] == [1]


# Inserted anew


def test_who_was_taken_for_dead_takes_its_place_again():
    """2 pauses, 3 repairs over it; when 2 goes on, its left neighbour points past it, and it inserts itself again."""
    net = grown([1, 2, 3], settings=PINGING)
    resume = net.pause(2)
    net.run(60.0)
    assert net.order() == [1, 3]
    before = ref(2)
    resume()
    net.run(net.now + 60.0)
    assert net.order() == [1, 2, 3]
    assert net.link(2).me == before, "in the same life"
    assert (2, "insert") in repairs(net)
    net.is_whole()


def test_a_reinsertion_is_numbered_above_the_old_numbers():
    net = grown([1, 2, 3])
    net.link(1).right, net.link(3).left = ref(3), ref(1)
    old = net.link(2).left_seq
    look(net, 2)
    while "SetR" not in net.kinds():
        net.deliver(net.flying.pop(0))
    asked = net.find(SetR).message
    assert (asked.kind, asked.cur, asked.seq) == (Kind.INSERT, ref(3), old.repaired())
    net.settle()
    assert net.link(2).left_seq > old
    assert net.order() == [1, 2, 3]


# A check and what else is under way


def test_a_new_set_l_ends_the_look_at_the_old_left_neighbour():
    net = grown([1, 3])
    look(net, 3)
    pong = net.lose(Ping)
    net.give(1, 3, SetL(ref(3), 0, ref(2), net.link(3).left_seq.next(), (ref(2), ref(1))))
    assert net.link(3).check is None
    net.deliver(pong)
    net.settle()
    assert net.link(3).left == ref(2)


def test_a_node_looks_at_one_at_a_time_and_not_while_it_has_asked():
    net = grown([1, 2, 3])
    look(net, 3)
    look(net, 3, candidate=1)
    assert net.link(3).check.candidate == ref(1)
    waiting = [token for token in net.peers[3].local.timers.armed() if isinstance(token, PongDue)]
    assert [token.candidate for token in waiting] == [ref(1)]
    net.leave(3)
    assert net.link(3).check is None, "a leave ends a look"
    look_again = net.peers[3].ring.upkeep.check
    mark = len(net.sent)
    net.do(3, lambda peer, now, out: look_again(now, net.link(3), ref(2), out))
    assert net.sent_since(mark) == {}


def test_who_is_on_its_way_out_is_left_in_peace():
    net = grown([1, 2, 3])
    look(net, 3)
    net.leave(2)
    net.arrive(Ping)
    assert net.find(Pong).message.status is Status.DEL
    net.arrive(Pong)
    assert net.link(3).left == ref(2), "the SetL will tell"
    net.settle()
    assert net.link(3).left == ref(1)
    net.is_whole()


def test_a_leave_whose_left_neighbour_died_steps_aside_until_the_ring_is_repaired():
    net = grown([1, 2, 3, 4], settings=PINGING)
    net.crash(2)
    net.leave(3)
    net.run(net.now + PINGING.request_timeout_s * PINGING.request_tries)
    link = net.link(3)
    assert link.status is Status.IN
    assert link.check is not None
    assert LeaveDue(key(3), 0) in net.peers[3].local.timers
    net.pass_time(net.now + PINGING.retry_wait_s * 2)
    assert link.status is Status.IN, "due, but the look is not over"
    net.run(100.0)
    assert key(3) not in net.peers[3].keys()
    assert net.count("ring.leave.forced") == 0
    assert net.order() == [1, 4]
    net.is_whole()


def test_a_ping_from_the_right_tells_a_newcomer_that_it_is_in():
    """The SetRAck is lost and 1 gone with it; 3's left pointer can only be ours because 1 had taken us in."""
    net = grown([1, 3])
    net.join(2)
    while "SetRAck" not in net.kinds():
        net.deliver(net.flying.pop(0))
    net.lose(SetRAck)
    net.crash(1)
    net.settle()
    assert net.link(2).status is Status.INS
    look(net, 3)
    net.settle()
    assert net.link(2).status is Status.IN
    assert (net.link(2).right, net.link(2).right_seq) == (ref(3), net.link(3).left_seq)


def test_a_ping_from_somebody_who_does_not_hold_us_tells_a_newcomer_nothing():
    net = grown([1, 3])
    net.join(2)
    while "SetR" not in net.kinds():
        net.deliver(net.flying.pop(0))
    (pong,) = net.give(3, 2, Ping(ref(2), 0, ref(3), False, Seq(0, 1)))
    assert pong.message.status is Status.INS
    assert net.link(2).status is Status.INS


def test_without_an_interval_nobody_looks():
    net = grown([1, 2, 3])
    assert all(peer.deadline is None for peer in net.peers.values())


def test_who_has_left_has_no_timers():
    net = grown([1, 2, 3], settings=PINGING)
    net.leave(2)
    net.settle()
    armed = net.peers[2].local.timers.armed()
    assert not [token for token in armed if isinstance(token, PingDue | LeaveDue)]
    assert len(armed) == 0
