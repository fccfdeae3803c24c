"""SELECT's component selection in bulk: Anycast walks over tables whose values age, Multicast, Optimal (SELECT §3.4, §4).

A walk is the machines' (``overlay/spread/anycast`` and ``selection``): same candidates in the same order, same weights, the
draws of the broker it is at. ``remember=False`` is the paper's Algorithm 1 to the letter instead: nothing is ruled out, and a
walk without a candidate starts again with the full range; where it would go on for ever it is given up.

Places on the ring are ``marks``, one for each position, so that a range can be told from the keys in it: ``mark`` to
``mark + 1`` holds one key alone. Where ``marks`` are 0, 1, 2, … nothing fits between two keys.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from weft.core.errors import Misuse
from weft.overlay.keys import Key, after
from weft.overlay.settings import Settings
from weft.overlay.spread.messages import RULED_OUT_MAX
from weft.overlay.spread.selection import WEIGHT_MAX
from weft.sim.vector.ageing import Ageing, Reals, phases
from weft.sim.vector.compiled import bare
from weft.sim.vector.draws import Words, bits_at, random_at
from weft.sim.vector.layout import Ints, Layout, Longs, Span
from weft.sim.vector.multicast import Tree

SELECTIONS = {"many": 0, "few": 1, "close": 2, "random": 3}
_MANY, _FEW, _CLOSE, _RANDOM = 0, 1, 2, 3
_CANDIDATES_MAX = 256
_STEPS_FACTOR = 64
"""A literal walk is given up after this many times its TTL: hand-overs and fresh starts together."""

TTL = Settings().anycast_ttl


class Ring(NamedTuple):
    """What a walk reads, and the brokers' streams, which it draws from."""

    owner: Ints
    marks: Longs
    values: Reals
    forward: Reals
    backward: Reals
    streams: Words


class Walk(NamedTuple):
    """``picked`` is a position, −1 if nobody; ``hops`` messages between brokers; ``restarts`` how often it began again.

    ``again`` are those of the hops that came after the first restart: SELECT's hops for retransmissions (fig. 9).
    """

    picked: int
    hops: int
    restarts: int
    again: int


def marks_of(keys: Sequence[Key]) -> Longs:
    """Marks of real keys: two apart where another bound fits between two keys, one apart where none does."""
    steps = [1 if after(one) == other else 2 for one, other in pairwise(keys)]
    return np.concatenate(([0], np.cumsum(steps, dtype=np.int64))).astype(np.int64)


@dataclass(slots=True)
class Selector:
    """Selects in ``span`` for whoever holds ``start``, a position inside: those match whose value is 1 or more."""

    layout: Layout
    ageing: Ageing
    streams: Words
    span: Span
    selection: str
    marks: Longs
    remember: bool = True
    ttl: int = TTL

    @classmethod
    def seeded(
        cls,
        layout: Layout,
        values: npt.ArrayLike,
        seed: int,
        span: Span,
        selection: str,
        interval_s: float = 60.0,
        turns: npt.ArrayLike | None = None,
    ) -> "Selector":
        """A whole ring at time 0, with the phases and streams of a simulation of ``seed``."""
        if selection not in SELECTIONS:
            raise Misuse(f"unknown selection {selection}: one of {', '.join(SELECTIONS)}")
        first, streams = phases(layout, seed, interval_s)
        ageing = Ageing(values, first, interval_s, turns)
        return cls(layout, ageing, streams, span, selection, np.arange(layout.size, dtype=np.int64))

    def walk(self, start: int, used: Longs | None = None) -> Walk:
        """One Anycast, now. ``used`` counts the choices: ourselves, then FFT's levels from 0, then BFT's."""
        span, ageing = self.span, self.ageing
        if not span.low <= start < span.high:
            raise Misuse(f"position {start} is not in the range {span.low} … {span.high}")
        ring = Ring(self.layout.owner, self.marks, ageing.values, ageing.forward, ageing.backward, self.streams)
        choices = np.zeros(1 + 2 * ageing.levels, np.int64) if used is None else used
        low, high = int(self.marks[span.low]), int(self.marks[span.high - 1]) + 1
        desk = Desk(
            np.empty((_CANDIDATES_MAX, 5), np.int64),
            np.empty((_CANDIDATES_MAX, 2), np.float64),
            np.empty((RULED_OUT_MAX + 1, 2), np.int64),
        )
        rules = Rules(SELECTIONS[self.selection], low, high, self.ttl, self.remember)
        return Walk(*_walk(ring, rules, start, desk, choices))

    def reserve_all(self, start: int, wait_s: float, used: Longs | None = None) -> list[Walk]:
        """One request each ``wait_s`` until all in the range are taken, or a walk finds nobody (SELECT §4.4)."""
        walks = []
        free = int(np.count_nonzero(self.ageing.values[self.span.low : self.span.high] >= 1))
        for _ in range(free):
            walk = self.walk(start, used)
            walks.append(walk)
            if walk.picked < 0:
                break
            self.ageing.put(walk.picked, 0.0)
            self.ageing.run(self.ageing.now + wait_s)
        return walks


