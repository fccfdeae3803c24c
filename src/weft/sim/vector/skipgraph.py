"""Skip Graphs whole, for up to tens of millions of nodes: the tables that ``overlay/skipgraph`` converges to (RELAY §5.1–5.2).

Vectors come from the brokers' own streams, as the machines draw them, so a model and a simulation of one seed have the same
levels. Each node's tower stands in one piece (left, right, left, right, … from level 0 up): a node has as many levels as it
has company for, log2 n and a little on average, and whoever reads one level will read the next.

The rings are linked depth first: a ring is walked once, linked, and parted by its next digit into the two rings above it. A
part that fits into the cache is finished there before the next is begun.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from weft.core.rand import Rng
from weft.overlay.skipgraph.geometry import DIGITS
from weft.sim.vector.compiled import bare
from weft.sim.vector.draws import Words, mixed
from weft.sim.vector.layout import Ints, Layout, Longs

_GAMMA = np.uint64(0x9E3779B97F4A7C15)
_PARTS_MAX = 130
"""Rings that wait while a deeper one is linked: at most two for each level."""


def membership(seed: int, ids: Longs, digits: int = DIGITS) -> Words:
    """The vectors that brokers ``ids`` draw in a simulation of ``seed``: the first word of their own stream."""
    vectors = np.empty(ids.size, np.uint64)
    _draw(np.uint64(Rng(seed).state), ids, np.uint64(64 - digits), vectors)
    return vectors


@dataclass(frozen=True, slots=True)
class SkipGraph:
    """``links[2 * (base[p] + level)]`` is the left neighbour of position p at a level, the next number the right one."""

    layout: Layout
    base: Longs
    links: Ints

    def levels(self, position: int) -> list[tuple[int, int]]:
        """(left, right) from level 0 up, as ``static_levels`` lists them."""
        tower = self.links[2 * self.base[position] : 2 * self.base[position + 1]].reshape(-1, 2)
        return [(int(left), int(right)) for left, right in tower]

    @property
    def nbytes(self) -> int:
        return self.base.nbytes + self.links.nbytes


def build(layout: Layout, vectors: Words, digits: int = DIGITS) -> SkipGraph:
    """The converged Skip Graph of ``layout`` whose broker b has ``vectors[b]``."""
    heights = _heights(vectors, digits)
    counts = heights + np.int8(1)
    base = np.zeros(layout.size + 1, np.int64)
    np.cumsum(counts[layout.owner] if layout.owner.size else counts, out=base[1:])
    words = vectors << np.uint64(64 - digits)
    if layout.owner.size:
        words = words[layout.owner]
    links = np.empty(2 * int(base[-1]), np.int32)
    order = np.arange(layout.size, dtype=np.int32)
    stack = np.empty((_PARTS_MAX, 3), np.int64)
    _link(order, words, base, links, np.empty_like(order), np.empty_like(words), stack)
    return SkipGraph(layout, base, links)


def seeded(layout: Layout, seed: int, digits: int = DIGITS) -> SkipGraph:
    """The Skip Graph of a simulation of ``seed``."""
    return build(layout, membership(seed, layout.ids, digits), digits)


def _heights(vectors: Words, digits: int) -> npt.NDArray[np.int8]:
    """The highest level at which each broker has company: the longest prefix that it shares with another (RELAY §5.2)."""
    order = np.argsort(vectors)
    heights = np.zeros(vectors.size, np.int8)
    _share(vectors, order, digits, heights)
    return heights


@bare
def _draw(state: np.uint64, ids: Longs, drop: np.uint64, vectors: Words) -> None:
    for at in range(ids.size):
        stream = mixed(state + _GAMMA + np.uint64(ids[at]))  # the broker's stream …
        stream = mixed(stream + _GAMMA)  # … of its first run …
        vectors[at] = mixed(stream + _GAMMA) >> drop  # … and its first word


@bare
def _share(vectors: Words, order: Longs, digits: int, heights: npt.NDArray[np.int8]) -> None:
    before = 0
    vector = vectors[order[0]]
    for at in range(order.size):
        behind = 0
        if at + 1 < order.size:
            following = vectors[order[at + 1]]
            differing, vector = vector ^ following, following
            behind = digits
            while differing:
                differing >>= np.uint64(1)
                behind -= 1
        heights[order[at]] = max(before, behind)
        before = behind


@bare
def _link(
    order: Ints, words: Words, base: Longs, links: Ints, spare: Ints, spare_words: Words, stack: npt.NDArray[np.int64]
) -> None:
    """``order`` and ``words`` (digit 0 the top bit) are parted in place; a part is a ring of the next level."""
    stack[0, 0], stack[0, 1], stack[0, 2] = 0, order.size, 0
    waiting = 1
    while waiting:
        waiting -= 1
        start, end, level = stack[waiting, 0], stack[waiting, 1], stack[waiting, 2]
        before = order[end - 1]
        zeros, ones = start, 0
        mask = np.uint64(1) << np.uint64(63 - level)
        for at in range(start, end):
            here, word = order[at], words[at]
            links[2 * (base[here] + level)] = before
            links[2 * (base[before] + level) + 1] = here
            before = here
            if word & mask:
                spare[ones], spare_words[ones] = here, word
                ones += 1
            else:
                order[zeros], words[zeros] = here, word
                zeros += 1
        for at in range(ones):
            order[zeros + at], words[zeros + at] = spare[at], spare_words[at]
        level += 1
        for low, high in ((start, zeros), (zeros, end)):
            if low < high and base[order[low] + 1] - base[order[low]] > level:
                stack[waiting, 0], stack[waiting, 1], stack[waiting, 2] = low, high, level
                waiting += 1
