"""Where packets end, and which first bytes there are."""

import pytest

from weft.mqtt.codec.frames import FLAWS, bounds, count, split
from weft.mqtt.codec.kinds import FROM_CLIENT, FROM_SERVER, Kind
from weft.mqtt.codec.primitives import varint
from weft.mqtt.codec.reasons import Malformed


def test_a_packet_is_found_when_it_is_whole():
    data = b"??\x30\x03\x00\x01a\xc0\x00"
    assert split(data, 2) == (0x30, 4, 7)
    assert split(data, 7) == (0xC0, 9, 9)
    assert [split(data[:end], 2) for end in range(2, 7)] == [None] * 5


def test_whole_packets_are_counted():
    assert [count(data) for data in (b"", b"\xc0\x00", b"\x30\x03\x00\x01a\xc0\x00" * 3)] == [0, 1, 6]


def test_the_size_is_known_before_the_body_has_come():
    head = b"\x30\x80\x80\x80\x01"
    assert bounds(head, 0) == (0x30, 5, 5 + 2_097_152)
    assert split(head, 0) is None
    assert [bounds(head[:end], 0) for end in range(5)] == [None] * 5


@pytest.mark.parametrize(("size", "length"), [(0, 1), (127, 1), (128, 2), (16_383, 2), (16_384, 3)])
def test_lengths_take_one_to_four_bytes(size, length):
    data = b"\x30" + varint(size) + bytes(size)
    assert split(data, 0) == (0x30, 1 + length, 1 + length + size)
    assert split(data[:-1], 0) is None


def test_a_length_of_five_bytes_is_malformed_at_its_fourth():
    with pytest.raises(Malformed, match="more than four bytes"):
        split(b"\x30\xff\xff\xff\xff", 0)


@pytest.mark.parametrize("raw", [b"\x80\x00", b"\x80\x80\x00", b"\x81\x80\x80\x00"])
def test_a_length_in_more_bytes_than_it_needs_is_malformed(raw):
    """[MQTT-1.5.5-1]"""
    with pytest.raises(Malformed, match="more bytes than it needs"):
        split(b"\x30" + raw, 0)


LEGAL = {0x10, 0x20, 0x40, 0x50, 0x62, 0x70, 0x82, 0x90, 0xA2, 0xB0, 0xC0, 0xD0, 0xE0}
PUBLISHES = {0x30, 0x31, 0x32, 0x33, 0x34, 0x35, 0x3A, 0x3B, 0x3C, 0x3D}


@pytest.mark.parametrize(("version", "more"), [
    (0, {0xF0}),
    (3, {0x38, 0x39, 0x6A, 0x8A, 0xAA}),  # 3.1 allows DUP at QoS 0, and on requests that are sent again
    (4, set()),
    (5, {0xF0}),
])  # fmt: skip
def test_each_first_byte_but_these_has_a_flaw(version, more):
    """Reserved flags have the values of table 2-2; no DUP at QoS 0; no QoS 3.

    [MQTT-2.1.3-1] [MQTT-3.3.1-2] [MQTT-3.3.1-4] [MQTT-3.6.1-1] [MQTT-3.8.1-1] [MQTT-3.10.1-1] [MQTT-3.14.1-1]
    [MQTT-3.15.1-1] [MQTT-2.2.2-1 (3.1.1)] [MQTT-2.2.2-2 (3.1.1)] [MQTT-3.3.1-2 (3.1.1)] [MQTT-3.3.1-4 (3.1.1)]
    [MQTT-3.6.1-1 (3.1.1)] [MQTT-3.8.1-1 (3.1.1)] [MQTT-3.10.1-1 (3.1.1)] [MQTT-3.14.1-1 (3.1.1)]
    """
    assert {first for first in range(256) if not FLAWS[version][first]} == LEGAL | PUBLISHES | more


def test_what_only_a_server_sends_is_not_a_client_s():
    for version in (3, 4, 5):
        assert {Kind.CONNACK, Kind.SUBACK, Kind.UNSUBACK, Kind.PINGRESP}.isdisjoint(FROM_CLIENT[version])
        assert {Kind.CONNECT, Kind.SUBSCRIBE, Kind.UNSUBSCRIBE, Kind.PINGREQ}.isdisjoint(FROM_SERVER[version])
        assert (FROM_CLIENT[version] | FROM_SERVER[version]) == set(Kind) - ({Kind.AUTH} if version < 5 else set())
    assert Kind.DISCONNECT not in FROM_SERVER[4]
