"""DDLL (Abe & Yoshida: Constructing Distributed Doubly Linked Lists without Distributed Locking), claim by claim.

Beside it, what Zave's correction of Chord asks of neighbour lists, and MIGRATE's remark on leaves that meet failure checks.
"""

from collections import Counter
from itertools import permutations, product

import pytest

from rings import BARE, PINGING, Net, grown, key, ref
from weft.core.ids import NodeId
from weft.core.limits import LEFT_NEIGHBOURS_MAX
from weft.overlay.api import Joined, JoinFailed, Left
from weft.overlay.ring.messages import (
    FIRST,
    Candidate,
    Kind,
    Ping,
    PropagateNeighbours,
    Seq,
    SetL,
    SetR,
    SetRAck,
    Status,
)
from weft.sim.explore import Case, Explorer
from weft.sim.invariants import RingCheck

COMMIT = ("SetR", "SetRAck", "SetRNak", "SetL")


def commits(net: Net, mark: int) -> Counter[str]:
    """The messages of DDLL's own that were sent since ``mark``: neither the lookup before nor the gossip after."""
    return Counter({kind: n for kind, n in net.sent_since(mark).items() if kind in COMMIT})


def placed(net: Net, broker: int, introducer: int = 1) -> None:
    """``broker`` knows its place, and has asked for it."""
    net.join(broker, introducer)
    while "SetR" not in net.kinds():
        net.deliver(net.flying.pop(0))


# Insertion


@pytest.mark.parametrize("brokers", [[1], [1, 3], [1, 3, 4, 5, 6, 7, 8]])
def test_an_insertion_takes_three_messages(brokers):
    """DDLL, insertion: u → p SetR, p → q SetL, p → u SetRAck, however large the ring."""
    net = grown(brokers)
    mark = len(net.sent)
    net.join(2)
    net.settle()
    assert commits(net, mark) == {"SetR": 1, "SetL": 1, "SetRAck": 1}
    net.is_whole()


def test_an_insertion_is_committed_in_one_round_trip():
    """DDLL, insertion: u is in the list once p has processed SetR, and knows it one message later; q is not waited for."""
    net = grown([1, 3])
    placed(net, 2)
    net.arrive(SetR)
    assert net.link(1).right == ref(2), "committed"
    lost = net.lose(SetL)
    net.arrive(SetRAck)
    assert net.heard(Joined, 2)
    assert lost.to == 3
    assert net.link(3).left == ref(1), "q has not heard of it, and need not have"


def test_a_node_that_is_being_inserted_is_unreachable_until_its_predecessor_accepts():
    """DDLL, insertion: no pointer leads to u before p has processed its SetR (I5)."""
    net = grown([1, 3])
    placed(net, 2)
    pointers = {pointer.node for broker in (1, 3) for pointer in (net.link(broker).left, net.link(broker).right)}
    assert 2 not in pointers
    assert net.peers[2].keys() == []


@pytest.mark.parametrize("status", [Status.INS, Status.DEL])
def test_only_a_node_that_is_in_accepts(status):
    """DDLL: p refuses unless its status is IN."""
    net = grown([1, 3])
    net.link(1).status = status
    placed(net, 2, 3)
    net.arrive(SetR)
    assert net.kinds() == ["SetRNak"]
    assert net.link(1).right == ref(3)


def test_only_a_pointer_that_is_what_the_asker_believes_is_changed():
    """DDLL: p refuses unless p.r = cur; what its right neighbour is now goes back as a hint."""
    net = grown([1, 2, 4])
    (nak,) = net.give(3, 2, SetR(ref(2), 0, ref(3), ref(5), FIRST, Kind.INSERT, 1, None))
    assert nak.kind == "SetRNak"
    assert nak.message.right == ref(4)
    assert net.link(2).right == ref(4)


def test_numbers_after_an_insertion_are_as_published():
    """DDLL, insertion: u.lseq = (0,0) = p.rseq; q.lseq = p's old rseq + 1 = u.rseq."""
    net = grown([1, 3])
    old = net.link(1).right_seq
    net.join(2)
    net.settle()
    assert net.link(2).left_seq == net.link(1).right_seq == (0, 0)
    assert net.link(3).left_seq == net.link(2).right_seq == old.next()


