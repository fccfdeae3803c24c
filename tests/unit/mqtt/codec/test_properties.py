"""The table of properties: types, places, doubles, values."""

import pytest

from weft.core.errors import Misuse
from weft.mqtt.codec.kinds import Kind
from weft.mqtt.codec.primitives import pair, text, varint
from weft.mqtt.codec.properties import NONE, RULES, WILL, Properties, pack, unpack
from weft.mqtt.codec.reasons import Malformed, ProtocolError, Reason, Refused

PLACES = (WILL, *Kind)
ONE = {
    "content_type": "text/plain",
    "response_topic": "answers",
    "correlation_data": b"\0\1",
    "subscription_ids": (268_435_455,),
    "assigned_client_id": "me",
    "authentication_method": "SCRAM-SHA-256",
    "authentication_data": b"nonce",
    "response_information": "r",
    "server_reference": "s:1883",
    "reason_string": "why",
    "user": (("a", "1"),),
}
"""A value for each field; 1 for those that are not here."""

# Table 2-4, written out a second time: identifier, and where it may stand.
TABLE = {
    0x01: "PUBLISH WILL",
    0x02: "PUBLISH WILL",
    0x03: "PUBLISH WILL",
    0x08: "PUBLISH WILL",
    0x09: "PUBLISH WILL",
    0x0B: "PUBLISH SUBSCRIBE",
    0x11: "CONNECT CONNACK DISCONNECT",
    0x12: "CONNACK",
    0x13: "CONNACK",
    0x15: "CONNECT CONNACK AUTH",
    0x16: "CONNECT CONNACK AUTH",
    0x17: "CONNECT",
    0x18: "WILL",
    0x19: "CONNECT",
    0x1A: "CONNACK",
    0x1C: "CONNACK DISCONNECT",
    0x1F: "CONNACK PUBACK PUBREC PUBREL PUBCOMP SUBACK UNSUBACK DISCONNECT AUTH",
    0x21: "CONNECT CONNACK",
    0x22: "CONNECT CONNACK",
    0x23: "PUBLISH",
    0x24: "CONNACK",
    0x25: "CONNACK",
    0x26: "CONNECT CONNACK PUBLISH WILL PUBACK PUBREC PUBREL PUBCOMP SUBSCRIBE SUBACK UNSUBSCRIBE UNSUBACK DISCONNECT AUTH",
    0x27: "CONNECT CONNACK",
    0x28: "CONNACK",
    0x29: "CONNACK",
    0x2A: "CONNACK",
}


def sample(field: str) -> Properties:
    """With this property only, or with what it cannot be without."""
    given = {field: ONE.get(field, 1)}
    if field == "authentication_data":
        given["authentication_method"] = ONE["authentication_method"]
    return Properties(**given)


def body(raw: bytes) -> bytes:
    return varint(len(raw)) + raw


def read(raw: bytes, where: int) -> Properties:
    properties, pos = unpack(b"?" + raw + b"?", 1, len(raw) + 1, where)
    assert pos == len(raw) + 1
    return properties


def test_no_property_is_a_length_of_zero():
    """[MQTT-2.2.2-1]"""
    assert pack(NONE) == pack(Properties()) == b"\x00"
    assert read(b"\x00", Kind.PUBLISH) is NONE


def test_the_rules_are_in_the_order_of_the_fields():
    assert tuple(rule.field for rule in RULES) == Properties.__struct_fields__
    assert [rule.id for rule in RULES] == sorted(rule.id for rule in RULES) == list(TABLE)


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.field)
def test_a_property_stands_where_the_table_says_and_is_malformed_elsewhere(rule):
    """§2.2.2.2"""
    raw = pack(sample(rule.field))
    for where in PLACES:
        name = Kind(where).name if where else "WILL"
        if name in TABLE[rule.id].split():
            assert read(raw, where) == sample(rule.field)
        else:
            with pytest.raises(Malformed, match="does not belong"):
                read(raw, where)


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.field)
def test_a_property_that_comes_twice_is_a_protocol_error_but_for_two(rule):
    """User properties may be there often, and subscription identifiers in a PUBLISH (§3.3.2.3.8)."""
    raw = pack(sample(rule.field))[1:]
    for where in (place for place in PLACES if rule.places >> place & 1):
        if rule.field == "user" or (rule.field == "subscription_ids" and where == Kind.PUBLISH):
            assert len(getattr(read(body(raw + raw), where), rule.field)) == 2
        else:
            with pytest.raises(ProtocolError, match="twice"):
                read(body(raw + raw), where)


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.field)
def test_a_property_that_ends_too_early_is_malformed(rule):
    raw = pack(sample(rule.field))[1:]
    for end in range(1, len(raw)):
        cut = body(raw[:end])
        where = next(place for place in PLACES if rule.places >> place & 1)
        if rule.field == "authentication_data" and raw[:end] == pack(sample("authentication_method"))[1:]:
            continue  # it stands behind its method
        with pytest.raises(Malformed):
            read(cut, where)


