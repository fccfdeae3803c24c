"""What a run of records comes to.

Applying ``Changes`` leaves the tables as applying its records one by one would, with fewer writes: a row is touched once, and
a message that came, was delivered and acknowledged between two commits is never written at all. Two promises of the broker
make the latter exact: the number of a message is never used again, nor a position of a session's queue (until the session is
gone). The equivalence is tested against a plain model (tests/property/test_store.py).
"""

from collections.abc import Callable, Iterable
from typing import Any

from weft.broker import records as r
from weft.core.machine import Record

Patch = tuple[int | None, bool]
"""A change of a queue row that is in the table already: the packet identifier it was given, and whether it is released."""

ROW_BYTES = 100
"""About what a row costs beside its payload: for bounds, not for bills."""


class ClientChanges:
    """What changes for one client id. ``wiped`` comes first: everything it had in the tables goes."""

    __slots__ = ("incoming", "queue", "session", "subscriptions", "will", "wiped")

    def __init__(self) -> None:
        self.wiped = False
        self.session: r.SessionKept | None = None
        self.will: r.WillKept | r.WillGone | None = None
        self.subscriptions: dict[str, r.SubscriptionKept | r.SubscriptionGone] = {}
        self.queue: dict[int, r.Queued | Patch | None] = {}
        """By position: a new row, a change of an old one, or None: the old one goes."""
        self.incoming: dict[int, bool] = {}


class Changes:
    """Grows by ``add``; ``size`` counts the records that went in, ``bytes`` is about what they weigh."""

    __slots__ = ("_handlers", "bytes", "clients", "messages", "retained", "size")

    def __init__(self) -> None:
        self.clients: dict[str, ClientChanges] = {}
        self.messages: dict[int, r.MessageKept | None] = {}
        """By number; None: the one in the table goes."""
        self.retained: dict[str, int | None] = {}
        self.size = 0
        self.bytes = 0
        self._handlers: dict[type, Callable[[Any], None]] = {
            r.SessionKept: self._session,
            r.SessionGone: self._session_gone,
            r.SubscriptionKept: self._subscription,
            r.SubscriptionGone: self._subscription,
            r.MessageKept: self._message,
            r.MessageGone: self._message_gone,
            r.Queued: self._queued,
            r.Sent: self._sent,
            r.Released: self._released,
            r.Done: self._done,
            r.Incoming: self._incoming,
            r.IncomingDone: self._incoming_done,
            r.RetainedKept: self._retained,
            r.RetainedGone: self._retained_gone,
            r.WillKept: self._will,
            r.WillGone: self._will,
        }

    def add(self, records: Iterable[Record]) -> None:
        handlers = self._handlers
        count = 0
        for record in records:
            handlers[type(record)](record)
            count += 1
        self.size += count
        self.bytes += count * ROW_BYTES

    def _client(self, client_id: str) -> ClientChanges:
        found = self.clients.get(client_id)
        if found is None:
            found = self.clients[client_id] = ClientChanges()
        return found

    def _session(self, record: r.SessionKept) -> None:
        self._client(record.client_id).session = record

    def _session_gone(self, record: r.SessionGone) -> None:
        self.clients[record.client_id] = gone = ClientChanges()
        gone.wiped = True

    def _subscription(self, record: r.SubscriptionKept | r.SubscriptionGone) -> None:
        name = record.request.filter if type(record) is r.SubscriptionKept else record.filter  # type: ignore[union-attr]
        self._client(record.client_id).subscriptions[name] = record

    def _message(self, record: r.MessageKept) -> None:
        self.messages[record.number] = record
        self.bytes += len(record.payload) + len(record.properties)

    def _message_gone(self, record: r.MessageGone) -> None:
        if self.messages.get(record.number) is None:
            self.messages[record.number] = None
        else:
            del self.messages[record.number]

    def _queued(self, record: r.Queued) -> None:
        self._client(record.client_id).queue[record.position] = record

    def _done(self, record: r.Done) -> None:
        queue = self._client(record.client_id).queue
        if type(queue.get(record.position)) is r.Queued:
            del queue[record.position]
        else:
            queue[record.position] = None

    def _sent(self, record: r.Sent) -> None:
        queue = self._client(record.client_id).queue
        match queue.get(record.position, (None, False)):
            case None:
                pass
            case (_, released):
                queue[record.position] = (record.packet_id, released)
            case new:
                queue[record.position] = _queued(new, new.number, record.packet_id)

    def _released(self, record: r.Released) -> None:
        queue = self._client(record.client_id).queue
        match queue.get(record.position, (None, False)):
            case None:
                pass
            case (packet_id, _):
                queue[record.position] = (packet_id, True)
            case new:
                queue[record.position] = _queued(new, 0, new.packet_id)

    def _incoming(self, record: r.Incoming) -> None:
        self._client(record.client_id).incoming[record.packet_id] = True

    def _incoming_done(self, record: r.IncomingDone) -> None:
        self._client(record.client_id).incoming[record.packet_id] = False

    def _retained(self, record: r.RetainedKept) -> None:
        self.retained[record.topic] = record.number

    def _retained_gone(self, record: r.RetainedGone) -> None:
        self.retained[record.topic] = None

    def _will(self, record: r.WillKept | r.WillGone) -> None:
        self._client(record.client_id).will = record


def _queued(old: r.Queued, number: int, packet_id: int) -> r.Queued:
    return r.Queued(old.client_id, old.position, number, old.qos, old.retain, old.identifiers, packet_id)
