"""Path lengths: every way is counted, once."""

import numpy as np
import pytest

from weft.pipelines.experiments.relay import paths
from weft.pipelines.experiments.relay.topics import Skips
from weft.sim.vector.layout import Span
from weft.sim.vector.multicast import multicast

POINT = {"nodes": 2_000, "pattern": "epsilon", "overlays": 2}


def test_all_publishers_and_all_subscribers_of_all_topics():
    rows = paths.distribution(POINT, 1)
    method, ways = np.asarray(rows["method"]), np.asarray(rows["ways"])
    for name in (paths.PROPOSED, paths.SCRIBE, paths.FROM_ROOT):
        assert ways[method == name].sum() == 2 * 200 * 25


def test_the_mean_is_that_of_the_distribution():
    rows, means = paths.distribution(POINT, 1), paths.means(POINT, 1)
    for name, mean, longest in zip(means["method"], means["hops"], means["longest"], strict=True):
        which = np.asarray(rows["method"]) == name
        hops, ways = np.asarray(rows["hops"])[which], np.asarray(rows["ways"])[which]
        assert mean == pytest.approx((hops * ways).sum() / ways.sum())
        assert longest == hops.max()


def test_a_topics_ways_are_the_multicasts():
    graph = Skips.of(30, 5).graph
    wanted = np.concatenate([multicast(graph, at, Span(2, 10), "binary").depths for at in (0, 1)])
    found = paths.proposed(graph, 2, 8, topics=1)
    assert found.tolist() == np.bincount(wanted, minlength=paths.LENGTHS).tolist()


def test_some_topics_and_some_publishers_stand_for_all():
    graph = Skips.of(1_000, 5).graph
    assert paths.proposed(graph, 5, 5, topics=20).sum() == 20 * 25
    assert paths.proposed(graph, 10, 10, topics=10, senders=5).sum() == 10 * 5 * 10


def test_from_the_root_it_is_one_message_less_unless_the_publisher_is_the_root():
    rows = paths.means(POINT, 3)
    hops = dict(zip(rows["method"], rows["hops"], strict=True))
    assert 0.95 < hops[paths.SCRIBE] - hops[paths.FROM_ROOT] <= 1.0


def test_overlays_of_one_run_differ_and_runs_do_not_repeat_them():
    one = paths.means({**POINT, "overlays": 1}, 0)["hops"]
    assert paths.means({**POINT, "overlays": 1}, 1)["hops"] != one
    assert paths.means(POINT, 0)["hops"] != one
