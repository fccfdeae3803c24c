"""Numbers for filters: equal codes are what a query asks for, and shapes are ordered as weft's own keys group them."""

from itertools import groupby

import numpy as np
import pytest

from weft.mqtt.topics import matches
from weft.overlay.keys import filter_parts
from weft.pipelines.experiments.beyond.filters import SHAPES, WORDS, by_prefixes, by_shapes, drawn, literals, prefix
from weft.sim.vector.draws import Draws

KEYS = 400


def words(row) -> list[str]:
    return [f"w{word:02d}" for word in row]


def blanked(row, shape: str) -> str:
    levels = shape.split("/")
    return "/".join(word if level == "L" else level for level, word in zip(levels, [*words(row), ""], strict=False))


@pytest.fixture(scope="module", params=[1, 4, 16])
def made(request):
    draws = Draws(3)
    topics, shape_of = drawn(draws, KEYS), draws.below(request.param, KEYS)
    filters = [blanked(row, SHAPES[shape]) for row, shape in zip(topics, shape_of, strict=True)]
    return topics, shape_of, request.param, filters


def test_all_shapes_are_different_and_fit_topics_of_so_many_levels():
    topic = "/".join("abcde")
    assert len(set(SHAPES)) == len(SHAPES) == 16
    for shape in SHAPES:
        found = shape.split("/")
        assert matches(
            "/".join(word if level == "L" else level for level, word in zip(found, [*"abcde", ""], strict=False)), topic
        )


def test_words_are_zipfs():
    topics = drawn(Draws(1), 20_000)
    for level, count in enumerate(WORDS):
        often = np.bincount(topics[:, level], minlength=count)
        assert often.size == count
        assert often[0] / often[1] == pytest.approx(2.0, rel=0.1)


def test_literals_and_prefixes_of_shapes():
    assert literals("L/+/L/#") == (0, 2)
    assert prefix("L/+/L/#") == (0,)
    assert prefix("L/L/#") == (0, 1)
    assert prefix("+/L/L/L/L") == ()


def test_equal_codes_are_equal_filters(made):
    topics, shape_of, live, filters = made
    codes = by_shapes(topics, shape_of, live).codes
    for code in set(codes.tolist()):
        assert len({filters[at] for at in np.flatnonzero(codes == code)}) == 1
    assert len(set(codes.tolist())) == len(set(filters))


def test_filters_in_order_of_weft_s_keys_are_grouped_by_code(made):
    topics, shape_of, live, filters = made
    codes = by_shapes(topics, shape_of, live).codes
    order = sorted(range(KEYS), key=lambda at: filter_parts(filters[at]))
    groups = [code for code, _ in groupby(codes[order].tolist())]
    assert len(groups) == len(set(groups)), "those of one code stand together: their range is one"


def test_by_shapes_are_asked_exactly_those_that_match(made):
    topics, shape_of, live, filters = made
    scheme = by_shapes(topics, shape_of, live)
    for topic in drawn(Draws(4), 20):
        name = "/".join(words(topic))
        asked = np.isin(scheme.codes, scheme.asked(topic))
        assert asked.tolist() == [matches(each, name) for each in filters]
        assert len(scheme.asked(topic)) == live


def test_by_prefixes_are_asked_all_whose_literals_before_a_wildcard_agree(made):
    topics, shape_of, live, filters = made
    scheme = by_prefixes(topics, shape_of, live)
    for topic in drawn(Draws(5), 20):
        name = words(topic)
        asked = np.isin(scheme.codes, scheme.asked(topic))
        for found, each in zip(asked, filters, strict=True):
            levels = each.split("/")
            before = levels[: next((at for at, level in enumerate(levels) if level in {"+", "#"}), len(levels))]
            assert found == (before == name[: len(before)])
            assert found or not matches(each, "/".join(name))
