"""Traces of subscribers that come and go."""

import numpy as np
import pytest

from weft.pipelines.experiments.beyond import trace
from weft.pipelines.experiments.beyond.trace import DAY_S, HOUR_S, Trace, generate, popularity

TOPICS, LOAD = 50, 4.0


@pytest.fixture(scope="module")
def day() -> Trace:
    return generate(3, TOPICS, 1.0, LOAD)


def test_pieces_fill_the_day_and_no_more(day):
    assert day.length.sum() == pytest.approx(TOPICS * DAY_S)
    assert (day.length >= 0).all()
    assert ((day.begin >= 0) & (day.begin < DAY_S)).all()


def test_no_piece_crosses_an_hour(day):
    assert (day.begin + day.length <= (day.hour + 1) * HOUR_S + 1e-6).all()


def test_nobody_leaves_who_has_not_come(day):
    assert day.present.min() == 0
    for topic in range(TOPICS):
        mine = day.topic == topic
        assert np.array_equal(np.diff(day.present[mine]), day.change[mine][1:])


def test_the_mean_number_of_subscribers_and_its_hours(day):
    hours = np.bincount(day.hour, day.present * day.length, 24) / (TOPICS * HOUR_S)
    assert hours.mean() == pytest.approx(LOAD, rel=0.1)
    assert hours[19:22].mean() == pytest.approx(LOAD * (1 + trace.AMPLITUDE), rel=0.2)
    assert hours[7:10].mean() < LOAD / 2


def test_popular_topics_have_more(day):
    each = np.bincount(day.topic, day.present * day.length, TOPICS) / DAY_S
    assert each[0] / each.sum() == pytest.approx(popularity(TOPICS, 1.0)[0], rel=0.15)
    assert popularity(TOPICS, 1.0).sum() == pytest.approx(1.0)
    assert popularity(4, 1.0)[0] == pytest.approx(2 * popularity(4, 1.0)[1])
