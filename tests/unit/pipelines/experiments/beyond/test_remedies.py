"""What each extension of Anycast does in SELECT's trial."""

import numpy as np
import pytest

from weft.core.errors import Misuse
from weft.pipelines.experiments.beyond.remedies import REMEDIES, count_off, pairs, trial, updates_bytes_s
from weft.pipelines.experiments.select.trials import APART, Setting, requests


def point(method, **changes):
    return {"brokers": 32, "members": 16, "wait": 0.0, "method": method, "sweeps": APART, **changes}


@pytest.mark.parametrize("method", REMEDIES)
def test_all_are_reserved_and_every_message_counts(method):
    for seed in range(5):
        rows = trial(point(method), seed)
        hops, messages, asked = (np.array(rows[name]) for name in ("hops", "messages", "asked"))
        assert hops.size == 16
        assert np.array_equal(messages - hops, asked * (31 - 9))


def test_the_literal_one_is_the_papers_trial():
    wanted = requests(point("literal", selection="close"), 4)
    assert list(trial(point("literal"), 4)["hops"]) == list(wanted["hops"])


def test_half_by_anycast_half_by_multicast():
    assert list(trial(point("half"), 1)["asked"]) == [0] * 8 + [1] * 8
    assert set(trial(point("multicast"), 1)["hops"]) == {9}


def test_patience_is_bounded():
    for method, most in (("ttl", 32 + 1), ("weft", 32 + 1), ("impatient", 9 + 1), ("combined", 9 + 1)):
        for seed in range(10):
            rows = trial(point(method), seed)
            assert max(hops - 9 * asked for hops, asked in zip(rows["hops"], rows["asked"], strict=True)) <= most


def test_the_sender_counts_off_whom_it_has_reserved():
    setting = Setting.of(32, 16)
    selector = setting.selector("close", APART, 1)
    for taken in (1, 4, 5):
        selector.ageing.put(setting.span.low + taken, 0.0)
    count_off(selector, setting.span)
    assert selector.ageing.forward[setting.span.low, :4].tolist() == [0, 2, 2, 8]


def test_what_updates_cost():
    """SELECT §4.7: 25.56 B/s without values and 37.04 with them, at Nr = 8; filtered, in between."""
    assert updates_bytes_s(128, 8, "none") == 25.56
    assert round(updates_bytes_s(128, 8, "all"), 2) == 37.04
    assert 25.56 < updates_bytes_s(128, 8, "used") < 27
    assert pairs(128, 64, "all") < pairs(128, 8, "all"), "larger clusters, fewer labels"


def test_misuse_is_said_at_once():
    with pytest.raises(Misuse):
        trial(point("prayer"), 0)
