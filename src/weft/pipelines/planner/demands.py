"""What topics would save, what they need of each switch, and what each switch has room for.

Sparse: topic t needs ``entries[i]`` flow entries on ``switch[i]``, for i in ``start[t]`` … ``start[t + 1] − 1``. The unit of a
value is the caller's; weft plans with link crossings that OFM saves per second.
"""

from dataclasses import dataclass
from typing import NamedTuple, Self

import numpy as np
import numpy.typing as npt

from weft.core.errors import Misuse

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int32]
Longs = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]

ENTRIES_MAX = (1 << 31) - 1
"""Of one topic on one switch, and of a switch's table."""


class Needs(NamedTuple):
    """What kernels read."""

    start: Longs
    switch: Ints
    entries: Ints


@dataclass(frozen=True, slots=True)
class Demands:
    value: Floats
    start: Longs
    switch: Ints
    entries: Ints
    room: Longs
    """Entries that each switch has for topics."""

    @classmethod
    def of(
        cls,
        value: npt.ArrayLike,
        start: npt.ArrayLike,
        switch: npt.ArrayLike,
        entries: npt.ArrayLike,
        room: npt.ArrayLike,
    ) -> Self:
        """Checked; whoever reads records calls this."""
        made = cls(
            np.asarray(value, np.float64),
            np.asarray(start, np.int64),
            np.asarray(switch, np.int32),
            np.asarray(entries, np.int32),
            np.asarray(room, np.int64),
        )
        made._check()
        return made

    def _check(self) -> None:
        if not np.isfinite(self.value).all():
            raise Misuse("a topic whose value is not a number")
        starts = self.start
        if starts.shape != (self.value.size + 1,) or starts[0] or (np.diff(starts) < 0).any():
            raise Misuse(f"{self.value.size} topics have {self.value.size + 1} ascending starts, the first 0")
        if starts[-1] != self.switch.size or self.switch.size != self.entries.size:
            raise Misuse(
                f"{starts[-1]} needs, but {self.switch.size} switches and {self.entries.size} numbers of entries"
            )
        if self.switch.size and not 0 <= int(self.switch.min()) <= int(self.switch.max()) < self.room.size:
            raise Misuse(f"a switch that is not one of the {self.room.size}")
        turns = np.zeros(self.switch.size + 1, bool)
        turns[starts] = True
        if (np.diff(self.switch) <= 0)[~turns[1 : self.switch.size]].any():
            raise Misuse("a topic names its switches in ascending order, each once")
        if (self.entries < 1).any():
            raise Misuse("a need of less than one entry")
        if self.room.size and not 0 <= int(self.room.min()) <= int(self.room.max()) <= ENTRIES_MAX:
            raise Misuse(f"a table has room for 0 to {ENTRIES_MAX} entries")

    def __len__(self) -> int:
        return self.value.size

    @property
    def needs(self) -> Needs:
        return Needs(self.start, self.switch, self.entries)

    @property
    def topic(self) -> Longs:
        """Whose need number i is."""
        return np.repeat(np.arange(len(self)), np.diff(self.start))

    @property
    def totals(self) -> Longs:
        """All entries of each topic."""
        sums: Longs = np.zeros(self.entries.size + 1, np.int64)
        np.cumsum(self.entries, out=sums[1:])
        return sums[self.start[1:]] - sums[self.start[:-1]]

    @property
    def possible(self) -> Bools:
        """The topics for which empty tables have room."""
        short = self.topic[self.entries > self.room[self.switch]]
        found: Bools = np.ones(len(self), bool)
        found[short] = False
        return found

    def used(self, chosen: Bools) -> Longs:
        """Entries on each switch if these topics have theirs."""
        taken = np.repeat(chosen, np.diff(self.start))
        counts = np.bincount(self.switch[taken], self.entries[taken], self.room.size)
        return counts.astype(np.int64)

    def fits(self, chosen: Bools) -> bool:
        return bool((self.used(chosen) <= self.room).all())