def test_a_refused_insertion_is_given_up_after_ten_tries():
    """DDLL, insertion: on SetRNak it is looked up and tried again, ten times at most."""
    net = grown([1, 3])
    net.link(1).status = Status.DEL  # for ever
    net.join(2)
    net.run(1000.0)
    asked = [flight for flight in net.sent if flight.kind == "SetR" and flight.source == 2]
    assert len(asked) == BARE.join_tries == 10
    assert [event.key for event in net.heard(JoinFailed)] == [key(2)]


# Deletion


@pytest.mark.parametrize("brokers", [[1, 2], [1, 2, 3], list(range(1, 9))])
def test_a_deletion_takes_three_messages(brokers):
    """DDLL, deletion: u → p SetR, p → q SetL, p → u SetRAck, however large the ring."""
    net = grown(brokers)
    mark = len(net.sent)
    net.leave(2)
    net.settle()
    assert commits(net, mark) == {"SetR": 1, "SetL": 1, "SetRAck": 1}
    net.is_whole()


def test_a_deletion_is_committed_in_one_round_trip():
    """DDLL, deletion: u may go once p has answered; q is not waited for."""
    net = grown([1, 2, 3])
    net.leave(2)
    net.arrive(SetR)
    assert net.link(1).right == ref(3), "committed"
    net.arrive(SetRAck)
    assert net.heard(Left) == [Left(key(2))]
    assert net.kinds() == ["SetL"]


def test_numbers_after_a_deletion_are_as_published():
    """DDLL, deletion: q.lseq = p.rseq = u.rseq + 1."""
    net = grown([1, 2, 3])
    old = net.link(2).right_seq
    net.leave(2)
    net.settle()
    assert net.link(3).left_seq == net.link(1).right_seq == old.next()


def test_a_refused_deletion_goes_back_to_in_and_waits_at_random():
    """DDLL, deletion: on SetRNak the node is IN again, and tries again after a random time."""
    net = grown([1, 2, 3, 4])
    for broker in (2, 3):
        net.leave(broker)
    net.settle()
    assert net.link(3).status is Status.IN
    assert net.peers[3].deadline is not None
    net.run(20.0)
    assert net.order() == [1, 4]
    net.is_whole()


# Left pointers


@pytest.mark.parametrize("order", list(permutations(range(3))))
def test_set_ls_may_come_in_any_order(order):
    """DDLL: each SetL has a number, the newest wins, older ones are dropped: no locks anywhere."""
    net = grown([1, 9])
    late = []
    for newcomer in (3, 5, 7):
        net.join(newcomer)
        while net.flying:
            flight = net.flying.pop(0)
            if flight.kind == "SetL" and flight.to == 9:
                late.append(flight)
            else:
                net.deliver(flight)
    assert [flight.message.new for flight in late] == [ref(3), ref(5), ref(7)]
    for place in order:
        net.deliver(late[place])
    assert net.link(9).left == ref(7)
    net.settle()
    net.is_whole()


def test_a_number_never_falls():
    """DDLL: u.lseq only rises (I3)."""
    net = grown([1, 3])
    before = net.link(3).left_seq
    net.give(1, 3, SetL(ref(3), 0, ref(2), before.next(), (ref(2),)))
    net.give(1, 3, SetL(ref(3), 0, ref(1), before, (ref(1),)))
    assert (net.link(3).left, net.link(3).left_seq) == (ref(2), before.next())


def test_left_pointers_are_hints_membership_goes_by_right_pointers():
    """DDLL: 3's left pointer may say what it will; who asks 1 by 3's word is refused, and the ring does not change."""
    net = grown([1, 2, 3])
    net.link(3).left = ref(1)
    net.leave(3)
    net.arrive(SetR, to=1)
    assert net.kinds() == ["SetRNak"]
    assert net.order() == [1, 2, 3]


