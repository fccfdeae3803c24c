"""Two buckets of tokens: a second's worth is free, more costs exactly the time that it takes."""

import pytest

from weft.broker.quota import Quota


def test_a_burst_of_one_second_is_free():
    quota = Quota(0.0, 10, 0)
    assert quota.take(0.0, 10, 10**9) == 0
    assert quota.take(0.0, 1, 0) == pytest.approx(0.1)


def test_time_fills_the_bucket_and_no_further():
    quota = Quota(0.0, 10, 0)
    quota.take(0.0, 10, 0)
    assert quota.take(0.5, 5, 0) == 0
    assert quota.take(1_000.0, 10, 0) == 0
    assert quota.take(1_000.0, 5, 0) == pytest.approx(0.5)


def test_the_longer_of_the_two_counts():
    quota = Quota(0.0, 10, 100)
    assert quota.take(0.0, 20, 400) == pytest.approx(3.0)


def test_in_the_long_run_the_rate_is_the_rate():
    quota, now, taken = Quota(0.0, 50, 0), 0.0, 0
    while now < 100:
        taken += 7
        now += quota.take(now, 7, 0)
        now += 0.001
    assert 50 * 100 <= taken <= 50 * 102
