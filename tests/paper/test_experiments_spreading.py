"""Beyond the papers: what the strategies of range multicast come to on SAPS's own overlays."""

import numpy as np
import pytest

from weft.pipelines.experiments.beyond import entrances, shapes
from weft.pipelines.experiments.saps.crossings import LOCAL, OFM, TREE


@pytest.mark.parametrize(("clusters", "subscribers"), [(16, 100), (16, 5_000), (128, 100)])
def test_cluster_first_crosses_as_often_as_k_minus_1_unicasts(clusters, subscribers):
    """Overlay §5: each remote cluster is entered exactly once, in each of SAPS's overlays; `binary` does so far more often."""
    for seed in range(20):
        found = entrances.model({"topology": TREE, "clusters": clusters, "subscribers": subscribers}, seed)
        row = {name: at for at, name in enumerate(found["method"])}
        assert found["entrances"][row[entrances.CLUSTER_FIRST]] == 1.0
        assert found["traffic"][row[entrances.CLUSTER_FIRST]] == found["traffic"][row[entrances.DIRECT]]
        assert found["traffic"][row[entrances.CLUSTER_FIRST]] < found["traffic"][row[LOCAL]]
        assert found["delay"][row[entrances.CLUSTER_FIRST]] >= found["delay"][row[OFM]] == 2


@pytest.mark.parametrize("overlay", [shapes.SKIP_GRAPH, shapes.SUZAKU])
def test_split_has_shorter_paths_and_binary_at_most_two_copies(overlay):
    """Overlay §5; RELAY §5.2, footnote 5. Sent in key order, split's many copies keep the last one waiting."""
    runs = [shapes.model({"overlay": overlay, "members": 5_000}, seed) for seed in range(5)]
    depth, copies, late, sorted_late = (
        np.array([run[name] for run in runs]) for name in ("depth_mean", "fanout_max", "last_slow", "last_slow_sorted")
    )
    binary, split = 0, 1
    assert (depth[:, split] < 0.8 * depth[:, binary]).all()
    assert (copies[:, binary] <= 2).all()
    assert (copies[:, split] > 8).all()
    assert late[:, split].mean() > late[:, binary].mean() > sorted_late[:, split].mean()
