"""The overlay as pub/sub uses it: its verbs, and its events caught instead of delivered further up.

Invariant: an event is heard after the call that caused it has returned, never within, so whoever hears it may use any verb.
"""

from collections.abc import Callable
from typing import Any

from weft.core.ids import NodeId
from weft.core.machine import Deliver, Event, Message, Outbox
from weft.overlay.api import Found, Overlay, Query
from weft.overlay.keys import Key

Hear = Callable[[float, Event, Outbox], None]
Answer = Callable[[float, Found, Outbox], None]


class Port:
    """In: verbs. Out: the overlay's effects, and ``hear`` for each of its events; lookups end at who asked."""

    def __init__(self, overlay: Overlay, hear: Hear) -> None:
        self.overlay = overlay
        self._hear = hear
        self._asked: dict[int, Answer] = {}

    def receive(self, now: float, source: NodeId, message: Message, out: Outbox) -> None:
        inner = Outbox()
        self.overlay.receive(now, source, message, inner)
        self._pass_on(now, inner, out)

    def timeout(self, now: float, out: Outbox) -> None:
        inner = Outbox()
        self.overlay.timeout(now, inner)
        self._pass_on(now, inner, out)

    def join(self, now: float, key: Key, introducer: NodeId | None, out: Outbox) -> None:
        inner = Outbox()
        self.overlay.join(now, key, introducer, inner)
        self._pass_on(now, inner, out)

    def leave(self, now: float, key: Key, out: Outbox) -> None:
        inner = Outbox()
        self.overlay.leave(now, key, inner)
        self._pass_on(now, inner, out)

    def multicast(self, now: float, query: Query, out: Outbox) -> None:
        inner = Outbox()
        self.overlay.multicast(now, query, inner)
        self._pass_on(now, inner, out)

    def lookup(self, now: float, key: Key, answer: Answer, out: Outbox) -> None:
        inner = Outbox()
        self._asked[self.overlay.lookup(now, key, inner)] = answer
        self._pass_on(now, inner, out)

    def reply(self, now: float, token: int, value: Any, out: Outbox) -> None:
        inner = Outbox()
        self.overlay.reply(now, token, value, inner)
        self._pass_on(now, inner, out)

    def _pass_on(self, now: float, inner: Outbox, out: Outbox) -> None:
        for effect in inner.effects:
            if not isinstance(effect, Deliver):
                out.effects.append(effect)
            elif isinstance(effect.event, Found):
                answer = self._asked.pop(effect.event.request, None)
                if answer is not None:
                    answer(now, effect.event, out)
            else:
                self._hear(now, effect.event, out)