def test_at_rest_left_and_right_pointers_agree():
    """DDLL: when no message is under way p.r = q ⇔ q.l = p, and their numbers are equal (I4)."""
    net = grown([4, 1, 7, 2, 9, 3])
    for broker in (1, 2, 3, 4, 7, 9):
        right = net.peers[net.link(broker).right.node].ring.links[0, net.link(broker).right.key]
        assert right.left == net.link(broker).me
        assert right.left_seq == net.link(broker).right_seq


@pytest.mark.parametrize(
    "roles", [("stay", *rest) for rest in product(("stay", "join", "leave"), repeat=2)], ids="-".join
)
def test_in_every_order_of_messages_the_right_pointers_are_one_cycle(roles):
    """DDLL, correctness: I1, I2, I3 and I5 hold in every state that any order of joins and leaves of three nodes can reach."""
    found = Explorer(Case(roles)).run()
    assert found.ends >= 1


# Failures


def test_each_node_looks_at_its_left():
    """DDLL, failures: a node pings its left neighbour and nobody else."""
    net = grown([1, 2, 3, 4], settings=PINGING)
    net.run(30.0)
    pings = {(flight.source, flight.to) for flight in net.sent if flight.kind == "Ping"}
    assert pings == {(1, 4), (2, 1), (3, 2), (4, 3)}


@pytest.mark.parametrize("dead", [(3,), (3, 4), (2, 3, 4), (2, 5)])
def test_only_the_right_neighbour_of_the_dead_repairs(dead):
    """DDLL, failures: one node repairs each gap, so repairs never duel."""
    net = grown(range(1, 8), settings=PINGING)
    for broker in dead:
        net.crash(broker)
    mark = len(net.sent)
    net.run(100.0)
    repairers = {flight.source for flight in net.sent[mark:] if flight.kind == "SetR"}
    assert repairers == {broker + 1 for broker in dead if broker + 1 not in dead}
    net.is_whole()


def test_a_repair_beats_every_set_l_sent_before_it():
    """DDLL, failures: lseq = (repair + 1, 0) is above (repair, n) for whatever n."""
    net = grown([1, 2, 3])
    old = net.link(3).left_seq
    net.crash(2)
    net.do(3, lambda peer, now, out: peer.ring.upkeep.check(now, net.link(3), ref(2), out))
    net.run(60.0)
    assert net.link(3).left_seq == Seq(old.repair + 1, 0) == net.link(1).right_seq
    net.give(1, 3, SetL(ref(3), 0, ref(2), Seq(old.repair, 10**9), (ref(2),)))
    assert net.link(3).left == ref(1)


def test_a_repair_takes_two_messages_once_the_live_neighbour_is_found():
    """DDLL, failures: SetR of kind BOTH and its answer; the left pointer is the asker's own."""
    net = grown([1, 2, 3])
    net.crash(2)
    mark = len(net.sent)
    net.do(3, lambda peer, now, out: peer.ring.upkeep.check(now, net.link(3), ref(2), out))
    net.run(60.0)
    assert commits(net, mark) == {"SetR": 1, "SetRAck": 1}


def test_numbers_alone_are_repaired_by_left_only():
    """DDLL, failures: if p.r = u already, but numbers disagree, SetR of kind LEFTONLY agrees on new ones."""
    net = grown([1, 2])
    net.link(2).left_seq = Seq(7, 3)
    net.do(2, lambda peer, now, out: peer.ring.upkeep.check(now, net.link(2), ref(1), out))
    net.arrive(Ping)
    net.arrive("Pong")
    assert net.find(SetR).message.kind is Kind.LEFTONLY
    net.settle()
    assert net.link(1).right_seq == net.link(2).left_seq == Seq(8, 0)


