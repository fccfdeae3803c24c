"""Whose each place in key order is: all that the models know of keys.

A layout of brokers with one key each is *plain*: broker number i is who holds position i, and nothing is stored for that.
Where nothing is said of localities there is one run, the whole ring, and one site.
"""

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple, Self

import numpy as np
import numpy.typing as npt

from weft.core.errors import Misuse
from weft.overlay.keys import Key, KeyRange, locality_range

Ints = npt.NDArray[np.int32]
Longs = npt.NDArray[np.int64]

NODES_MAX = 1 << 30
"""Positions are 32-bit numbers."""

_NONE: Ints = np.empty(0, np.int32)


@dataclass(frozen=True, slots=True)
class Layout:
    """``ids`` are the brokers' node ids, by broker number; ``held[first[b]:first[b + 1]]`` broker b's positions, ascending.

    Empty ``owner``, ``first`` and ``held``: plain. Empty ``run`` and ``site``: one of each. ``starts`` are the runs' first
    positions, and n.
    """

    size: int
    ids: Longs
    owner: Ints
    first: Ints
    held: Ints
    run: Ints
    starts: Ints
    site: Ints
    most: int
    """Keys of the broker that has most of them."""

    @classmethod
    def plain(cls, ids: npt.ArrayLike, run: npt.ArrayLike | None = None, site: npt.ArrayLike | None = None) -> Self:
        """A broker for each position, in key order."""
        ids = np.asarray(ids, np.int64)
        return cls._made(ids.size, ids, _NONE, run, site)

    @classmethod
    def shared(
        cls,
        ids: npt.ArrayLike,
        owner: npt.ArrayLike,
        run: npt.ArrayLike | None = None,
        site: npt.ArrayLike | None = None,
    ) -> Self:
        """Brokers with several keys: ``owner`` has a broker number for each position."""
        ids, owner = np.asarray(ids, np.int64), np.asarray(owner, np.int32)
        if owner.size and not 0 <= int(owner.min()) <= int(owner.max()) < ids.size:
            raise Misuse(f"an owner that is not one of the {ids.size} brokers")
        return cls._made(owner.size, ids, owner, run, site)

    @classmethod
    def of(cls, keys: Sequence[Key]) -> Self:
        """The layout of real keys, which are in order."""
        if any(one >= other for one, other in pairwise(keys)):
            raise Misuse("keys that are not in order, or not different")
        ids = sorted({key.broker for key in keys})
        numbers = {node: number for number, node in enumerate(ids)}
        sites = {cluster: number for number, cluster in enumerate(sorted({key.cluster for key in keys}))}
        run = np.cumsum([at > 0 and key.locality != keys[at - 1].locality for at, key in enumerate(keys)])
        return cls.shared(ids, [numbers[key.broker] for key in keys], run, [sites[key.cluster] for key in keys])

    @classmethod
    def _made(cls, size: int, ids: Longs, owner: Ints, run: npt.ArrayLike | None, site: npt.ArrayLike | None) -> Self:
        if not 0 < size <= NODES_MAX:
            raise Misuse(f"a ring has 1…{NODES_MAX} nodes, not {size}")
        first, held, most = _NONE, _NONE, 1
        if owner.size:
            held = np.argsort(owner, kind="stable").astype(np.int32)
            first = np.concatenate(([0], np.cumsum(np.bincount(owner, minlength=ids.size)))).astype(np.int32)
            most = int(np.diff(first).max())
        runs = _NONE if run is None else np.asarray(run, np.int32)
        sites = _NONE if site is None else np.asarray(site, np.int32)
        if any(each.size not in {0, size} for each in (runs, sites)):
            raise Misuse(f"a run and a site for each of the {size} positions, or for none")
        borders = np.flatnonzero(np.diff(runs)) + 1
        if borders.size and not np.array_equal(np.diff(runs)[borders - 1], np.ones(borders.size)):
            raise Misuse("runs are numbered from 0 in key order")
        starts = np.concatenate(([0], borders, [size])).astype(np.int32)
        return cls(size, ids, owner, first, held, runs, starts, sites, most)

    @property
    def brokers(self) -> int:
        return int(self.ids.size)

    def owners(self) -> Ints:
        """The broker number of each position, plain or not."""
        return self.owner if self.owner.size else np.arange(self.size, dtype=np.int32)

    def positions(self, broker: int) -> Ints:
        """Where broker number ``broker`` is, ascending."""
        if not self.owner.size:
            return np.array([broker], np.int32)
        return self.held[self.first[broker] : self.first[broker + 1]]


class Span(NamedTuple):
    """Positions ``low`` … ``high − 1``.

    A border may lie inside a locality although no member of that lies inside the span: ``low_run`` and ``high_run`` say
    inside which run's locality each border lies, −1 for none (as of a whole segment: nobody else shares a locality with it).
    """

    low: int
    high: int
    low_run: int = -1
    high_run: int = -1

    @classmethod
    def of(cls, keys: Sequence[Key], wanted: KeyRange) -> Self:
        """``wanted`` on a ring of ``keys``, which are in order. An empty range asks nobody: there is nothing to model."""
        if wanted.is_empty:
            raise Misuse("a range that no key could be in")
        low, high = bisect_left(keys, wanted.low), bisect_left(keys, wanted.high)
        runs = np.cumsum([at > 0 and key.locality != keys[at - 1].locality for at, key in enumerate(keys)])
        low_run = high_run = -1
        if low > 0 and wanted.low < locality_range(keys[low - 1]).high:
            low_run = int(runs[low - 1])
        if high < len(keys) and locality_range(keys[high]).low < wanted.high:
            high_run = int(runs[high])
        return cls(low, high, low_run, high_run)
