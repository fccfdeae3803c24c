"""Table 1's laws, on curves made by hand."""

import numpy as np
import pytest

from weft.pipelines.experiments.relay.growth import CAN, PROPOSED
from weft.pipelines.experiments.relay.table1 import BASE, EXPERIMENT, left_over, sweep
from weft.pipelines.experiments.scale import Scale
from weft.pipelines.experiments.table import Missing, Table


def tables(longest: dict[int, float]) -> dict[str, Table]:
    """A sweep over members for the proposed method, and one point of another sweep."""
    rows = [(*{**BASE, "members": members}.values(), PROPOSED, hops) for members, hops in longest.items()]
    rows.append((*{**BASE, "nodes": 99}.values(), PROPOSED, 1_000.0))
    names = (*BASE, "method", "longest")
    return {"growth": Table({name: [row[at] for row in rows] for at, name in enumerate(names)})}


def test_a_sweep_is_what_differs_in_one_thing():
    assert sweep(tables({16: 4.0, 64: 6.0, 256: 8.0}), "members", PROPOSED)["longest"].tolist() == [4.0, 6.0, 8.0]
    with pytest.raises(Missing):
        sweep(tables({64: 6.0}), "members", CAN)


@pytest.mark.parametrize(
    ("curve", "verdict"), [(lambda m: 2 * np.log2(m), "holds"), (np.sqrt, "does not hold"), (lambda m: 7.0, "holds")]
)
def test_a_logarithm_holds_a_root_does_not_and_less_is_no_harm(curve, verdict):
    """An O() is an upper bound."""
    judged = EXPERIMENT.claims[0].judge(tables({m: float(curve(m)) for m in (16, 64, 256, 1_024)}))
    assert judged.verdict == verdict


def test_what_is_left_over_is_a_power():
    found = left_over("members", PROPOSED, "longest", np.log2)(tables({m: m * np.log2(m) for m in (16, 64, 256)}))
    assert found == pytest.approx(1.0)


def test_the_grid_varies_one_thing_at_a_time():
    for point in EXPERIMENT.grid(Scale.PAPER):
        assert sum(point[name] != value for name, value in BASE.items()) <= 1
