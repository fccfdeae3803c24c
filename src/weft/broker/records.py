"""What a broker wants kept across a restart: the vocabulary between it and its store.

The broker appends these to its journal in the order in which things happened; the store applies them in that order, many in
one transaction, and gives them back as ``Kept`` when the broker starts. A message is kept once, under its number, however many
sessions wait for it; the broker says when nobody needs it any more (``MessageGone``), so a store never counts references.
"""

import msgspec

from weft.core.machine import Record
from weft.mqtt.codec.packets import Request, Will


class SessionKept(Record, frozen=True, gc=False):
    """The session of ``client_id`` is to survive; said again whenever a field changes.

    ``ends_at`` is when it expires: None while its client is connected (§3.1.2.11.2: the expiry starts with the disconnection)
    or if it never does. After a crash, sessions whose clients were connected count as disconnected at the restart.
    """

    client_id: str
    expiry_s: float
    ends_at: float | None
    user: str | None


class SessionGone(Record, frozen=True, gc=False):
    """With all that belongs to it: subscriptions, queue, identifiers, will."""

    client_id: str


class SubscriptionKept(Record, frozen=True, gc=False):
    """``request.filter`` is as the session uses it: mounted and rewritten, with its ``$share`` prefix if it has one."""

    client_id: str
    request: Request
    identifier: int
    given: str
    """The filter as the client wrote it: what it will unsubscribe."""


class SubscriptionGone(Record, frozen=True, gc=False):
    client_id: str
    filter: str


class MessageKept(Record, frozen=True, gc=False):
    """``properties`` is the encoded property block of MQTT 5, with its length in front."""

    number: int
    topic: str
    payload: bytes
    qos: int
    retain: bool
    properties: bytes
    expires_at: float | None
    publisher: str
    user: str | None


class MessageGone(Record, frozen=True, gc=False):
    number: int


class Queued(Record, frozen=True, gc=False):
    """Message ``number`` waits in ``client_id``'s queue at ``position``, which only grows; ``packet_id`` is 0 until sent."""

    client_id: str
    position: int
    number: int
    qos: int
    retain: bool
    identifiers: tuple[int, ...]
    packet_id: int


class Sent(Record, frozen=True, gc=False):
    """It was given a packet identifier."""

    client_id: str
    position: int
    packet_id: int


class Released(Record, frozen=True, gc=False):
    """QoS 2: PUBREC came, what is owed now is PUBREL; the message itself is not needed any more."""

    client_id: str
    position: int


class Done(Record, frozen=True, gc=False):
    """It left the queue: acknowledged, expired or dropped."""

    client_id: str
    position: int


class Incoming(Record, frozen=True, gc=False):
    """QoS 2 from the client: this identifier has been taken, and the message with it."""

    client_id: str
    packet_id: int


class IncomingDone(Record, frozen=True, gc=False):
    client_id: str
    packet_id: int


class RetainedKept(Record, frozen=True, gc=False):
    """Message ``number`` is what ``topic`` retains; it replaces what was there."""

    topic: str
    number: int


class RetainedGone(Record, frozen=True, gc=False):
    topic: str


class WillKept(Record, frozen=True, gc=False):
    """``due_at`` is None while its client is connected: after a crash it is due when its delay has passed from then."""

    client_id: str
    will: Will
    delay_s: float
    due_at: float | None
    user: str | None


class WillGone(Record, frozen=True, gc=False):
    client_id: str


class KeptSession(msgspec.Struct):
    """One session as a store gives it back."""

    session: SessionKept
    subscriptions: list[SubscriptionKept] = []
    queue: list[Queued] = []
    """By position. ``Released`` ones have ``number`` 0."""
    incoming: list[int] = []
    will: WillKept | None = None


class Kept(msgspec.Struct):
    """Everything a store holds. ``messages`` are those that queues and retained topics name."""

    messages: list[MessageKept] = []
    retained: list[RetainedKept] = []
    sessions: list[KeptSession] = []
