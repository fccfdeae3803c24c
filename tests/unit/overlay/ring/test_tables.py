"""A link's variables, and what it keeps for those who ask twice."""

import pytest

from rings import key, ref
from weft.core.ids import NodeId
from weft.core.limits import LEFT_NEIGHBOURS_MAX
from weft.overlay.ring.messages import FIRST, Seq, SetRNak, Status
from weft.overlay.ring.tables import ANSWERS_MAX, CHECK_STEPS_MAX, Check, Link, Request


def link(*lefts: int) -> Link:
    return Link(ref(5), 0, Status.IN, left=ref(4), right=ref(6), lefts=tuple(map(ref, lefts)))


def test_numbers_are_ordered_by_repair_then_count():
    assert Seq(0, 0) == FIRST
    assert FIRST.next() == Seq(0, 1)
    assert Seq(1, 7).next() == Seq(1, 8)
    assert Seq(1, 7).repaired() == Seq(2, 0)
    assert Seq(0, 999) < Seq(1, 0) < Seq(1, 1) < Seq(2, 0)


def test_our_right_neighbour_is_told_of_us_and_of_our_left():
    assert link(4, 3).for_right() == (ref(5), ref(4), ref(3))
    assert link().for_right() == (ref(5),)


def test_the_list_for_the_right_is_as_long_as_any():
    told = link(4, 3, 2, 1).for_right()
    assert told == (ref(5), ref(4), ref(3), ref(2))
    assert len(told) == LEFT_NEIGHBOURS_MAX == 4


def test_answers_are_kept_for_those_who_ask_again_and_the_oldest_is_forgotten():
    ours = link()
    for number in range(ANSWERS_MAX + 1):
        ours.remember(ref(7), number, SetRNak(ref(7), 0, number, None))
    assert len(ours.answers) == ANSWERS_MAX
    assert (ref(7), 0) not in ours.answers
    assert ours.answers[ref(7), ANSWERS_MAX].request == ANSWERS_MAX


def test_one_number_of_two_askers_is_two_requests():
    ours = link()
    ours.remember(ref(7), 1, SetRNak(ref(7), 0, 1, None))
    ours.remember(ref(8), 1, SetRNak(ref(8), 0, 1, ref(6)))
    assert ours.answers[ref(7), 1].right is None
    assert ours.answers[ref(8), 1].right == ref(6)


def test_a_link_begins_with_nothing_under_way():
    ours = link()
    assert (ours.request, ours.check, ours.leaving, ours.refusals, ours.note) == (None, None, False, 0, b"")
    assert (ours.left_seq, ours.right_seq) == (FIRST, FIRST)
    assert ours.answers is not link().answers


def test_every_limit_has_a_name():
    assert ANSWERS_MAX > 0
    assert CHECK_STEPS_MAX > LEFT_NEIGHBOURS_MAX


@pytest.mark.parametrize("made", [link(), Check(ref(4), None), Request(1, ref(4), ref(5), ref(6), FIRST, None, None)])
def test_tables_have_no_room_for_misspelt_names(made):
    with pytest.raises(AttributeError):
        made.rigth = ref(6)


def test_a_reference_is_one_life_of_one_node():
    assert ref(5) == ref(5) != ref(5, incarnation=2)
    assert ref(5).key == key(5)
    assert ref(5).node == NodeId(5)
