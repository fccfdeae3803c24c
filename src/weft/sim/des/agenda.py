"""What is still to happen, in order of (time, priority, counter).

Entries of one time and lane (priority) wait in one list, first come first served; a heap holds a time for each list. The
order is exactly that of one heap of (time, priority, counter), but a thousand messages that arrive together cost one heap
operation, and a heap of floats compares twice as fast as one of tuples.

Invariants: a time is in ``_times`` as often as lanes have a list for it; an entry added for the turn that is being taken
comes after all that the turn still holds; one added for an earlier turn interrupts it. A list of one is stored as the
entry itself: entries are tuples, never lists.
"""

from collections.abc import Iterator
from copy import copy
from heapq import heappop, heappush
from math import inf
from typing import Any, Final

# Priorities at one instant: the world first, then commands, then messages, then timers: what arrives in time counts.
# Plain integers: they are compared and looked up for every event.
HOP: Final = 0
ACTION: Final = 1
COMMAND: Final = 2
MESSAGE: Final = 3
TIMER: Final = 4
LANES: Final = 5


def _entries(waiting: Any) -> list[Any]:
    return waiting if type(waiting) is list else [waiting]


class Agenda:
    """In: ``push``. Out: ``take``, one turn at a time; what a turn leaves unread goes back by ``put_back``."""

    __slots__ = ("_lanes", "_times", "at", "current", "interrupted", "lane")

    def __init__(self) -> None:
        self._times: list[float] = []
        self._lanes: list[dict[float, Any]] = [{} for _ in range(LANES)]
        self.at = -inf
        self.lane = -1
        self.current: Iterator[Any] = iter(())
        self.interrupted = False

    def push(self, at: float, lane: int, entry: object) -> None:
        waiting = self._lanes[lane]
        if at in waiting:
            entries = waiting[at]
            if type(entries) is list:
                entries.append(entry)
            else:
                waiting[at] = [entries, entry]
            return
        waiting[at] = entry
        heappush(self._times, at)
        if at <= self.at and (lane < self.lane or at < self.at):
            self.interrupted = True

    def take(self, until: float) -> bool:
        """Make the next turn current (``at``, ``lane``, ``current``), if it begins at ``until`` or before."""
        times = self._times
        if not times or times[0] > until:
            return False
        self.at = at = heappop(times)
        lane = 0
        for waiting in self._lanes:
            if waiting and at in waiting:
                break
            lane += 1
        self.lane = lane
        entries = self._lanes[lane].pop(at)
        self.current = iter(entries if type(entries) is list else (entries,))
        self.interrupted = False
        return True

    def put_back(self) -> None:
        """End the current turn; what it still holds waits again, before what came later."""
        rest = list(self.current)
        if rest:
            waiting = self._lanes[self.lane]
            if self.at not in waiting:
                heappush(self._times, self.at)
            waiting[self.at] = rest + _entries(waiting.get(self.at, []))
        self.at, self.lane = -inf, -1
        self.current = iter(())

    def waiting(self, lane: int) -> list[Any]:
        """What waits in ``lane``, in order; reading disturbs nothing."""
        lists = self._lanes[lane]
        entries = [entry for at in sorted(lists) for entry in _entries(lists[at])]
        return [*copy(self.current), *entries] if self.lane == lane else entries

    def is_idle(self, lanes: int) -> bool:
        """Does nothing wait in the first ``lanes`` lanes?"""
        return not self._times if lanes == LANES else not any(self._lanes[:lanes])
