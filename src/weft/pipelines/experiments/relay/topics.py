"""Who takes part in which topic, and where that puts them in key order (RELAY §5.3.1, §6).

A node is an edge broker. Its name in the Skip Graph under Scribe has nothing to do with its topics, so those who share one are
scattered over that order; with topics as keys they stand side by side, publishers before subscribers: ``pub < alm``.
"""

from typing import NamedTuple, Self

import numpy as np

from weft.sim.vector.draws import Draws, Words
from weft.sim.vector.layout import Ints, Layout, Longs, Span
from weft.sim.vector.scribe import Substrate
from weft.sim.vector.skipgraph import SkipGraph, build, membership

PUBLISHES, SUBSCRIBES = 0, 1

# Streams of a run's seed; those of the brokers are numbered from 1.
DEALING, TARGETS, CHOOSING, TRACE = (1 << 40) + np.arange(4)


class Skips(NamedTuple):
    """Nodes with one key each: a Skip Graph, and the same as Scribe's substrate (RELAY §6)."""

    graph: SkipGraph
    vectors: Words
    substrate: Substrate

    @classmethod
    def of(cls, nodes: int, seed: int) -> Self:
        ids = np.arange(1, nodes + 1)
        vectors = membership(seed, ids)
        graph = build(Layout.plain(ids), vectors)
        return cls(graph, vectors, Substrate.rings(graph, vectors))


def targets(seed: int, count: int, digits: int) -> list[int]:
    """The ids of ``count`` topics: a hash is as good as random."""
    words = Draws(seed, int(TARGETS)).bits(count) >> np.uint64(64 - digits)
    return [int(word) for word in words]


def dealt(draws: Draws, nodes: int, size: int, rounds: int = 1) -> Ints:
    """Topics of ``size`` members, a row each: the nodes are dealt out like cards, ``rounds`` times.

    Everybody is in ``rounds`` topics, or in none of a round if the cards do not come out even.
    """
    topics = nodes // size
    decks = [draws.shuffled(nodes)[: topics * size].reshape(topics, size) for _ in range(rounds)]
    return np.concatenate(decks)


def drawn(draws: Draws, nodes: int, topics: int, each: int) -> Longs:
    """For each node a row of ``each`` different topics, uniformly."""
    found = draws.below(topics, nodes * each).reshape(nodes, each)
    while True:
        found.sort(axis=1)
        twice = np.flatnonzero((np.diff(found, axis=1) == 0).any(axis=1))
        if not twice.size:
            return found
        found[twice] = draws.below(topics, twice.size * each).reshape(twice.size, each)


class Keys(NamedTuple):
    """Keys in order: by topic, then role, then node; ``first[2 * topic + role]`` is where a segment begins."""

    layout: Layout
    first: Longs

    @classmethod
    def of(cls, nodes: int, topics: int, topic: Longs, role: Longs, node: Longs) -> Self:
        """A key for each of three columns' rows."""
        segment = 2 * topic + role
        order = np.argsort(segment * nodes + node, kind="stable")
        first = np.searchsorted(segment[order], np.arange(2 * topics + 1))
        layout = Layout.shared(np.arange(1, nodes + 1), node[order])
        return cls(layout, first.astype(np.int64))

    def publishers(self, topic: int) -> Ints:
        """Broker numbers, in key order: the last of them is the rendezvous point (RELAY §5.3.3)."""
        return self.layout.owner[self.first[2 * topic] : self.first[2 * topic + 1]]

    def subscribers(self, topic: int) -> Ints:
        return self.layout.owner[self.first[2 * topic + 1] : self.first[2 * topic + 2]]

    def span(self, topic: int) -> Span:
        """The segment of subscribers."""
        return Span(int(self.first[2 * topic + 1]), int(self.first[2 * topic + 2]))
