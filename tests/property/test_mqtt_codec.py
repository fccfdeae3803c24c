"""The codec for whatever Hypothesis thinks of: round trips, packets that end too early, packets that are damaged."""

from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from weft.mqtt.codec.decode import decode
from weft.mqtt.codec.encode import encode
from weft.mqtt.codec.frames import bounds, split
from weft.mqtt.codec.kinds import Kind
from weft.mqtt.codec.packets import (
    Auth,
    Connack,
    Connect,
    Disconnect,
    Packet,
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
from weft.mqtt.codec.primitives import VARINT_MAX, read_varint, varint
from weft.mqtt.codec.properties import NONE, RULES, WILL, Properties, pack, unpack
from weft.mqtt.codec.reasons import CODES, Refused

TEXT = st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), max_size=12)
LEVEL = st.text(st.characters(exclude_characters="\0+#/", exclude_categories=["Cs"]), max_size=4)
TOPIC = st.lists(LEVEL, min_size=1, max_size=4).map("/".join).filter(bool)
FILTER = st.one_of(
    TOPIC,
    st.lists(LEVEL | st.just("+"), min_size=1, max_size=4).map(lambda levels: "/".join([*levels, "#"])),
    st.lists(LEVEL | st.just("+"), min_size=1, max_size=4).map("/".join).filter(bool),
    st.builds("$share/{}/{}".format, LEVEL.filter(bool), TOPIC),
).filter(lambda pattern: not pattern.startswith("$share/") or len(pattern.split("/", 2)[-1]) > 0)
PAYLOAD = st.binary(max_size=40)
FLAG, TWO, FOUR = st.integers(0, 1), st.integers(0, 65_535), st.integers(0, 2**32 - 1)
PACKET_ID = st.integers(1, 65_535)
QOS = st.integers(0, 2)

VALUES: dict[str, st.SearchStrategy[Any]] = {
    "content_type": TEXT,
    "response_topic": TOPIC,
    "correlation_data": PAYLOAD,
    "assigned_client_id": TEXT,
    "authentication_method": TEXT,
    "authentication_data": PAYLOAD,
    "response_information": TEXT,
    "server_reference": TEXT,
    "reason_string": TEXT,
    "user": st.lists(st.tuples(TEXT, TEXT), min_size=1, max_size=3).map(tuple),
    "message_expiry_s": FOUR,
    "session_expiry_s": FOUR,
    "will_delay_s": FOUR,
    "server_keep_alive_s": TWO,
    "topic_alias_maximum": TWO,
    "receive_maximum": PACKET_ID,
    "topic_alias": PACKET_ID,
    "maximum_packet_bytes": st.integers(1, 2**32 - 1),
}


@st.composite
def properties(draw: st.DrawFn, where: int, **needed: st.SearchStrategy[Any]) -> Properties:
    """Any that may stand there."""
    many = st.lists(st.integers(1, VARINT_MAX), min_size=1, max_size=3 if where == Kind.PUBLISH else 1).map(tuple)
    fields = {
        rule.field: many if rule.field == "subscription_ids" else VALUES.get(rule.field, FLAG)
        for rule in RULES
        if rule.places >> where & 1 and rule.field not in needed
    }
    chosen = draw(st.fixed_dictionaries(needed, optional=fields))
    if "authentication_method" not in chosen:
        chosen.pop("authentication_data", None)
    return Properties(**chosen)


def given_in(version: int, where: int) -> st.SearchStrategy[Properties]:
    return st.just(NONE) | properties(where) if version >= 5 else st.just(NONE)


def code(version: int, kind: Kind) -> st.SearchStrategy[int]:
    return st.sampled_from(sorted(CODES[kind])) if version >= 5 else st.just(0)


