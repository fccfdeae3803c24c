"""The best plan of a small case, by branch and bound: the oracle of the planner's tests and of what its plans are worth.

Topics are decided one after the other, those first of which the prices say most clearly whether they are worth it. At each
step the prices bound what can still come (weak duality: the rest of each table at its price, and what each topic left is
worth beyond its cost), so a branch costs what it goes against the prices, and is cut as soon as that is more than the gap.
"""

from typing import NamedTuple

import numpy as np

from weft.core.errors import Misuse
from weft.pipelines.planner.demands import Bools, Demands, Floats, Longs, Needs
from weft.pipelines.planner.kernels import has_room, take
from weft.pipelines.planner.prices import prices
from weft.sim.vector.compiled import bare, compiled

STEPS = 2_000
"""For the prices: a tight bound is worth many."""
VISITS_MAX = 50_000_000
SLACK = 1e-9
"""Of the bound, for sums of floating point."""


def best(demands: Demands, weight: Floats, known: Bools) -> Bools:
    """The topics of greatest weight that fit, ``known`` being some that do."""
    reached = float(weight[known].sum())
    found = prices(demands, weight, reached, STEPS)
    surplus = weight - found.cost
    order = np.argsort(-np.abs(surplus), kind="stable")
    rest = np.zeros(len(demands) + 1)
    rest[:-1] = np.cumsum(np.maximum(surplus, 0.0)[order][::-1])[::-1]
    chosen = np.array(known)
    ahead = Ahead(order, weight, rest, found.price)
    if not search(ahead, demands.room.copy(), reached, chosen, demands.needs):
        raise Misuse(f"{len(demands)} topics are too many for an exact plan")
    return chosen


class Ahead(NamedTuple):
    """``rest[i]``: what topics ``order[i:]`` are worth beyond their cost, at most."""

    order: Longs
    weight: Floats
    rest: Floats
    price: Floats


@bare
def _bound(ahead: Ahead, at: int, worth: float, free: Longs) -> float:
    """What can still come to ``worth`` when topics from place ``at`` on are undecided."""
    bound = worth + float(ahead.rest[at])
    for each in range(free.size):
        bound += float(ahead.price[each] * free[each])
    return bound


@bare
def _keep(order: Longs, taken: Bools, chosen: Bools) -> None:
    for place in range(order.size):
        chosen[order[place]] = taken[place]


@compiled
def search(ahead: Ahead, free: Longs, reached: float, chosen: Bools, needs: Needs) -> bool:
    """Leaves the best in ``chosen``; whether the visits were enough."""
    order, weight = ahead.order, ahead.weight
    count = order.size
    slack = SLACK * (1.0 + abs(reached))
    taken = np.zeros(count, np.bool_)
    turn = np.zeros(count + 1, np.int8)  # 0: not tried, 1: tried with, 2: tried without
    worth = np.zeros(count + 1)  # of what was taken before each place
    at = 0
    for _ in range(VISITS_MAX):
        if at < 0:
            return True
        if turn[at] == 0 and (at == count or _bound(ahead, at, worth[at], free) <= reached + slack):
            if at == count and worth[at] > reached + slack:
                reached = worth[at]
                _keep(order, taken, chosen)
            at -= 1
            continue
        topic = order[at]
        if taken[at]:
            taken[at] = False
            take(topic, -1, needs, free)
        elif turn[at] == 0 and weight[topic] > 0 and has_room(topic, needs, free):
            taken[at] = True
            take(topic, 1, needs, free)
        turn[at] += 1 if taken[at] or turn[at] else 2
        if turn[at] > 2:
            at -= 1
            continue
        worth[at + 1] = worth[at] + weight[topic] * taken[at]
        at += 1
        turn[at] = 0
    return False