def test_properties_that_are_longer_than_their_packet_are_malformed():
    with pytest.raises(Malformed, match="longer than their packet"):
        unpack(b"\x02\x01\x01", 0, 2, Kind.PUBLISH)


@pytest.mark.parametrize("raw", [b"\x00\x00", b"\x04\x00", b"\x2b\x00", b"\x7f\x00", b"\x80\x01\x00", b"\xff"])
def test_an_unknown_identifier_is_malformed(raw):
    for where in PLACES:
        with pytest.raises(Malformed, match="does not belong"):
            read(body(raw), where)


@pytest.mark.parametrize("number", [0x01, 0x17, 0x19, 0x24, 0x25, 0x28, 0x29, 0x2A])
def test_a_flag_is_0_or_1(number):
    where = Kind[TABLE[number].split()[0]]
    for value in (0, 1):
        assert read(body(bytes((number, value))), where) != NONE
    for value in (2, 255):
        with pytest.raises(ProtocolError, match="0 or 1"):
            read(body(bytes((number, value))), where)


@pytest.mark.parametrize(("raw", "where", "reason"), [
    (b"\x0b\x00", Kind.PUBLISH, Reason.PROTOCOL_ERROR),
    (b"\x0b\x00", Kind.SUBSCRIBE, Reason.PROTOCOL_ERROR),
    (b"\x21\x00\x00", Kind.CONNECT, Reason.PROTOCOL_ERROR),
    (b"\x27\x00\x00\x00\x00", Kind.CONNECT, Reason.PROTOCOL_ERROR),
    (b"\x23\x00\x00", Kind.PUBLISH, Reason.TOPIC_ALIAS_INVALID),
])  # fmt: skip
def test_a_zero_that_is_not_allowed_has_its_reason(raw, where, reason):
    """[MQTT-3.3.2-8]"""
    with pytest.raises(Refused, match="is 0") as refused:
        read(body(raw), where)
    assert refused.value.reason is reason


@pytest.mark.parametrize("field", [
    "payload_format", "message_expiry_s", "session_expiry_s", "server_keep_alive_s", "will_delay_s", "topic_alias_maximum",
    "maximum_qos",
])  # fmt: skip
def test_zero_is_a_value(field):
    where = next(place for rule in RULES for place in PLACES if rule.field == field and rule.places >> place & 1)
    assert read(pack(Properties(**{field: 0})), where) == Properties(**{field: 0})


@pytest.mark.parametrize("topic", ["", "+", "a/#"])
def test_a_response_topic_is_a_topic_name(topic):
    """[MQTT-3.3.2-13] [MQTT-3.3.2-14]"""
    with pytest.raises(Refused) as refused:
        read(body(b"\x08" + text(topic)), Kind.PUBLISH)
    assert refused.value.reason is Reason.TOPIC_NAME_INVALID


def test_user_properties_keep_their_order_and_their_doubles():
    """[MQTT-3.1.3-10] [MQTT-3.3.2-18]"""
    user = (("b", "1"), ("a", "2"), ("b", "1"), ("", ""))
    assert read(pack(Properties(user=user)), Kind.PUBLISH).user == user
    raw = b"".join(b"\x26" + pair(one) + b"\x23\x00\x01" * (one == user[1]) for one in user)
    assert read(body(raw), Kind.PUBLISH) == Properties(user=user, topic_alias=1)


@pytest.mark.parametrize("where", [Kind.CONNECT, Kind.CONNACK, Kind.AUTH])
def test_authentication_data_without_a_method_is_a_protocol_error(where):
    """§3.1.2.11.10"""
    with pytest.raises(ProtocolError, match="without a method"):
        read(body(b"\x16\x00\x01x"), where)


@pytest.mark.parametrize("properties", [
    Properties(payload_format=256), Properties(message_expiry_s=-1), Properties(topic_alias=65_536),
    Properties(subscription_ids=(268_435_456,)), Properties(content_type="a\0"),
])  # fmt: skip
def test_what_no_property_can_hold_is_not_written(properties):
    with pytest.raises(Misuse):
        pack(properties)