@st.composite
def connects(draw: st.DrawFn, version: int) -> Connect:
    will = st.builds(Will, TOPIC, PAYLOAD, QOS, st.booleans(), given_in(version, WILL))
    username = draw(st.none() | TEXT)
    password = draw(st.none() | PAYLOAD) if version >= 5 or username is not None else None
    return Connect(
        version,
        draw(TEXT),
        draw(st.booleans()),
        draw(TWO),
        username,
        password,
        draw(st.none() | will),
        draw(given_in(version, Kind.CONNECT)),
        version < 5 and draw(st.booleans()),
    )


@st.composite
def publishes(draw: st.DrawFn, version: int) -> Publish:
    qos = draw(QOS)
    packet_id = draw(PACKET_ID) if qos else 0
    dup = bool(qos) and draw(st.booleans())
    topic, given = draw(TOPIC), draw(given_in(version, Kind.PUBLISH))
    if given.topic_alias is not None and draw(st.booleans()):
        topic = ""
    return Publish(topic, draw(PAYLOAD), qos, draw(st.booleans()), dup, packet_id, given)


@st.composite
def requests(draw: st.DrawFn, version: int) -> Request:
    pattern = draw(FILTER)
    if version < 5:
        return Request(pattern, draw(QOS))
    no_local = not pattern.startswith("$share/") and draw(st.booleans())
    return Request(pattern, draw(QOS), no_local, draw(st.booleans()), draw(QOS))


def connacks(version: int) -> st.SearchStrategy[Connack]:
    codes = code(version, Kind.CONNACK) if version >= 5 else st.integers(0, 5)
    given = given_in(version, Kind.CONNACK)
    refused = st.builds(Connack, st.just(False), codes, given)
    return refused if version == 3 else refused | st.builds(Connack, st.just(True), st.just(0), given)


def auths() -> st.SearchStrategy[Auth]:
    given = properties(Kind.AUTH, authentication_method=TEXT)
    return st.just(Auth()) | st.builds(Auth, code(5, Kind.AUTH), given)


def packets(version: int) -> st.SearchStrategy[Packet]:
    """Every packet that the version has."""

    def answers(kind: Kind, packet: type[Packet]) -> st.SearchStrategy[Packet]:
        return st.builds(packet, PACKET_ID, code(version, kind), given_in(version, kind))

    subacks = code(5, Kind.SUBACK) if version >= 5 else st.sampled_from([0, 1, 2, 0x80])
    unsubacks = st.lists(code(version, Kind.UNSUBACK), min_size=1, max_size=3) if version >= 5 else st.just([])
    return st.one_of(
        connects(version),
        connacks(version),
        publishes(version),
        answers(Kind.PUBACK, Puback),
        answers(Kind.PUBREC, Pubrec),
        answers(Kind.PUBREL, Pubrel),
        answers(Kind.PUBCOMP, Pubcomp),
        st.builds(
            Subscribe,
            PACKET_ID,
            st.lists(requests(version), min_size=1, max_size=3).map(tuple),
            given_in(version, Kind.SUBSCRIBE),
        ),
        st.builds(
            Suback,
            PACKET_ID,
            st.lists(subacks, min_size=1, max_size=3).map(tuple),
            given_in(version, Kind.SUBACK),
        ),
        st.builds(
            Unsubscribe,
            PACKET_ID,
            st.lists(FILTER, min_size=1, max_size=3).map(tuple),
            given_in(version, Kind.UNSUBSCRIBE),
        ),
        st.builds(Unsuback, PACKET_ID, unsubacks.map(tuple), given_in(version, Kind.UNSUBACK)),
        st.just(Pingreq()),
        st.just(Pingresp()),
        st.builds(Disconnect, code(version, Kind.DISCONNECT), given_in(version, Kind.DISCONNECT)),
        *([auths()] if version >= 5 else []),
    )


ANY = st.sampled_from([3, 4, 5]).flatmap(lambda version: st.tuples(st.just(version), packets(version)))


def read(version: int, raw: bytes) -> Packet | None:
    """The packet that fills ``raw`` exactly; None if it is not complete."""
    found = split(raw, 0)
    if found is None:
        return None
    first, start, end = found
    return decode(0 if first >> 4 == Kind.CONNECT else version, first, raw[start:end])


