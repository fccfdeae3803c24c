"""A session (§4.1): what belongs to a client id, whether or not it is connected."""

from typing import Protocol

import msgspec

from weft.mqtt.session.outgoing import Outgoing


class Link(Protocol):
    """What a session needs of its connection.

    ``is_plain``: messages need nothing but their bytes there: no mount, no maximum packet size, nobody who looks at each one.
    """

    version: int
    is_plain: bool
    out: list[bytes]
    packet_bytes_max: int
    """What the client can take [MQTT-3.1.2-24]; 0: anything."""

    def send(self, packet: bytes) -> None:
        """One whole packet, after those sent before it."""

    def hold(self, packet: bytes) -> None:
        """The same, once all records so far are durable."""


class Subscription(msgspec.Struct, frozen=True, gc=False):
    """``name`` is the filter as the session knows it: mounted, rewritten, with its ``$share/…/``.

    ``filter`` is what is matched, ``given`` what the client wrote: for people who look.
    """

    name: str
    filter: str
    given: str
    qos: int
    no_local: bool = False
    retain_as_published: bool = False
    identifier: int = 0
    group: str | None = None


class Session:
    """In: nothing by itself; a broker's parts read and write it. ``link`` is its connection, None while the client is away."""

    __slots__ = (
        "client_id", "connected_at", "ends_at", "expiry_s", "incoming", "link", "mount", "outgoing", "subscriptions", "user",
    )  # fmt: skip

    def __init__(self, client_id: str, window: int) -> None:
        self.client_id = client_id
        self.user: str | None = None
        self.mount: str | None = None
        """The prefix of the listener that its client came through; None: not known since a restart."""
        self.expiry_s = 0.0
        """How long it outlives its connection; 0: not at all (§3.1.2.11.2)."""
        self.ends_at: float | None = None
        self.connected_at = 0.0
        self.link: Link | None = None
        self.subscriptions: dict[str, Subscription] = {}
        """By ``name``: a second SUBSCRIBE to the same filter replaces the first [MQTT-3.8.4-3]."""
        self.outgoing = Outgoing(window)
        self.incoming: dict[int, None] = {}
        """QoS 2 identifiers taken from the client and not yet released: a second PUBLISH is a double [MQTT-4.3.3-10]."""

    @property
    def survives(self) -> bool:
        """Does it outlive its connection? Then what is acknowledged on its behalf must be kept."""
        return self.expiry_s > 0
