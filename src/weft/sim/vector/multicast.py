"""Range multicast in bulk: the trees of ``binary``, ``split`` and ``cluster-first`` over either overlay (overlay §5).

A tree is a table of messages, each after the one that caused it; what an experiment wants of it (depth, forwards per broker,
crossings, hops on the links below) is a sum or a walk over that table. The kernels are in ``spreading``.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from weft.core.errors import Misuse
from weft.core.limits import TTL_HOPS
from weft.sim.vector import spreading
from weft.sim.vector.compiled import compiled
from weft.sim.vector.layout import Ints, Layout, Longs, Span
from weft.sim.vector.skipgraph import SkipGraph
from weft.sim.vector.suzaku import Suzaku

STRATEGIES = {"binary": spreading.BINARY, "split": spreading.SPLIT, "cluster-first": spreading.CLUSTER_FIRST}

UNREACHED = -2
"""``Tree.via`` of a position that no message reached."""


@dataclass(frozen=True, slots=True)
class Tree:
    """One multicast. ``messages`` has a row (source, target, hops, cause) each, brokers by number; cause −1 is the sender.

    ``via[i]`` is the message that reached position ``span.low + i``, −1 for a key of the sender's own.
    """

    layout: Layout
    sender: int
    span: Span
    messages: npt.NDArray[np.int32]
    via: Ints
    lost: int
    """Messages that had come too far (``TTL_HOPS``) and were dropped."""

    @property
    def source(self) -> Ints:
        return self.messages[:, 0]

    @property
    def target(self) -> Ints:
        return self.messages[:, 1]

    @property
    def cause(self) -> Ints:
        return self.messages[:, 3]

    @property
    def depths(self) -> Ints:
        """For each position of the span, over how many messages it was reached; −1: it was not."""
        hops = np.concatenate((self.messages[:, 2], np.array([-1, 0], np.int32)))
        return hops[self.via]

    @property
    def parents(self) -> Ints:
        """For each position of the span, the number of the broker that it was reached from; −1: it was not."""
        sources = np.concatenate((self.source, np.array([-1, self.sender], np.int32)))
        return sources[self.via]

    def forwards(self, into: Longs | None = None) -> Longs:
        """Messages sent by each broker, added to ``into`` where many trees are counted together."""
        total = np.zeros(self.layout.brokers, np.int64) if into is None else into
        _count(self.messages, total)
        return total

    def crossings(self, sites: Ints) -> int:
        """Messages between brokers of different ``sites``, given by broker number."""
        return int(np.count_nonzero(sites[self.source] != sites[self.target]))

    def along(self, costs: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
        """The sum of the messages' ``costs`` on the way to each message's target, its own included."""
        total = costs.astype(np.int64)
        _accumulate(self.messages, total)
        return total


def multicast(overlay: SkipGraph | Suzaku, sender: int, span: Span, strategy: str = "cluster-first") -> Tree:
    """What becomes of a multicast to ``span`` by broker number ``sender``."""
    if strategy not in STRATEGIES:
        raise Misuse(f"unknown strategy {strategy}: one of {', '.join(STRATEGIES)}")
    layout = overlay.layout
    if not 0 <= sender < layout.brokers:
        raise Misuse(f"there is no broker number {sender}")
    low, high = span.low, span.high
    if not 0 <= low <= high <= layout.size:
        raise Misuse(f"positions {low} … {high} are not on a ring of {layout.size}")
    via = np.full(high - low, UNREACHED, np.int32)
    rows = np.empty((high - low + TTL_HOPS + 2, 4), np.int32)
    tables = tables_of(overlay)
    room = spreading.room_for(tables, high - low)
    sent, lost = spreading.spread(tables, STRATEGIES[strategy], sender, span, via, rows, room)
    return Tree(layout, sender, span, rows[:sent], via, lost)


def tables_of(overlay: SkipGraph | Suzaku) -> spreading.Tables:
    """The arrays that a kernel reads."""
    layout = overlay.layout
    base, links, top = np.empty(0, np.int64), np.empty(0, np.int32), -1
    if isinstance(overlay, SkipGraph):
        base, links = overlay.base, overlay.links
    else:
        top = overlay.top
    return spreading.Tables(
        layout.size,
        layout.owner,
        layout.first,
        layout.held,
        layout.run,
        layout.starts,
        layout.site,
        base,
        links,
        top,
        layout.most,
    )


@compiled
def _count(messages: npt.NDArray[np.int32], total: Longs) -> None:
    for at in range(messages.shape[0]):
        total[messages[at, 0]] += 1


@compiled
def _accumulate(messages: npt.NDArray[np.int32], total: npt.NDArray[np.int64]) -> None:
    for at in range(messages.shape[0]):
        cause = messages[at, 3]
        if cause >= 0:
            total[at] += total[cause]
