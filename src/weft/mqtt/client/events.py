"""What a client tells its caller, and the numbers that bound it."""

from typing import Protocol

import msgspec

from weft.mqtt.codec.packets import Connack, Request
from weft.mqtt.codec.properties import NONE, Properties


class LinkSettings(msgspec.Struct, frozen=True):
    """Bounds of one connection."""

    connect_timeout_s: float = 30.0  # from CONNECT to CONNACK
    ping_timeout_s: float = 20.0  # from PINGREQ to PINGRESP, or to anything else
    packet_bytes_max: int = 64 * 1024 * 1024  # what a server may send in one packet; v5 servers are told
    topic_aliases_max: int = 64  # topics that a v5 server may give a number; 0: none
    receive_maximum: int = 100  # QoS > 0 messages that a v5 server may have under way to us


class ClientSettings(msgspec.Struct, frozen=True):
    """Bounds of a client, over all its connections."""

    inflight_max: int = 20  # QoS > 0 messages under way to the server; a v5 server may ask for fewer
    queue_max: int = 1_000  # messages waiting for their turn; ``Client.room`` says how many more it takes


class Authenticator(Protocol):
    """Enhanced authentication (v5 §4.12) of one connection. What the server got wrong is raised as ``Violation``."""

    method: str

    def first(self) -> bytes | None:
        """Goes into CONNECT, or into the AUTH that begins a re-authentication."""

    def answer(self, data: bytes) -> bytes:
        """The server's challenge, and what we say to it."""

    def finish(self, data: bytes) -> None:
        """The server says that it is content; it may have to prove itself."""


class Connected(msgspec.Struct, frozen=True):
    """``client_id`` is the one in use, ours or the server's choice. ``connack`` has what the server said."""

    session_present: bool
    client_id: str
    connack: Connack


class Refused(msgspec.Struct, frozen=True):
    """CONNACK said no. ``code`` is of the version's own table; ``again``: waiting and trying again may help."""

    code: int
    text: str
    again: bool


class Message(msgspec.Struct, frozen=True):
    """An application message. At QoS 1 and 2 its acknowledgement goes out with the next bytes."""

    topic: str
    payload: bytes
    qos: int
    retain: bool
    dup: bool = False
    packet_id: int = 0
    properties: Properties = NONE


class Published(msgspec.Struct, frozen=True):
    """``token`` is done: accepted (code < 0x80; 0x10: nobody listens) or refused, by the server or by a limit it stated."""

    token: int
    code: int
    text: str = ""


class Subscribed(msgspec.Struct, frozen=True):
    """``codes``: for each request the granted QoS, or 0x80 and above. ``token`` 0: renewed because the session was gone."""

    token: int
    requests: tuple[Request, ...]
    codes: tuple[int, ...]
    text: str = ""


class Unsubscribed(msgspec.Struct, frozen=True):
    token: int
    filters: tuple[str, ...]
    codes: tuple[int, ...]


class Disconnected(msgspec.Struct, frozen=True):
    """The connection is over. ``by_server``: a DISCONNECT said so; ``code`` 0 and no text: it was our own wish."""

    code: int
    text: str
    by_server: bool = False
    again: bool = True


Event = Connected | Refused | Message | Published | Subscribed | Unsubscribed | Disconnected
