"""Shapes of trees: depths, fan-out, turns and the time of the last."""

import numpy as np
import pytest

from weft.pipelines.experiments.beyond.shapes import (
    SKIP_GRAPH,
    SUZAKU,
    behind,
    last,
    model,
    turns_by_key,
    turns_by_size,
)
from weft.sim.vector.layout import Layout, Span
from weft.sim.vector.multicast import STRATEGIES, Tree, multicast
from weft.sim.vector.suzaku import Suzaku


def tree(size: int, strategy: str, sender: int = 0) -> Tree:
    return multicast(Suzaku(Layout.plain(range(1, size + 1))), sender, Span(0, size), strategy)


def test_what_is_behind_a_message():
    for strategy in STRATEGIES:
        found = tree(50, strategy, sender=20)
        sizes = behind(found)
        below = np.ones(len(sizes), int)
        for at in range(len(sizes) - 1, -1, -1):
            if found.cause[at] >= 0:
                below[found.cause[at]] += below[at]
        assert sizes.tolist() == below.tolist()
        assert sizes[found.cause < 0].sum() == 49


def test_turns_are_counted_for_each_sender():
    for strategy in STRATEGIES:
        found = tree(64, strategy, sender=5)
        by_key, by_size = turns_by_key(found), turns_by_size(found)
        for cause in np.unique(found.cause):
            copies = np.flatnonzero(found.cause == cause)
            assert sorted(by_key[copies]) == sorted(by_size[copies]) == list(range(len(copies)))
            in_turn = copies[np.argsort(by_size[copies])]
            assert (np.diff(behind(found)[in_turn]) <= 0).all()


def test_the_time_of_the_last():
    """Eight in a row and a sender at its end, cut at 1, 2 and 4: a binomial tree."""
    found = tree(8, "split")
    assert last(found, 0.0, turns_by_key(found)) == 3.0
    assert last(found, 1.0, turns_by_size(found)) == 6.0
    assert last(found, 1.0, turns_by_key(found)) > 6.0


def test_a_sender_alone_sends_nothing_and_waits_for_nobody():
    assert last(tree(1, "split"), 1.0, turns_by_size(tree(1, "split"))) == 0.0


@pytest.mark.parametrize("overlay", [SKIP_GRAPH, SUZAKU])
def test_a_row_for_each_strategy(overlay):
    found = model({"overlay": overlay, "members": 300}, 1)
    assert found["strategy"] == list(STRATEGIES)
    assert found["messages"] == [299] * 3
    assert found["fanout_max"][0] <= 2
    assert found["depth_mean"][1] < found["depth_mean"][0]
    assert found == model({"overlay": overlay, "members": 300}, 1)
