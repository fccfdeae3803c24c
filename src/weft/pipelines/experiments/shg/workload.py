"""SHG's simulation (§V) as a model: N_p patterns, N_e events, and what SHG and Scribe send for them.

The paper gives α, the probability that a node subscribes to a pattern, and β, that a node receives an event; not how events
match patterns. With σ(p) constant (§V), an event that satisfies each pattern with probability σ is wanted by a node with
probability 1 − (1 − α σ)^N_p, so α and β give σ: a quarter. N_e = 30 · N_p is read as N_p kinds of events, 30 events each;
a kind satisfies each pattern with probability σ, and all events of a kind satisfy the same patterns.

Scribe knows topics, and a pattern is none. Two mappings: *pattern*, a group for each pattern, and an event is published to
the group of each pattern that it satisfies; *kind*, a group for each kind of events, and a node joins the groups of all kinds
that one of its patterns asks for. Groups are rooted at corners drawn at random, as hashes of their names would be, over the
same hypercube, by prefixes. A publisher knows its roots (one message; RELAY §6 has it so), or routes to them corner by corner.
"""

from dataclasses import dataclass

import numpy as np

from weft.pipelines.experiments.experiment import Point, Rows, Value
from weft.sim.vector.draws import Draws
from weft.sim.vector.layout import Longs
from weft.sim.vector.scribe import Substrate, Tree, tree
from weft.sim.vector.shg import Bools, Shg

PATTERNS = 100
EVENTS = 30 * PATTERNS
ALPHA = 0.0065
BETA = 0.15
VARIANTS = ("corrected", "literal")
BY_PATTERN, BY_KIND = 1, 2
"""Streams of draws."""
SIGMA = (1 - (1 - BETA) ** (1 / PATTERNS)) / ALPHA
""".2498: what α and β ask for."""

EVENT_COLUMNS: dict[str, type] = {
    "variant": str,
    "wanted": float,
    "up": float,
    "across": float,
    "down": float,
    "shg": float,
    "by_pattern": float,
    "by_kind": float,
    "ratio_pattern": float,
    "ratio_kind": float,
    "ratio_pattern_routed": float,
    "ratio_kind_routed": float,
    "missed": float,
    "doubled": float,
    "hops": float,
    "hops_pattern": float,
    "hops_kind": float,
    "hops_pattern_routed": float,
    "hops_kind_routed": float,
}
SUBSCRIPTION_COLUMNS: dict[str, type] = {
    "variant": str,
    "subscribed": float,
    "shg": float,
    "by_pattern": float,
    "by_kind": float,
    "ratio_pattern": float,
    "ratio_kind": float,
    "entries": float,
    "entries_pattern": float,
    "entries_kind": float,
}


@dataclass(frozen=True, slots=True)
class Workload:
    """``own[p, v]``: node v subscribes to pattern p; ``matching[t, p]``: kind t satisfies it; ``kinds[e]``: what event e is."""

    own: Bools
    matching: Bools
    kinds: Longs
    publishers: Longs

    @property
    def wanting(self) -> Bools:
        """[t, v]: does node v want events of kind t?"""
        found: Bools = (self.matching.astype(np.float32) @ self.own.astype(np.float32)) > 0
        return found


def workload(n: int, seed: int) -> Workload:
    """The same for every k and variant of one size."""
    corners, draws = 1 << n, Draws(seed, n)
    own = (draws.random(PATTERNS * corners) < ALPHA).reshape(PATTERNS, corners)
    matching = (draws.random(PATTERNS * PATTERNS) < SIGMA).reshape(PATTERNS, PATTERNS)
    return Workload(own, matching, np.arange(EVENTS) % PATTERNS, draws.below(corners, EVENTS))


