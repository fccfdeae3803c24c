"""What brokers keep: the entries of their routing tables, and how many different brokers those are (RELAY §6.4).

The papers' lists have ends and our levels are rings: an entry that goes round the end is not one of theirs, and ``lists``
leaves it out. An entry for another key of one's own is an entry, but nobody who would have to be looked after.
"""

from typing import NamedTuple

import numpy as np

from weft.sim.vector.compiled import bare
from weft.sim.vector.layout import Ints, Longs
from weft.sim.vector.multicast import tables_of
from weft.sim.vector.skipgraph import SkipGraph
from weft.sim.vector.spreading import Tables

_NOBODY: Ints = np.empty(0, np.int32)


class Kept(NamedTuple):
    """For each broker: ``entries`` in its tables, ``foreign`` of them for others' keys, ``brokers`` different ones of those."""

    entries: Longs
    foreign: Longs
    brokers: Longs


class Extra(NamedTuple):
    """``others[begin[b]:begin[b + 1]]`` are whom broker b keeps an entry for besides."""

    begin: Longs
    others: Ints


def kept(graph: SkipGraph, *, lists: bool = True, keepers: Ints = _NOBODY, others: Ints = _NOBODY) -> Kept:
    """The tables of ``graph``; and ``keepers[i]`` keeps an entry for broker ``others[i]`` besides."""
    brokers = graph.layout.brokers
    order = np.argsort(keepers, kind="stable")
    begin = np.searchsorted(keepers[order], np.arange(brokers + 1))
    found = Kept(*(np.zeros(brokers, np.int64) for _ in range(3)))
    seen = np.full(brokers, -1, np.int32)
    _survey(tables_of(graph), Extra(begin, others[order]), lists, seen, found)
    return found


@bare
def _enter(found: Kept, seen: Ints, broker: int, other: int) -> None:
    found.entries[broker] += 1
    if other != broker:
        found.foreign[broker] += 1
        if seen[other] != broker:
            seen[other] = broker
            found.brokers[broker] += 1


@bare
def _survey(tables: Tables, extra: Extra, lists: bool, seen: Ints, found: Kept) -> None:
    plain = tables.owner.size == 0
    for broker in range(found.entries.size):
        begin, end = (0, 1) if plain else (tables.first[broker], tables.first[broker + 1])
        for at in range(begin, end):
            position = broker if plain else tables.held[at]
            for link in range(2 * tables.base[position], 2 * tables.base[position + 1]):
                contact = tables.links[link]
                onwards = contact < position if link % 2 == 0 else contact > position
                if lists and not onwards:
                    continue  # round the end
                _enter(found, seen, broker, contact if plain else tables.owner[contact])
        for at in range(extra.begin[broker], extra.begin[broker + 1]):
            _enter(found, seen, broker, extra.others[at])
