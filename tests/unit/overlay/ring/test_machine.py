"""Insert and delete, message by message: who says what to whom, and what each has become after it."""

import pytest

from rings import BARE, Net, grown, key, ref
from weft.core.errors import Misuse
from weft.core.machine import Outbox
from weft.overlay.api import Joined, JoinFailed, Left, NeighbourChanged
from weft.overlay.ring.messages import (
    FIRST,
    Kind,
    LeaveDue,
    PropagateNeighbours,
    Seq,
    SetL,
    SetR,
    SetRAck,
    SetRNak,
    Status,
)
from weft.overlay.ring.tables import ANSWERS_MAX


def joining(*brokers: int, newcomer: int) -> Net:
    """``newcomer`` has just learnt its place among ``brokers``, and asks for it."""
    net = grown(brokers)
    net.join(newcomer)
    net.arrive("Seek")
    while net.kinds() != ["Sought"]:
        net.arrive("Seek")
    net.arrive("Sought")
    return net


def test_the_founder_is_its_own_neighbour():
    net = Net()
    net.join(1, None)
    link = net.link(1)
    assert (link.status, link.left, link.right) == (Status.IN, ref(1), ref(1))
    assert net.flying == []
    assert net.heard(Joined) == [Joined(key(1), b"")]
    net.is_whole()


def test_a_second_node_is_on_both_sides_of_the_first():
    net = joining(1, newcomer=2)
    net.arrive(SetR)
    assert net.kinds() == ["SetL", "SetRAck"]
    assert [flight.to for flight in net.flying] == [1, 2], "the left neighbour is the right one too"
    net.settle()
    net.is_whole()
    assert net.order() == [1, 2]


def test_an_insertion_one_message_after_the_other():
    net = joining(1, 3, newcomer=2)
    assert (net.link(2).status, net.link(2).left, net.link(2).right) == (Status.INS, ref(1), ref(3))
    asked = net.find(SetR)
    assert asked.message == SetR(ref(1), 0, ref(2), ref(3), FIRST, Kind.INSERT, asked.message.request, None)

    net.arrive(SetR)
    assert net.link(1).right == ref(2)
    assert net.link(1).right_seq == FIRST
    assert net.link(3).left == ref(1), "until the SetL arrives"

    net.arrive(SetL)
    assert net.link(3).left == ref(2)
    assert net.link(3).lefts == (ref(2), ref(1))

    net.arrive(SetRAck)
    assert net.link(2).status is Status.IN
    assert net.link(2).right_seq == net.link(3).left_seq
    assert net.heard(Joined, 2) == [Joined(key(2), b"")]
    net.settle()
    net.is_whole()


def test_the_answer_may_come_before_the_set_l():
    net = joining(1, 3, newcomer=2)
    net.arrive(SetR)
    net.arrive(SetRAck)
    assert net.link(2).status is Status.IN
    net.settle()
    net.is_whole()


def two_at_once() -> tuple[Net, int]:
    """2 and 3 both take themselves for next to 1; how many messages that took."""
    net = grown([1, 4])
    for newcomer in (2, 3):
        net.join(newcomer)
    while net.kinds() != ["SetR", "SetR"]:
        net.deliver(net.flying.pop(0))
    return net, len(net.sent)


def test_of_two_who_want_one_place_the_nearer_goes_on_by_the_hint_without_a_lookup():
    net, mark = two_at_once()
    net.deliver(net.flying.pop(1))  # 3 first
    net.arrive(SetR)
    assert net.find(SetRNak, to=2).message.right == ref(3)
    net.settle()
    assert net.sent_since(mark)["Seek"] == 0
    assert net.order() == [1, 2, 3, 4]
    net.is_whole()


def test_of_two_who_want_one_place_the_farther_looks_for_another_predecessor():
    net, mark = two_at_once()
    net.arrive(SetR)  # 2 first
    net.arrive(SetR)
    assert net.find(SetRNak, to=3).message.right == ref(2)
    net.run(10.0)
    assert net.sent_since(mark)["Seek"] > 0
    assert net.order() == [1, 2, 3, 4]
    net.is_whole()


def test_a_hint_that_fits_is_followed_without_a_lookup():
    net = joining(1, 4, newcomer=2)
    number = net.lose(SetR).message.request
    net.give(1, 2, SetRNak(ref(2), 0, number, ref(3)))
    again = net.find(SetR)
    assert again.to == 1, "the predecessor is the same"
    assert (again.message.cur, again.message.seq) == (ref(3), FIRST)
    assert net.link(2).right == ref(3)


