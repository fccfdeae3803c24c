"""cluster-first beside its rivals, on the overlays of figures 8 to 10."""

import pytest

from weft.pipelines.experiments.beyond.entrances import CLUSTER_FIRST, CLUSTER_FIRST_RANDOM, DIRECT, model
from weft.pipelines.experiments.saps.crossings import LINE, LOCAL, OFM, RANDOM_IDS, TREE
from weft.pipelines.experiments.saps.crossings import model as as_published

POINTS = [{"topology": topology, "clusters": 16, "subscribers": 100} for topology in (LINE, TREE)]


def rows(found) -> dict[str, dict[str, float]]:
    return {
        method: {name: found[name][at] for name in found if name != "method"}
        for at, method in enumerate(found["method"])
    }


@pytest.mark.parametrize("point", POINTS, ids=lambda point: point["topology"])
@pytest.mark.parametrize("seed", range(5))
def test_what_both_have_is_the_same(point, seed):
    ours, theirs = rows(model(point, seed)), rows(as_published(point, seed))
    for method in {LOCAL, RANDOM_IDS, OFM} & set(theirs):
        assert (ours[method]["traffic"], ours[method]["delay"]) == (theirs[method]["traffic"], theirs[method]["delay"])


@pytest.mark.parametrize("seed", range(10))
def test_each_remote_cluster_is_entered_once(seed):
    in_tree, on_line = (rows(model(point, seed)) for point in reversed(POINTS))
    assert in_tree[CLUSTER_FIRST]["entrances"] == on_line[CLUSTER_FIRST_RANDOM]["entrances"] == 1.0
    assert in_tree[CLUSTER_FIRST]["traffic"] == in_tree[DIRECT]["traffic"]
    assert in_tree[DIRECT]["delay"] == 2


def test_with_one_cluster_there_is_nothing_to_enter():
    found = rows(model({"topology": TREE, "clusters": 1, "subscribers": 10}, 1))
    assert found[CLUSTER_FIRST] == {"traffic": 0, "delay": 0, "entrances": 0.0}
