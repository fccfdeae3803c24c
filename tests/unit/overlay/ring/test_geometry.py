"""What a right pointer means to who looks at it, and who may stand where on the circle."""

import pytest

from rings import ref
from weft.core.limits import LEFT_NEIGHBOURS_MAX
from weft.overlay.ring.geometry import Verdict, fits, judge, leftwards, nearer_left

ME = ref(5)


@pytest.mark.parametrize(
    ("right", "dead", "verdict"),
    [
        (ME, (), Verdict.HELD),
        (ref(5, incarnation=9), (), Verdict.REPAIR),
        (ref(4), (ref(4),), Verdict.REPAIR),
        (ref(4), (), Verdict.WALK),
        (ref(7), (), Verdict.REINSERT),
        (ref(1), (), Verdict.REINSERT),
        (ref(3), (), Verdict.REINSERT),
        (ref(7), (ref(7),), Verdict.REPAIR),
    ],
    ids=["us", "our ghost", "the dead", "nearer", "past us", "round and past us", "alone", "dead, past us"],
)
def test_what_our_left_neighbours_right_pointer_means(right, dead, verdict):
    assert judge(ME, ref(3), right, dead) is verdict


def test_a_verdict_does_not_stop_at_the_lowest_key():
    first = ref(1)
    assert judge(first, ref(8), ref(9), ()) is Verdict.WALK
    assert judge(first, ref(9), ref(2), ()) is Verdict.REINSERT
    assert judge(first, ref(9), first, ()) is Verdict.HELD


def test_only_the_same_life_that_died_is_dead():
    assert judge(ME, ref(3), ref(4, incarnation=2), (ref(4),)) is Verdict.WALK


@pytest.mark.parametrize(
    ("left", "new", "right", "may"),
    [
        (2, 3, 4, True),
        (4, 3, 2, False),
        (2, 5, 4, False),
        (8, 9, 1, True),
        (8, 1, 2, True),
        (2, 3, 2, True),
        (2, 2, 4, False),
        (2, 4, 4, False),
        (2, 2, 2, False),
    ],
)
def test_who_may_stand_between_two_neighbours(left, new, right, may):
    assert fits(ref(left), ref(new), ref(right)) is may


def test_a_second_life_does_not_fit_beside_the_first():
    assert not fits(ref(3), ref(3, incarnation=2), ref(5))
    assert not fits(ref(1), ref(3, incarnation=2), ref(3))


@pytest.mark.parametrize(("candidate", "nearer"), [(4, True), (3, False), (2, False), (5, False), (7, False)])
def test_a_nearer_left_neighbour_lies_between_the_old_one_and_us(candidate, nearer):
    assert nearer_left(ME, ref(candidate), ref(3)) is nearer


def test_to_who_is_alone_everybody_is_nearer():
    assert nearer_left(ME, ref(7), ME)
    assert not nearer_left(ME, ref(5, incarnation=2), ME)


def test_a_list_of_left_neighbours_ends_where_it_comes_round():
    left = tuple(map(ref, (4, 2, 9, 7)))
    assert leftwards(ME, left) == left
    assert leftwards(ME, (ref(4), ref(2), ref(5), ref(4))) == left[:2], "we are our own third neighbour: old knowledge"
    assert leftwards(ME, (ref(4), ref(2), ref(9), ref(2))) == left[:3], "not leftwards any more"
    assert leftwards(ME, (ref(5, incarnation=2), ref(4))) == ()
    assert leftwards(ME, ()) == ()
    assert len(left) == LEFT_NEIGHBOURS_MAX
