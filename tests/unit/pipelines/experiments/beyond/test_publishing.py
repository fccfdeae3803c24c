"""Costs of publications by three schemes, on the same filters."""

import pytest

from weft.pipelines.experiments.beyond.publishing import COLUMNS, published
from weft.pipelines.experiments.beyond.wildcards import POSSIBLE


def run(keys: int, shapes: int, seed: int = 0) -> dict[str, dict[str, float]]:
    rows = published({"keys": keys, "shapes": shapes}, seed)
    assert list(rows) == list(COLUMNS)
    return {scheme: {name: rows[name][at] for name in rows} for at, scheme in enumerate(rows["scheme"])}


@pytest.mark.parametrize("shapes", [1, 4, 16])
def test_each_scheme_reaches_those_that_match(shapes):
    costs = run(600, shapes)
    assert costs["shapes"]["matching"] == costs["prefixes"]["matching"] == costs["flooding"]["matching"]
    assert costs["shapes"]["false"] == 0
    assert costs["shapes"]["queries"] == shapes
    assert costs["flooding"]["messages"] == 599
    for scheme in ("shapes", "prefixes"):
        found = costs[scheme]
        own = found["matching"] + found["false"] - (found["messages"] - found["relays"])
        assert -1e-9 < own < 1, "each gets one message but the sender itself"


def test_with_plain_topics_alone_prefixes_are_shapes():
    costs = run(600, 1)
    assert {**costs["shapes"], "scheme": ""} == {**costs["prefixes"], "scheme": ""}


def test_a_topic_of_five_levels_fits_95_shapes():
    assert POSSIBLE == 95


def test_the_same_seed_gives_the_same_rows():
    assert run(300, 4) == run(300, 4) != run(300, 4, seed=1)
