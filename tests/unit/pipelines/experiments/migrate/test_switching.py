"""Publishes while a topic moves to OFM: phases, and the sums that a publish is made of."""

import numpy as np
import pytest

from weft.pipelines.experiments.migrate.switching import AFTER, BEFORE, BUILT_S, COLUMNS, END_S, MOVING, publishes


@pytest.mark.parametrize("schedule", ["example", "drawn"])
def test_phases_and_sums(schedule):
    rows = publishes({"schedule": schedule}, 2)
    assert list(rows) == list(COLUMNS)
    phases = list(rows["phase"])
    assert phases == sorted(phases, key=[BEFORE, MOVING, AFTER].index)
    assert phases.count(BEFORE) == BUILT_S
    assert len(phases) == END_S
    assert np.array_equal(rows["both"], rows["to_alm"] + rows["to_ofm"] + rows["switches"])
    assert set(rows["switches"]) == {0, 7}
    assert not rows["to_ofm"][int(BUILT_S) :].any()
    assert rows["off"][0] == 0


def test_the_example_ends_with_a_alone_in_the_alm_topic():
    rows = publishes({"schedule": "example"}, 2)
    assert rows["to_alm"][25] == 0
    assert list(rows["phase"]).index(AFTER) == 27
