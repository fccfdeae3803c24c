"""What a planner is told: checked once, and added up."""

import numpy as np
import pytest

from weft.core.errors import Misuse
from weft.pipelines.planner.demands import Demands

GOOD = {"value": [5.0, 1.0], "start": [0, 2, 3], "switch": [0, 2, 1], "entries": [3, 1, 2], "room": [3, 2, 0]}


def test_what_topics_need_and_use():
    demands = Demands.of(**GOOD)
    assert len(demands) == 2
    assert demands.topic.tolist() == [0, 0, 1]
    assert demands.totals.tolist() == [4, 2]
    assert demands.used(np.array([True, True])).tolist() == [3, 2, 1]
    assert demands.used(np.array([False, True])).tolist() == [0, 2, 0]
    assert demands.possible.tolist() == [False, True], "switch 2 has no table"
    assert demands.fits(np.array([False, True]))
    assert not demands.fits(np.array([True, False]))


def test_nothing_at_all():
    demands = Demands.of([], [0], [], [], [])
    assert demands.totals.tolist() == demands.used(np.zeros(0, bool)).tolist() == []


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"value": [np.nan, 1.0]}, "not a number"),
        ({"start": [0, 3]}, "3 ascending starts"),
        ({"start": [0, 3, 2]}, "ascending"),
        ({"start": [0, 2, 4]}, "4 needs, but 3 switches"),
        ({"entries": [3, 1]}, "3 switches and 2 numbers"),
        ({"switch": [0, 3, 1]}, "one of the 3"),
        ({"switch": [2, 0, 1]}, "ascending order, each once"),
        ({"switch": [2, 2, 1]}, "ascending order, each once"),
        ({"entries": [3, 0, 2]}, "less than one"),
        ({"room": [3, -1, 0]}, "room for 0 to"),
    ],
)
def test_what_makes_no_sense_is_refused(wrong, said):
    with pytest.raises(Misuse, match=said):
        Demands.of(**{**GOOD, **wrong})
