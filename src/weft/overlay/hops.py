"""One hop that must not be lost: wrapped, acknowledged, sent again, and given up aloud.

For what overlay §5 calls hop acknowledgement (QoS > 0, careful lookups, answers on their way back). The body is handled by
the same handler as if it had come bare, once, however often the wrapper arrives. When all tries are spent the sender's
``lost`` handler for the body's type decides what to do instead, and the receiver is shunned for a while.
"""

from collections.abc import Callable
from typing import Any

import msgspec

from weft.core.errors import Violation
from weft.core.ids import NodeId
from weft.core.limits import PENDING_MAX
from weft.core.machine import Handlers, Message, Outbox, TimerHandlers
from weft.overlay.contacts import Contacts
from weft.overlay.local import Local
from weft.overlay.settings import Settings

REMEMBERED_MAX = 8_192
"""Numbers of wrappers received, kept to recognise a repeat."""


class Hop(Message, frozen=True, gc=False):
    number: int
    body: Message


class HopAck(Message, frozen=True, gc=False):
    number: int


class HopDue(msgspec.Struct, frozen=True, gc=False):
    """Timer: the wrapper ``number`` has not been acknowledged."""

    number: int


class _Pending(msgspec.Struct):
    to: NodeId
    body: Message
    tries: int


Dispatch = Callable[[float, NodeId, Message, Outbox], None]
Lost = Callable[[float, NodeId, Any, Outbox], None]


class Hops:
    """In: ``send``, Hop, HopAck, HopDue. Out: the body at its handler, or ``lost`` here. Bounded both ways."""

    def __init__(self, local: Local, contacts: Contacts, settings: Settings, dispatch: Dispatch) -> None:
        self._local = local
        self._contacts = contacts
        self._settings = settings
        self._dispatch = dispatch
        self._pending: dict[int, _Pending] = {}
        self._seen: dict[tuple[NodeId, int], None] = {}
        self.lost: dict[type, Lost] = {}
        self.handlers: Handlers = {Hop: self.on_hop, HopAck: self.on_hop_ack}
        self.timers: TimerHandlers = {HopDue: self.on_hop_due}

    def send(self, now: float, to: NodeId, body: Message, out: Outbox) -> None:
        """Get ``body`` to ``to``; its ``lost`` handler hears if that fails."""
        if len(self._pending) >= PENDING_MAX:
            self._local.count("hops.refused", out, to)
            self._give_up(now, to, body, out)
            return
        number = self._local.next_request()
        self._pending[number] = _Pending(to, body, 1)
        self._local.timers.set(HopDue(number), now + self._settings.hop_timeout_s)
        out.send(to, Hop(number, body))

    def on_hop(self, now: float, source: NodeId, message: Hop, out: Outbox) -> None:
        if isinstance(message.body, Hop):
            raise Violation("a wrapper in a wrapper")
        out.send(source, HopAck(message.number))
        mark = (source, message.number)
        if mark in self._seen:
            self._local.count("hops.repeat", out, source)
            return
        self._seen[mark] = None
        if len(self._seen) > REMEMBERED_MAX:
            del self._seen[next(iter(self._seen))]
        self._dispatch(now, source, message.body, out)

    def on_hop_ack(self, now: float, source: NodeId, message: HopAck, out: Outbox) -> None:
        pending = self._pending.get(message.number)
        if pending is not None and pending.to == source:
            del self._pending[message.number]
            self._local.timers.cancel(HopDue(message.number))

    def on_hop_due(self, now: float, due: HopDue, out: Outbox) -> None:
        pending = self._pending[due.number]
        if pending.tries < self._settings.hop_tries:
            pending.tries += 1
            self._local.timers.set(due, now + self._settings.hop_timeout_s)
            out.send(pending.to, Hop(due.number, pending.body))
            return
        del self._pending[due.number]
        self._local.count("hops.lost", out, pending.to)
        self._contacts.shun(pending.to, now + self._settings.shun_s)
        self._give_up(now, pending.to, pending.body, out)

    def _give_up(self, now: float, to: NodeId, body: Message, out: Outbox) -> None:
        handler = self.lost.get(type(body))
        if handler is not None:
            handler(now, to, body, out)
