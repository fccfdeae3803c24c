"""What a grid is, and which rows are refused."""

import pytest

from weft.core.errors import Misuse
from weft.pipelines.experiments.experiment import Experiment, Scale, points
from weft.pipelines.experiments.summaries import Mean


def made(**columns) -> Experiment:
    return Experiment(
        name="trial",
        paper="beyond",
        title="A trial",
        says="",
        setting="",
        grid=lambda scale: points(size=(1, 2)),
        repeats=dict.fromkeys(Scale, 1),
        model=lambda point, seed: {},
        columns=columns,
        summaries={"mean": Mean(by=("size",), of=("hops",))},
    )


def test_points_are_every_combination_the_last_axis_turning_fastest():
    assert points(a=(1, 2), b=("x", "y")) == [
        {"a": 1, "b": "x"},
        {"a": 1, "b": "y"},
        {"a": 2, "b": "x"},
        {"a": 2, "b": "y"},
    ]


def test_rows_are_what_the_columns_say():
    experiment = made(hops=int, share=float)
    assert experiment.check({"hops": [1, 2], "share": [0.5, 1.0]}) == 2
    assert experiment.check({"hops": [], "share": []}) == 0


@pytest.mark.parametrize(
    "rows", [{"hops": [1]}, {"hops": [1], "share": [1.0], "more": [1]}, {"hops": [1], "share": [1.0, 2.0]}]
)
def test_rows_of_another_shape_are_refused(rows):
    with pytest.raises(Misuse, match="trial: columns"):
        made(hops=int, share=float).check(rows)
