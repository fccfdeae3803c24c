"""Runs: packets of one kind, topic and length that stand one behind the other, handled as one piece of bytes.

What is at the same place in every packet of a run is a slice with a step, so to read or write all identifiers costs one call
and not one per packet. Every function here is a function of bytes; ``hotpath`` knows what they are for.
"""

from struct import unpack_from

from weft.mqtt.codec.primitives import varint
from weft.mqtt.session.outgoing import IDS

HIGH = bytes(number >> 8 for number in range(IDS))
LOW = bytes(number & 255 for number in range(IDS))
"""The two bytes of every packet identifier: of a row of them, a slice."""


def shaped(run: bytes, size: int, body: int, key: bytes, five: bool, qos: int) -> tuple[bytes, int]:
    """The payloads of ``run``, which begin at ``body``, in packets of another version or QoS; and the size of these.

    ``key`` is the topic with its length. Identifiers are 0 until ``numbered``.
    """
    tail = (b"\0\0" if qos else b"") + (b"\0" if five else b"")  # version 5 has an empty block of properties
    head = b"%c%b%b%b" % (0x30 | qos << 1, varint(len(key) + len(tail) + size - body), key, tail)
    if len(run) == size:
        return head + run[body:], len(head) + size - body
    payloads = [run[at + body : at + size] for at in range(0, len(run), size)]
    return head + head.join(payloads), len(head) + size - body


def numbered(run: bytes, size: int, at: int, high: bytes, low: bytes) -> bytes:
    """``run`` with other identifiers, which stand at ``at`` in each packet."""
    if len(run) == size:
        return run[:at] + high + low + run[at + 2 :]
    out = bytearray(run)
    out[at::size] = high
    out[at + 1 :: size] = low
    return bytes(out)


def sound(high: bytes, low: bytes, properties: bytes) -> int:
    """How many of a run's first packets have an identifier (it is not 0) and an empty block of properties, if any."""
    count = len(high)
    if properties:
        count -= len(properties.lstrip(b"\0"))
    if 0 in low:
        for place in range(count):
            if not low[place] and not high[place]:
                return place
    return count


def acknowledged(data: bytes, at: int, first: int, most: int) -> tuple[int, ...]:
    """The identifiers of the acknowledgements of four bytes that stand at ``at``, from 1 to ``most`` of them."""
    end = at + 4 * most
    firsts = data[at:end:4]
    count = len(firsts) - len(firsts.lstrip(b"%c" % first))
    sizes = data[at + 1 : at + 4 * count : 4]
    count = min(len(sizes) - len(sizes.lstrip(b"\x02")), len(data[at + 3 : end : 4]))
    return unpack_from(">" + "2xH" * count, data, at)
