"""Runs of packets as bytes: made anew, numbered, looked at."""

import pytest

from weft.broker.runs import HIGH, LOW, acknowledged, numbered, shaped, sound
from weft.mqtt.codec.encode import ack, encode
from weft.mqtt.codec.packets import Publish

KEY = b"\x00\x03a/b"


def packets(version: int, qos: int, payloads: list[bytes], first: int = 1) -> list[bytes]:
    return [
        encode(version, Publish("a/b", payload, qos, packet_id=first + place if qos else 0))
        for place, payload in enumerate(payloads)
    ]


@pytest.mark.parametrize("size", [0, 3, 120, 200])
@pytest.mark.parametrize("count", [1, 4])
@pytest.mark.parametrize("to", [(4, 0), (4, 1), (5, 0), (5, 1), (5, 2)])
@pytest.mark.parametrize("source", [(4, 0), (4, 1), (5, 0), (5, 1), (4, 2)])
def test_a_run_in_another_version_and_qos_is_what_the_encoder_writes(source, to, count, size):
    payloads = [bytes([65 + place]) * size for place in range(count)]
    given, wanted = packets(*source, payloads), packets(*to, payloads, first=300)
    made, long = shaped(b"".join(given), len(given[0]), len(given[0]) - size, KEY, to[0] == 5, to[1])
    assert long == len(wanted[0])
    if to[1]:
        place = long - size - (3 if to[0] == 5 else 2)
        made = numbered(made, long, place, HIGH[300 : 300 + count], LOW[300 : 300 + count])
    assert made == b"".join(wanted)


def test_the_tables_hold_every_identifier():
    assert [HIGH[number] << 8 | LOW[number] for number in range(65_536)] == list(range(65_536))


@pytest.mark.parametrize(
    ("identifiers", "properties", "count"),
    [
        ([1, 256, 65_535], b"", 3),
        ([1, 0, 2], b"", 1),
        ([0], b"", 0),
        ([512, 512], b"\0\0", 2),
        ([1, 2, 3], b"\0\0\1", 2),
        ([1, 2, 3], b"\1\0\0", 0),
        ([1, 0, 3], b"\0\0\1", 1),
    ],
)
def test_a_run_is_sound_up_to_the_first_identifier_0_or_property(identifiers, properties, count):
    """[MQTT-2.2.1-3]."""
    high, low = bytes(number >> 8 for number in identifiers), bytes(number & 255 for number in identifiers)
    assert sound(high, low, properties) == count


@pytest.mark.parametrize(
    ("data", "most", "found"),
    [
        (ack(0x40, 7) + ack(0x40, 258), 9, (7, 258)),
        (ack(0x40, 7) + ack(0x40, 258), 1, (7,)),
        (ack(0x40, 7) + ack(0x50, 258), 9, (7,)),
        (ack(0x40, 7) + b"\x40\x03\x00\x08\x10", 9, (7,)),  # with a reason: not four bytes
        (ack(0x40, 7) + b"\x40\x02\x00", 9, (7,)),  # not whole
        (ack(0x40, 7) + b"\x40", 9, (7,)),
        (ack(0x40, 0x4040) + ack(0x40, 0x0202), 9, (0x4040, 0x0202)),
    ],
)
def test_a_row_of_acknowledgements_ends_where_something_else_begins(data, most, found):
    assert acknowledged(data, 0, 0x40, most) == found
    assert acknowledged(b"before" + data, 6, 0x40, most) == found
