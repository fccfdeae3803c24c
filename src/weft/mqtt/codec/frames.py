"""Where a packet ends, and what its first byte may be (§2.1)."""

from weft.mqtt.codec.kinds import Kind
from weft.mqtt.codec.reasons import Malformed

_NEED_TWO = (Kind.PUBREL, Kind.SUBSCRIBE, Kind.UNSUBSCRIBE)


def split(data: bytes | bytearray, pos: int) -> tuple[int, int, int] | None:
    """The whole packet at ``pos``: its first byte, the start and the end of its body. None: it is not complete yet."""
    found = bounds(data, pos)
    return found if found is not None and found[2] <= len(data) else None


def bounds(data: bytes | bytearray, pos: int) -> tuple[int, int, int] | None:
    """The same as soon as the length is there, for whoever must know a size before the body has come.

    A length of five bytes, or of more than it needs, is Malformed (§2.1.4; [MQTT-1.5.5-1]).
    """
    have = len(data)
    if have < pos + 2:
        return None
    length = data[pos + 1]
    start = pos + 2
    if length > 127:
        length &= 127
        for shift in (7, 14, 21):
            if start >= have:
                return None
            byte = data[start]
            start += 1
            length |= (byte & 127) << shift
            if byte < 128:
                if not byte:
                    raise Malformed("a Remaining Length in more bytes than it needs")
                break
        else:
            raise Malformed("a Remaining Length of more than four bytes")
    return data[pos], start, start + length


def count(data: bytes) -> int:
    """How many packets ``data`` is, which begins and ends with one."""
    packets, at = 0, 0
    while (found := split(data, at)) is not None:
        packets, at = packets + 1, found[2]
    return packets


def _flaw(version: int, first: int) -> str:
    kind, flags = first >> 4, first & 15
    if not kind:
        return "packet type 0 is reserved"
    if kind == Kind.AUTH and version in (3, 4):
        return "packet type 15 is reserved"  # §2.2.1 (3.1.1)
    name = Kind(kind).name
    if kind == Kind.PUBLISH:
        if flags & 6 == 6:  # [MQTT-3.3.1-4], [MQTT-3.3.1-4 (3.1.1)]
            return "PUBLISH with QoS 3"
        if flags & 14 == 8 and version != 3:  # [MQTT-3.3.1-2], [MQTT-3.3.1-2 (3.1.1)]
            return "PUBLISH with DUP at QoS 0"
        return ""
    wanted = 2 if kind in _NEED_TWO else 0
    if version == 3 and wanted:
        flags &= ~8  # 3.1 has DUP there, for a request that is sent again
    # [MQTT-2.1.3-1], [MQTT-3.6.1-1], [MQTT-3.8.1-1], [MQTT-3.10.1-1], [MQTT-3.14.1-1], [MQTT-3.15.1-1],
    # [MQTT-2.2.2-1 (3.1.1)], [MQTT-2.2.2-2 (3.1.1)], [MQTT-3.6.1-1 (3.1.1)], [MQTT-3.8.1-1 (3.1.1)],
    # [MQTT-3.10.1-1 (3.1.1)], [MQTT-3.14.1-1 (3.1.1)]
    return "" if flags == wanted else f"{name} with flags {first & 15:04b}"


FLAWS: dict[int, tuple[str, ...]] = {
    version: tuple(_flaw(version, first) for first in range(256)) for version in (0, 3, 4, 5)
}
"""By version (0: not known yet) and first byte: what is wrong with it, or nothing."""
