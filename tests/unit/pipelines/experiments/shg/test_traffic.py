"""The grid of SHG's figures, and what is read out of their summaries."""

import numpy as np
import pytest

from weft.pipelines.experiments.experiment import Scale
from weft.pipelines.experiments.shg.traffic import SWEPT, at, grid, halved, halves, memory_mb, slope, swept
from weft.pipelines.experiments.table import Missing, Table


def test_k_is_half_of_the_dimension_both_ways():
    assert [halves(n) for n in (6, 7, 10)] == [[3], [3, 4], [5]]


def test_the_papers_sizes_and_all_k_at_one_of_them():
    pairs = [(point["dimension"], point["k"]) for point in grid(Scale.PAPER)]
    assert {(6, 3), (7, 3), (7, 4), (9, 4), (9, 5), (10, 5)} <= set(pairs)
    assert [k for n, k in pairs if n == SWEPT] == list(range(1, SWEPT))
    assert len(pairs) == len(set(pairs)) == 13
    assert max(n for n, _ in ((point["dimension"], 0) for point in grid(Scale.HUGE))) == 13
    assert memory_mb(grid(Scale.HUGE)[-1]) > memory_mb(grid(Scale.PAPER)[-1])


@pytest.fixture
def tables() -> dict[str, Table]:
    rows = [(6, 3, 1.0), (7, 3, 2.0), (7, 4, 3.0), (8, 4, 4.0), (8, 5, 5.0)]
    dimension, k, x = zip(*rows, strict=True)
    return {"means": Table({"dimension": dimension, "k": k, "x": x, "variant": ["corrected"] * 5})}


def test_reading_the_means(tables):
    assert at("x", 7)(tables) == 2.0
    assert at("x", 7, 4)(tables) == 3.0
    with pytest.raises(Missing):
        at("x", 10)(tables)
    floor, ceiling = halved(tables["means"], "corrected")
    assert floor["x"].tolist() == [1.0, 2.0, 4.0]
    assert ceiling["x"].tolist() == [3.0]
    assert slope("x")(tables) == 4.0
    assert np.array_equal(swept("x")(tables), [4.0, 5.0])
