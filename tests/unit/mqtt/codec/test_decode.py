"""Packets from bytes: what is read, and why what is not read is refused."""

import pytest

from weft.mqtt.codec.decode import decode
from weft.mqtt.codec.frames import split
from weft.mqtt.codec.opening import announced
from weft.mqtt.codec.packets import (
    Auth,
    Connack,
    Connect,
    Disconnect,
    Packet,
    Puback,
    Publish,
    Pubrel,
    Request,
    Suback,
    Subscribe,
    Unsuback,
    Unsubscribe,
    Will,
)
from weft.mqtt.codec.primitives import varint
from weft.mqtt.codec.properties import Properties
from weft.mqtt.codec.reasons import CODES, Malformed, ProtocolError, Reason, Refused

MALFORMED, PROTOCOL = Reason.MALFORMED_PACKET, Reason.PROTOCOL_ERROR
NAME, FILTER, VERSION = Reason.TOPIC_NAME_INVALID, Reason.TOPIC_FILTER_INVALID, Reason.UNSUPPORTED_PROTOCOL_VERSION


def read(version: int, text: str) -> Packet:
    """From first byte and body, in hexadecimal, with quoted words as strings: their length, then they themselves."""
    first, *rest = text.split()
    body = b""
    for word in rest:
        if word[0] == "'":
            raw = word.strip("'").encode()
            body += len(raw).to_bytes(2, "big") + raw
        else:
            body += bytes.fromhex(word)
    whole = bytes.fromhex(first) + varint(len(body)) + body
    assert split(whole, 0) == (whole[0], len(whole) - len(body), len(whole))
    return decode(version, whole[0], body)


@pytest.mark.parametrize(("version", "text", "packet"), [
    (0, "10 'MQTT' 04 02 003c 'me'", Connect(4, "me", True, 60)),
    (0, "10 'MQTT' 04 00 0000 ''", Connect(4, "", False)),
    (0, "10 'MQTT' 84 02 0000 'me'", Connect(4, "me", bridge=True)),
    (0, "10 'MQIsdp' 03 02 0000 'me'", Connect(3, "me")),
    (0, "10 'MQIsdp' 83 02 0000 'me'", Connect(3, "me", bridge=True)),
    (0, "10 'MQIsdp' 03 03 0000 'me'", Connect(3, "me")),  # 3.1 does not use bit 0
    (0, "10 'MQIsdp' 03 c2 0000 'me'", Connect(3, "me")),  # 3.1: flags without their fields are valid
    (0, "10 'MQIsdp' 03 c2 0000 'me' 'user'", Connect(3, "me", username="user")),
    (0, "10 'MQTT' 04 f6 0000 'me' 'w' 'bye' 'user' 'pass'",
     Connect(4, "me", True, 0, "user", b"pass", Will("w", b"bye", 2, True))),  # [MQTT-3.1.3-1] [MQTT-3.1.3-1 (3.1.1)]
    (0, "10 'MQTT' 05 42 0000 00 'me' 'pass'", Connect(5, "me", password=b"pass")),  # new in 5: no user name
    (0, "10 'MQTT' 05 0e 0000 05 1100000001 'me' 05 1800000002 'w' ''",
     Connect(5, "me", will=Will("w", b"", 1, False, Properties(will_delay_s=2)), properties=Properties(session_expiry_s=1))),
    (4, "20 01 00", Connack(True, 0)),
    (4, "20 00 05", Connack(False, 5)),
    (3, "20 01 00", Connack(False, 0)),
    (5, "20 00 9d 06 1c 's:1'", Connack(False, 0x9D, Properties(server_reference="s:1"))),
    (4, "30 'a/b' 6869", Publish("a/b", b"hi")),
    (4, "3d 'a' 0007", Publish("a", b"", 2, True, True, 7)),
    (5, "32 'a' 0007 03 230001 6869", Publish("a", b"hi", 1, packet_id=7, properties=Properties(topic_alias=1))),
    (5, "30 '' 03 230001 6869", Publish("", b"hi", properties=Properties(topic_alias=1))),
    (4, "40 0102", Puback(0x102)),
    (5, "40 0102", Puback(0x102)),
    (5, "40 0102 10", Puback(0x102, 0x10)),
    (5, "40 0102 10 00", Puback(0x102, 0x10)),
    (5, "62 0102 92 05 1f 'x' 0000", None),
    (5, "62 0102 92 04 1f 'x'", Pubrel(0x102, 0x92, Properties(reason_string="x"))),
    (4, "82 0001 'a/#' 01 'b' 00", Subscribe(1, (Request("a/#", 1), Request("b")))),
    (3, "82 0001 'a' fd", Subscribe(1, (Request("a", 1),))),  # 3.1 does not use the upper six bits
    (5, "82 0001 02 0b05 'a' 2e", Subscribe(1, (Request("a", 2, True, True, 2),), Properties(subscription_ids=(5,)))),
    (5, "82 0001 00 '$share/g/a' 1a", Subscribe(1, (Request("$share/g/a", 2, False, True, 1),))),
    (4, "90 0001 00 01 02 80", Suback(1, (0, 1, 2, 0x80))),
    (5, "90 0001 00 a2", Suback(1, (0xA2,))),
    (4, "a2 0001 'a' '+'", Unsubscribe(1, ("a", "+"))),
    (4, "b0 0001", Unsuback(1)),
    (5, "b0 0001 00 11", Unsuback(1, (0x11,))),
    (4, "e0", Disconnect()),
    (5, "e0", Disconnect()),
    (5, "e0 04", Disconnect(4)),
    (5, "e0 00 05 1100000000", Disconnect(0, Properties(session_expiry_s=0))),
    (5, "f0", Auth()),
    (5, "f0 18 04 15 'x'", Auth(0x18, Properties(authentication_method="x"))),
])  # fmt: skip
def test_packets_are_read(version, text, packet):
    if packet is None:
        with pytest.raises(Refused):
            read(version, text)
    else:
        assert read(version, text) == packet


