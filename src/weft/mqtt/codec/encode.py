"""Packets to bytes, in all versions and both directions.

Version 5 is written in its shortest form: no reason code if it is 0 and there are no properties, no properties if there are
none (§3.4.2.1 and its like). What MQTT 3 cannot say (properties, reason codes) is left out. ``Misuse`` is raised for what no
packet can hold: our own caller's mistake.
"""

from collections.abc import Callable
from struct import Struct
from typing import Any

from weft.core.errors import Misuse
from weft.mqtt.codec.kinds import Kind
from weft.mqtt.codec.packets import (
    Auth,
    Connack,
    Connect,
    Disconnect,
    Packet,
    Pingreq,
    Pingresp,
    Puback,
    Pubcomp,
    Publish,
    Pubrec,
    Pubrel,
    Suback,
    Subscribe,
    Unsuback,
    Unsubscribe,
)
from weft.mqtt.codec.primitives import binary, text, varint
from weft.mqtt.codec.properties import NONE, Properties, pack

PUBACK, PUBREC, PUBREL, PUBCOMP = 0x40, 0x50, 0x62, 0x70
"""First bytes, for ``ack`` [MQTT-3.6.1-1], [MQTT-3.6.1-1 (3.1.1)]."""
PINGREQ, PINGRESP = b"\xc0\x00", b"\xd0\x00"

_ack = Struct(">BBH").pack


def ack(first: int, packet_id: int) -> bytes:
    """PUBACK, PUBREC, PUBREL or PUBCOMP with reason 0: four bytes in every version."""
    return _ack(first, 2, packet_id)


def encode(version: int, packet: Packet) -> bytes:
    """One whole packet."""
    return _ENCODERS[type(packet)](version, packet)


def _frame(first: int, *parts: bytes) -> bytes:
    body = b"".join(parts)
    return b"%c%b%b" % (first, varint(len(body)), body)


def _id(packet_id: int) -> bytes:
    if not 0 < packet_id < 65_536:  # [MQTT-2.2.1-3], [MQTT-2.3.1-1 (3.1.1)]
        raise Misuse(f"{packet_id} is no packet identifier: 1 to 65535")
    return packet_id.to_bytes(2, "big")


def _properties(version: int, properties: Properties) -> bytes:
    return pack(properties) if version >= 5 else b""


def _connect(_: int, packet: Connect) -> bytes:
    """Its own ``version`` counts."""
    version, will, username, password = packet.version, packet.will, packet.username, packet.password
    if username is None and password is not None and version < 5:  # [MQTT-3.1.2-22 (3.1.1)]
        raise Misuse("MQTT 3 has no password without a user name")
    flags = packet.clean_start << 1 | (password is not None) << 6 | (username is not None) << 7
    parts = [text(packet.client_id)]
    if will is not None:
        flags |= 4 | will.qos << 3 | will.retain << 5
        parts += [_properties(version, will.properties), text(will.topic), binary(will.payload)]
    if username is not None:
        parts.append(text(username))
    if password is not None:
        parts.append(binary(password))
    return _frame(
        Kind.CONNECT << 4,
        text("MQIsdp" if version == 3 else "MQTT"),
        bytes((version | packet.bridge << 7, flags)),
        packet.keep_alive_s.to_bytes(2, "big"),
        _properties(version, packet.properties),
        *parts,
    )


def _connack(version: int, packet: Connack) -> bytes:
    flags = bytes((packet.session_present and version > 3, packet.code))
    return _frame(Kind.CONNACK << 4, flags, _properties(version, packet.properties))


def _publish(version: int, packet: Publish) -> bytes:
    first = Kind.PUBLISH << 4 | packet.dup << 3 | packet.qos << 1 | packet.retain
    packet_id = _id(packet.packet_id) if packet.qos else b""  # [MQTT-2.2.1-2], [MQTT-2.3.1-5 (3.1.1)]
    return _frame(first, text(packet.topic), packet_id, _properties(version, packet.properties), packet.payload)


def _tail(version: int, code: int, properties: Properties) -> bytes:
    """Reason code and properties, as far as they must be said."""
    if version < 5 or (not code and properties == NONE):
        return b""
    return bytes((code,)) if properties == NONE else bytes((code,)) + pack(properties)


def _acknowledgement(first: int) -> Callable[[int, Any], bytes]:
    def write(version: int, packet: Puback | Pubrec | Pubrel | Pubcomp) -> bytes:
        return _frame(first, _id(packet.packet_id), _tail(version, packet.code, packet.properties))

    return write


def _subscribe(version: int, packet: Subscribe) -> bytes:
    parts = [_id(packet.packet_id), _properties(version, packet.properties)]
    for request in packet.requests:
        options = request.qos
        if version >= 5:
            options |= request.no_local << 2 | request.retain_as_published << 3 | request.retain_handling << 4
        parts += [text(request.filter), bytes((options,))]
    if not packet.requests:  # [MQTT-3.8.3-2], [MQTT-3.8.3-3 (3.1.1)]
        raise Misuse("a SUBSCRIBE without a filter")
    return _frame(Kind.SUBSCRIBE << 4 | 2, *parts)


def _suback(version: int, packet: Suback) -> bytes:
    codes = bytes(packet.codes)
    return _frame(Kind.SUBACK << 4, _id(packet.packet_id), _properties(version, packet.properties), codes)


def _unsubscribe(version: int, packet: Unsubscribe) -> bytes:
    if not packet.filters:  # [MQTT-3.10.3-2], [MQTT-3.10.3-2 (3.1.1)]
        raise Misuse("an UNSUBSCRIBE without a filter")
    filters = [text(one) for one in packet.filters]
    return _frame(Kind.UNSUBSCRIBE << 4 | 2, _id(packet.packet_id), _properties(version, packet.properties), *filters)


def _unsuback(version: int, packet: Unsuback) -> bytes:
    if version < 5:
        return _frame(Kind.UNSUBACK << 4, _id(packet.packet_id))
    return _frame(Kind.UNSUBACK << 4, _id(packet.packet_id), pack(packet.properties), bytes(packet.codes))


def _disconnect(version: int, packet: Disconnect) -> bytes:
    return _frame(Kind.DISCONNECT << 4, _tail(version, packet.code, packet.properties))


def _auth(version: int, packet: Auth) -> bytes:
    if version < 5:
        raise Misuse("MQTT 3 has no AUTH")
    return _frame(Kind.AUTH << 4, _tail(version, packet.code, packet.properties))


_ENCODERS: dict[type, Callable[[int, Any], bytes]] = {
    Connect: _connect,
    Connack: _connack,
    Publish: _publish,
    Puback: _acknowledgement(PUBACK),
    Pubrec: _acknowledgement(PUBREC),
    Pubrel: _acknowledgement(PUBREL),
    Pubcomp: _acknowledgement(PUBCOMP),
    Subscribe: _subscribe,
    Suback: _suback,
    Unsubscribe: _unsubscribe,
    Unsuback: _unsuback,
    Pingreq: lambda _, __: PINGREQ,
    Pingresp: lambda _, __: PINGRESP,
    Disconnect: _disconnect,
    Auth: _auth,
}
