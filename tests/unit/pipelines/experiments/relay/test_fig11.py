"""Figure 11's claims, on distributions made by hand."""

import pytest

from weft.pipelines.experiments.relay.fig11 import EXPERIMENT, distance, tail
from weft.pipelines.experiments.relay.paths import PROPOSED, SCRIBE
from weft.pipelines.experiments.scale import Scale
from weft.pipelines.experiments.table import Missing, Table


def tables(shift: int) -> dict[str, Table]:
    """Ten lengths, equally often; Scribe's are ``shift`` longer."""
    rows = [(10_000, PROPOSED, hops, hops / 10) for hops in range(1, 11)]
    rows += [(10_000, SCRIBE, hops + shift, hops / 10) for hops in range(1, 11)]
    names = ("nodes", "method", "value", "share")
    return {"lengths": Table({name: [row[at] for row in rows] for at, name in enumerate(names)})}


def test_the_distance_and_the_tail():
    assert distance(10_000)(tables(0)) == 0
    assert distance(10_000)(tables(3)) == pytest.approx(0.3)
    assert tail(10_000)(tables(10)) == 0.5
    with pytest.raises(Missing):
        distance(1_000)(tables(0))


def test_a_fifth_apart_is_not_close():
    assert [EXPERIMENT.claims[0].judge(tables(shift)).verdict for shift in (0, 2)] == ["holds", "does not hold"]


def test_pattern_alpha_alone():
    assert {point["pattern"] for point in EXPERIMENT.grid(Scale.PAPER)} == {"alpha"}
