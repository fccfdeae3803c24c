"""MQTT's data representations (§1.5): integers, strings, binary data, to bytes and from them.

Readers take ``data``, a position and where the packet ends; they give the value and the next position, or raise ``Malformed``.
Writers raise ``Misuse``: what they cannot write is our own caller's mistake.
"""

from weft.core.errors import Misuse
from weft.mqtt.codec.reasons import Malformed, ProtocolError

VARINT_MAX = 268_435_455
"""The largest Variable Byte Integer (§1.5.5), and so the longest packet body."""
BYTES_MAX = 65_535
"""The longest string or binary data (§1.5.4, §1.5.6)."""

_SHORT = tuple(bytes((n,)) for n in range(128))


def varint(n: int) -> bytes:
    """A Variable Byte Integer in as few bytes as possible [MQTT-1.5.5-1]."""
    if 0 <= n < 128:
        return _SHORT[n]
    if n < 0 or n > VARINT_MAX:
        raise Misuse(f"{n} is no Variable Byte Integer: 0 to {VARINT_MAX}")
    if n < 16_384:
        return bytes((n & 127 | 128, n >> 7))
    if n < 2_097_152:
        return bytes((n & 127 | 128, n >> 7 & 127 | 128, n >> 14))
    return bytes((n & 127 | 128, n >> 7 & 127 | 128, n >> 14 & 127 | 128, n >> 21))


def read_varint(data: bytes, pos: int, end: int) -> tuple[int, int]:
    """At most four bytes (§1.5.5), and no more than needed [MQTT-1.5.5-1]."""
    value = shift = 0
    for at in range(pos, min(pos + 4, end)):
        byte = data[at]
        value |= (byte & 127) << shift
        if byte < 128:
            if byte == 0 and shift:
                raise Malformed("a Variable Byte Integer in more bytes than it needs")
            return value, at + 1
        shift += 7
    raise Malformed("a Variable Byte Integer without an end")


def read_byte(data: bytes, pos: int, end: int) -> tuple[int, int]:
    if pos >= end:
        raise Malformed("the packet ends before a byte that it must have")
    return data[pos], pos + 1


def read_two(data: bytes, pos: int, end: int) -> tuple[int, int]:
    """A Two Byte Integer, big endian (§1.5.2)."""
    if pos + 2 > end:
        raise Malformed("the packet ends within a Two Byte Integer")
    return data[pos] << 8 | data[pos + 1], pos + 2


def read_packet_id(data: bytes, pos: int, end: int) -> tuple[int, int]:
    """A Packet Identifier; 0 is none [MQTT-2.2.1-3], [MQTT-2.3.1-1 (3.1.1)]."""
    if pos + 2 > end:
        raise Malformed("the packet ends before its identifier")
    packet_id = data[pos] << 8 | data[pos + 1]
    if not packet_id:
        raise ProtocolError("packet identifier 0")
    return packet_id, pos + 2


def read_four(data: bytes, pos: int, end: int) -> tuple[int, int]:
    """A Four Byte Integer, big endian (§1.5.3)."""
    if pos + 4 > end:
        raise Malformed("the packet ends within a Four Byte Integer")
    return int.from_bytes(data[pos : pos + 4], "big"), pos + 4


def read_binary(data: bytes, pos: int, end: int) -> tuple[bytes, int]:
    """Binary Data: two bytes of length, then as many bytes (§1.5.6)."""
    start = pos + 2
    if start > end:
        raise Malformed("the packet ends within the length of a field")
    stop = start + (data[pos] << 8 | data[pos + 1])
    if stop > end:
        raise Malformed("a field is longer than its packet")
    return data[start:stop], stop


def read_text(data: bytes, pos: int, end: int) -> tuple[str, int]:
    """A UTF-8 Encoded String (§1.5.4).

    Python's decoder refuses what the standard refuses: surrogates, overlong and unfinished sequences, and code points past
    U+10FFFF [MQTT-1.5.4-1], [MQTT-1.5.3-1 (3.1.1)]. It leaves U+FEFF where it stands [MQTT-1.5.4-3], [MQTT-1.5.3-3 (3.1.1)].
    Control characters and non-characters may pass: the standard lets a receiver refuse them and does not ask it to.
    """
    start = pos + 2  # as read_binary does, without the call: every packet has strings
    if start > end:
        raise Malformed("the packet ends within the length of a string")
    stop = start + (data[pos] << 8 | data[pos + 1])
    if stop > end:
        raise Malformed("a string is longer than its packet")
    try:
        text = data[start:stop].decode()
    except UnicodeDecodeError:
        raise Malformed("a string is not well-formed UTF-8") from None
    if "\0" in text:  # [MQTT-1.5.4-2], [MQTT-1.5.3-2 (3.1.1)]
        raise Malformed("a string holds U+0000")
    return text, stop


def read_pair(data: bytes, pos: int, end: int) -> tuple[tuple[str, str], int]:
    """A UTF-8 String Pair [MQTT-1.5.7-1]."""
    name, pos = read_text(data, pos, end)
    value, pos = read_text(data, pos, end)
    return (name, value), pos


def binary(value: bytes) -> bytes:
    if len(value) > BYTES_MAX:
        raise Misuse(f"{len(value)} bytes in a field that holds {BYTES_MAX}")
    return len(value).to_bytes(2, "big") + value


def text(value: str) -> bytes:
    """The string with its length in front; [MQTT-1.5.4-1] and [MQTT-1.5.4-2] bind us, too."""
    try:
        raw = value.encode()
    except UnicodeEncodeError:
        raise Misuse("a string with surrogates has no UTF-8") from None
    if b"\0" in raw:
        raise Misuse("U+0000 has no place in a string of MQTT")
    return binary(raw)


def pair(value: tuple[str, str]) -> bytes:
    return text(value[0]) + text(value[1])