@given(ANY)
def test_what_is_written_is_read(pair: tuple[int, Packet]) -> None:
    version, packet = pair
    assert read(version, encode(version, packet)) == packet


@given(ANY)
def test_a_packet_that_is_cut_is_incomplete_at_every_byte(pair: tuple[int, Packet]) -> None:
    version, packet = pair
    raw = encode(version, packet)
    for end in range(len(raw)):
        assert split(raw[:end], 0) is None
        found = bounds(raw[:end], 0)
        assert found is None or found[2] == len(raw)


@given(ANY)
def test_a_body_that_is_cut_is_refused_or_another_packet(pair: tuple[int, Packet]) -> None:
    """The length says less than there was: nothing but ``Refused`` comes out, or a packet whose encoding is just that."""
    version, packet = pair
    raw = encode(version, packet)
    first, start, stop = split(raw, 0) or (0, 0, 0)
    for end in range(start, stop):
        check(version, first, raw[start:end])


def check(version: int, first: int, body: bytes) -> None:
    """Refused, or a packet that is written and read again as itself."""
    try:
        packet = decode(version, first, body)
    except Refused:
        return
    again = packet.version if isinstance(packet, Connect) else version
    raw = encode(again, packet)
    assert read(version, raw) == packet
    assert encode(again, packet) == raw


@given(ANY, st.data())
def test_a_damaged_packet_is_refused_or_another_packet(pair: tuple[int, Packet], data: st.DataObject) -> None:
    version, packet = pair
    raw = bytearray(encode(version, packet))
    for _ in range(data.draw(st.integers(1, 4))):
        at = data.draw(st.integers(0, len(raw) - 1)) if raw else 0
        match data.draw(st.sampled_from(["change", "drop", "insert"])):
            case "change" if raw:
                raw[at] = data.draw(st.integers(0, 255))
            case "drop" if raw:
                del raw[at]
            case _:
                raw.insert(at, data.draw(st.integers(0, 255)))
    try:
        found = split(raw, 0)
    except Refused:
        return
    if found is not None:
        first, start, end = found
        check(version, first, bytes(raw[start:end]))


@given(st.sampled_from([0, 3, 4, 5]), st.integers(0, 255), st.binary(max_size=60))
@example(5, 0x30, b"\x00\x00\x02\x26\x00")
@example(0, 0x10, b"\x00\x04MQTT\x05\xff")
@example(0, 0xF0, b"")
def test_noise_is_refused_or_a_packet(version: int, first: int, body: bytes) -> None:
    check(version, first, body)


@given(st.binary(max_size=40), st.sampled_from([WILL, *Kind]))
def test_noise_among_properties_is_refused_or_properties(noise: bytes, where: int) -> None:
    raw = varint(len(noise)) + noise
    try:
        found, end = unpack(raw, 0, len(raw), where)
    except Refused:
        return
    assert end == len(raw)
    again = pack(found)
    assert unpack(again, 0, len(again), where) == (found, len(again))


@given(st.lists(ANY, max_size=8), st.lists(st.integers(0, 60)))
def test_a_stream_is_cut_into_its_packets_however_it_arrives(pairs: list[tuple[int, Packet]], cuts: list[int]) -> None:
    stream = b"".join(encode(version, packet) for version, packet in pairs)
    buffer, pos, found, at = bytearray(), 0, [], 0
    for size in [*cuts, len(stream)]:
        buffer += stream[at : at + size]
        at += size
        while (frame := split(buffer, pos)) is not None:
            first, start, end = frame
            version = pairs[len(found)][0]
            found.append(decode(version, first, bytes(buffer[start:end])))
            pos = end
    assert found == [packet for _, packet in pairs]


@given(st.integers(0, VARINT_MAX))
def test_variable_byte_integers_are_read_back(number: int) -> None:
    raw = varint(number)
    assert read_varint(raw, 0, len(raw)) == (number, len(raw))
    for end in range(len(raw)):
        with pytest.raises(Refused):
            read_varint(raw, 0, end)
