"""The control packets of MQTT (§2.1.2) as values. ``version`` is the protocol level of the CONNECT: 3, 4 or 5.

Versions 3 (3.1, "MQIsdp") and 4 (3.1.1) have no properties and, in acknowledgements, no reason codes; the codec leaves them at
their defaults when it decodes, and out when it encodes.
"""

import msgspec

from weft.mqtt.codec.kinds import Kind
from weft.mqtt.codec.properties import NONE, Properties

__all__ = [
    "V31", "V311", "V5", "VERSIONS", "Kind", "Packet",
    "Connect", "Will", "Connack", "Publish", "Puback", "Pubrec", "Pubrel", "Pubcomp",
    "Subscribe", "Request", "Suback", "Unsubscribe", "Unsuback", "Pingreq", "Pingresp", "Disconnect", "Auth",
]  # fmt: skip

V31, V311, V5 = 3, 4, 5
VERSIONS = (V31, V311, V5)


class Will(msgspec.Struct, frozen=True):
    topic: str
    payload: bytes
    qos: int = 0
    retain: bool = False
    properties: Properties = NONE


class Connect(msgspec.Struct, frozen=True):
    """``bridge``: the client set bit 7 of the protocol level, as bridges of mosquitto do (3.1 and 3.1.1 only)."""

    version: int
    client_id: str
    clean_start: bool = True
    keep_alive_s: int = 0
    username: str | None = None
    password: bytes | None = None
    will: Will | None = None
    properties: Properties = NONE
    bridge: bool = False


class Connack(msgspec.Struct, frozen=True):
    """``code`` is v5's reason code; for v3 and v4 the return code of their own table (0–5)."""

    session_present: bool
    code: int
    properties: Properties = NONE


class Publish(msgspec.Struct, frozen=True):
    """``packet_id`` is 0 at QoS 0."""

    topic: str
    payload: bytes
    qos: int = 0
    retain: bool = False
    dup: bool = False
    packet_id: int = 0
    properties: Properties = NONE


class Puback(msgspec.Struct, frozen=True):
    packet_id: int
    code: int = 0
    properties: Properties = NONE


class Pubrec(msgspec.Struct, frozen=True):
    packet_id: int
    code: int = 0
    properties: Properties = NONE


class Pubrel(msgspec.Struct, frozen=True):
    packet_id: int
    code: int = 0
    properties: Properties = NONE


class Pubcomp(msgspec.Struct, frozen=True):
    packet_id: int
    code: int = 0
    properties: Properties = NONE


class Request(msgspec.Struct, frozen=True):
    """One line of a SUBSCRIBE: filter and options (§3.8.3.1)."""

    filter: str
    qos: int = 0
    no_local: bool = False
    retain_as_published: bool = False
    retain_handling: int = 0


class Subscribe(msgspec.Struct, frozen=True):
    packet_id: int
    requests: tuple[Request, ...]
    properties: Properties = NONE


class Suback(msgspec.Struct, frozen=True):
    packet_id: int
    codes: tuple[int, ...]
    properties: Properties = NONE


class Unsubscribe(msgspec.Struct, frozen=True):
    packet_id: int
    filters: tuple[str, ...]
    properties: Properties = NONE


class Unsuback(msgspec.Struct, frozen=True):
    """``codes`` travel in v5 only."""

    packet_id: int
    codes: tuple[int, ...] = ()
    properties: Properties = NONE


class Pingreq(msgspec.Struct, frozen=True):
    pass


class Pingresp(msgspec.Struct, frozen=True):
    pass


class Disconnect(msgspec.Struct, frozen=True):
    code: int = 0
    properties: Properties = NONE


class Auth(msgspec.Struct, frozen=True):
    code: int = 0
    properties: Properties = NONE


Packet = (
    Connect
    | Connack
    | Publish
    | Puback
    | Pubrec
    | Pubrel
    | Pubcomp
    | Subscribe
    | Suback
    | Unsubscribe
    | Unsuback
    | Pingreq
    | Pingresp
    | Disconnect
    | Auth
)
