"""Long lists in pages: each page costs a bounded time, whatever the length of the list and however few of it match.

A list begins with a snapshot of its keys (client ids, topics), so whatever is there from the first page to the last is listed
exactly once, and what comes later is not. What is gone by the time its page is read is left out. A page may hold fewer items
than asked for, even none, and still have a cursor: it has looked at ``SCANNED_MAX`` keys.
"""

from collections import OrderedDict
from collections.abc import Callable, Iterable
from itertools import islice
from typing import TypeVar

import msgspec

from weft.core.errors import Misuse

ITEMS_MAX = 1_000
SCANNED_MAX = 10_000
SORTED_MAX = 10_000
"""Longer lists stay in the order of their table: sorting a million names takes longer than a tick may."""
SNAPSHOTS_MAX = 8
"""Lists being read at once; past it, the one that was not read for longest is forgotten."""
SNAPSHOT_S = 120.0

T = TypeVar("T")


class Snapshot(msgspec.Struct):
    """The keys of one list being read."""

    what: str
    keys: list[str]
    read_at: float


class Pages:
    """In: a list's name, a cursor. Out: items, and the cursor for the next page, None after the last."""

    def __init__(self) -> None:
        self._snapshots: OrderedDict[int, Snapshot] = OrderedDict()
        self._last = 0

    def read(
        self,
        now: float,
        what: str,
        cursor: str,
        limit: int,
        keys: Callable[[], list[str]],
        rows: Callable[[str], Iterable[T]],
    ) -> tuple[list[T], str | None]:
        """A page of the list ``what``: ``keys()`` if it begins, and what ``rows`` makes of each key."""
        if cursor:
            number, position, inner = self._find(now, what, cursor)
            snapshot = self._snapshots[number]
            snapshot.read_at = now
            self._snapshots.move_to_end(number)
        else:
            number, position, inner = 0, 0, 0
            snapshot = Snapshot(what, keys(), now)
            if len(snapshot.keys) <= SORTED_MAX:
                snapshot.keys.sort()
        items: list[T] = []
        scanned = 0
        while position < len(snapshot.keys) and len(items) < limit and scanned < SCANNED_MAX:
            room = limit - len(items)
            some = list(islice(rows(snapshot.keys[position]), inner, inner + room + 1))
            items += some[:room]
            scanned += 1
            if len(some) > room:
                inner += room
            else:
                position, inner = position + 1, 0
        if position >= len(snapshot.keys):
            self._snapshots.pop(number, None)
            return items, None
        if not number:
            number = self._remember(now, snapshot)
        return items, f"{number}.{position}.{inner}"

    def _remember(self, now: float, snapshot: Snapshot) -> int:
        while self._snapshots:
            oldest = next(iter(self._snapshots.values()))
            if len(self._snapshots) < SNAPSHOTS_MAX and now - oldest.read_at < SNAPSHOT_S:
                break
            self._snapshots.popitem(last=False)
        self._last += 1
        self._snapshots[self._last] = snapshot
        return self._last

    def _find(self, now: float, what: str, cursor: str) -> tuple[int, int, int]:
        parts = cursor.split(".")
        if len(parts) != 3 or not all(part.isascii() and part.isdigit() and len(part) < 19 for part in parts):
            raise Misuse("this cursor is not one of ours")
        number, position, inner = (int(part) for part in parts)
        found = self._snapshots.get(number)
        if found is None or found.what != what or now - found.read_at >= SNAPSHOT_S:
            raise Misuse(f"this cursor has expired, or belongs to another list; begin again without one ({what})")
        return number, position, inner
