"""Tokens come out in the order of their times, then of being set; what is cancelled never does."""

from hypothesis import given
from hypothesis import strategies as st

from weft.core.timers import Timers


def test_nothing_is_due_of_nothing() -> None:
    timers = Timers()
    assert timers.deadline is None
    assert list(timers.due(1e9)) == []
    assert len(timers) == 0


def test_earliest_first_then_first_set() -> None:
    timers = Timers()
    for token, at in (("c", 2.0), ("a", 1.0), ("d", 2.0), ("b", 1.0)):
        timers.set(token, at)
    assert timers.armed() == ["a", "b", "c", "d"]
    assert timers.deadline == 1.0
    assert list(timers.due(2.0)) == ["a", "b", "c", "d"]


def test_only_what_is_due() -> None:
    timers = Timers()
    timers.set("now", 1.0)
    timers.set("later", 1.5)
    assert list(timers.due(1.0)) == ["now"]
    assert timers.deadline == 1.5
    assert "now" not in timers
    assert "later" in timers


def test_setting_again_moves() -> None:
    timers = Timers()
    timers.set("a", 1.0)
    timers.set("b", 2.0)
    timers.set("a", 3.0)
    assert len(timers) == 2
    assert timers.deadline == 2.0
    assert list(timers.due(2.5)) == ["b"]
    assert list(timers.due(9.0)) == ["a"]


def test_moving_forward_in_time() -> None:
    timers = Timers()
    timers.set("a", 3.0)
    timers.set("a", 1.0)
    assert list(timers.due(1.0)) == ["a"]
    assert list(timers.due(9.0)) == [], "the old place does not fire"
    assert timers.deadline is None


def test_a_token_set_again_at_the_same_time_goes_to_the_end() -> None:
    timers = Timers()
    timers.set("a", 1.0)
    timers.set("b", 1.0)
    timers.set("a", 1.0)
    assert list(timers.due(1.0)) == ["b", "a"]


def test_cancel_and_cancel_again() -> None:
    timers = Timers()
    timers.set("a", 1.0)
    timers.cancel("a")
    timers.cancel("a")
    timers.cancel("never set")
    assert timers.deadline is None
    assert list(timers.due(9.0)) == []
    assert len(timers) == 0


def test_set_after_cancel_is_a_fresh_token() -> None:
    timers = Timers()
    timers.set("a", 1.0)
    timers.cancel("a")
    timers.set("a", 2.0)
    assert list(timers.due(1.0)) == []
    assert list(timers.due(2.0)) == ["a"]


def test_what_a_handler_cancels_is_not_due_any_more() -> None:
    timers = Timers()
    for token in "abc":
        timers.set(token, 1.0)
    seen = []
    for token in timers.due(1.0):
        seen.append(token)
        timers.cancel("b")
    assert seen == ["a", "c"]


def test_what_a_handler_moves_away_is_not_due_any_more() -> None:
    timers = Timers()
    timers.set("a", 1.0)
    timers.set("b", 1.0)
    seen = []
    for token in timers.due(1.0):
        seen.append(token)
        timers.set("b", 5.0)
    assert seen == ["a"]
    assert timers.deadline == 5.0


def test_what_a_handler_sets_and_is_due_comes_in_the_same_round() -> None:
    timers = Timers()
    timers.set("a", 1.0)
    seen = []
    for token in timers.due(2.0):
        seen.append(token)
        if token == "a":
            timers.set("b", 1.5)
    assert seen == ["a", "b"]


def test_a_token_is_disarmed_before_its_handler_runs() -> None:
    timers = Timers()
    timers.set("a", 1.0)
    for token in timers.due(1.0):
        assert token not in timers
        timers.set(token, 2.0)
    assert timers.deadline == 2.0


def test_stopping_half_way_keeps_the_rest() -> None:
    timers = Timers()
    timers.set("a", 1.0)
    timers.set("b", 1.0)
    assert next(timers.due(1.0)) == "a"
    assert timers.armed() == ["b"]


def test_dead_entries_go_when_they_surface() -> None:
    timers = Timers()
    for turn in range(1_000):
        timers.set("a", float(turn))
    assert timers.deadline == 999.0
    assert len(timers._heap) == 1, "reading the deadline has thrown 999 of them away"


def test_the_deadline_skips_what_is_cancelled() -> None:
    timers = Timers()
    timers.set("a", 1.0)
    timers.set("b", 2.0)
    timers.cancel("a")
    assert timers.deadline == 2.0
    assert timers.armed() == ["b"]


tokens = st.sampled_from("abcd")
operations = st.lists(
    st.one_of(
        st.tuples(st.just("set"), tokens, st.integers(0, 9)),
        st.tuples(st.just("cancel"), tokens, st.just(0)),
        st.tuples(st.just("due"), st.just(""), st.integers(0, 9)),
    ),
    max_size=40,
)


@given(operations)
def test_as_a_sorted_list_would(steps) -> None:
    timers = Timers()
    model: list[tuple[int, int, str]] = []
    for count, (what, token, at) in enumerate(steps):
        if what == "due":
            due = [entry for entry in model if entry[0] <= at]
            assert list(timers.due(at)) == [token for _, _, token in due]
            model = model[len(due) :]
        else:
            model = [entry for entry in model if entry[2] != token]
            if what == "set":
                timers.set(token, at)
                model.append((at, count, token))
                model.sort()
            else:
                timers.cancel(token)
        assert timers.deadline == (model[0][0] if model else None)
        assert timers.armed() == [token for _, _, token in model]
        assert len(timers) == len(model)