def test_a_walk_goes_from_the_last_live_candidate_towards_us():
    """DDLL, failures: the nearest live predecessor is found by walking right from a live candidate, over right pointers."""
    net = grown(range(1, 7))
    for broker in (5, 4):
        net.crash(broker)
    link = net.link(6)
    link.lefts = (ref(5), ref(1))
    mark = len(net.sent)
    net.do(6, lambda peer, now, out: peer.ring.upkeep.check(now, link, ref(5), out))
    net.run(60.0)
    looked = list(dict.fromkeys(flight.to for flight in net.sent[mark:] if flight.kind == "Ping"))
    assert looked == [5, 1, 2, 3, 4]
    assert net.order() == [1, 2, 3, 6]
    net.is_whole()


def test_when_no_candidate_lives_one_is_looked_up():
    """DDLL, GetCandidates: all known left neighbours are dead, so the overlay is asked for a live one."""
    net = grown(range(1, 9), settings=PINGING)
    assert len(net.link(8).lefts) == LEFT_NEIGHBOURS_MAX == 4
    for broker in net.link(8).lefts:
        net.crash(broker.node)
    mark = len(net.sent)
    net.run(200.0)
    assert net.order() == [1, 2, 3, 8]
    assert net.sent_since(mark)["Seek"] + net.sent_since(mark)["Hop"] > 0
    net.is_whole()


def test_up_to_four_nodes_to_the_left_are_known():
    """DDLL, neighbour lists: each node knows four nodes to its left, the nearest first; p's list makes q's."""
    net = grown(range(1, 9))
    for broker in range(1, 9):
        wanted = [(broker - 1 - step) % 8 + 1 for step in range(1, 5)]
        assert [each.node for each in net.link(broker).lefts] == wanted


def test_changed_neighbours_are_propagated_to_the_right():
    """DDLL, PropagateNeighbours: whose list has changed tells its right neighbour, and so on for four nodes."""
    net = grown([1, 3, 4, 5, 6, 7, 8, 9])
    mark = len(net.sent)
    net.join(2)
    net.settle()
    told = [flight.to for flight in net.sent[mark:] if flight.kind == "PropagateNeighbours"]
    assert told == [4, 5, 6, 7], "3 has it from the SetL; 7 is five away: its list is as it was, and it tells nobody"


# Zave's corrections


def test_a_list_is_taken_over_whole_from_a_live_node():
    """Zave: a node adopts a live node's whole list, and never edits a dead pointer into its own."""
    net = grown([1, 2, 3, 4, 5], settings=PINGING)
    net.crash(3)
    net.run(100.0)
    for broker in (1, 2, 4, 5):
        assert ref(3) not in net.link(broker).lefts
    assert net.link(4).lefts == net.link(2).for_right()[:3]


def test_who_is_only_told_of_is_never_taken_for_a_neighbour():
    """Zave: a candidate is looked at before it is adopted; one that does not answer never is."""
    net = grown([1, 3], settings=PINGING)
    net.give(1, 3, Candidate(ref(3), 0, ref(2)))
    net.give(1, 3, PropagateNeighbours(ref(3), 0, (ref(1), ref(9))))
    net.run(100.0)
    assert net.link(3).left == ref(1)
    net.is_whole()


@pytest.mark.parametrize("size", [3, 4, 5])
def test_with_fewer_dead_than_the_list_is_long_a_live_neighbour_is_always_known(size):
    """Zave: r + 1 principals: of any r or fewer that die at once, each survivor still knows one who lives."""
    for dead in permutations(range(2, size + 1), size - 2):
        net = grown(range(1, size + 1), settings=PINGING)
        for broker in dead:
            net.crash(broker)
        net.run(100.0)
        assert net.count("ring.isolated") == 0
        net.is_whole()
        assert len(net.order()) == 2


# Restart


def test_a_restarted_broker_has_a_higher_incarnation():
    """DDLL's numbers are of one life: who restarts with the same key is somebody else, and old numbers mean nothing to it."""
    net = grown([1, 2, 3], settings=PINGING)
    old = net.link(2).me
    net.crash(2)
    net.add(2, run=1)
    net.join(2, 1)
    net.run(100.0)
    new = net.link(2).me
    assert new.incarnation > old.incarnation
    assert net.order() == [1, 2, 3]
    net.give(1, 2, SetL(old, 0, ref(3), Seq(99, 0), (ref(3),)))
    assert net.link(2).left == ref(1), "a SetL to the former life changes nothing"
    net.give(3, 2, SetR(old, 0, ref(3), ref(3), Seq(99, 0), Kind.LEFTONLY, 1, None))
    assert net.link(2).right_seq < Seq(99, 0)
    net.is_whole()


