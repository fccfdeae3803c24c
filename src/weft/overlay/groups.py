"""Group multicast, the other family of overlays: who wants something says so, and what is published finds them.

``api.Overlay`` does not fit these protocols: its verbs are about places in one key order (join a key, ask a range, look at
a neighbour). Scribe, Bayeux and CAN-MC hash a topic to somewhere, SHG compares attributes with patterns: none of them has an
order of members, a range, or an answer to give back. What they have in common is here: three verbs, one event, and the
front door that a hostile message does not get past.
"""

from collections.abc import Hashable
from typing import Any, Protocol, TypeVar

import msgspec

from weft.core.errors import Misuse, Violation
from weft.core.ids import NodeId
from weft.core.machine import Event, Handlers, Machine, Message, Outbox, TimerHandlers
from weft.overlay.local import Local

TOPIC_BYTES_MAX = 65_535
HOPS_MAX = 65_536
"""Messages on the way of one publication or join; a chain this long is no tree of ours."""
SEEN_MAX = 65_536
"""Publications that a machine remembers, where a protocol needs that to drop copies."""

Interest_contra = TypeVar("Interest_contra", bound=Hashable, contravariant=True)
About_contra = TypeVar("About_contra", contravariant=True)


class Received(Event, frozen=True, gc=False):
    """Something that we want was published: number ``number`` of ``origin``.

    ``hops`` is the length of its way here; ``relay`` is how much of that was the way from the publisher to where the
    spreading begins (0 if the publisher was there), so that a path can be told with it and without it.
    """

    about: Any
    payload: Any
    origin: NodeId
    number: int
    hops: int
    relay: int


class Groups(Machine, Protocol[Interest_contra, About_contra]):
    """The verbs. ``interest`` and ``about`` are both a topic; or, for content, a pattern and attributes."""

    def subscribe(self, now: float, interest: Interest_contra, out: Outbox) -> None: ...

    def unsubscribe(self, now: float, interest: Interest_contra, out: Outbox) -> None: ...

    def publish(self, now: float, about: About_contra, payload: Any, out: Outbox) -> int: ...


class FrontDoor:
    """In: messages and timers. Out: what the handlers make of them; a ``Violation`` is counted and traced, never raised."""

    def __init__(self, local: Local) -> None:
        self.local = local
        self._handlers: Handlers = {}
        self._timers: TimerHandlers = {}

    def takes(self, message: Message) -> bool:
        """Is ``message`` of our protocol?"""
        return type(message) in self._handlers

    @property
    def deadline(self) -> float | None:
        return self.local.timers.deadline

    def receive(self, now: float, source: NodeId, message: Message, out: Outbox) -> None:
        handler = self._handlers.get(type(message))
        if handler is None:
            self.local.count("violation.unknown", out, source, type(message).__name__)
            return
        try:
            handler(now, source, message, out)
        except Violation as violation:
            self.local.count("violation", out, source, str(violation))

    def timeout(self, now: float, out: Outbox) -> None:
        for token in self.local.timers.due(now):
            self._timers[type(token)](now, token, out)


class Seen:
    """The sequence cache: which publications were here before. The oldest is forgotten past ``SEEN_MAX``."""

    def __init__(self) -> None:
        self._known: dict[tuple[NodeId, int], None] = {}

    def first(self, origin: NodeId, number: int) -> bool:
        """Is this the first we see of it? From now on it is not."""
        if (origin, number) in self._known:
            return False
        self._known[origin, number] = None
        if len(self._known) > SEEN_MAX:
            del self._known[next(iter(self._known))]
        return True


def check_topic(topic: str) -> None:
    """A topic of ours: not empty, not too long."""
    if not 0 < _length(topic) <= TOPIC_BYTES_MAX:
        raise Misuse(f"a topic has 1 to {TOPIC_BYTES_MAX} bytes, not {_length(topic)}")


def heard_topic(topic: object) -> None:
    """A topic of a peer's."""
    if not isinstance(topic, str) or not 0 < _length(topic) <= TOPIC_BYTES_MAX:
        raise Violation("a topic that is none")


def heard_hops(hops: int, at_least: int = 1) -> None:
    """A peer's count of hops."""
    if not at_least <= hops <= HOPS_MAX:
        raise Violation("hops out of bounds")


def _length(topic: str) -> int:
    return len(topic.encode("utf-8", "surrogatepass"))


class Publication(msgspec.Struct, frozen=True, gc=False):
    """What was published, the same all the way."""

    about: Any
    payload: Any
    origin: NodeId
    number: int

    def received(self, hops: int, relay: int) -> Received:
        return Received(self.about, self.payload, self.origin, self.number, hops, relay)