# By version: what is wrong with the packet, the statement that forbids it, the bytes, and the reason that it gets.
# fmt: off
BAD = [
    # CONNECT: names and levels
    (0, "no known name [MQTT-3.1.2-1] [MQTT-3.1.2-1 (3.1.1)]", "10 'MQTX' 04 02 0000 'me'", VERSION),
    (0, "no known level [MQTT-3.1.2-2] [MQTT-3.1.2-2 (3.1.1)]", "10 'MQTT' 06 02 0000 'me'", VERSION),
    (0, "level 3 by the later name", "10 'MQTT' 03 02 0000 'me'", VERSION),
    (0, "level 4 by the earlier name", "10 'MQIsdp' 04 02 0000 'me'", VERSION),
    (0, "a bridge's bit at level 5", "10 'MQTT' 85 02 0000 00 'me'", VERSION),
    (0, "nothing at all", "10", MALFORMED),
    (0, "a name and no level", "10 'MQTT'", MALFORMED),
    (0, "not MQTT", "10 4745 54202f", MALFORMED),
    # CONNECT: flags
    (0, "the reserved flag [MQTT-3.1.2-3] [MQTT-3.1.2-3 (3.1.1)]", "10 'MQTT' 04 03 0000 'me'", MALFORMED),
    (0, "the reserved flag [MQTT-3.1.2-3]", "10 'MQTT' 05 03 0000 00 'me'", MALFORMED),
    (0, "will QoS 3 [MQTT-3.1.2-12] [MQTT-3.1.2-14 (3.1.1)]", "10 'MQTT' 04 1e 0000 'me' 'w' ''", MALFORMED),
    (0, "QoS, no will [MQTT-3.1.2-11] [MQTT-3.1.2-11 (3.1.1)] [MQTT-3.1.2-13 (3.1.1)]", "10 'MQTT' 04 0a 0000 'me'", MALFORMED),
    (0, "will retain and no will [MQTT-3.1.2-13] [MQTT-3.1.2-15 (3.1.1)]", "10 'MQTT' 04 22 0000 'me'", MALFORMED),
    (0, "a will that is not there [MQTT-3.1.2-9] [MQTT-3.1.2-9 (3.1.1)]", "10 'MQTT' 04 06 0000 'me'", MALFORMED),
    (0, "a will without its message [MQTT-3.1.2-9]", "10 'MQTT' 05 06 0000 00 'me' 00 'w'", MALFORMED),
    (0, "a password, no user name [MQTT-3.1.2-22 (3.1.1)]", "10 'MQTT' 04 42 0000 'me' 'pass'", MALFORMED),
    (0, "a user name that is missing [MQTT-3.1.2-17] [MQTT-3.1.2-19 (3.1.1)]", "10 'MQTT' 04 82 0000 'me'", MALFORMED),
    (0, "a user name without its flag [MQTT-3.1.2-16] [MQTT-3.1.2-18 (3.1.1)]", "10 'MQTT' 04 02 0000 'me' 'u'", MALFORMED),
    (0, "a password that is missing [MQTT-3.1.2-19] [MQTT-3.1.2-21 (3.1.1)]", "10 'MQTT' 04 c2 0000 'me' 'u'", MALFORMED),
    (0, "a password without its flag [MQTT-3.1.2-18] [MQTT-3.1.2-20 (3.1.1)]", "10 'MQTT' 04 82 0000 'me' 'u' 'p'", MALFORMED),
    # CONNECT: fields
    (0, "no client id [MQTT-3.1.3-3] [MQTT-3.1.3-3 (3.1.1)]", "10 'MQTT' 04 02 0000", MALFORMED),
    (0, "a client id that is not UTF-8 [MQTT-3.1.3-4] [MQTT-3.1.3-4 (3.1.1)]", "10 'MQTT' 04 02 0000 0001ff", MALFORMED),
    (0, "a user name that is not UTF-8 [MQTT-3.1.3-12] [MQTT-3.1.3-11 (3.1.1)]", "10 'MQTT' 04 82 0000 'me' 0001ff", MALFORMED),
    (0, "a will topic that is not UTF-8 [MQTT-3.1.3-11] [MQTT-3.1.3-10 (3.1.1)]",
     "10 'MQTT' 04 06 0000 'me' 0001ff ''", MALFORMED),
    (0, "a will topic with a wildcard [MQTT-4.7.0-1]", "10 'MQTT' 05 06 0000 00 'me' 00 'w/+' ''", NAME),
    (0, "an empty will topic [MQTT-4.7.3-1]", "10 'MQTT' 05 06 0000 00 'me' 00 '' ''", NAME),
    (0, "a will delay that is not the will's", "10 'MQTT' 05 02 0000 05 1800000001 'me'", MALFORMED),
    (0, "a receive maximum of 0", "10 'MQTT' 05 02 0000 03 210000 'me'", PROTOCOL),
    (0, "a wrong flag in the first byte [MQTT-2.1.3-1]", "11 'MQTT' 04 02 0000 'me'", MALFORMED),
    *((0, "before CONNECT [MQTT-3.1.0-1] [MQTT-3.1.0-1 (3.1.1)]", text, PROTOCOL)
      for text in ("20 00 00", "30 'a'", "40 0001", "82 0001 'a' 00", "c0", "e0", "f0")),
    # CONNACK
    (5, "reserved flags [MQTT-3.2.2-1]", "20 02 00 00", MALFORMED),
    (5, "a session and a refusal [MQTT-3.2.2-6]", "20 01 87 00", PROTOCOL),
    (4, "a session and a refusal [MQTT-3.2.2-4 (3.1.1)]", "20 01 05", PROTOCOL),
    (5, "a code of MQTT 3 [MQTT-3.2.2-8]", "20 00 05 00", PROTOCOL),
    (4, "a reserved code", "20 00 06", PROTOCOL),
    (4, "too long", "20 00 00 00", MALFORMED),
    (5, "too long", "20 00 00 00 00", MALFORMED),
    (5, "without properties", "20 00 00", MALFORMED),
    # PUBLISH
    (4, "QoS 3 [MQTT-3.3.1-4] [MQTT-3.3.1-4 (3.1.1)]", "36 'a' 0001", MALFORMED),
    (4, "DUP at QoS 0 [MQTT-3.3.1-2] [MQTT-3.3.1-2 (3.1.1)]", "38 'a'", MALFORMED),
    (4, "packet identifier 0 [MQTT-2.2.1-3] [MQTT-2.3.1-1 (3.1.1)]", "32 'a' 0000", PROTOCOL),
    (4, "no packet identifier [MQTT-2.3.1-1 (3.1.1)]", "32 'a' 00", MALFORMED),
    (4, "no topic [MQTT-3.3.2-1] [MQTT-3.3.2-1 (3.1.1)]", "30", MALFORMED),
    (4, "a topic longer than the packet", "30 0005 61", MALFORMED),
    (4, "a topic that is not UTF-8 [MQTT-3.3.2-1] [MQTT-3.3.2-1 (3.1.1)]", "30 0002c080", MALFORMED),
    (4, "a topic with U+0000 [MQTT-4.7.3-2] [MQTT-4.7.3-2 (3.1.1)]", "30 0003 610062", MALFORMED),
    (4, "a wildcard [MQTT-3.3.2-2] [MQTT-3.3.2-2 (3.1.1)]", "30 'a/#'", NAME),
    (4, "an empty topic [MQTT-4.7.3-1 (3.1.1)]", "30 ''", NAME),
    (5, "neither topic nor alias", "30 '' 00", PROTOCOL),
    (5, "alias 0 [MQTT-3.3.2-8]", "30 'a' 03 230000", Reason.TOPIC_ALIAS_INVALID),
    (5, "a wildcard beside an alias [MQTT-3.3.2-2]", "30 '+' 03 230001", NAME),
    (5, "a response topic with a wildcard [MQTT-3.3.2-14]", "30 'a' 04 08 '+'", NAME),
    (5, "no property length [MQTT-2.2.2-1]", "30 'a'", MALFORMED),
    # PUBACK and its like
    (4, "packet identifier 0", "40 0000", PROTOCOL),
    (4, "too short", "50 00", MALFORMED),
    (4, "too long", "40 0001 00", MALFORMED),
    (5, "a code of another packet [MQTT-3.4.2-1]", "40 0001 92", PROTOCOL),
    (5, "a code of another packet [MQTT-3.5.2-1]", "50 0001 92", PROTOCOL),
    (5, "a code of another packet [MQTT-3.6.2-1]", "62 0001 10", PROTOCOL),
    (5, "a code of another packet [MQTT-3.7.2-1]", "70 0001 10", PROTOCOL),
    (5, "an unknown code", "40 0001 7f", PROTOCOL),
    (5, "bytes after the properties", "40 0001 00 00 00", MALFORMED),
    (5, "an alias", "40 0001 00 03 230001", MALFORMED),
    (4, "PUBREL with its flags 0 [MQTT-3.6.1-1] [MQTT-3.6.1-1 (3.1.1)]", "60 0001", MALFORMED),
    # SUBSCRIBE
    (4, "flags 0 [MQTT-3.8.1-1] [MQTT-3.8.1-1 (3.1.1)]", "80 0001 'a' 00", MALFORMED),
    (4, "packet identifier 0 [MQTT-2.3.1-1 (3.1.1)]", "82 0000 'a' 00", PROTOCOL),
    (4, "no filter [MQTT-3.8.3-3 (3.1.1)]", "82 0001", PROTOCOL),
    (5, "no filter [MQTT-3.8.3-2]", "82 0001 00", PROTOCOL),
    (4, "a filter without its QoS", "82 0001 'a'", MALFORMED),
    (4, "a filter that is not UTF-8 [MQTT-3.8.3-1] [MQTT-3.8.3-1 (3.1.1)]", "82 0001 0001ff 00", MALFORMED),
    (4, "an empty filter [MQTT-4.7.3-1] [MQTT-4.7.3-1 (3.1.1)]", "82 0001 '' 00", FILTER),
    (4, "'#' in the middle [MQTT-4.7.1-1] [MQTT-4.7.1-2 (3.1.1)]", "82 0001 'a' 00 '#/a' 00", FILTER),
    (4, "QoS 3 [MQTT-3-8.3-4 (3.1.1)]", "82 0001 'a' 03", MALFORMED),
    (4, "reserved bits [MQTT-3-8.3-4 (3.1.1)]", "82 0001 'a' 04", MALFORMED),
    (5, "QoS 3", "82 0001 00 'a' 03", PROTOCOL),
    (5, "reserved bits [MQTT-3.8.3-5]", "82 0001 00 'a' 40", MALFORMED),
    (5, "reserved bits [MQTT-3.8.3-5]", "82 0001 00 'a' 80", MALFORMED),
    (5, "retain handling 3", "82 0001 00 'a' 30", PROTOCOL),
    (5, "No Local on a share [MQTT-3.8.3-4]", "82 0001 00 '$share/g/a' 04", PROTOCOL),
    (5, "a share without a name [MQTT-4.8.2-1]", "82 0001 00 '$share//a' 00", FILTER),
    (5, "a share without a filter [MQTT-4.8.2-2]", "82 0001 00 '$share/g' 00", FILTER),
    (5, "two subscription identifiers", "82 0001 04 0b010b02 'a' 00", PROTOCOL),
    (5, "subscription identifier 0", "82 0001 02 0b00 'a' 00", PROTOCOL),
    # SUBACK, UNSUBSCRIBE, UNSUBACK
    (4, "no code", "90 0001", MALFORMED),
    (4, "a reserved code [MQTT-3.9.3-2 (3.1.1)]", "90 0001 81", PROTOCOL),
    (5, "a code of another packet [MQTT-3.9.3-2]", "90 0001 00 11", PROTOCOL),
    (4, "flags 0 [MQTT-3.10.1-1] [MQTT-3.10.1-1 (3.1.1)]", "a0 0001 'a'", MALFORMED),
    (4, "no filter [MQTT-3.10.3-2 (3.1.1)]", "a2 0001", PROTOCOL),
    (5, "no filter [MQTT-3.10.3-2]", "a2 0001 00", PROTOCOL),
    (4, "a filter that is not UTF-8 [MQTT-3.10.3-1] [MQTT-3.10.3-1 (3.1.1)]", "a2 0001 0001ff", MALFORMED),
    (4, "an empty filter", "a2 0001 ''", FILTER),
    (4, "half a filter", "a2 0001 'a' 00", MALFORMED),
    (4, "codes", "b0 0001 00", MALFORMED),
    (5, "no code", "b0 0001 00", MALFORMED),
    (5, "a code of another packet [MQTT-3.11.3-2]", "b0 0001 00 01", PROTOCOL),
    # PINGREQ, PINGRESP, DISCONNECT, AUTH
    (4, "a body", "c0 00", MALFORMED),
    (4, "a body", "d0 00", MALFORMED),
    (5, "flags [MQTT-2.1.3-1] [MQTT-2.2.2-2 (3.1.1)]", "c1", MALFORMED),
    (4, "flags [MQTT-3.14.1-1] [MQTT-3.14.1-1 (3.1.1)]", "e1", MALFORMED),
    (4, "a code", "e0 00", MALFORMED),
    (5, "a code of another packet [MQTT-3.14.2-1]", "e0 01", PROTOCOL),
    (5, "bytes after the properties", "e0 00 00 00", MALFORMED),
    (5, "a will delay", "e0 00 05 1800000001", MALFORMED),
    (4, "of version 5", "f0", MALFORMED),
    (5, "flags [MQTT-3.15.1-1]", "f1", MALFORMED),
    (5, "a code of another packet [MQTT-3.15.2-1]", "f0 01 04 15 'x'", PROTOCOL),
    (5, "no method", "f0 18 00", PROTOCOL),
    (5, "no method", "f0 18", PROTOCOL),
    (5, "data and no method", "f0 18 04 16 'x'", PROTOCOL),
    (5, "of no kind", "00", MALFORMED),
    (4, "of no kind", "0f", MALFORMED),
]
# fmt: on


