"""An overlay that does nothing by itself: it writes down what it is told, and a test says what comes of it."""

from typing import Any

from weft.core.ids import NodeId
from weft.core.machine import Event, Message, Outbox
from weft.overlay.api import Found, Query
from weft.overlay.keys import Key


class FakeOverlay:
    """``calls``: the verbs in order, with their arguments. ``says``: events of the next verb or message."""

    def __init__(self) -> None:
        self.deadline: float | None = None
        self.calls: list[tuple[Any, ...]] = []
        self.says: list[Event] = []
        self.notes: dict[Key, bytes] = {}
        self._requests = 0

    def _speak(self, out: Outbox) -> None:
        events, self.says = self.says, []
        for event in events:
            out.deliver(event)

    def receive(self, now: float, source: NodeId, message: Message, out: Outbox) -> None:
        self.calls.append(("receive", source, message))
        self._speak(out)

    def timeout(self, now: float, out: Outbox) -> None:
        self.calls.append(("timeout", now))
        self.deadline = None
        self._speak(out)

    def join(self, now: float, key: Key, introducer: NodeId | None, out: Outbox) -> None:
        self.calls.append(("join", key, introducer))
        self._speak(out)

    def leave(self, now: float, key: Key, out: Outbox) -> None:
        self.calls.append(("leave", key))
        self._speak(out)

    def lookup(self, now: float, key: Key, out: Outbox) -> int:
        self._requests += 1
        self.calls.append(("lookup", key))
        self.says.append(Found(self._requests, key, None, None, 0))
        self._speak(out)
        return self._requests

    def multicast(self, now: float, query: Query, out: Outbox) -> int:
        self.calls.append(("multicast", query))
        self._speak(out)
        return 0

    def anycast(self, now: float, query: Query, selection: str, out: Outbox) -> int:
        self.calls.append(("anycast", query, selection))
        return 0

    def reply(self, now: float, token: int, value: Any, out: Outbox) -> None:
        self.calls.append(("reply", token, value))

    def aggregate(self, now: float, key: Key, values: dict[str, float], out: Outbox) -> None:
        self.calls.append(("aggregate", key, values))

    def note(self, key: Key, note: bytes) -> None:
        self.notes[key] = note

    def keys(self) -> list[Key]:
        return []
