"""The shape of one multicast's tree: how long its paths are, how many copies a broker sends, and when the last one has it.

The range is the whole ring, a broker each, in 16 clusters by key; the sender is one of them. A hop takes 1; a broker sends its
copies one after the other, each in ``SLOW`` or ``QUICK`` of that time (or in none: then the last has it after ``depth_max``).
They leave in the order of the strategy, which is that of the keys; ``…_sorted``: those with most members behind them first.
"""

import numpy as np

from weft.pipelines.experiments.experiment import Point, Rows
from weft.pipelines.experiments.saps.crossings import Overlay
from weft.sim.vector.layout import Ints, Layout, Longs, Span
from weft.sim.vector.multicast import STRATEGIES, Tree, multicast
from weft.sim.vector.skipgraph import SkipGraph, seeded
from weft.sim.vector.suzaku import Suzaku

SKIP_GRAPH, SUZAKU = "Skip Graph", "Suzaku"
CLUSTERS = 16
QUICK, SLOW = 0.1, 1.0
_UNIT = 10
"""Times are counted in tenths, as whole numbers."""

COLUMNS = {
    "strategy": str,
    "messages": int,
    "depth_mean": float,
    "depth_max": int,
    "fanout_mean": float,
    "fanout_max": int,
    "last_quick": float,
    "last_slow": float,
    "last_quick_sorted": float,
    "last_slow_sorted": float,
}


def model(point: Point, seed: int) -> Rows:
    """A row for each strategy, all on one overlay with one sender."""
    members = int(point["members"])
    group = Overlay(members, CLUSTERS, seed)
    order = group.by_key(local=True)
    sites = group.sites[order]
    layout = Layout.plain(order.astype(np.int64) + 1, np.cumsum(np.diff(sites, prepend=sites[:1]) > 0), sites)
    overlay: SkipGraph | Suzaku = seeded(layout, seed) if point["overlay"] == SKIP_GRAPH else Suzaku(layout)
    sender = int(np.flatnonzero(order == group.publisher)[0])
    rows = [_shape(name, multicast(overlay, sender, Span(0, members), name)) for name in STRATEGIES]
    return {name: [row[at] for row in rows] for at, name in enumerate(COLUMNS)}


def _shape(strategy: str, tree: Tree) -> tuple[str | float, ...]:
    depths = np.delete(tree.depths, tree.sender)
    sent = tree.forwards()
    return (
        strategy,
        len(tree.messages),
        float(depths.mean()),
        int(depths.max()),
        float(sent[sent > 0].mean()),
        int(sent.max()),
        *(
            last(tree, sending, turns)
            for turns in (turns_by_key(tree), turns_by_size(tree))
            for sending in (QUICK, SLOW)
        ),
    )


def last(tree: Tree, sending: float, turns: Longs) -> float:
    """When the last member has it, in hops, if each copy that a broker sends takes ``sending`` of a hop's time."""
    costs = _UNIT + round(_UNIT * sending) * (1 + turns)
    return float(tree.along(costs).max(initial=0)) / _UNIT


def turns_by_key(tree: Tree) -> Longs:
    """How many copies its sender sent before each message: those of one cause stand together."""
    return _within(tree.cause)


def turns_by_size(tree: Tree) -> Longs:
    """The same, if each sends first what has most members behind it."""
    order = np.lexsort((-behind(tree), tree.cause))
    turns = np.empty(order.size, np.int64)
    turns[order] = _within(tree.cause[order])
    return turns


def behind(tree: Tree) -> Longs:
    """For each message, how many members get theirs because of it."""
    hops, cause = tree.messages[:, 2], tree.cause
    sizes = np.ones(hops.size, np.int64)
    by_hops = np.argsort(hops, kind="stable")
    borders = np.searchsorted(hops[by_hops], np.arange(int(hops.max(initial=1)) + 2))
    for depth in range(int(hops.max(initial=1)), 1, -1):
        there = by_hops[borders[depth] : borders[depth + 1]]
        np.add.at(sizes, cause[there], sizes[there])
    return sizes


def _within(groups: Ints) -> Longs:
    """The place of each in its group; a group stands together."""
    at = np.arange(groups.size)
    first = np.flatnonzero(np.diff(groups, prepend=groups[:1] - 1))
    return at - np.repeat(first, np.diff(first, append=at.size))
