"""A machine's timers: tokens in a heap, one pulled deadline.

A token is a hashable value that says what is due; setting it again moves it. Nothing here calls back: the machine asks
``due(now)`` in its ``timeout`` and dispatches on the token's type, as it does with messages.
"""

import heapq
from collections.abc import Hashable, Iterator


class Timers:
    """Invariant: every armed token has exactly one live heap entry; dead entries are skipped when they surface."""

    __slots__ = ("_armed", "_counter", "_heap")

    def __init__(self) -> None:
        self._heap: list[tuple[float, int, Hashable]] = []
        self._armed: dict[Hashable, int] = {}
        self._counter = 0

    def __len__(self) -> int:
        return len(self._armed)

    def __contains__(self, token: Hashable) -> bool:
        return token in self._armed

    def set(self, token: Hashable, at: float) -> None:
        """Arm ``token`` for ``at``, or move it there."""
        self._counter += 1
        self._armed[token] = self._counter
        heapq.heappush(self._heap, (at, self._counter, token))

    def cancel(self, token: Hashable) -> None:
        """Disarm ``token``; not being armed is fine."""
        self._armed.pop(token, None)

    @property
    def deadline(self) -> float | None:
        heap, armed = self._heap, self._armed
        while heap and armed.get(heap[0][2]) != heap[0][1]:
            heapq.heappop(heap)
        return heap[0][0] if heap else None

    def due(self, now: float) -> Iterator[Hashable]:
        """Disarm and yield what is due, oldest first; what a handler cancels meanwhile is not yielded any more."""
        while True:
            at = self.deadline
            if at is None or at > now:
                return
            token = heapq.heappop(self._heap)[2]
            del self._armed[token]
            yield token

    def armed(self) -> list[Hashable]:
        """The armed tokens in firing order: for the explorer and for ``story``."""
        return [
            token for _, counter, token in sorted(self._heap, key=lambda e: e[:2]) if self._armed.get(token) == counter
        ]