def test_a_hint_that_does_not_fit_means_a_new_lookup():
    net = joining(1, 4, newcomer=3)
    number = net.lose(SetR).message.request
    assert net.give(1, 3, SetRNak(ref(3), 0, number, ref(2))) == [], "2 is left of us: 1 is not our predecessor"
    assert (0, key(3)) not in net.peers[3].ring.links
    net.run(5.0)
    assert net.heard(Joined, 3)
    net.is_whole()


def test_hints_are_followed_a_bounded_number_of_times():
    net = joining(1, 9, newcomer=2)
    for _ in range(BARE.join_tries):
        number = net.lose(SetR).message.request
        net.give(1, 2, SetRNak(ref(2), 0, number, ref(8)))
    number = net.lose(SetR).message.request
    assert net.give(1, 2, SetRNak(ref(2), 0, number, ref(8))) == []
    assert (0, key(2)) not in net.peers[2].ring.links


def test_a_place_that_is_refused_again_and_again_is_given_up():
    net = joining(1, 4, newcomer=2)
    net.crash(1)
    net.crash(4)
    net.run(10_000.0)
    (failed,) = net.heard(JoinFailed)
    assert failed.key == key(2)
    assert net.count("join.failed") == 1
    assert net.peers[2].ring.links == {}
    assert net.peers[2].deadline is None


def test_a_set_r_that_is_lost_is_sent_again():
    net = joining(1, 3, newcomer=2)
    lost = net.lose(SetR)
    net.pass_time(BARE.request_timeout_s)
    assert net.flying == [lost]
    net.settle()
    net.is_whole()


def test_an_answer_that_is_lost_is_given_again_and_nothing_is_done_twice():
    net = joining(1, 3, newcomer=2)
    net.arrive(SetR)
    lost = net.lose(SetRAck)
    net.settle()
    net.pass_time(BARE.request_timeout_s)
    sent = net.arrive(SetR)
    assert sent.message == SetR(ref(1), 0, ref(2), ref(3), FIRST, Kind.INSERT, sent.message.request, None)
    assert net.flying == [lost], "the same answer, and no second SetL"
    net.settle()
    net.is_whole()


def test_a_set_r_that_the_network_doubles_is_answered_twice_alike():
    net = joining(1, 3, newcomer=2)
    net.flying.append(net.find(SetR))
    net.settle()
    acks = [flight.message for flight in net.sent if flight.kind == "SetRAck" and flight.to == 2]
    assert acks == [acks[0]] * 2
    assert len(net.heard(Joined, 2)) == 1
    net.is_whole()


def test_who_does_not_answer_a_newcomer_costs_it_its_place_and_no_more():
    net = joining(1, 3, newcomer=2)
    for _ in range(BARE.request_tries):
        net.lose(SetR)
        net.pass_time(net.now + BARE.request_timeout_s)
    assert net.count("ring.unanswered") == 1
    net.run(60.0)
    assert net.heard(Joined, 2)
    net.is_whole()


def test_a_deletion_one_message_after_the_other():
    net = grown([1, 2, 3])
    net.leave(2)
    assert net.link(2).status is Status.DEL
    asked = net.find(SetR)
    assert (asked.to, asked.message.cur, asked.message.new) == (1, ref(2), ref(3))
    assert (asked.message.kind, asked.message.seq) == (Kind.DELETE, net.link(2).right_seq.next())

    net.arrive(SetR)
    assert net.link(1).right == ref(3)
    assert net.kinds() == ["SetL", "SetRAck"]
    assert [flight.to for flight in net.flying] == [3, 2]

    net.arrive(SetRAck)
    assert net.peers[2].ring.links == {}
    assert net.heard(Left) == [Left(key(2))]

    net.settle()
    assert net.link(3).left == ref(1)
    net.is_whole()


def test_of_two_the_last_stays_alone():
    net = grown([1, 2])
    net.leave(2)
    net.settle()
    assert (net.link(1).left, net.link(1).right) == (ref(1), ref(1))
    net.is_whole()


def test_the_last_one_just_goes():
    net = grown([1])
    net.leave(1)
    assert net.sent == []
    assert net.heard(Left) == [Left(key(1))]
    assert net.peers[1].ring.links == {}