def test_nobody_waits_for_time_outs_to_see_that_a_life_is_over():
    """Who pings a former life is told at once that it is gone, and repairs."""
    net = grown([1, 2, 3])
    net.crash(2)
    net.add(2, run=1)
    net.do(3, lambda peer, now, out: peer.ring.upkeep.check(now, net.link(3), ref(2), out))
    net.settle()
    assert net.now == 0.0
    assert net.order() == [1, 3]


# MIGRATE


def test_migrate_6_3_2_a_leave_steps_aside_for_the_check_that_is_running():
    """MIGRATE §6.3.2: p is dead, and u leaves. Its SetR finds that out; u's leave waits for the check that follows, and no
    longer.
    """
    net = grown([1, 2, 3, 4], settings=PINGING)
    net.crash(2)
    net.leave(3)
    net.run(150.0)
    assert net.heard(Left) == [Left(key(3))]
    assert net.count("ring.leave.forced") == 0
    assert net.order() == [1, 4]
    net.is_whole()


def test_migrate_6_3_2_a_check_does_not_delay_a_leave():
    """MIGRATE §6.3.2: "the leave cannot start before the failure check has ended": here it can, in the same step."""
    net = grown([1, 2, 3])
    net.do(3, lambda peer, now, out: peer.ring.upkeep.check(now, net.link(3), ref(2), out))
    net.leave(3)
    assert net.link(3).status is Status.DEL
    net.settle()
    assert net.now == 0.0
    assert net.heard(Left) == [Left(key(3))]
    net.is_whole()


def test_migrate_6_3_2_predecessors_leave_and_check_cross():
    """MIGRATE §6.3.2: p's leave and u's ping cross; both finish, nobody times out."""
    net = grown([1, 2, 3])
    net.do(3, lambda peer, now, out: peer.ring.upkeep.check(now, net.link(3), ref(2), out))
    net.leave(2)
    net.leave(3)
    net.run(20.0)
    assert len(net.heard(Left)) == 2
    assert net.count("ring.unanswered") == 0
    assert net.order() == [1]


# What rides along


def test_a_job_runs_where_and_when_the_set_r_is_accepted():
    """DDLL (RELAY §5.3.5 and Suzaku use it): the left neighbour does it in the same step, not before, not twice."""
    net = grown([1, 2, 3])
    ran = []
    net.peers[1].ring_job = lambda now, link, source, job, out: ran.append((link.me, source, link.right))
    net.peers[2].ring_leave_job = lambda link: Candidate(ref(1), 0, ref(2))
    net.leave(2)
    assert ran == []
    repeat = net.find(SetR)
    net.arrive(SetR)
    assert ran == [(ref(1), 2, ref(3))]
    net.deliver(repeat)
    assert len(ran) == 1


def test_a_refused_set_r_runs_no_job():
    """DDLL: the job belongs to the change of the pointer."""
    net = grown([1, 2, 3])
    ran = []
    net.peers[1].ring_job = lambda now, link, source, job, out: ran.append(job)
    net.link(1).right = ref(3)
    net.peers[2].ring_leave_job = lambda link: Candidate(ref(1), 0, ref(2))
    net.leave(2)
    net.arrive(SetR)
    assert net.kinds() == ["SetRNak"]
    assert ran == []


def test_the_check_of_the_invariants_is_itself_one_that_fails():
    """A ring that is broken by hand is seen to be."""
    net = grown([1, 2, 3])
    net.link(1).right = ref(3)
    with pytest.raises(AssertionError, match="I1"):
        RingCheck().at_rest(net.peers.values())
    assert net.peers[1].local.node == NodeId(1)
