"""What plans for flow entries save: by weft's planner, by the threshold of MIGRATE §4.1 in its readings, by an optimum.

§4.1 names a threshold on what subscribers can count (members, publishes so far; for example three publishes within 5 s), leaves
the best one open, and asks that topics used most come first. Topics get their entries in some order, as far as tables have room
(§3); so a rule is an order, and the best threshold for the tables at hand takes the topics in that order until they are full:

- ``first come``: three publishes within 5 s, in the order in which that first happens, within an hour of Poisson publishes;
- ``busiest``, ``members``, ``deliveries``: the greatest rate, number of members, or product of both, first.
"""

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from weft.pipelines.experiments.beyond.flow_demands import Topics, Town, drawn, needs, saved
from weft.pipelines.experiments.experiment import Point, Rows
from weft.pipelines.planner.demands import Bools, Demands, Floats, Longs
from weft.pipelines.planner.exact import best
from weft.pipelines.planner.plan import Policy, greedy, per_entry, plan
from weft.pipelines.planner.prices import prices
from weft.sim.vector.compiled import bare
from weft.sim.vector.draws import Draws, Words, random_at, states

PUBLISHES, WITHIN_S, HORIZON_S = 3, 5.0, 3_600.0
"""MIGRATE §4.1's example, and how long we wait for it."""
ARRIVALS, DRIFT, COUNTS = 11, 12, 13
"""Streams of a seed."""
SHARES = (0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.4)
"""Each switch's table, by what all topics together need on the switch that they need most of."""
SMALL_SHARES = (0.1, 0.2, 0.4, 0.7)
CASES = 20
"""Small cases of a run, for each share."""
WINDOWS, WINDOW_S = 20, 60.0
CHANGE = 0.2
"""Of the logarithm of a rate, from window to window (standard deviation); it forgets a tenth each time."""
DRIFT_SHARE = 0.02
STANDS = 10
"""Windows for which a topic's entries are expected to stay, once they are there."""
ENTRY_COST = 1.0 / WINDOW_S
"""A message to a switch for each entry that comes or goes, by window; in messages per second."""
POLICIES = {
    "planner": Policy(),
    "planner, entries cost": Policy(entry_cost=ENTRY_COST / STANDS),
    "planner, and a margin": Policy(entry_cost=ENTRY_COST / STANDS, margin=0.2),
}
COLUMNS = {
    "method": str,
    "share": float,
    "achieved": float,
    "of_all": float,
    "per_entry": float,
    "changed": float,
    "net": float,
}
"""``achieved``: by what the best plan saves, or by a bound that none exceeds. ``of_all``: by what would be saved if tables had
no limit. ``per_entry``: crossings per second that an entry saves. ``changed``: entries that come or go, by window. ``net``: as
``achieved``, less the messages for these."""

Row = tuple[str, float, float, float, float, float, float]


RULES = ("busiest", "busiest, and stays")
"""MIGRATE does not say whether a topic that has become quiet goes back: it does in every window, or never."""


def planned(point: Point, seed: int) -> Rows:
    """The part of the experiment that the point names."""
    rows = list(_PARTS[str(point["part"])](town_of(point), seed))
    return {name: [row[at] for row in rows] for at, name in enumerate(COLUMNS)}


def town_of(point: Point) -> Town:
    fabric, topics = str(point["fabric"]), int(point["topics"])
    if point["part"] == "optimum":
        return Town(fabric=fabric, clusters=5, brokers=8, topics=topics, members=20.0, members_exponent=0.5, rate=10.0)
    return Town(fabric=fabric, topics=topics)


def _optimum(town: Town, seed: int) -> Iterator[Row]:
    for case in range(CASES):
        topics = drawn(town, seed * CASES + case)
        value = saved(topics, seed * CASES + case) * topics.rate
        for share in SMALL_SHARES:
            demands = needs(topics, value, tables(topics, share))
            plans = dict(methods(topics, demands, seed * CASES + case))
            weight = Policy().weights(demands, np.zeros(len(demands), bool))
            most = float(value[best(demands, weight, plans["planner"])].sum())
            for method, chosen in plans.items():
                yield _row(method, share, demands, chosen, most)


def _budgets(town: Town, seed: int) -> Iterator[Row]:
    topics = drawn(town, seed)
    value = saved(topics, seed) * topics.rate
    for share in SHARES:
        demands = needs(topics, value, tables(topics, share))
        bound = plan(demands).bound
        for method, chosen in methods(topics, demands, seed):
            yield _row(method, share, demands, chosen, bound)


