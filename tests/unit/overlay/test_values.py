"""Reductions: whatever the tree, the same answer; and no answer of a peer can raise anything but Violation."""

from functools import reduce as fold

import pytest
from hypothesis import given
from hypothesis import strategies as st

from weft.core.errors import Violation
from weft.overlay.values import LABELS_MAX, REDUCERS, UNION_MAX, merge, reduce, select

NUMERIC = ("count", "sum", "min", "max")
numbers = st.integers(-(2**40), 2**40)
tuples = st.lists(st.integers(0, 30) | st.sampled_from("abc"), max_size=6).map(tuple)
plain = st.one_of(
    *(st.tuples(st.just(name), st.none() | numbers, st.none() | numbers, st.none() | numbers) for name in NUMERIC),
    st.tuples(st.just("union"), st.none() | tuples, st.none() | tuples, st.none() | tuples).map(
        lambda case: (case[0], *(None if v is None else reduce("union", v, ()) for v in case[1:]))
    ),
    st.tuples(st.just("first"), st.none() | tuples, st.none() | tuples, st.none() | tuples),
)


@given(plain)
def test_reduction_is_associative_and_commutative_and_none_is_empty(case):
    name, a, b, c = case
    assert reduce(name, a, b) == reduce(name, b, a)
    assert reduce(name, reduce(name, a, b), c) == reduce(name, a, reduce(name, b, c))
    assert reduce(name, a, None) == a == reduce(name, None, a)


def test_what_each_does():
    assert reduce("count", 2, 3) == reduce("sum", 2, 3) == 5
    assert (reduce("min", 2, 3), reduce("max", 2, 3)) == (2, 3)
    assert reduce("union", ("b", "a"), ("c", "a")) == ("a", "b", "c")
    assert reduce("first", ("b",), ("a",)) == ("a",)


def test_a_union_has_a_bound_and_says_when_it_met_it():
    union = reduce("union", tuple(range(UNION_MAX)), tuple(range(UNION_MAX + 5)))
    assert len(union) == UNION_MAX + 1
    assert union[-1] == "…"
    again = reduce("union", union, (UNION_MAX + 9,))
    assert len(again) <= UNION_MAX + 1
    assert "…" in again, "cut twice is still cut"


hostile = st.recursive(
    st.none() | st.booleans() | numbers | st.floats() | st.text(max_size=3) | st.binary(max_size=3),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.lists(inner, max_size=3).map(tuple)
        | st.dictionaries(st.text(max_size=2), inner, max_size=2)
    ),
    max_leaves=5,
)


@given(st.sampled_from(sorted(REDUCERS)) | st.text(max_size=5), hostile, hostile)
def test_what_cannot_be_combined_violates(name, left, right):
    try:
        combined = reduce(name, left, right)
    except Violation:
        assert left is not None
        assert right is not None
    else:
        assert left is None or right is None or (name in REDUCERS and combined is not None)


@pytest.mark.parametrize(
    ("name", "left", "right"),
    [
        ("sum", 1, "a"),
        ("sum", 10**400, 0.5),
        ("union", 3, 4),
        ("union", ([],), ()),
        ("no", 1, 2),
    ],
)
def test_these_cannot_be_combined(name, left, right):
    with pytest.raises(Violation, match=f"cannot reduce by {name}"):
        reduce(name, left, right)


def test_a_number_too_long_to_be_written_violates():
    with pytest.raises(Violation, match="cannot reduce by first"):
        reduce("first", 10**5_000, 1)


labels = st.sampled_from(["free", "sum:x", "min:y", "max:z", "union:odd", ":", "min", "max"])
attributes = st.dictionaries(labels, numbers, max_size=6)


@given(attributes, attributes, attributes)
def test_merging_attributes_is_associative_and_commutative(a, b, c):
    assert merge(a, b) == merge(b, a)
    assert merge(merge(a, b), c) == merge(a, merge(b, c))
    assert merge(a, {}) == a == merge({}, a)


@given(st.lists(attributes, max_size=6))
def test_merging_is_label_by_label(many):
    merged = fold(merge, many, {})
    combine = {"min": min, "max": max}
    for label in {label for one in many for label in one}:
        found = [one[label] for one in many if label in one]
        assert merged[label] == combine.get(label.partition(":")[0], sum)(found)


def test_merging_leaves_its_arguments_alone():
    left, right = {"a": 1.0}, {"a": 2.0, "b": 3.0}
    assert merge(left, right) == {"a": 3.0, "b": 3.0}
    assert (left, right) == ({"a": 1.0}, {"a": 2.0, "b": 3.0})


def test_no_more_labels_than_the_bound():
    left = {f"l{number}": 1.0 for number in range(LABELS_MAX)}
    merged = merge(left, {"new": 1.0, "l0": 1.0})
    assert len(merged) == LABELS_MAX
    assert merged["l0"] == 2.0


def test_only_what_is_asked_for_travels():
    held = {"a": 1.0, "b": 2.0}
    assert select(held, None) == held
    assert select(held, None) is not held
    assert select(held, ("b", "c")) == {"b": 2.0}
