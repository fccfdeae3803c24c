"""Packets to bytes: the shortest form, and what cannot be written."""

import pytest

from weft.core.errors import Misuse
from weft.mqtt.codec import encode as encoder
from weft.mqtt.codec.encode import ack, encode
from weft.mqtt.codec.packets import (
    Auth,
    Connack,
    Connect,
    Disconnect,
    Pingreq,
    Pingresp,
    Puback,
    Pubcomp,
    Publish,
    Pubrec,
    Pubrel,
    Request,
    Suback,
    Subscribe,
    Unsuback,
    Unsubscribe,
    Will,
)
from weft.mqtt.codec.properties import Properties

WHY = Properties(reason_string="x")


@pytest.mark.parametrize(("version", "packet", "raw"), [
    (4, Connect(4, "a", True, 60), "100d 00044d515454 04 02 003c 0001 61"),
    (5, Connect(5, "a", False), "100e 00044d515454 05 00 0000 00 0001 61"),
    (3, Connect(3, "a", bridge=True), "100f 00064d5149736470 83 02 0000 0001 61"),
    (4, Connect(4, "a", True, 0, "u", b"p", Will("w", b"!", 1, True)),
     "1019 00044d515454 04 ee 0000 000161 000177 000121 000175 000170"),
    (5, Connect(5, "a", password=b"p"), "1011 00044d515454 05 42 0000 00 000161 000170"),
    (4, Connack(True, 0), "20020100"),
    (3, Connack(True, 0), "20020000"),
    (5, Connack(False, 0x87), "2003008700"),
    (4, Publish("a", b"!", 0, True), "3104 000161 21"),
    (5, Publish("a", b"!", 1, False, True, 7), "3a07 000161 0007 00 21"),
    (4, Publish("a", b"!", 1, packet_id=7, properties=Properties(content_type="left out")), "3206 000161 0007 21"),
    (4, Puback(7), "40020007"),
    (5, Puback(7), "40020007"),
    (5, Puback(7, 0x10), "4003000710"),
    (5, Puback(7, 0, WHY), "40080007 00 04 1f000178"),
    (4, Puback(7, 0x87), "40020007"),
    (5, Pubrec(7), "50020007"),
    (5, Pubrel(7, 0x92), "6203000792"),
    (5, Pubcomp(7), "70020007"),
    (4, Subscribe(7, (Request("a", 1, True, True, 2),)), "8206 0007 000161 01"),
    (5, Subscribe(7, (Request("a", 1, True, True, 2),)), "8207 0007 00 000161 2d"),
    (4, Suback(7, (0, 0x80)), "900400070080"),
    (5, Suback(7, (0,)), "900400070000"),
    (4, Unsubscribe(7, ("a", "b")), "a208 0007 000161 000162"),
    (4, Unsuback(7, (0,)), "b0020007"),
    (5, Unsuback(7, (0x11,)), "b00400070011"),
    (4, Pingreq(), "c000"),
    (5, Pingresp(), "d000"),
    (4, Disconnect(0x8B), "e000"),
    (5, Disconnect(), "e000"),
    (5, Disconnect(0x8B), "e0018b"),
    (5, Disconnect(0, WHY), "e006 00 04 1f000178"),
    (5, Auth(), "f000"),
    (5, Auth(0x18, Properties(authentication_method="x")), "f006 18 04 15000178"),
])  # fmt: skip
def test_packets_are_written_in_their_shortest_form(version, packet, raw):
    assert encode(version, packet) == bytes.fromhex(raw)


def test_acknowledgements_have_a_short_way():
    for first, packet in (
        (encoder.PUBACK, Puback(513)),
        (encoder.PUBREC, Pubrec(513)),
        (encoder.PUBREL, Pubrel(513)),
        (encoder.PUBCOMP, Pubcomp(513)),
    ):
        assert ack(first, 513) == encode(4, packet) == encode(5, packet)


@pytest.mark.parametrize(("version", "packet"), [
    (4, Publish("a", b"", 1)),  # [MQTT-2.2.1-3] [MQTT-2.3.1-1 (3.1.1)]
    (4, Publish("a", b"", 1, packet_id=65_536)),
    (4, Subscribe(7, ())),  # [MQTT-3.8.3-2] [MQTT-3.8.3-3 (3.1.1)]
    (4, Unsubscribe(7, ())),  # [MQTT-3.10.3-2] [MQTT-3.10.3-2 (3.1.1)]
    (4, Connect(4, "a", password=b"p")),  # [MQTT-3.1.2-22 (3.1.1)]
    (4, Connect(4, "a" * 65_536)),
    (4, Auth()),
    (4, Publish("a\0", b"")),
])  # fmt: skip
def test_what_no_packet_can_hold_is_our_own_mistake(version, packet):
    with pytest.raises(Misuse):
        encode(version, packet)
