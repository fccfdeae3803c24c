"""Predicates, patterns, attributes."""

import pytest

from weft.core.errors import Misuse, Violation
from weft.overlay.shg.patterns import (
    ATTRIBUTES_MAX,
    OPS,
    PREDICATES_MAX,
    Pattern,
    Predicate,
    heard,
    matches,
    pattern,
    wrong_attributes,
)


@pytest.mark.parametrize(
    ("op", "value", "yes", "no"),
    [
        ("=", 3, [3, 3.0], [4, "3"]),
        ("!=", 3, [4], [3, "x"]),
        ("<", 3, [2, -1.5], [3, 4]),
        ("<=", 3, [3], [3.1]),
        (">", "b", ["c"], ["a", "b", 9]),
        (">=", "b", ["b"], ["a"]),
        ("prefix", "ab", ["abc", "ab"], ["a", 4]),
    ],
)
def test_each_comparison(op, value, yes, no):
    wanted = pattern(Predicate("x", op, value))
    assert all(matches(wanted, {"x": one}) for one in yes)
    assert not any(matches(wanted, {"x": one}) for one in no)
    assert not matches(wanted, {"y": value}), "what is absent satisfies nothing"


def test_every_comparison_is_tested_above():
    assert set(OPS) == {"=", "!=", "<", "<=", ">", ">=", "prefix"}


def test_a_pattern_is_all_of_its_predicates_and_the_empty_one_is_everything():
    both = pattern(Predicate("t", ">", 20), Predicate("room", "=", "a"))
    assert matches(both, {"t": 21, "room": "a", "more": 1})
    assert not matches(both, {"t": 21, "room": "b"})
    assert matches(pattern(), {})


def test_the_same_pattern_is_one_value_in_whatever_order_it_is_written():
    one, other = Predicate("a", "=", 1), Predicate("a", "=", "1")
    assert pattern(one, other) == pattern(other, one, one)
    assert hash(pattern(one, other)) == hash(pattern(other, one))


@pytest.mark.parametrize(
    "predicates",
    [
        [Predicate("a", "~", 1)],
        [Predicate("a" * 5_000, "=", 1)],
        [Predicate("a", "=", float("nan"))],
        [Predicate("a", "=", "x" * 5_000)],
        [Predicate("a", "=", number) for number in range(PREDICATES_MAX + 1)],
    ],
)
def test_what_is_no_pattern_is_refused(predicates):
    with pytest.raises(Misuse):
        pattern(*predicates)
    with pytest.raises(Violation):
        heard(Pattern(tuple(predicates)))


def test_a_peers_pattern_is_in_order():
    with pytest.raises(Violation):
        heard(Pattern((Predicate("b", "=", 1), Predicate("a", "=", 1))))
    heard(pattern(Predicate("b", "=", 1), Predicate("a", "=", 1)))


def test_attributes_are_names_and_values():
    assert wrong_attributes({"a": 1, "b": "x", "c": 1.5}) == ""
    for attributes in (
        7,
        {1: 2},
        {"a": None},
        {"a": float("nan")},
        {"a": [1]},
        {str(number): 1 for number in range(ATTRIBUTES_MAX + 1)},
    ):
        assert wrong_attributes(attributes) != ""
