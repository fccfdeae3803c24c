"""A price for an entry on each switch, and the bound that prices give: no plan can save more.

Whatever the prices, a plan's worth is at most what the tables would cost in whole, plus what each topic is worth beyond
the cost of its entries (weak duality). The prices that make this least are near to those at which the tables are just full;
they are looked for by subgradient steps (Polyak), each one pass over the needs. A switch that has room for all is free.
"""

from dataclasses import dataclass

import numpy as np

from weft.pipelines.planner.demands import Demands, Floats
from weft.pipelines.planner.kernels import charge

STEPS = 100
PATIENCE = 8
"""Steps without a better bound before they become shorter."""
SHORTEST = 1e-3


@dataclass(frozen=True, slots=True)
class Prices:
    price: Floats
    """Per entry, by switch."""
    cost: Floats
    """Of each topic's entries at these prices."""
    bound: float


def prices(demands: Demands, weight: Floats, reached: float, steps: int = STEPS) -> Prices:
    """For topics of these weights, of which a plan is known that comes to ``reached``."""
    needs = demands.needs
    room = np.maximum(demands.room, 1).astype(np.float64)
    price, cost, used = np.zeros(room.size), np.zeros(len(demands)), np.zeros(room.size)
    best = Prices(price.copy(), cost.copy(), np.inf)
    length, waited = 1.0, 0
    for _ in range(steps):
        bound = charge(price, weight, needs, cost, used) + float(price @ demands.room)
        if bound < best.bound:
            waited = 0
            best = Prices(price.copy(), cost.copy(), bound)
        else:
            waited += 1
            if waited == PATIENCE:
                length, waited = length / 2, 0
        # By part of the table, so that small and large tables are treated alike.
        over = used / room - demands.room / room
        over[(price == 0) & (over < 0)] = 0.0
        norm = float(over @ over)
        if norm == 0 or length < SHORTEST or best.bound <= reached:
            break
        step = length * max(bound - reached, 0.0) / norm
        price = np.maximum(price + step * over / room, 0.0)
    return best
