"""Demands for all topics at once are those of the switches' own model, topic by topic."""

import numpy as np
import pytest

from weft.pipelines.experiments.beyond.flow_demands import Town, drawn, needs, saved
from weft.sim.vector.layout import Layout, Span
from weft.sim.vector.multicast import multicast
from weft.sim.vector.physical import Line, Star, unicasts
from weft.sim.vector.skipgraph import seeded

TOWN = {"clusters": 7, "brokers": 5, "topics": 120, "members": 40.0, "members_exponent": 0.7}


@pytest.mark.parametrize("fabric", ["tree", "line"])
def test_entries_are_those_of_the_tree_of_switches(fabric):
    town = Town(fabric=fabric, **TOWN)
    topics = drawn(town, 1)
    switches = Star(7) if fabric == "tree" else Line(7)
    demands = needs(topics, np.zeros(120), np.zeros(town.switches, np.int64))
    assert town.switches == switches.switches
    for topic in range(120):
        here = topics.topic == topic
        counts = np.zeros(7, np.int64)
        counts[topics.cluster[here]] = topics.count[here]
        one = np.zeros(120, bool)
        one[topic] = True
        assert demands.used(one).tolist() == switches.ofm(counts, int(topics.cluster[here][0])).flows.tolist()


def test_the_tree_saves_what_the_model_of_multicast_says():
    """In the tree each unicast between clusters crosses two links, and there is one for each cluster but the sender's."""
    topics = drawn(Town(**TOWN), 2)
    found = saved(topics, 2)
    for topic in range(0, 120, 3):
        here = topics.topic == topic
        clusters, counts = topics.cluster[here], topics.count[here]
        sites = np.repeat(clusters, counts)
        layout = Layout.plain(np.arange(1, sites.size + 1), run=np.repeat(np.arange(clusters.size), counts), site=sites)
        tree = multicast(seeded(layout, 5), 0, Span(0, sites.size))
        traffic, _ = unicasts(tree, sites, Star(7))
        members = np.zeros(7, np.int64)
        members[clusters] = counts
        assert max(traffic - Star(7).ofm(members, int(sites[0])).links, 0) == found[topic]


def test_a_line_saves_what_unicasts_go_back_and_forth():
    topics = drawn(Town(fabric="line", **TOWN), 3)
    found = saved(topics, 3)
    assert (found >= 0).all()
    assert (found[topics.spread < 2] == 0).all()
    assert found.max() > 2


def test_members_and_rates_are_as_said():
    topics = drawn(Town(topics=2_000), 4)
    members = topics.members
    assert members.min() == 2
    assert 100 < members[9] <= 100 + 1e-9 or members[9] <= 100, "1,000 / 10, less what a cluster has no room for"
    assert (topics.count <= 64).all()
    assert np.sort(topics.rate)[::-1] == pytest.approx(100 / np.arange(1, 2_001))
    assert abs(np.corrcoef(members, topics.rate)[0, 1]) < 0.1
    assert drawn(Town(topics=2_000), 4).rate.tolist() == topics.rate.tolist()
