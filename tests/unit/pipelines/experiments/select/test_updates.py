"""The ring of §4.3, and the sizes of its update messages level by level."""

import pytest

from weft.core.errors import Misuse
from weft.pipelines.experiments.select.updates import label, ring, sizes


def test_brokers_first_then_topic_by_topic_and_cluster_by_cluster():
    """SELECT §4.3: a label for each topic and cluster, none for a broker's own node."""
    assert [label(key) for key in ring(4, 2)] == [None] * 4 + [
        f"c{topic}|Edge{edge}" for topic in (1, 2, 3) for edge in (0, 0, 1, 1)
    ]


def test_without_values_all_levels_are_alike():
    rows = sizes({"brokers": 16, "members": 4, "carried": "none"}, 0)
    for message in ("query", "reply"):
        assert len({mean for mean, name in zip(rows["mean"], rows["message"], strict=True) if name == message}) == 1
    assert set(rows["pairs"]) == {0.0}
    used = sizes({"brokers": 16, "members": 4, "carried": "used"}, 0)
    assert [pairs > 0 for pairs in used["pairs"]] == [True] * 6 + [False] * 6


def test_misuse_is_said_at_once():
    for wrong in ({"carried": "some"}, {"members": 5}):
        with pytest.raises(Misuse):
            sizes({"brokers": 16, "members": 4, "carried": "all", **wrong}, 0)