def multicast_hops(tree: Tree) -> tuple[int, int]:
    """(delay, traffic) of one selection by Multicast: query and reply each go the tree's way, then one reservation."""
    deepest = int(tree.depths.max(initial=0))
    return 2 * deepest + 1, 2 * len(tree.messages) + 1


def optimal_hops(size: int, levels: int, start: int, span: Span) -> Ints:
    """Hops of the requests of who knows all: the fewest over the fingers to each of the range, nearest first (SELECT §4.4)."""
    hops = np.full(size, -1, np.int32)
    hops[start] = 0
    front = np.array([start])
    steps = np.array([sign * (1 << level) for level in range(levels) for sign in (1, -1)], np.int64)
    while front.size:
        reached = np.unique((front[:, None] + steps) % size)
        front_hops = hops[front[0]] + 1
        front = reached[hops[reached] < 0]
        hops[front] = front_hops
    return np.sort(hops[span.low : span.high])


# The walk, as ``overlay/spread/anycast:Anycast._walk`` and ``selection`` have it


class Rules(NamedTuple):
    selection: int
    low: int
    high: int
    ttl: int
    remember: bool


class Desk(NamedTuple):
    """Room: candidates (position, level, scope, slot), their (value, weight), and ranges ruled out."""

    candidates: Longs
    weights: Reals
    ruled: Longs


@bare
def _is_open(low: int, high: int, ruled: Longs, count: int) -> bool:
    """Is anything of ``low`` … ``high`` not ruled out?"""
    moved = True
    while moved and low < high:
        moved = False
        for at in range(count):
            if ruled[at, 0] <= low < ruled[at, 1]:
                low = int(ruled[at, 1]) + 0
                moved = True
    return low < high


class Entry(NamedTuple):
    """A finger: ``slot`` is where its choices are counted; it speaks for marks ``low`` … ``high``, perhaps round the end."""

    node: int
    level: int
    slot: int
    value: float
    low: int
    high: int


@bare
def _offer(desk: Desk, found: int, entry: Entry, scope: tuple[int, int], ruled: int) -> int:
    """Put an entry on the list if what it speaks for meets the scope where that is not ruled out."""
    for part in range(2):
        begin, end = scope
        if entry.low < entry.high or part == 0:
            begin = max(begin, entry.low)
        if entry.low < entry.high or part == 1:
            end = min(end, entry.high)
        if begin < end and _is_open(begin, end, desk.ruled, ruled):
            desk.candidates[found, 0], desk.candidates[found, 1], desk.candidates[found, 4] = (
                entry.node,
                entry.level,
                entry.slot,
            )
            desk.candidates[found, 2], desk.candidates[found, 3] = begin, end
            desk.weights[found, 0] = entry.value
            return found + 1
        if entry.low < entry.high:
            break
    return found