class Groups:
    """Scribe's trees, one for each row of ``members``."""

    def __init__(self, n: int, members: Bools, draws: Draws) -> None:
        over, targets = Substrate.hypercube(n), draws.below(1 << n, len(members))
        self.trees: list[Tree] = [
            tree(over, int(target), np.flatnonzero(row)) for target, row in zip(targets, members, strict=True)
        ]
        self.roots: Longs = np.array([each.root for each in self.trees])
        self.sizes: Longs = np.array([each.nodes.size for each in self.trees])
        """Messages of a publication from the root on; and Joins, if all joined one after the other."""
        self.joins = int(sum(each.joins for each in self.trees))
        self.members: Longs = members.sum(axis=1)
        self.depths: Longs = np.array([int(each.reached.sum()) for each in self.trees])

    @property
    def entries(self) -> int:
        """(node, group) pairs that somebody keeps a line for: who is in a tree, and its root."""
        return int(self.sizes.sum() + np.count_nonzero(self.members))

    def published(self, to: Bools, publishers: Longs) -> "Published":
        """Event e goes to the groups ``to[e]``."""
        apart = np.bitwise_count(publishers[:, None] ^ self.roots[None, :]).astype(np.int64) * to
        spread, down = int((to @ self.sizes).sum()), int((to @ self.depths).sum())
        known, deliveries = np.minimum(apart, 1), int((to @ self.members).sum())
        return Published(
            messages=spread + int(known.sum()),
            routed=spread + int(apart.sum()),
            hops=(down + int((known @ self.members).sum())) / deliveries,
            hops_routed=(down + int((apart @ self.members).sum())) / deliveries,
        )


@dataclass(frozen=True, slots=True)
class Published:
    """Messages of all events; mean hops of all deliveries. ``routed``: corner by corner to the root, else it is known."""

    messages: int
    routed: int
    hops: float
    hops_routed: float


def events(point: Point, seed: int) -> Rows:
    """A row for each variant: means per event, and SHG's messages divided by Scribe's."""
    n, k = int(point["dimension"]), int(point["k"])
    work = workload(n, seed)
    by_pattern = Groups(n, work.own, Draws(seed, n, BY_PATTERN)).published(work.matching[work.kinds], work.publishers)
    by_kind = Groups(n, work.wanting, Draws(seed, n, BY_KIND)).published(
        np.eye(PATTERNS, dtype=bool)[work.kinds], work.publishers
    )
    rows: list[dict[str, Value]] = []
    for variant in VARIANTS:
        model = Shg(n, k, variant)
        bill = model.bill(work.own, work.matching, work.kinds, work.publishers)
        sent, wanted = float(bill.messages.sum()), float(bill.wanted.sum())
        one_each = slice(0, PATTERNS)  # the first event of each kind: its hops
        ways = model.events(work.own, work.matching, work.publishers[one_each]).hops
        rows.append(
            {
                "variant": variant,
                "wanted": wanted / EVENTS / (1 << n),
                **{part: float(getattr(bill, part).mean()) for part in ("up", "across", "down")},
                "shg": sent / EVENTS,
                "by_pattern": by_pattern.messages / EVENTS,
                "by_kind": by_kind.messages / EVENTS,
                "ratio_pattern": sent / by_pattern.messages,
                "ratio_kind": sent / by_kind.messages,
                "ratio_pattern_routed": sent / by_pattern.routed,
                "ratio_kind_routed": sent / by_kind.routed,
                "missed": 1 - float(bill.reached.sum()) / wanted,
                "doubled": float((bill.handed - bill.reached).sum()) / wanted,
                "hops": float(ways[ways >= 0].mean()),
                "hops_pattern": by_pattern.hops,
                "hops_kind": by_kind.hops,
                "hops_pattern_routed": by_pattern.hops_routed,
                "hops_kind_routed": by_kind.hops_routed,
            }
        )
    return {name: [row[name] for row in rows] for name in EVENT_COLUMNS}


def subscriptions(point: Point, seed: int) -> Rows:
    """A row for each variant: messages until all have subscribed to all that they want, and table entries then."""
    n, k = int(point["dimension"]), int(point["k"])
    work = workload(n, seed)
    pattern, kind = Groups(n, work.own, Draws(seed, n, BY_PATTERN)), Groups(n, work.wanting, Draws(seed, n, BY_KIND))
    rows: list[dict[str, Value]] = []
    for variant in VARIANTS:
        model = Shg(n, k, variant)
        sent = float(model.subscriptions(work.own).sum())
        rows.append(
            {
                "variant": variant,
                "subscribed": float(work.own.sum()),
                "shg": sent,
                "by_pattern": float(pattern.joins),
                "by_kind": float(kind.joins),
                "ratio_pattern": sent / pattern.joins,
                "ratio_kind": sent / kind.joins,
                "entries": float(model.installed(work.own).sum()),
                "entries_pattern": float(pattern.entries),
                "entries_kind": float(kind.entries),
            }
        )
    return {name: [row[name] for row in rows] for name in SUBSCRIPTION_COLUMNS}
