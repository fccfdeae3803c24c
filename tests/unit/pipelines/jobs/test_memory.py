"""A scale that does not fit is refused before anything starts."""

import pytest

from weft.pipelines.experiments.experiment import Scale, points
from weft.pipelines.jobs import memory
from weft.pipelines.jobs.memory import JVM_MB, TooLarge, check, needed_mb


class Hungry:
    name = "hungry"
    repeats = dict.fromkeys(Scale, 2)

    @staticmethod
    def grid(scale):
        return points(mb=(100, 1_000, 300))

    @staticmethod
    def memory_mb(point):
        return point["mb"]


@pytest.mark.parametrize(("cores", "mb"), [(1, 1_000), (2, 2_000), (3, 2_300), (16, 2_800)])
def test_the_largest_runs_may_come_together(cores, mb):
    assert needed_mb(Hungry, Scale.PAPER, cores) == JVM_MB + mb


def test_what_does_not_fit_is_refused_with_what_would(monkeypatch):
    monkeypatch.setattr(memory, "available_mb", lambda: JVM_MB + 1_500.0)
    check(Hungry, Scale.PAPER, 1)
    with pytest.raises(
        TooLarge, match=r"needs 3.5 GB with 2 runs at once, 3.0 GB are free; --master local\[1\] would fit"
    ):
        check(Hungry, Scale.PAPER, 2)
    monkeypatch.setattr(memory, "available_mb", lambda: 1_000.0)
    with pytest.raises(TooLarge, match="choose a smaller --scale"):
        check(Hungry, Scale.PAPER, 2)