def test_two_neighbours_leave_at_once_and_one_waits():
    net = grown([1, 2, 3, 4])
    net.leave(3)
    net.leave(2)
    net.arrive(SetR, to=2)
    nak = net.find(SetRNak, to=3)
    assert nak.message.right is None, "2 is on its way out itself"
    net.settle()
    assert net.link(3).status is Status.IN
    assert LeaveDue(key(3), 0) in net.peers[3].local.timers
    net.run(10.0)
    assert {event.key for event in net.heard(Left)} == {key(2), key(3)}
    net.is_whole()
    assert net.order() == [1, 4]


def test_everybody_leaves_at_once():
    net = grown(range(1, 7))
    for broker in range(1, 7):
        net.leave(broker)
    net.run(200.0)
    assert len(net.heard(Left)) == 6
    assert all(peer.ring.links == {} for peer in net.peers.values())


def test_a_leave_waits_longer_after_each_refusal():
    net = grown([1, 2, 3])
    net.leave(2)
    waits = []
    for _ in range(8):
        number = net.lose(SetR).message.request
        net.give(1, 2, SetRNak(ref(2), 0, number, ref(2)))
        waits.append(net.peers[2].deadline - net.now)
        net.pass_time(net.peers[2].deadline)
    means = [BARE.retry_wait_s * 2 ** min(n, 6) for n in range(1, 9)]
    assert all(0.5 * mean <= wait <= 1.5 * mean for wait, mean in zip(waits, means, strict=True)), waits


def test_a_leave_that_is_refused_too_often_just_goes():
    net = grown([1, 2, 3])
    net.leave(2)
    while net.peers[2].ring.links:
        number = net.lose(SetR).message.request
        net.give(1, 2, SetRNak(ref(2), 0, number, ref(2)))
        if net.peers[2].deadline is not None:
            net.pass_time(net.peers[2].deadline)
    assert net.count("ring.leave.forced") == 1
    assert net.heard(Left) == [Left(key(2))]


def test_a_leave_during_the_insertion_follows_it():
    net = joining(1, 3, newcomer=2)
    net.leave(2)
    assert net.link(2).status is Status.INS
    net.settle()
    assert net.heard(Joined, 2) == [Joined(key(2), b"")]
    assert net.heard(Left) == [Left(key(2))]
    net.is_whole()
    assert net.order() == [1, 3]


def test_a_leave_during_an_insertion_that_fails_is_the_end_of_it():
    net = joining(1, 4, newcomer=3)
    net.leave(3)
    number = net.lose(SetR).message.request
    net.give(1, 3, SetRNak(ref(3), 0, number, None))
    assert net.heard(Left) == [Left(key(3))]
    assert net.heard(JoinFailed) == []
    assert not net.peers[3].is_member(key(3))


def test_asking_twice_to_leave_is_asking_once():
    net = grown([1, 2, 3])
    net.leave(2)
    net.leave(2)
    assert net.kinds() == ["SetR"]
    net.settle()
    assert net.heard(Left) == [Left(key(2))]


@pytest.mark.parametrize(
    ("kind", "new", "cur"),
    [
        (Kind.INSERT, ref(5), ref(3)),
        (Kind.INSERT, ref(1), ref(3)),
        (Kind.INSERT, ref(2, incarnation=9), ref(3)),
        (Kind.LEFTONLY, ref(4), ref(3)),
        (Kind.BOTH, ref(3), ref(3)),
    ],
    ids=["not before the right", "not behind us", "our ghost", "not the right neighbour", "nobody is dead"],
)
def test_a_right_pointer_stays_in_key_order_whatever_is_asked(kind, new, cur):
    net = grown([1, 2, 3])
    (nak,) = net.give(new.node, 2, SetR(ref(2), 0, new, cur, FIRST, kind, 1, None))
    assert nak.message == SetRNak(new, 0, 1, ref(3))
    net.is_whole()


def test_a_deletion_that_would_turn_the_circle_is_refused():
    net = grown([1, 2, 3])
    (nak,) = net.give(3, 2, SetR(ref(2), 0, ref(2, number=25), ref(3), Seq(0, 9), Kind.DELETE, 1, None))
    assert isinstance(nak.message, SetRNak)
    net.is_whole()


