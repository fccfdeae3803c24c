"""Random cases for the planner's tests, from a seed; and every plan there is, for the smallest."""

import numpy as np

from weft.pipelines.planner.demands import Demands, Floats
from weft.sim.vector.draws import Draws


def case(seed: int, topics: int, switches: int, share: float) -> Demands:
    """Half of all pairs need entries, the last switch is everybody's; tables have ``share`` of what all need."""
    draws = Draws(seed)
    value = np.floor(draws.random(topics) ** 3 * 1_000) / 10
    need = draws.random(topics * switches).reshape(topics, switches) < 0.5
    entries = 1 + draws.below(6, topics * switches).reshape(topics, switches)
    need[:, -1], entries[:, -1] = True, 1
    start = np.concatenate(([0], np.cumsum(need.sum(1))))
    room = ((entries * need).sum(0) * share).astype(np.int64)
    return Demands.of(value, start, np.nonzero(need)[1], entries[need], room)


def most(demands: Demands, weight: Floats) -> float:
    """What the best of all 2^n plans weighs."""
    full = np.zeros((len(demands), demands.room.size), np.int64)
    full[demands.topic, demands.switch] = demands.entries
    plans = (np.arange(1 << len(demands))[:, None] >> np.arange(len(demands))) & 1
    return float((plans @ weight)[(plans @ full <= demands.room).all(1)].max())
