"""Counting between clusters: SAPS's own examples, and what is refused."""

import numpy as np
import pytest

from weft.core.errors import Misuse
from weft.sim.vector.layout import Layout, Span
from weft.sim.vector.multicast import multicast
from weft.sim.vector.physical import Line, Star, occupied, ofgate_queries, unicasts
from weft.sim.vector.suzaku import Suzaku


def test_a_line_counts_links_and_a_star_two():
    assert Line(4).hops([0, 3, 1], [3, 0, 1]).tolist() == [3, 3, 0]
    assert Line(4, [2, 0, 1, 3]).hops(0, [1, 2, 3]).tolist() == [2, 1, 1]
    assert Star(4).hops([0, 3, 1], [3, 0, 1]).tolist() == [2, 2, 0]


def test_ofm_on_a_line():
    ofm = Line(6).ofm([0, 2, 0, 1, 0, 0], publisher=1)
    assert (ofm.links, ofm.largest, ofm.switches) == (2, 2, 3)
    assert ofm.flows.tolist() == [0, 3, 1, 2, 0, 0]
    assert ofm.buckets.tolist() == [0, 3, 2, 2, 0, 0]


def test_ofm_in_a_star_sends_one_message_per_cluster():
    ofm = Star(4).ofm([2, 0, 1, 1], publisher=2)
    assert (ofm.links, ofm.largest, ofm.switches) == (3, 2, 4)
    assert ofm.flows.tolist() == [3, 0, 2, 2, 1]
    assert ofm.buckets.tolist() == [3, 0, 2, 2, 3]


@pytest.mark.parametrize("fabric", [Line(3), Star(3)])
def test_a_tree_within_one_cluster_uses_its_switch_alone(fabric):
    ofm = fabric.ofm([0, 4, 0], publisher=1)
    assert (ofm.links, ofm.largest, ofm.switches) == (0, 0, 1)
    assert (ofm.flows.sum(), ofm.buckets.sum()) == (5, 4)


def test_unicasts_add_up_and_the_largest_is_along_one_way():
    tree = multicast(Suzaku(Layout.plain(range(1, 17))), 0, Span(0, 4), "binary")
    sites = np.array([0, 1, 2, 3, *[0] * 12], np.int32)
    assert unicasts(tree, sites, Line(4)) == (4, 3)  # 0 to 2, 2 to 1 and to 3
    assert unicasts(tree, sites, Star(4)) == (6, 4)
    alone = multicast(Suzaku(Layout.plain([1])), 0, Span(0, 1), "binary")
    assert unicasts(alone, np.zeros(1, np.int32), Line(1)) == (0, 0)


def test_figure_12_counts_switches_and_ports():
    assert occupied(Line(4), [0, 0, 0, 0]) == (0.0, 0.0)
    assert occupied(Line(4), [1, 0, 1, 0]) == (0.75, 0.5)
    assert occupied(Line(4), [1_000, 1_001, 1, 5_000]) == (1.0, 9 / 4)
    assert occupied(Star(3), [1, 0, 1]) == (0.75, 0.5)


def test_equations_1_and_2():
    either, both = ofgate_queries(publishers=10, publish_rate=1, subscribers=100, leave_rate=0.5, join_rate=0.2)
    assert (either, both) == (80, 50)


@pytest.mark.parametrize(
    "wrong",
    [
        lambda: Line(0),
        lambda: Line(3, [0, 1, 1]),
        lambda: Star(0),
        lambda: Star(3).ofm([1, 1], 0),
        lambda: Line(3).ofm([1, -1, 0], 0),
        lambda: Line(3).ofm([1, 1, 0], 3),
    ],
)
def test_misuse_is_said_at_once(wrong):
    with pytest.raises(Misuse):
        wrong()