def test_who_is_not_in_the_ring_takes_nobody_in():
    net = joining(1, 4, newcomer=2)
    (nak,) = net.give(3, 2, SetR(ref(2), 0, ref(3), ref(4), FIRST, Kind.INSERT, 1, None))
    assert nak.message == SetRNak(ref(3), 0, 1, None), "and has no hint to give"


def test_an_older_set_l_changes_nothing():
    net = grown([1, 2, 3])
    link = net.link(3)
    for seq in (link.left_seq, FIRST):
        net.give(1, 3, SetL(ref(3), 0, ref(1), seq, (ref(1),)))
        assert link.left == ref(2)
    assert net.peers[3].local.counts["ring.set_l.old"] == 2


def test_set_ls_may_overtake_each_other():
    """2 and then 3 join before 4; of the two SetLs to 4, the later one comes first."""
    net = joining(1, 4, newcomer=2)
    net.arrive(SetR)
    old = net.lose(SetL)
    net.settle()
    net.join(3)
    while "SetL" not in net.kinds():
        net.deliver(net.flying.pop(0))
    net.arrive(SetL)
    assert net.link(4).left == ref(3)
    net.deliver(old)
    assert net.link(4).left == ref(3), "its number is lower"
    net.settle()
    net.is_whole()


def test_a_new_left_neighbour_is_told_on_to_the_right():
    net = grown([1, 3, 4, 5])
    net.join(2)
    net.settle()
    assert net.link(3).lefts == tuple(map(ref, (2, 1, 5, 4)))
    assert net.link(4).lefts == tuple(map(ref, (3, 2, 1, 5)))
    assert net.link(5).lefts == tuple(map(ref, (4, 3, 2, 1)))


def test_neighbours_are_passed_on_only_when_they_have_changed():
    net = grown([1, 2, 3, 4, 5, 6])
    mark = len(net.sent)
    net.give(1, 2, PropagateNeighbours(ref(2), 0, net.link(1).for_right()))
    assert net.sent_since(mark) == {}


def test_the_note_of_the_predecessor_reaches_the_newcomer():
    net = grown([1, 3])
    net.peers[1].note(key(1), b"suspended")
    net.join(2)
    net.settle()
    assert net.heard(Joined, 2) == [Joined(key(2), b"suspended")]


def test_changes_of_neighbours_are_told_once_each():
    net = grown([1, 3])
    net.events.clear()
    net.join(2)
    net.settle()
    assert sorted(
        (at, event.left.node, event.right.node) for at, event in net.events if type(event) is NeighbourChanged
    ) == [
        (1, 3, 2),
        (2, 1, 3),
        (3, 2, 1),
    ]


def test_several_keys_of_one_broker_are_neighbours_like_any_others():
    net = grown([1, 2])
    for number in (15, 16, 25):
        net.join(1, None, number)
        net.settle()
    net.is_whole()
    assert [ref_.key for ref_ in net.peers[1].contacts.own] == [key(1, n) for n in (10, 15, 16, 25)]
    for number in (15, 25, 16):
        net.leave(1, number)
        net.settle()
    net.is_whole()


def test_numbers_may_start_above_an_earlier_life():
    net = grown([1, 3])
    net.add(2)
    me = ref(2)
    net.do(2, lambda peer, now, out: peer._joins.update({key(2): None}))
    link = net.do(2, lambda peer, now, out: peer.ring.insert(now, 0, me, ref(1), ref(3), out, Seq(4, 0)))
    net.settle()
    assert link.left_seq == net.link(1).right_seq == Seq(4, 0)
    net.is_whole()


def test_to_insert_where_there_is_no_place_is_a_broken_caller():
    net = grown([1, 3])
    net.add(2)
    with pytest.raises(AssertionError):
        net.peers[2].ring.insert(0.0, 0, ref(2), ref(3), ref(4), Outbox())


def test_who_has_never_joined_cannot_leave():
    net = grown([1, 2])
    with pytest.raises(Misuse, match="not in the ring"):
        net.leave(1, 77)


def test_answers_for_repeats_are_bounded():
    net = grown([1, 3])
    for number in range(3 * ANSWERS_MAX):
        net.give(2, 1, SetR(ref(1), 0, ref(2), ref(9), FIRST, Kind.INSERT, number, None))
    assert len(net.link(1).answers) == ANSWERS_MAX
    net.is_whole()
