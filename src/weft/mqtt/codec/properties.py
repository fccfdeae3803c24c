"""MQTT 5's properties (§2.2.2): one value object for all packets, one table for all rules.

The table says for each identifier its field, its type, where it may stand, whether it may stand there often, and which reason
a zero deserves. §2.2.2.2: an identifier that does not belong into the packet is a Malformed Packet; the sections of the
properties: one that comes twice, or has a value that is not allowed, is a Protocol Error.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import msgspec

from weft.core.errors import Misuse
from weft.mqtt.codec import primitives
from weft.mqtt.codec.kinds import Kind
from weft.mqtt.codec.names import check_name
from weft.mqtt.codec.primitives import varint
from weft.mqtt.codec.reasons import Malformed, ProtocolError, Reason, Refused

WILL = 0
"""Where properties may stand, besides the packet kinds: with the will, in the payload of CONNECT (§3.1.3.2)."""


class Properties(msgspec.Struct, frozen=True, gc=False, omit_defaults=True, repr_omit_defaults=True):
    """Every property of MQTT 5; None, or empty, is absent. Order matters where the standard says so: user properties."""

    payload_format: int | None = None
    message_expiry_s: int | None = None
    content_type: str | None = None
    response_topic: str | None = None
    correlation_data: bytes | None = None
    subscription_ids: tuple[int, ...] = ()
    session_expiry_s: int | None = None
    assigned_client_id: str | None = None
    server_keep_alive_s: int | None = None
    authentication_method: str | None = None
    authentication_data: bytes | None = None
    request_problem_information: int | None = None
    will_delay_s: int | None = None
    request_response_information: int | None = None
    response_information: str | None = None
    server_reference: str | None = None
    reason_string: str | None = None
    receive_maximum: int | None = None
    topic_alias_maximum: int | None = None
    topic_alias: int | None = None
    maximum_qos: int | None = None
    retain_available: int | None = None
    user: tuple[tuple[str, str], ...] = ()
    maximum_packet_bytes: int | None = None
    wildcard_available: int | None = None
    subscription_ids_available: int | None = None
    shared_available: int | None = None


NONE = Properties()
"""No property at all: what every packet of MQTT 3 carries."""


class Rule(NamedTuple):
    """One line of table 2-4. ``places`` has a bit for each kind, and bit 0 for the will. ``zero``: why zero is refused."""

    id: int
    field: str
    read: Callable[[bytes, int, int], tuple[Any, int]]
    write: Callable[[Any], bytes]
    places: int
    zero: Reason | None = None


def _read_flag(data: bytes, pos: int, end: int) -> tuple[int, int]:
    """A byte that is 0 or 1: anything else is a Protocol Error by the section of each property that is one."""
    value, pos = primitives.read_byte(data, pos, end)
    if value > 1:
        raise ProtocolError(f"a property that is 0 or 1 has the value {value}")
    return value, pos


def _read_topic(data: bytes, pos: int, end: int) -> tuple[str, int]:
    """The response topic: a Topic Name without wildcards [MQTT-3.3.2-13], [MQTT-3.3.2-14]."""
    name, pos = primitives.read_text(data, pos, end)
    check_name(name)
    return name, pos


def _write_integer(size: int) -> Callable[[int], bytes]:
    return lambda value: value.to_bytes(size, "big")


_FLAG = _read_flag, _write_integer(1)
_TWO = primitives.read_two, _write_integer(2)
_FOUR = primitives.read_four, _write_integer(4)
_VARINT = primitives.read_varint, varint
_TEXT = primitives.read_text, primitives.text
_TOPIC = _read_topic, primitives.text
_BINARY = primitives.read_binary, primitives.binary
_PAIR = primitives.read_pair, primitives.pair


def _at(*places: int) -> int:
    return sum(1 << place for place in places)


_MESSAGE = _at(WILL, Kind.PUBLISH)
_CONNACK = _at(Kind.CONNACK)
_HANDSHAKE = _at(Kind.CONNECT, Kind.CONNACK)
_ANSWERS = _at(Kind.CONNACK, Kind.PUBACK, Kind.PUBREC, Kind.PUBREL, Kind.PUBCOMP, Kind.SUBACK, Kind.UNSUBACK)
_ENDS = _at(Kind.DISCONNECT, Kind.AUTH)
_EVERYWHERE = _MESSAGE | _HANDSHAKE | _ANSWERS | _ENDS | _at(Kind.SUBSCRIBE, Kind.UNSUBSCRIBE)

# In the order of the identifiers, which is the order of the fields of ``Properties``.
RULES = (
    Rule(0x01, "payload_format", *_FLAG, _MESSAGE),
    Rule(0x02, "message_expiry_s", *_FOUR, _MESSAGE),
    Rule(0x03, "content_type", *_TEXT, _MESSAGE),
    Rule(0x08, "response_topic", *_TOPIC, _MESSAGE),
    Rule(0x09, "correlation_data", *_BINARY, _MESSAGE),
    Rule(0x0B, "subscription_ids", *_VARINT, _at(Kind.PUBLISH, Kind.SUBSCRIBE), Reason.PROTOCOL_ERROR),
    Rule(0x11, "session_expiry_s", *_FOUR, _HANDSHAKE | _at(Kind.DISCONNECT)),
    Rule(0x12, "assigned_client_id", *_TEXT, _CONNACK),
    Rule(0x13, "server_keep_alive_s", *_TWO, _CONNACK),
    Rule(0x15, "authentication_method", *_TEXT, _HANDSHAKE | _at(Kind.AUTH)),
    Rule(0x16, "authentication_data", *_BINARY, _HANDSHAKE | _at(Kind.AUTH)),
    Rule(0x17, "request_problem_information", *_FLAG, _at(Kind.CONNECT)),
    Rule(0x18, "will_delay_s", *_FOUR, _at(WILL)),
    Rule(0x19, "request_response_information", *_FLAG, _at(Kind.CONNECT)),
    Rule(0x1A, "response_information", *_TEXT, _CONNACK),
    Rule(0x1C, "server_reference", *_TEXT, _CONNACK | _at(Kind.DISCONNECT)),
    Rule(0x1F, "reason_string", *_TEXT, _ANSWERS | _ENDS),
    Rule(0x21, "receive_maximum", *_TWO, _HANDSHAKE, Reason.PROTOCOL_ERROR),
    Rule(0x22, "topic_alias_maximum", *_TWO, _HANDSHAKE),
    Rule(0x23, "topic_alias", *_TWO, _at(Kind.PUBLISH), Reason.TOPIC_ALIAS_INVALID),  # [MQTT-3.3.2-8]
    Rule(0x24, "maximum_qos", *_FLAG, _CONNACK),
    Rule(0x25, "retain_available", *_FLAG, _CONNACK),
    Rule(0x26, "user", *_PAIR, _EVERYWHERE),
    Rule(0x27, "maximum_packet_bytes", *_FOUR, _HANDSHAKE, Reason.PROTOCOL_ERROR),
    Rule(0x28, "wildcard_available", *_FLAG, _CONNACK),
    Rule(0x29, "subscription_ids_available", *_FLAG, _CONNACK),
    Rule(0x2A, "shared_available", *_FLAG, _CONNACK),
)
_BY_ID = {rule.id: rule for rule in RULES}
_MANY = {"subscription_ids", "user"}
_WRITERS = {rule.field: (bytes((rule.id,)), rule.write, rule.field in _MANY) for rule in RULES}


def pack(properties: Properties) -> bytes:
    """Length and properties [MQTT-2.2.2-1], by identifier; user properties in their order [MQTT-3.1.3-10], [MQTT-3.3.2-18]."""
    if properties is NONE:
        return b"\x00"
    parts = []
    try:
        # Only what is there, in the order of the fields: msgspec's own loop is a third cheaper than one over all fields.
        for field, value in msgspec.to_builtins(properties, builtin_types=(bytes,)).items():
            head, write, many = _WRITERS[field]
            if many:
                parts += [head + write(one) for one in value]
            else:
                parts.append(head + write(value))
    except OverflowError:
        raise Misuse(f"a number among the properties is out of range: {properties}") from None
    body = b"".join(parts)
    return varint(len(body)) + body


def unpack(data: bytes, pos: int, end: int, where: int) -> tuple[Properties, int]:
    """The properties that start with their length at ``pos``; ``where`` is the packet's ``Kind``, or ``WILL``."""
    length, pos = primitives.read_varint(data, pos, end)
    if not length:
        return NONE, pos
    stop = pos + length
    if stop > end:
        raise Malformed("the properties are longer than their packet")
    found: dict[str, Any] = {}
    while pos < stop:
        rule = _BY_ID.get(data[pos])
        if rule is None or not rule.places >> where & 1:
            raise Malformed(f"property 0x{data[pos]:02X} does not belong {_name(where)}")
        value, pos = rule.read(data, pos + 1, stop)
        field = rule.field
        if not value and rule.zero is not None:
            raise Refused(rule.zero, f"{field} is 0")
        if field in _MANY:
            found.setdefault(field, []).append(value)
        elif field in found:
            raise ProtocolError(f"{field} comes twice")
        else:
            found[field] = value
    if "user" in found:
        found["user"] = tuple(found["user"])
    if "subscription_ids" in found:
        found["subscription_ids"] = tuple(found["subscription_ids"])
        if where == Kind.SUBSCRIBE and len(found["subscription_ids"]) > 1:
            raise ProtocolError("subscription_ids comes twice")
    if "authentication_data" in found and "authentication_method" not in found:
        raise ProtocolError("authentication data without a method")  # §3.1.2.11.10
    return Properties(**found), stop


def _name(where: int) -> str:
    return f"into {Kind(where).name}" if where else "to a will"
