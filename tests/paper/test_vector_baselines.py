"""What RELAY §6 says of Scribe, at its sizes, on the bulk models."""

import numpy as np
import pytest

from weft.overlay.rendezvous.geometry import identity
from weft.sim.vector.bayeux import ways
from weft.sim.vector.draws import Draws
from weft.sim.vector.layout import Layout
from weft.sim.vector.scribe import Substrate, tree
from weft.sim.vector.skipgraph import build, membership

PATTERNS = {
    "alpha": (10, 990),
    "beta": (500, 500),
    "gamma": (990, 10),
    "delta": (1, 9),
    "epsilon": (5, 5),
    "zeta": (9, 1),
}


def rings(nodes: int, seed: int) -> Substrate:
    ids = np.arange(1, nodes + 1)
    vectors = membership(seed, ids)
    return Substrate.rings(build(Layout.plain(ids), vectors), vectors)


@pytest.fixture(scope="module")
def large() -> Substrate:
    return rings(100_000, 1)


def length(over: Substrate, publishers: int, subscribers: int, topics: int, seed: int) -> float:
    """The mean over topics of the mean length from every publisher to every subscriber, who are not the same."""
    draws, means = Draws(seed), []
    for topic in range(topics):
        members = draws.shuffled(over.size)[: publishers + subscribers]
        found = tree(over, identity(f"{topic}", 48), members[publishers:])
        means.append(np.mean([found.lengths(int(publisher)).mean() for publisher in members[:publishers]]))
    return float(np.mean(means))


@pytest.mark.parametrize("pattern", ["delta", "epsilon", "zeta"])
def test_6_2_figure_10_b_scribe_needs_16_hops_at_100000_nodes(large, pattern):
    assert length(large, *PATTERNS[pattern], topics=60, seed=2) == pytest.approx(16, abs=1.0)


def test_6_2_figure_10_b_scribes_path_is_not_affected_by_the_size_of_topics(large):
    few = length(large, *PATTERNS["epsilon"], topics=60, seed=3)
    many = length(large, *PATTERNS["alpha"], topics=60, seed=3)
    assert few == pytest.approx(many, abs=1.0)


def test_6_1_figure_9_scribes_messages_are_a_digit_more_than_subscribers_ask_for(large):
    """Messages of one publication: to the root, and on from each forwarder; with 10 subscribers ten times as many."""
    draws = Draws(4)
    for subscribers, least in ((1_000, 5), (100, 8), (10, 10)):
        found = tree(large, identity("t", 48), draws.shuffled(large.size)[:subscribers])
        assert (found.nodes.size + 1) / subscribers > least


def test_6_footnote_4_bayeux_has_almost_the_same_characteristics_as_scribe(large):
    """'the number of messages, the length of the forwarding path'."""
    draws, lengths, messages = Draws(5), [], []
    for topic in range(10):
        members, target = draws.shuffled(large.size)[:300], identity(f"{topic}", 48)
        one, other = tree(large, target, members), ways(large, target, members)
        lengths.append(other.reached.mean() / one.reached.mean())
        messages.append(other.sources.size / one.nodes.size)
    assert np.mean(lengths) == pytest.approx(1.0, abs=0.15)
    assert np.mean(messages) == pytest.approx(1.0, abs=0.15)


def test_5_4_table_1_scribes_path_and_storage_grow_with_the_logarithm_of_the_nodes():
    means, entries = [], []
    for nodes in (1_000, 4_000, 16_000, 64_000):
        over, step = rings(nodes, nodes), nodes // 50  # of one tree all paths end alike: many trees
        found = [tree(over, identity(f"{topic}", 48), range(topic, nodes, step)) for topic in range(200)]
        means.append(np.mean([each.reached.mean() for each in found]))
        entries.append(np.mean([each.nodes.size for each in found]) / 50)
    assert np.diff(means) == pytest.approx([2.0] * 3, abs=0.9)
    assert np.diff(entries) == pytest.approx([2.0] * 3, abs=0.9)
