"""The one interface of every protocol, and the effects it may have.

A machine is driven: the driver calls ``receive`` for a message and ``timeout`` once ``deadline`` has passed, and then
carries out the outbox's effects *in order*. The order is a duty: a ``Persist`` that precedes a ``Send`` is durable
before the message leaves. ``sim/`` and ``runtime/`` are the two drivers, of the very same machines.
"""

from collections.abc import Callable
from typing import Any, Protocol

import msgspec

from weft.core.ids import NodeId


class Message(msgspec.Struct, frozen=True, tag=True, gc=False):
    """What travels between machines: values only. Subclasses are the protocol's vocabulary."""


class Event(msgspec.Struct, frozen=True, gc=False):
    """What a machine tells the layer above it."""


class Record(msgspec.Struct, frozen=True, gc=False):
    """What a machine wants kept across a restart."""


class Send(msgspec.Struct, frozen=True, gc=False):
    to: NodeId
    message: Message


class Deliver(msgspec.Struct, frozen=True, gc=False):
    event: Event


class Persist(msgspec.Struct, frozen=True, gc=False):
    record: Record


class Trace(msgspec.Struct, frozen=True, gc=False):
    """A fact worth a line in ``story``: what happened, to what, and in a few words why."""

    kind: str
    subject: Any
    detail: Any = None


Effect = Send | Deliver | Persist | Trace


class Outbox:
    """The effects of one step, in the order in which they must happen."""

    __slots__ = ("effects",)

    def __init__(self) -> None:
        self.effects: list[Effect] = []

    def send(self, to: NodeId, message: Message) -> None:
        self.effects.append(Send(to, message))

    def deliver(self, event: Event) -> None:
        self.effects.append(Deliver(event))

    def persist(self, record: Record) -> None:
        self.effects.append(Persist(record))

    def trace(self, kind: str, subject: Any, detail: Any = None) -> None:
        self.effects.append(Trace(kind, subject, detail))


class Machine(Protocol):
    """See the module. ``deadline`` is the next time ``timeout`` is wanted, or None."""

    @property
    def deadline(self) -> float | None: ...

    def receive(self, now: float, source: NodeId, message: Message, out: Outbox) -> None: ...

    def timeout(self, now: float, out: Outbox) -> None: ...


Handlers = dict[type, Callable[[float, NodeId, Any, Outbox], None]]
"""Message type → handler: what a component contributes to its machine's dispatch."""

TimerHandlers = dict[type, Callable[[float, Any, Outbox], None]]
"""Timer token type → handler."""
