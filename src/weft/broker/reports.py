"""What a broker tells its operator: the answers of ``admin``, and what it may be asked to do, as values for any interface.

Times are in seconds since the epoch (``_at``) or durations (``_s``); sizes are in bytes. Binary content travels as base64,
which is what JSON makes of ``bytes``.
"""

from typing import Annotated

import msgspec

from weft.broker.settings import BrokerSettings

PAYLOAD_BYTES_MAX = 1_048_576
"""A retained message's payload is shown up to here."""
LISTED_MAX = 1_000
"""Subscriptions of a session, and receivers of a topic, in one answer."""
DELIVERIES_MAX = 100
"""Messages of a session's window and of its queue, in one answer."""

Cursor = str | None


class Status(msgspec.Struct, frozen=True):
    """The broker in a few numbers."""

    version: str
    uptime_s: float
    ready: bool
    trouble: str | None
    connections: int
    sessions: int
    sessions_online: int
    subscriptions: int
    retained: int
    retained_bytes: int
    queued: int
    queued_bytes: int
    inflight: int
    messages_received: int
    messages_delivered: int
    bytes_received: int
    bytes_sent: int


class Client(msgspec.Struct, frozen=True):
    """A client that is connected. ``version`` is the protocol level: 3 (3.1), 4 (3.1.1) or 5."""

    client_id: str
    user: str | None
    version: int
    address: str
    port: int
    listener: str
    transport: str
    keep_alive_s: int
    heard_at: float
    connected_at: float
    out_buffer_bytes: int
    reading: bool


class ClientPage(msgspec.Struct, frozen=True):
    items: list[Client]
    cursor: Cursor


class SessionSummary(msgspec.Struct, frozen=True):
    """``ends_at``: when it expires if its client does not come back; None while it is here, or if it never does."""

    client_id: str
    user: str | None
    online: bool
    expiry_s: float
    ends_at: float | None
    subscriptions: int
    inflight: int
    queued: int
    queued_bytes: int


class SessionPage(msgspec.Struct, frozen=True):
    items: list[SessionSummary]
    cursor: Cursor


class SubscriptionRow(msgspec.Struct, frozen=True):
    """``filter`` is what is matched, ``given`` what the client wrote (before mount point and rewriting)."""

    client_id: str
    filter: str
    given: str
    qos: int
    group: str | None
    no_local: bool
    retain_as_published: bool
    identifier: int


class SubscriptionPage(msgspec.Struct, frozen=True):
    items: list[SubscriptionRow]
    cursor: Cursor


class DeliveryRow(msgspec.Struct, frozen=True):
    """A message on its way: ``packet_id`` 0 waits; ``released``: PUBREC came. ``topic`` is None once only the id is needed."""

    packet_id: int
    qos: int
    released: bool
    topic: str | None
    payload_bytes: int | None


class ClientDetail(msgspec.Struct, frozen=True):
    """``client`` is None while it is away. The lists are cut; ``session`` has the true counts."""

    client: Client | None
    session: SessionSummary
    subscriptions: list[SubscriptionRow]
    inflight: list[DeliveryRow]
    queue: list[DeliveryRow]


class Receiver(msgspec.Struct, frozen=True):
    """A session that gets a topic's messages."""

    client_id: str
    online: bool
    qos: int
    no_local: bool
    identifiers: tuple[int, ...]


class SharedReceivers(msgspec.Struct, frozen=True):
    """A shared subscription: one of ``members``, of which there are ``total``, gets each message."""

    group: str
    filter: str
    total: int
    members: list[Receiver]


class RouteReport(msgspec.Struct, frozen=True):
    """Who would get a message now. Lists are cut; ``total`` counts the sessions without those of shared subscriptions."""

    topic: str
    total: int
    receivers: list[Receiver]
    shared: list[SharedReceivers]


class FilterRow(msgspec.Struct, frozen=True):
    """A filter that somebody has subscribed to, shared or not."""

    filter: str
    subscribers: int


class FilterPage(msgspec.Struct, frozen=True):
    items: list[FilterRow]
    cursor: Cursor


class RetainedSummary(msgspec.Struct, frozen=True):
    topic: str
    payload_bytes: int
    qos: int
    publisher: str
    user: str | None
    expires_at: float | None


class RetainedPage(msgspec.Struct, frozen=True):
    items: list[RetainedSummary]
    cursor: Cursor


class RetainedDetail(msgspec.Struct, frozen=True):
    """``text`` is the payload if it is UTF-8; ``payload`` is base64, and cut at 1 MiB, as ``message.payload_bytes`` shows."""

    message: RetainedSummary
    payload: bytes
    text: str | None
    content_type: str | None


class PublishOrder(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """``payload`` is text; ``payload_base64`` is for everything else. At most one of the two."""

    topic: str
    payload: str | None = None
    payload_base64: bytes | None = None
    qos: Annotated[int, msgspec.Meta(ge=0, le=2)] = 0
    retain: bool = False
    expiry_s: Annotated[float, msgspec.Meta(gt=0)] | None = None
    content_type: str | None = None
    response_topic: str | None = None
    correlation_data: bytes | None = None
    user_properties: Annotated[list[tuple[str, str]], msgspec.Meta(max_length=100)] = []


class Published(msgspec.Struct, frozen=True):
    """``sessions``: how many it went to, or waits for."""

    topic: str
    sessions: int


class Ended(msgspec.Struct, frozen=True):
    """What was done to whom: a client kicked, a session discarded."""

    client_id: str
    online: bool


class Deleted(msgspec.Struct, frozen=True):
    topic: str


class LimitsInForce(msgspec.Struct, frozen=True):
    """The settings in force, limits included."""

    settings: BrokerSettings