def _drift(town: Town, seed: int) -> Iterator[Row]:
    """Rates wander, and are known by what was counted in the window before."""
    topics = drawn(town, seed)
    each = saved(topics, seed)
    room = tables(topics, DRIFT_SHARE)
    standing = {method: np.zeros(each.size, bool) for method in (*POLICIES, *RULES)}
    sums = {method: np.zeros(5) for method in standing}
    wander, counts = Draws(seed, DRIFT), Draws(seed, COUNTS)
    away = np.zeros(each.size)
    for window in range(WINDOWS + 1):
        measured = poisson(topics.rate * np.exp(away) * WINDOW_S, counts) / WINDOW_S
        away = 0.9 * away + CHANGE * normal(wander, each.size)
        real = needs(topics, each * topics.rate * np.exp(away), room)
        seen = needs(topics, each * measured, room)
        bound = prices(real, np.where(real.possible, real.value, 0.0), 0.0).bound
        for method, before in standing.items():
            if method in POLICIES:
                chosen = plan(seen, POLICIES[method], before).chosen
            else:
                chosen = greedy(seen, _first(measured), before if method == "busiest, and stays" else None)
            changed = float(seen.totals[chosen != before].sum())
            standing[method] = chosen
            if window:  # the first plan installs everything, whatever the method
                gain = float(real.value[chosen].sum())
                each_saves = gain / max(int(real.totals[chosen].sum()), 1)
                net = (gain - changed * ENTRY_COST) / bound
                sums[method] += (gain / bound, gain / float(real.value.sum()), each_saves, changed, net)
    for method, found in sums.items():
        achieved, of_all, each_saves, changed, net = (float(total) / WINDOWS for total in found)
        yield method, DRIFT_SHARE, achieved, of_all, each_saves, changed, net


_PARTS = {"optimum": _optimum, "budgets": _budgets, "drift": _drift}


def tables(topics: Topics, share: float) -> Longs:
    """The same table for each switch, at least one entry."""
    none = np.zeros(topics.town.switches, np.int64)
    all_of_them = needs(topics, np.zeros(topics.town.topics), none)
    wanted = all_of_them.used(np.ones(len(all_of_them), bool)).max()
    return np.full(none.size, max(int(wanted * share), 1))


def methods(topics: Topics, demands: Demands, seed: int) -> Iterator[tuple[str, Bools]]:
    yield "planner", plan(demands).chosen
    yield "greedy", greedy(demands, per_entry(demands, np.where(demands.possible, demands.value, 0.0)))
    yield "deliveries", greedy(demands, _first(topics.rate * topics.members))
    yield "busiest", greedy(demands, _first(topics.rate))
    yield "members", greedy(demands, _first(topics.members.astype(np.float64)))
    crossed = crossings(topics.rate, seed)
    order = np.argsort(crossed, kind="stable")
    yield "first come", greedy(demands, order[crossed[order] < HORIZON_S])


def _first(by: Floats) -> Longs:
    """The greatest first; nobody is left out, for the threshold is as low as the tables allow."""
    order: Longs = np.argsort(-by, kind="stable")
    return order


def _row(method: str, share: float, demands: Demands, chosen: Bools, most: float) -> Row:
    gain = float(demands.value[chosen].sum())
    achieved = gain / most if most > 0 else 1.0
    entries = int(demands.totals[chosen].sum())
    return method, share, achieved, gain / float(demands.value.sum()), gain / max(entries, 1), 0.0, achieved


def crossings(rate: Floats, seed: int) -> Floats:
    """When each topic has had three publishes within 5 s for the first time; ``HORIZON_S``: not within an hour."""
    streams = states(seed, np.arange(rate.size), ARRIVALS)
    found = np.empty(rate.size)
    _wait(rate, streams, found)
    return found


@bare
def _wait(rate: Floats, streams: Words, found: Floats) -> None:
    for topic in range(rate.size):
        found[topic] = HORIZON_S
        now, last, before = 0.0, -HORIZON_S, -HORIZON_S
        while now < HORIZON_S:
            now -= np.log(1.0 - random_at(streams, topic)) / rate[topic]
            if now - before <= WITHIN_S:
                found[topic] = min(now, HORIZON_S)
                break
            before, last = last, now


def normal(draws: Draws, count: int) -> Floats:
    """Box and Muller."""
    radius: Floats = np.sqrt(-2.0 * np.log1p(-draws.random(count)))
    return radius * np.cos(2 * np.pi * draws.random(count))


SURE = 30.0
"""A Poisson number of a greater mean is drawn as a normal one."""
TERMS = 100


def poisson(mean: Floats, draws: Draws) -> npt.NDArray[np.float64]:
    """By inversion where the mean is small."""
    chance = draws.random(mean.size)
    large = np.maximum(np.rint(mean + np.sqrt(mean) * normal(draws, mean.size)), 0.0)
    low = np.minimum(mean, SURE)
    term = np.exp(-low)
    reached, small = term.copy(), np.zeros(mean.size)
    for number in range(1, TERMS):
        small += chance > reached
        term = term * low / number
        reached += term
    return np.where(mean > SURE, large, small)
