"""The oracle, held to trying everything."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from planning import case, most
from weft.core.errors import Misuse
from weft.pipelines.planner import exact
from weft.pipelines.planner.plan import Policy


@given(st.integers(0, 1 << 30), st.integers(1, 10), st.integers(1, 5), st.sampled_from([0.0, 0.2, 0.4, 0.9]))
def test_nothing_is_better(seed, topics, switches, share):
    demands = case(seed, topics, switches, share)
    nothing = np.zeros(topics, bool)
    weight = Policy().weights(demands, nothing)
    chosen = exact.best(demands, weight, nothing)
    assert demands.fits(chosen)
    assert weight[chosen].sum() == pytest.approx(most(demands, weight))


def test_what_is_known_is_kept_where_it_is_best():
    demands = case(1, 10, 3, 1.0)
    everything = demands.value > 0
    assert exact.best(demands, demands.value, everything).tolist() == everything.tolist()


def test_too_many_topics_are_refused_in_bounded_time():
    demands = case(0, 400, 40, 0.3)
    nothing = np.zeros(400, bool)
    with pytest.raises(Misuse, match="400 topics are too many for an exact plan"):
        exact.best(demands, Policy().weights(demands, nothing), nothing)
