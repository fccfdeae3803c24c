"""SELECT's trial: the setting, and what its rows add up to."""

import numpy as np
import pytest

from weft.core.errors import Misuse
from weft.pipelines.experiments.select.trials import (
    APART,
    TOGETHER,
    UNBOUNDED,
    Setting,
    choices,
    forget,
    requests,
    reserve,
    totals,
)


def point(**changes):
    return {
        "brokers": 32,
        "members": 8,
        "wait": 1.0,
        "selection": "close",
        "sweeps": TOGETHER,
        "top": -1,
        **changes,
    }


def test_the_ring_is_four_blocks_and_the_range_one_cluster_of_the_first_topic():
    setting = Setting.of(32, 8)
    assert (setting.layout.size, setting.layout.brokers, setting.levels) == (128, 32, 7)
    assert setting.layout.positions(3).tolist() == [3, 35, 67, 99]
    assert tuple(setting.span)[:2] == (32, 40)
    selector = setting.selector("few", APART, 1)
    assert (selector.remember, selector.ttl) == (False, UNBOUNDED)
    assert selector.ageing.values.sum() == 8


def test_the_sweeps_are_drawn_anew_for_each_seed_and_change_what_is_known():
    rows = [totals(point(sweeps=sweeps), seed)["hops"][0] for sweeps in (TOGETHER, APART) for seed in range(10)]
    assert rows[:10] != rows[10:]
    assert rows == [totals(point(sweeps=sweeps), seed)["hops"][0] for sweeps in (TOGETHER, APART) for seed in range(10)]


@pytest.mark.parametrize("selection", ["many", "few", "close", "random", "multicast", "optimal"])
def test_a_row_for_each_request(selection):
    rows = requests(point(selection=selection, wait=0.0), 3)
    assert list(rows["request"]) == list(range(1, 9))
    assert all(0 <= again <= hops for again, hops in zip(rows["again"], rows["hops"], strict=True))
    assert (np.array(rows["messages"]) >= np.array(rows["hops"])).all()


def test_totals_are_the_sums_of_the_requests_at_800_bytes_a_message():
    rows, total = requests(point(), 5), totals(point(), 5)
    assert total["hops"] == [sum(rows["hops"])]
    assert total["kilobytes"] == [0.8 * sum(rows["messages"])]
    assert totals(point(selection="multicast"), 5)["messages"] == [8 * 15]


def test_every_choice_is_counted():
    rows = choices(point(wait=7.0), 1)
    assert rows["table"][:2] == ["FFT", "FFT"]
    assert rows["level"][0] == -1
    chosen = dict(zip(zip(rows["table"], rows["level"], strict=True), rows["chosen"].tolist(), strict=True))
    assert chosen["FFT", -1] == 8, "each request ends at somebody that picks itself"
    assert sum(chosen.values()) == 8 + sum(at.bit_count() for at in range(8))


def test_levels_up_to_log2_nr_are_enough_to_find_everybody_from_everywhere():
    """A node at the right end sees the left one in BFT[log2 Nr] alone: without that level a walk may be stranded."""
    for seed in range(40):
        selector = Setting.of(32, 8).selector("close", TOGETHER, seed)
        assert len(reserve(selector, 2.0, top=3)) == 8
    for top, picked in ((2, -1), (3, 32)):
        selector = Setting.of(32, 8).selector("close", TOGETHER, 0)
        for at in range(33, 40):
            selector.ageing.put(at, 0.0)
        selector.ageing.run(selector.ageing.bound_s)
        forget(selector, top)
        assert selector.walk(39).picked == picked


@pytest.mark.parametrize(
    "wrong", [{"members": 33}, {"members": 0}, {"selection": "best"}, {"sweeps": "somehow"}], ids=str
)
def test_misuse_is_said_at_once(wrong):
    with pytest.raises(Misuse):
        requests(point(**wrong), 0)
