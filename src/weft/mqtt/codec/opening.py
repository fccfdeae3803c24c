"""CONNECT and CONNACK from bytes (§3.1, §3.2): the one place where the version is not known yet."""

from weft.mqtt.codec.kinds import Kind
from weft.mqtt.codec.names import check_name
from weft.mqtt.codec.packets import Connack, Connect, Will
from weft.mqtt.codec.primitives import read_binary, read_byte, read_text, read_two
from weft.mqtt.codec.properties import NONE, WILL, unpack
from weft.mqtt.codec.reasons import CODES, Malformed, ProtocolError, Reason, Refused

_NAMES = {b"\x00\x06MQIsdp\x03": 3, b"\x00\x04MQTT\x04": 4, b"\x00\x04MQTT\x05": 5}
_BRIDGES = {b"\x00\x06MQIsdp\x83": 3, b"\x00\x04MQTT\x84": 4}
"""Protocol name and level; bit 7 of the level is how bridges say what they are, in MQTT 3."""

_CLEAN, _WILL, _WILL_RETAIN, _PASSWORD, _USERNAME = 0x02, 0x04, 0x20, 0x40, 0x80


def announced(body: bytes) -> int:
    """The version that a CONNECT's body announces, 0 if none that we know: how to answer one that cannot be read."""
    for length in (7, 9):
        head = body[:length]
        version = _NAMES.get(head) or _BRIDGES.get(head)
        if version:
            return version
    return 0


def read_connect(_: int, body: bytes) -> Connect:
    end = len(body)
    version = announced(body)
    if not version:
        _refuse(body)
    pos = 9 if version == 3 else 7
    bridge = bool(body[pos - 1] & 0x80)
    flags, pos = read_byte(body, pos, end)
    _check_flags(version, flags)
    keep_alive_s, pos = read_two(body, pos, end)
    properties = NONE
    if version >= 5:
        properties, pos = unpack(body, pos, end, Kind.CONNECT)
    client_id, pos = read_text(body, pos, end)  # [MQTT-3.1.3-1], [MQTT-3.1.3-3], [MQTT-3.1.3-4]
    will = None
    if flags & _WILL:  # [MQTT-3.1.2-9], [MQTT-3.1.2-9 (3.1.1)]
        will, pos = _read_will(version, flags, body, pos)
    username = password = None
    # 3.1 (§3.1): the Remaining Length takes precedence over these two flags; a field that is missing is valid.
    if flags & _USERNAME and not (version == 3 and pos == end):
        username, pos = read_text(body, pos, end)  # [MQTT-3.1.2-17], [MQTT-3.1.3-12], [MQTT-3.1.3-11 (3.1.1)]
    if flags & _PASSWORD and not (version == 3 and pos == end):
        password, pos = read_binary(body, pos, end)  # [MQTT-3.1.2-19], [MQTT-3.1.2-21 (3.1.1)]
    if pos != end:  # [MQTT-3.1.2-16], [MQTT-3.1.2-18], [MQTT-3.1.2-18 (3.1.1)], [MQTT-3.1.2-20 (3.1.1)]
        raise Malformed("CONNECT with bytes after its end")
    return Connect(version, client_id, bool(flags & _CLEAN), keep_alive_s, username, password, will, properties, bridge)


def _refuse(body: bytes) -> None:
    """Not MQTT at all is malformed; MQTT that we do not speak has a reason code [MQTT-3.1.2-1], [MQTT-3.1.2-2]."""
    name, pos = read_text(body, 0, len(body))
    level, _ = read_byte(body, pos, len(body))
    raise Refused(Reason.UNSUPPORTED_PROTOCOL_VERSION, f"protocol {name[:16]!r} level {level}")


def _check_flags(version: int, flags: int) -> None:
    if flags & 1 and version > 3:  # [MQTT-3.1.2-3], [MQTT-3.1.2-3 (3.1.1)]; 3.1 does not use the bit
        raise Malformed("CONNECT with its reserved flag")
    if flags & 0x18 == 0x18:  # [MQTT-3.1.2-12], [MQTT-3.1.2-14 (3.1.1)]
        raise Malformed("CONNECT with will QoS 3")
    if flags & 0x38 and not flags & _WILL:
        # [MQTT-3.1.2-11], [MQTT-3.1.2-13], [MQTT-3.1.2-13 (3.1.1)], [MQTT-3.1.2-15 (3.1.1)]
        raise Malformed("CONNECT with will QoS or will retain, and no will")
    if flags & _PASSWORD and not flags & _USERNAME and version < 5:  # [MQTT-3.1.2-22 (3.1.1)]
        raise Malformed("CONNECT with a password and no user name")


def _read_will(version: int, flags: int, body: bytes, pos: int) -> tuple[Will, int]:
    end = len(body)
    properties = NONE
    if version >= 5:
        properties, pos = unpack(body, pos, end, WILL)
    topic, pos = read_text(body, pos, end)  # [MQTT-3.1.3-11], [MQTT-3.1.3-10 (3.1.1)]
    check_name(topic)
    payload, pos = read_binary(body, pos, end)
    return Will(topic, payload, flags >> 3 & 3, bool(flags & _WILL_RETAIN), properties), pos


def read_connack(version: int, body: bytes) -> Connack:
    end = len(body)
    flags, pos = read_byte(body, 0, end)
    code, pos = read_byte(body, pos, end)
    if version == 3:
        flags = 0  # 3.1 has no session present: the byte is reserved and not used
    if flags > 1:  # [MQTT-3.2.2-1]
        raise Malformed("CONNACK with reserved flags")
    if code not in CODES[Kind.CONNACK] if version >= 5 else code > 5:  # [MQTT-3.2.2-8]; table 3.1 (3.1.1)
        raise ProtocolError(f"CONNACK with code 0x{code:02X}")
    if flags and code:  # [MQTT-3.2.2-6], [MQTT-3.2.2-4 (3.1.1)]
        raise ProtocolError("CONNACK with a session, and a refusal")
    properties = NONE
    if version >= 5:
        properties, pos = unpack(body, pos, end, Kind.CONNACK)
    if pos != end:
        raise Malformed("CONNACK with bytes after its end")
    return Connack(bool(flags), code, properties)
