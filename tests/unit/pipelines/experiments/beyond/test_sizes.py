"""Figure 10's model, sampled."""

import numpy as np
import pytest

from weft.pipelines.experiments.beyond import sizes
from weft.pipelines.experiments.relay import paths


def test_a_sample_of_all_topics_is_all_of_them_where_there_are_few():
    rows = sizes.model({"nodes": 2_000}, 4)
    found = {(m, p): h for m, p, h in zip(rows["method"], rows["pattern"], rows["hops"], strict=True)}
    point = {"nodes": 2_000, "overlays": 1}
    for pattern in ("alpha", "delta", "zeta"):
        whole = paths.means({**point, "pattern": pattern}, 0)
        assert found[paths.PROPOSED, pattern] == pytest.approx(whole["hops"][0], rel=0.25)
    assert set(rows["pattern"]) == set(paths.PATTERNS)


def test_levels_and_bytes_are_a_nodes():
    rows = sizes.model({"nodes": 4_000}, 4)
    assert np.log2(4_000) < rows["levels"][0] < np.log2(4_000) + 3
    assert rows["graph_bytes"][0] == pytest.approx(8 * rows["levels"][0] + 8, rel=0.01)
