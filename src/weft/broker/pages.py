"""Long lists in pages: each page costs a bounded time, whatever the length of the list and however few of it match.

A list begins with a source of its keys (client ids, topics), which is read as far as pages have been asked for; what was read
is remembered, so a page may be asked for again. Whatever is there from the first page to the last is listed exactly once; what
is gone by the time its page is read is left out. A page may hold fewer items than asked for, even none, and still have a
cursor: it has looked at ``SCANNED_MAX`` keys.
"""

from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from typing import TypeVar

import msgspec

from weft.core.errors import Misuse

ITEMS_MAX = 1_000
SCANNED_MAX = 10_000
SORTED_MAX = 10_000
"""Longer lists stay in the order of their table: sorting a million names takes longer than a tick may."""
READINGS_MAX = 8
"""Lists being read at once; past it, the one that was not read for longest is forgotten."""
READING_S = 120.0

T = TypeVar("T")


class Reading(msgspec.Struct):
    """One list being read: the keys so far, and where the others come from."""

    what: str
    source: Iterator[str]
    keys: list[str]
    read_at: float

    def has(self, position: int) -> bool:
        """Is there a key at ``position``? Positions are asked for one after another."""
        if position >= len(self.keys):
            self.keys += islice(self.source, 1)
        return position < len(self.keys)


class Pages:
    """In: a list's name, a cursor. Out: items, and the cursor for the next page, None after the last."""

    def __init__(self) -> None:
        self._readings: OrderedDict[int, Reading] = OrderedDict()
        self._last = 0

    def read(
        self,
        now: float,
        what: str,
        cursor: str,
        limit: int,
        keys: Callable[[], Iterable[str]],
        rows: Callable[[str], Iterable[T]],
    ) -> tuple[list[T], str | None]:
        """A page of the list ``what``: of ``keys()`` if it begins, and what ``rows`` makes of each key."""
        if cursor:
            number, position, inner = self._find(now, what, cursor)
            reading = self._readings[number]
            reading.read_at = now
            self._readings.move_to_end(number)
        else:
            number, position, inner = 0, 0, 0
            reading = _begin(now, what, iter(keys()))
        items: list[T] = []
        scanned = 0
        while (more := reading.has(position)) and len(items) < limit and scanned < SCANNED_MAX:
            room = limit - len(items)
            some = list(islice(rows(reading.keys[position]), inner, inner + room + 1))
            items += some[:room]
            scanned += 1
            if len(some) > room:
                inner += room
            else:
                position, inner = position + 1, 0
        if not more:
            return items, None
        if not number:
            number = self._remember(now, reading)
        return items, f"{number}.{position}.{inner}"

    def _remember(self, now: float, reading: Reading) -> int:
        while self._readings:
            oldest = next(iter(self._readings.values()))
            if len(self._readings) < READINGS_MAX and now - oldest.read_at < READING_S:
                break
            self._readings.popitem(last=False)
        self._last += 1
        self._readings[self._last] = reading
        return self._last

    def _find(self, now: float, what: str, cursor: str) -> tuple[int, int, int]:
        parts = cursor.split(".")
        if len(parts) != 3 or not all(part.isascii() and part.isdigit() and len(part) < 19 for part in parts):
            raise Misuse("this cursor is not one of ours")
        number, position, inner = (int(part) for part in parts)
        found = self._readings.get(number)
        if found is not None and position > len(found.keys):
            raise Misuse("this cursor is not one of ours")
        if found is None or found.what != what or now - found.read_at >= READING_S:
            raise Misuse(f"this cursor has expired, or belongs to another list; begin again without one ({what})")
        return number, position, inner


def _begin(now: float, what: str, source: Iterator[str]) -> Reading:
    """Short lists are sorted."""
    keys = list(islice(source, SORTED_MAX))
    if len(keys) < SORTED_MAX:
        keys.sort()
    return Reading(what, source, keys, now)
