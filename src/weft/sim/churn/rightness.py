"""How right rings and tables are at an instant, seen from above: shares, where ``sim/convergence`` says yes or no.

Of the ring: the right pointers (and the left ones) that point at the next member. Of the tables, for some members: the
entries held that lead to a live broker, and the entries defined (SELECT §3.2, RELAY §5.1) that are exactly as defined.
While members come and go a finger at 2**i is off by whoever came or went in between, so for Suzaku the distance counts too.
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from weft.core.ids import NodeId
from weft.overlay.api import Entry
from weft.overlay.keys import Key
from weft.overlay.peer import Peer
from weft.overlay.skipgraph.machine import SkipGraph
from weft.overlay.suzaku.geometry import top_level
from weft.sim.vector.layout import Layout
from weft.sim.vector.skipgraph import build

Peers = Mapping[NodeId, Peer]


class Entries(NamedTuple):
    """Counts at one level: entries ``held``, of them ``live``; entries ``defined``, of them ``right``; the sum of how far
    the live ones are ``off``, relative to the distance where they should be (Suzaku alone).
    """

    held: int
    live: int
    defined: int
    right: int
    off: float


def pointers(peers: Peers, members: Sequence[Key]) -> tuple[int, int]:
    """Right and left pointers of the ring's members, which are in key order, that are as they should be."""
    rights = lefts = 0
    before = members[-1]
    link = peers[before.broker].ring.links[0, before]
    for key in members:
        rights += link.right.key == key
        link = peers[key.broker].ring.links[0, key]
        lefts += link.left.key == before
        before = key
    return rights, lefts


def tables(peers: Peers, members: Sequence[Key], sample: Sequence[int]) -> list[Entries]:
    """By level, the entries of the members at the positions of ``sample``, both ways together."""
    place = {key: at for at, key in enumerate(members)}
    fingers = not isinstance(peers[members[0].broker], SkipGraph)
    wanted = _fingers(len(members), sample) if fingers else _levels(peers, members, sample)
    counts: list[list[float]] = []
    for at, sides in zip(sample, wanted, strict=True):
        key = members[at]
        peer = peers[key.broker]
        for found, should, sign in ((peer.rights(key), sides[1], 1), (peer.lefts(key), sides[0], -1)):
            held = {entry.level: entry for entry in found}
            for level in range(max(len(should), max(held, default=-1) + 1)):
                if level == len(counts):
                    counts.append([0.0] * 5)
                _count(counts[level], held.get(level), should[level] if level < len(should) else None, place, members)
                if fingers and level in held:
                    steps = (place.get(held[level].ref.key, at) - at) * sign % len(members)
                    counts[level][4] += abs(steps / 2**level - 1) if steps else 0.0
    return [Entries(int(c[0]), int(c[1]), int(c[2]), int(c[3]), c[4]) for c in counts]


def _count(
    counts: list[float], entry: Entry | None, should: int | None, place: Mapping[Key, int], members: Sequence[Key]
) -> None:
    if entry is not None:
        counts[0] += 1
        counts[1] += entry.ref.key in place
    if should is not None:
        counts[2] += 1
        counts[3] += entry is not None and entry.ref.key == members[should]


Sides = tuple[list[int], list[int]]
"""Positions of the entries to the left, and to the right, by level."""


def _fingers(size: int, sample: Sequence[int]) -> list[Sides]:
    steps = [1 << level for level in range(top_level(size) + 1)]
    return [([(at - step) % size for step in steps], [(at + step) % size for step in steps]) for at in sample]


def _levels(peers: Peers, members: Sequence[Key], sample: Sequence[int]) -> list[Sides]:
    """Members are the layout's brokers by number: each has one key."""
    vectors, digits = [], 0
    for key in members:
        peer = peers[key.broker]
        assert isinstance(peer, SkipGraph)
        vectors.append(peer.vector)
        digits = peer.settings.membership_digits
    graph = build(Layout.plain([key.broker for key in members]), np.array(vectors, np.uint64), digits)
    found = []
    for at in sample:
        levels = graph.levels(at)
        found.append(([left for left, _ in levels], [right for _, right in levels]))
    return found
