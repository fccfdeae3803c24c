"""Who is in which topic, and where the topics' keys stand."""

import numpy as np

from weft.pipelines.experiments.relay.topics import PUBLISHES, SUBSCRIBES, Keys, Skips, dealt, drawn, targets
from weft.sim.vector.draws import Draws


def test_dealt_everybody_is_in_each_round_once():
    topics = dealt(Draws(1), 60, 6, rounds=3)
    assert topics.shape == (30, 6)
    assert np.bincount(topics.ravel()).tolist() == [3] * 60
    for row in topics:
        assert len(set(row.tolist())) == 6


def test_dealt_who_is_left_over_is_in_none():
    assert len(set(dealt(Draws(1), 25, 10).ravel().tolist())) == 20


def test_drawn_different_topics_for_each_node_uniformly():
    found = drawn(Draws(2), 5_000, 20, 10)
    assert (np.diff(found, axis=1) > 0).all()
    assert abs(np.bincount(found.ravel(), minlength=20) / 2_500 - 1).max() < 0.1


def test_keys_stand_by_topic_then_role_then_node():
    topic, role, node = (np.array(column) for column in zip((1, 1, 4), (0, 1, 2), (0, 0, 3), (1, 0, 0), strict=True))
    keys = Keys.of(5, 2, topic, role, node)
    assert keys.layout.owner.tolist() == [3, 2, 0, 4]
    assert (keys.publishers(0).tolist(), keys.subscribers(0).tolist()) == ([3], [2])
    assert (keys.publishers(1).tolist(), keys.subscribers(1).tolist()) == ([0], [4])
    assert (keys.span(0).low, keys.span(0).high) == (1, 2)
    assert PUBLISHES < SUBSCRIBES, "RELAY §5.3.1: the rendezvous point is the last of the publishers"


def test_targets_are_ids_of_so_many_digits():
    found = targets(3, 100, 48)
    assert len(set(found)) == 100
    assert max(found) < 1 << 48
    assert min(found) < 1 << 44


def test_one_graph_serves_both_methods():
    skips = Skips.of(50, 4)
    assert skips.substrate.net.links is skips.graph.links
    assert skips.substrate.size == 50
