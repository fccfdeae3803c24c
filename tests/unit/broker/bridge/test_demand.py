"""What somebody wants, and what nobody hears."""

from weft.broker.bridge.demand import FILTERS_MAX, LIVE_MAX, TOPICS_MAX, Hearing, Wanted
from weft.broker.bridge.settings import Topic


def wanted(**options: str) -> Wanted:
    return Wanted(Topic("t/#", "in", 1, **options), 60.0)


def test_a_filter_is_wanted_as_far_as_it_reaches_into_the_entry():
    want = wanted(local_prefix="l/", remote_prefix="r/")
    for live in ("#", "l/+/x", "other", "l/t/x/y"):
        want.change(0.0, live, True)
    assert want.filters(0.0) == ["r/t/#"]
    want.change(0.0, "#", False)
    assert want.filters(61.0) == ["r/t/x", "r/t/x/y"]


def test_two_local_filters_with_one_meaning_are_one():
    want = wanted()
    want.change(0.0, "#", True)
    want.change(0.0, "t/#", True)
    want.change(0.0, "#", False)
    assert want.filters(1000.0) == ["t/#"]


def test_a_lingering_filter_that_is_wanted_again_stays():
    want = wanted()
    want.change(0.0, "t/1", True)
    want.change(0.0, "t/1", False)
    assert want.deadline == 60.0
    want.change(30.0, "t/1", True)
    assert want.deadline is None
    assert want.filters(1000.0) == ["t/1"]


def test_too_many_filters_become_the_entry():
    want = wanted()
    for number in range(FILTERS_MAX + 1):
        want.change(0.0, f"t/{number}", True)
    assert want.filters(0.0) == ["t/#"]


def test_beyond_its_bound_everything_counts_as_wanted():
    want = wanted()
    for number in range(LIVE_MAX + 1):
        want.change(0.0, f"t/{number}", True)
    for number in range(LIVE_MAX + 1):
        want.change(0.0, f"t/{number}", False)
    assert want.filters(1000.0) == ["t/#"]


def test_what_was_learned_is_believed_for_a_while():
    hearing = Hearing(10.0)
    assert hearing.is_heard(0.0, "a") is None
    hearing.learn(0.0, "a", False)
    assert hearing.is_heard(9.9, "a") is False
    assert hearing.is_heard(10.0, "a") is None
    hearing.learn(10.0, "a", True)
    assert hearing.is_heard(11.0, "a") is True


def test_only_so_many_topics_are_remembered():
    hearing = Hearing(10.0)
    for number in range(TOPICS_MAX + 1):
        hearing.learn(0.0, str(number), False)
    assert hearing.is_heard(0.0, "0") is None
    assert hearing.is_heard(0.0, "1") is False
