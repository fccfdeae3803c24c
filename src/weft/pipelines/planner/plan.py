"""The plan: which topics get flow entries.

Every topic has a *weight*: what it saves; less what its entries cost to install if it has none yet; more what they would
cost to remove, and a margin, if it has them. So a change is made only if it gains more than it costs, and topics of nearly
equal worth do not change places with the noise of each window's measurement. A topic that needs more than empty tables have
weighs nothing. Weights make it one problem, whatever came before: choose topics of the greatest weight for which the tables
have room. That is a knapsack with as many dimensions as switches, so it is approximated:

1. *greedy*, by weight per entry; and again by weight per price of its entries (``prices``), so that scarce tables count;
2. *exchanges*: a topic comes in and what stands in its way goes, or it goes, and others fill what is free, if that gains;
3. if staying with what was there is no worse, that is the plan.

The same demands give the same plan: there is no randomness, and equals are taken in the order of their numbers.
"""

from dataclasses import dataclass

import numpy as np

from weft.core.errors import Misuse
from weft.pipelines.planner.demands import Bools, Demands, Floats, Ints, Longs
from weft.pipelines.planner.kernels import JOURNAL, REFILL_MAX, Draft, by_switch, exchange, fill
from weft.pipelines.planner.prices import Prices, prices

PASSES_MAX = 4
CANDIDATES_MAX = 50_000
"""Of each pass of exchanges: those of which the prices say least whether they are worth it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Policy:
    """What a change costs, in the unit of the values."""

    entry_cost: float = 0.0
    """Of an entry installed, or removed: messages to switches, spread over the time that a plan is expected to stand."""
    margin: float = 0.0
    """By which part of its value a topic in the plan counts for more than one outside (hysteresis)."""

    def weights(self, demands: Demands, before: Bools) -> Floats:
        change = self.entry_cost * demands.totals
        kept = demands.value + self.margin * np.maximum(demands.value, 0.0) + change
        weights: Floats = np.where(before, kept, demands.value - change)
        weights[~demands.possible] = 0.0
        return weights


@dataclass(frozen=True, slots=True)
class Plan:
    chosen: Bools
    value: float
    """What its topics save."""
    weight: float
    """The same under the policy: what was made as large as possible."""
    bound: float
    """No plan has a greater weight."""
    added: int
    removed: int
    """Topics."""


def plan(
    demands: Demands, policy: Policy | None = None, before: Bools | None = None, *, exchanges: bool = True
) -> Plan:
    """The plan for the next window, ``before`` being the one that stands."""
    previous = np.zeros(len(demands), bool) if before is None else np.asarray(before, bool)
    if previous.shape != (len(demands),):
        raise Misuse(f"a plan for {previous.size} topics stands, {len(demands)} are known")
    weight = (policy or Policy()).weights(demands, previous)
    chosen = greedy(demands, per_entry(demands, weight))
    found = prices(demands, weight, float(weight[chosen].sum()))
    priced = greedy(demands, per_price(demands, weight, found))
    if weight[priced].sum() > weight[chosen].sum():
        chosen = priced
    if exchanges:
        improve(demands, weight, found, chosen)
    staying = previous & (weight > 0)
    if demands.fits(staying) and weight[staying].sum() >= weight[chosen].sum():
        chosen = staying
    return Plan(
        chosen,
        float(demands.value[chosen].sum()),
        float(weight[chosen].sum()),
        found.bound,
        int(np.count_nonzero(chosen & ~previous)),
        int(np.count_nonzero(previous & ~chosen)),
    )


def greedy(demands: Demands, order: Longs, standing: Bools | None = None) -> Bools:
    """``standing``, and topics in this order as far as the tables have room; who finds none is passed over."""
    chosen = np.zeros(len(demands), bool) if standing is None else np.array(standing)
    free = demands.room - demands.used(chosen)
    fill(order, chosen, demands.needs, free)
    return chosen


def per_entry(demands: Demands, weight: Floats) -> Longs:
    """Who is worth anything, by weight per entry."""
    return _descending(weight / np.maximum(demands.totals, 1), weight > 0)


def per_price(demands: Demands, weight: Floats, found: Prices) -> Longs:
    """The same by weight per price; what costs nothing comes first."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return _descending(weight / found.cost, weight > 0)


def improve(demands: Demands, weight: Floats, found: Prices, chosen: Bools) -> None:
    """Exchanges, in ``chosen``, until none helps; after each pass whatever fits is added."""
    needs = demands.needs
    free = demands.room - demands.used(chosen)
    surplus = weight - found.cost
    draft = Draft(chosen, free, np.zeros(JOURNAL, np.int64), np.zeros(1, np.int64))
    rest = per_price(demands, weight, found)
    for _ in range(PASSES_MAX):
        outside = rest[~chosen[rest]][:REFILL_MAX]
        candidates = _descending(-np.abs(surplus), weight > 0)[:CANDIDATES_MAX]
        helped = exchange(candidates, outside, weight, needs, draft, *_cheapest(demands, surplus, chosen))
        fill(rest, chosen, needs, free)
        if not helped:
            break


def _cheapest(demands: Demands, surplus: Floats, chosen: Bools) -> tuple[Longs, Ints]:
    """The plan's topics on each switch, the least worth keeping first: where each list begins, and the lists."""
    kept = np.repeat(chosen, np.diff(demands.start))
    first = np.zeros(demands.room.size + 2, np.int64)
    np.cumsum(np.bincount(demands.switch[kept], minlength=demands.room.size), out=first[2:])
    listed = np.zeros(first[-1], np.int32)
    by_switch(_descending(-surplus, chosen), demands.needs, first, listed)
    return first[:-1], listed


def _descending(by: Floats, wanted: Bools) -> Longs:
    """The numbers of those wanted, the greatest first."""
    numbers = np.flatnonzero(wanted)
    order: Longs = numbers[np.argsort(-by[numbers], kind="stable")]
    return order
