"""SUBSCRIBE, SUBACK, UNSUBSCRIBE and UNSUBACK from bytes (§3.8 to §3.11)."""

from weft.mqtt.codec.kinds import Kind
from weft.mqtt.codec.names import SHARE, check_filter
from weft.mqtt.codec.packets import Request, Suback, Subscribe, Unsuback, Unsubscribe
from weft.mqtt.codec.primitives import read_byte, read_packet_id, read_text
from weft.mqtt.codec.properties import NONE, Properties, unpack
from weft.mqtt.codec.reasons import CODES, Malformed, ProtocolError

_QOS, _NO_LOCAL, _AS_PUBLISHED, _HANDLING, _RESERVED = 0x03, 0x04, 0x08, 0x30, 0xC0
_FAILURE = 0x80
"""MQTT 3's one way to refuse a subscription."""


def _read_head(version: int, kind: Kind, body: bytes) -> tuple[int, Properties, int]:
    """What all four start with: packet identifier and properties."""
    end = len(body)
    packet_id, pos = read_packet_id(body, 0, end)
    properties = NONE
    if version >= 5:
        properties, pos = unpack(body, pos, end, kind)
    return packet_id, properties, pos


def read_subscribe(version: int, body: bytes) -> Subscribe:
    end = len(body)
    packet_id, properties, pos = _read_head(version, Kind.SUBSCRIBE, body)
    if pos == end:  # [MQTT-3.8.3-2], [MQTT-3.8.3-3 (3.1.1)]
        raise ProtocolError("a SUBSCRIBE without a filter")
    requests = []
    while pos < end:
        pattern, pos = read_text(body, pos, end)  # [MQTT-3.8.3-1], [MQTT-3.8.3-1 (3.1.1)]
        options, pos = read_byte(body, pos, end)
        check_filter(pattern)
        requests.append(_request(version, pattern, options))
    return Subscribe(packet_id, tuple(requests), properties)


def _request(version: int, pattern: str, options: int) -> Request:
    """Topic filter and Subscription Options (§3.8.3.1)."""
    qos = options & _QOS
    if version == 3:
        options = qos  # the upper six bits are not used (3.1, §3.8)
    if qos == 3:
        if version >= 5:
            raise ProtocolError("a subscription with QoS 3")  # §3.8.3.1
        raise Malformed("a subscription with QoS 3")  # [MQTT-3-8.3-4 (3.1.1)]
    if options <= 2:
        return Request(pattern, qos)
    if version < 5:
        raise Malformed("a subscription with reserved bits")  # [MQTT-3-8.3-4 (3.1.1)]
    if options & _RESERVED:
        raise Malformed("a subscription with reserved bits")  # [MQTT-3.8.3-5]
    if options & _HANDLING == _HANDLING:
        raise ProtocolError("a subscription with retain handling 3")  # §3.8.3.1
    no_local = bool(options & _NO_LOCAL)
    if no_local and pattern.startswith(SHARE):
        raise ProtocolError("a shared subscription with No Local")  # [MQTT-3.8.3-4]
    return Request(pattern, qos, no_local, bool(options & _AS_PUBLISHED), options >> 4)


def read_unsubscribe(version: int, body: bytes) -> Unsubscribe:
    end = len(body)
    packet_id, properties, pos = _read_head(version, Kind.UNSUBSCRIBE, body)
    if pos == end:  # [MQTT-3.10.3-2], [MQTT-3.10.3-2 (3.1.1)]
        raise ProtocolError("an UNSUBSCRIBE without a filter")
    filters = []
    while pos < end:
        pattern, pos = read_text(body, pos, end)  # [MQTT-3.10.3-1], [MQTT-3.10.3-1 (3.1.1)]
        check_filter(pattern)
        filters.append(pattern)
    return Unsubscribe(packet_id, tuple(filters), properties)


def read_suback(version: int, body: bytes) -> Suback:
    packet_id, properties, pos = _read_head(version, Kind.SUBACK, body)
    codes = tuple(body[pos:])
    _check_codes(Kind.SUBACK, codes, CODES[Kind.SUBACK] if version >= 5 else {0, 1, 2, _FAILURE})
    return Suback(packet_id, codes, properties)


def read_unsuback(version: int, body: bytes) -> Unsuback:
    packet_id, properties, pos = _read_head(version, Kind.UNSUBACK, body)
    codes = tuple(body[pos:])
    if version >= 5:
        _check_codes(Kind.UNSUBACK, codes, CODES[Kind.UNSUBACK])
    elif codes:
        raise Malformed("UNSUBACK with bytes after its end")
    return Unsuback(packet_id, codes, properties)


def _check_codes(kind: Kind, codes: tuple[int, ...], allowed: set[int] | frozenset[int]) -> None:
    if not codes:
        raise Malformed(f"{kind.name} without a code")
    for code in codes:
        if code not in allowed:  # [MQTT-3.9.3-2], [MQTT-3.11.3-2], [MQTT-3.9.3-2 (3.1.1)]
            raise ProtocolError(f"{kind.name} with code 0x{code:02X}")