@pytest.mark.parametrize(("version", "why", "text", "reason"), BAD)
def test_bad_packets_are_refused_with_their_reason(version, why, text, reason):
    with pytest.raises(Refused) as refused:
        read(version, text)
    assert refused.value.reason is reason, f"{why}: {refused.value}"
    assert str(refused.value), "the log wants a line"


def test_every_code_that_the_table_has_is_read():
    for first, head, kind in (
        ("40", "0001", 4),
        ("50", "0001", 5),
        ("62", "0001", 6),
        ("70", "0001", 7),
        ("e0", "", 14),
    ):
        for code in range(256):
            if code in CODES[kind]:
                assert read(5, f"{first} {head} {code:02x}").code == code
            else:
                with pytest.raises(ProtocolError):
                    read(5, f"{first} {head} {code:02x}")


def test_the_version_is_known_even_if_the_packet_cannot_be_read():
    assert announced(b"\x00\x04MQTT\x05") == 5
    assert announced(b"\x00\x04MQTT\x84\xff") == 4
    assert announced(b"\x00\x06MQIsdp\x03") == 3
    assert announced(b"\x00\x04MQTT") == announced(b"") == announced(b"\x00\x04MQTT\x06") == 0


def test_malformed_and_protocol_error_are_two_things():
    assert Malformed("x").reason is MALFORMED
    assert ProtocolError("x").reason is PROTOCOL
