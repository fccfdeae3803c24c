"""Sizes of routing tables."""

import numpy as np
import pytest

from weft.pipelines.experiments.relay import entries
from weft.sim.vector.layout import Layout
from weft.sim.vector.skipgraph import seeded


def test_averages_of_both_methods():
    rows = entries.averages({"nodes": 600, "topics": 50, "each": 4}, 1)
    found = {name: dict(zip(rows["method"], rows[name], strict=True)) for name in rows if name != "method"}
    plain = seeded(Layout.plain(range(1, 601)), 1).links.size / 600
    assert found["topics_part"][entries.PROPOSED] == 0
    assert found["rings"][entries.SCRIBE] == pytest.approx(plain + found["topics_part"][entries.SCRIBE])
    for method in (entries.PROPOSED, entries.SCRIBE):
        ordered = [found[name][method] for name in ("nodes_known", "foreign", "entries", "rings")]
        assert ordered == sorted(ordered)
    assert found["entries"][entries.SCRIBE] == found["foreign"][entries.SCRIBE], "one key: nobody is its own neighbour"


def test_a_publisher_keeps_the_root_of_each_topic():
    """With as many topics as Scribe's publishers have, half of the nodes keep ``each`` roots."""
    rows = entries.averages({"nodes": 200, "topics": 10, "each": 3}, 2)
    assert rows["topics_part"][1] >= 3 / 2


def test_sizes_of_nodes_with_1_2_3_topics():
    rows = entries.sizes({"nodes": 60}, 1)
    assert np.asarray(rows["node_topics"]).tolist() == 2 * list(range(1, 61))
    for method in (entries.PROPOSED, entries.SCRIBE):
        mine = np.asarray(rows["normalised"])[np.asarray(rows["method"]) == method]
        assert (mine.min(), mine.max()) == (0.0, 1.0)


def test_normalised_where_all_are_alike():
    assert entries.normalised(np.array([7, 7])).tolist() == [0.0, 0.0]