@bare
def _candidates(ring: Ring, rules: Rules, desk: Desk, here: int, scope: tuple[int, int], ruled: int) -> int:
    """FFT[−1…k] and BFT: what matches and meets the scope (Algorithm 1, line 7); ``random`` does not look at values."""
    size, levels = ring.forward.shape
    marks = ring.marks
    blind = rules.selection == _RANDOM
    found, mark = 0, int(marks[here])
    if (blind or ring.values[here] >= 1) and scope[0] <= mark < scope[1]:
        out = False
        for at in range(ruled):
            out = out or desk.ruled[at, 0] <= mark < desk.ruled[at, 1]
        if not out:
            desk.candidates[0, 0], desk.candidates[0, 1], desk.candidates[0, 4] = here, -1, 0
            desk.candidates[0, 2], desk.candidates[0, 3] = mark, mark + 1
            desk.weights[0, 0] = ring.values[here]
            found = 1
    for level in range(levels):
        value = ring.forward[here, level]
        if blind or value >= 1:
            node = (here + (1 << level)) % size
            end = (here + (2 << level)) % size if level + 1 < levels else here
            if node != end:
                entry = Entry(node, level, 1 + level, value, int(marks[node]), int(marks[end]))
                found = _offer(desk, found, entry, scope, ruled)
    for level in range(levels):
        value = ring.backward[here, level]
        if blind or value >= 1:
            node = (here - (1 << level)) % size
            end = (here - (1 << (level - 1))) % size if level else here
            entry = Entry(node, level, 1 + levels + level, value, int(marks[node]), int(marks[end]))
            found = _offer(desk, found, entry, scope, ruled)
    return found


@bare
def _choose(rules: Rules, desk: Desk, found: int, streams: Words, broker: int) -> int:
    """Algorithm 2 and SELECTONE: weighted random, by the broker's own stream."""
    largest, highest = 0.0, -1
    for at in range(found):
        desk.weights[at, 0] = min(max(0.0, desk.weights[at, 0]), WEIGHT_MAX)
        largest = max(largest, desk.weights[at, 0])
        highest = max(highest, desk.candidates[at, 1])
    total = 0.0
    for at in range(found):
        weight = 1.0
        if rules.selection == _MANY:
            weight = desk.weights[at, 0]
        elif rules.selection == _FEW:
            weight = largest + 1 - desk.weights[at, 0]
        elif rules.selection == _CLOSE:
            weight = float(highest + 1 - desk.candidates[at, 1])
        desk.weights[at, 1] = weight
        total += weight
    if total <= 0:
        return int(np.int64(bits_at(streams, broker) % np.uint64(found)))
    point = random_at(streams, broker) * total
    for at in range(found):
        point -= desk.weights[at, 1]
        if point < 0:
            return at
    return found - 1


@bare
def _walk(ring: Ring, rules: Rules, start: int, desk: Desk, used: Longs) -> tuple[int, int, int, int]:
    """(picked, hops, restarts, again)."""
    whole = (rules.low, rules.high)
    here, scope = start, whole
    hops, steps, restarts, ruled, again = 0, 0, 0, 0, 0
    while steps <= rules.ttl and ruled < RULED_OUT_MAX and restarts <= rules.ttl * _STEPS_FACTOR:
        broker = here if ring.owner.size == 0 else int(ring.owner[here]) + 0
        found = _candidates(ring, rules, desk, here, scope, ruled)
        if found == 0:
            if scope == whole:
                break
            if rules.remember:
                desk.ruled[ruled, 0], desk.ruled[ruled, 1] = scope
                ruled += 1
            scope = whole
            restarts += 1
            continue
        at = _choose(rules, desk, found, ring.streams, broker)
        used[desk.candidates[at, 4]] += 1
        if desk.candidates[at, 1] < 0:
            if ring.values[here] >= 1:
                return here, hops, restarts, again
            if rules.remember:
                desk.ruled[ruled, 0], desk.ruled[ruled, 1] = ring.marks[here], ring.marks[here] + 1
                ruled += 1
            else:
                scope = whole
                restarts += 1
            continue
        here = int(desk.candidates[at, 0])
        scope = (int(desk.candidates[at, 2]), int(desk.candidates[at, 3]))
        steps += 1
        if (here if ring.owner.size == 0 else int(ring.owner[here]) + 0) != broker:
            hops += 1
            again += restarts > 0
    return -1, hops, restarts, again
