"""Filters as sets of topics, held to ``topics.matches`` over every topic of a small world."""

from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from weft.broker.bridge.filters import covers, disjoint, generalise, intersect
from weft.mqtt.topics import matches

TOPICS = ["/".join(levels) for size in (1, 2, 3, 4) for levels in product(("a", "b", ""), repeat=size)]
TOPICS = [topic for topic in TOPICS if topic] + ["$a", "$a/b"]


@st.composite
def filters(draw):
    levels = draw(st.lists(st.sampled_from(["a", "b", "", "+", "+"]), min_size=1, max_size=3))
    if draw(st.booleans()):
        levels.append("#")
    text = "/".join(levels)
    return text or "+"


def world(filter_: str | None) -> set[str]:
    return set() if filter_ is None else {topic for topic in TOPICS if matches(filter_, topic)}


@given(filters(), filters())
def test_an_intersection_matches_what_both_match(one, other):
    assert world(intersect(one, other)) == world(one) & world(other)


@given(filters(), filters())
def test_a_cover_matches_more(one, other):
    if covers(one, other):
        assert world(other) <= world(one)


@given(filters(), filters())
def test_a_generalisation_covers_both(one, other):
    wide = generalise(one, other)
    assert world(one) | world(other) <= world(wide)


@given(st.lists(filters(), max_size=6))
def test_a_disjoint_set_covers_all_and_matches_nothing_twice(wanted):
    found = disjoint(wanted, "#", 100)
    for topic in TOPICS:
        hits = sum(matches(filter_, topic) for filter_ in found)
        assert hits <= 1
        assert hits or not any(matches(filter_, topic) for filter_ in wanted)


@pytest.mark.parametrize(
    ("wanted", "found"),
    [
        (["a/#", "a/b", "a"], ["a/#"]),
        (["a/+", "+/b"], ["+/+"]),
        (["a", "b"], ["a", "b"]),
        ([], []),
        (["a", "b", "c", "d"], ["#"]),
    ],
)
def test_few_filters_ask_for_little_more_than_was_wanted(wanted, found):
    assert disjoint(wanted, "#", 3) == found
