"""Bytes to packets, in all versions and both directions, strictly.

Whatever is not exactly a packet of the standard raises ``Refused`` (mostly ``Malformed`` or ``ProtocolError``) and nothing
else. CONNECT and CONNACK are in ``opening``, subscriptions in ``subscribing``. Who may send which packet is not decided here
(``kinds``), nor what the moment allows.
"""

from collections.abc import Callable
from typing import NoReturn

from weft.mqtt.codec.frames import FLAWS
from weft.mqtt.codec.kinds import Kind
from weft.mqtt.codec.names import check_name
from weft.mqtt.codec.opening import read_connack, read_connect
from weft.mqtt.codec.packets import (
    Auth,
    Disconnect,
    Packet,
    Pingreq,
    Pingresp,
    Puback,
    Pubcomp,
    Publish,
    Pubrec,
    Pubrel,
)
from weft.mqtt.codec.primitives import read_packet_id, read_text
from weft.mqtt.codec.properties import NONE, Properties, unpack
from weft.mqtt.codec.reasons import CODES, Malformed, ProtocolError
from weft.mqtt.codec.subscribing import read_suback, read_subscribe, read_unsuback, read_unsubscribe


def decode(version: int, first: int, body: bytes) -> Packet:
    """The packet with this first byte and body. ``version`` is the connection's; 0 before CONNECT, which says it itself."""
    flaw = FLAWS[version][first]
    if flaw:
        raise Malformed(flaw)
    if not version and first >> 4 != Kind.CONNECT:  # [MQTT-3.1.0-1], [MQTT-3.1.0-1 (3.1.1)]
        raise ProtocolError(f"{Kind(first >> 4).name} before CONNECT")
    if first >> 4 == Kind.PUBLISH:
        return _publish(version, first, body)
    return _DECODERS[first >> 4](version, body)


def _publish(version: int, first: int, body: bytes) -> Publish:
    end = len(body)
    qos = first >> 1 & 3
    topic, pos = read_text(body, 0, end)  # [MQTT-3.3.2-1], [MQTT-3.3.2-1 (3.1.1)]
    packet_id = 0
    if qos:
        packet_id, pos = read_packet_id(body, pos, end)
    properties = NONE
    if version >= 5:
        properties, pos = unpack(body, pos, end, Kind.PUBLISH)
    if topic or properties.topic_alias is None:
        if not topic and version >= 5:
            raise ProtocolError("a PUBLISH with neither topic name nor topic alias")  # §3.3.2.3.4
        check_name(topic)
    return Publish(topic, body[pos:], qos, bool(first & 1), bool(first & 8), packet_id, properties)


def _tail(kind: Kind, body: bytes, pos: int) -> tuple[int, Properties]:
    """Reason code and properties, which a packet of version 5 may leave out from the end (§3.4.2.1 and its like)."""
    end = len(body)
    if pos == end:
        return 0, NONE
    code = body[pos]
    if (
        code not in CODES[kind]
    ):  # [MQTT-3.4.2-1], [MQTT-3.5.2-1], [MQTT-3.6.2-1], [MQTT-3.7.2-1], [MQTT-3.14.2-1], [MQTT-3.15.2-1]
        raise ProtocolError(f"{kind.name} with reason code 0x{code:02X}")
    if pos + 1 == end:
        return code, NONE
    properties, pos = unpack(body, pos + 1, end, kind)
    if pos != end:
        _trailing(kind)
    return code, properties


def _trailing(kind: Kind) -> NoReturn:
    raise Malformed(f"{kind.name} with bytes after its end")


_Acknowledgement = type[Puback] | type[Pubrec] | type[Pubrel] | type[Pubcomp]


def _acknowledgement(kind: Kind, packet: _Acknowledgement) -> Callable[[int, bytes], Packet]:
    def read(version: int, body: bytes) -> Packet:
        packet_id, pos = read_packet_id(body, 0, len(body))
        if len(body) == 2:
            return packet(packet_id)
        if version < 5:
            _trailing(kind)
        code, properties = _tail(kind, body, pos)
        return packet(packet_id, code, properties)

    return read


def _empty(kind: Kind, packet: Pingreq | Pingresp) -> Callable[[int, bytes], Packet]:
    def read(_: int, body: bytes) -> Packet:
        if body:
            _trailing(kind)
        return packet

    return read


def _disconnect(version: int, body: bytes) -> Disconnect:
    if version < 5 and body:
        _trailing(Kind.DISCONNECT)
    return Disconnect(*_tail(Kind.DISCONNECT, body, 0))


def _auth(_: int, body: bytes) -> Auth:
    code, properties = _tail(Kind.AUTH, body, 0)
    if body and properties.authentication_method is None:
        raise ProtocolError("AUTH without an authentication method")  # §3.15.2.2.2
    return Auth(code, properties)


_DECODERS: dict[int, Callable[[int, bytes], Packet]] = {
    Kind.CONNECT: read_connect,
    Kind.CONNACK: read_connack,
    Kind.PUBACK: _acknowledgement(Kind.PUBACK, Puback),
    Kind.PUBREC: _acknowledgement(Kind.PUBREC, Pubrec),
    Kind.PUBREL: _acknowledgement(Kind.PUBREL, Pubrel),
    Kind.PUBCOMP: _acknowledgement(Kind.PUBCOMP, Pubcomp),
    Kind.SUBSCRIBE: read_subscribe,
    Kind.SUBACK: read_suback,
    Kind.UNSUBSCRIBE: read_unsubscribe,
    Kind.UNSUBACK: read_unsuback,
    Kind.PINGREQ: _empty(Kind.PINGREQ, Pingreq()),
    Kind.PINGRESP: _empty(Kind.PINGRESP, Pingresp()),
    Kind.DISCONNECT: _disconnect,
    Kind.AUTH: _auth,
}
