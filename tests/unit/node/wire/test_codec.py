"""The codec's bounds: what it refuses to send, and that hostile bytes end in a Violation and nothing else."""

import contextlib

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from weft.core.errors import Misuse, Violation
from weft.core.ids import NodeId
from weft.core.machine import Message
from weft.node.wire.codec import LIST_MAX, NEST_MAX, PLAIN_DEPTH_MAX, PLAIN_ITEMS_MAX, Codec
from weft.node.wire.vocabulary import OVERLAY
from weft.overlay.api import Ref
from weft.overlay.hops import Hop, HopAck
from weft.overlay.keys import number_key
from weft.overlay.lookup import Gone
from weft.overlay.spread.messages import Gather
from weft.overlay.suzaku.messages import Handover, Update

CODEC = Codec(OVERLAY)
REF = Ref(number_key(1, NodeId(2), ("jp", "kyoto")), NodeId(2), 3)
NUMBER = {kind: number for number, kind in OVERLAY.items()}


def gather(value: object) -> Gather:
    return Gather(1, value, 0, ())


def wrapped(deep: int) -> Message:
    message: Message = HopAck(1)
    for _ in range(deep):
        message = Hop(1, message)
    return message


def deep(levels: int) -> tuple:
    value: tuple = ()
    for _ in range(levels):
        value = (value,)
    return value


def test_a_message_has_no_names_in_it():
    assert CODEC.encode(HopAck(5)) == bytes((NUMBER[HopAck],)) + msgspec.msgpack.encode([5])


def test_messages_inside_messages_are_bounded():
    assert CODEC.decode(CODEC.encode(wrapped(NEST_MAX - 1))) == wrapped(NEST_MAX - 1)
    with pytest.raises(Violation, match="too deep"):
        CODEC.decode(CODEC.encode(wrapped(NEST_MAX)))


@pytest.mark.parametrize(
    "value", [[1], {1: 2}, {1, 2}, REF, object(), 1 << 64, "\ud800", deep(PLAIN_DEPTH_MAX + 1)], ids=repr
)
def test_what_is_no_plain_data_is_not_sent(value):
    with pytest.raises(Misuse):
        CODEC.encode(gather(value))


def test_plain_data_is_bounded_in_depth_and_number():
    for value in (deep(PLAIN_DEPTH_MAX - 1), (None,) * (PLAIN_ITEMS_MAX - 1)):
        assert CODEC.decode(CODEC.encode(gather(value))) == gather(value)
    head = bytes((NUMBER[Gather],))
    for value in (deep(PLAIN_DEPTH_MAX + 1), (None,) * PLAIN_ITEMS_MAX, {5: 1}, msgspec.msgpack.Ext(5, b"x")):
        with pytest.raises(Violation):
            CODEC.decode(head + msgspec.msgpack.encode([1, value, 0, ()]))


def test_depth_that_would_exhaust_the_stack_is_refused():
    head = bytes((NUMBER[Gather],)) + b"\x94\x01"
    with pytest.raises(Violation):
        CODEC.decode(head + b"\x91" * 100_000 + b"\x90")


def test_sequences_are_bounded():
    with pytest.raises(Misuse, match="does not fit"):
        CODEC.encode(Handover(REF, (REF,) * (LIST_MAX + 1)))
    with pytest.raises(Misuse, match="does not fit"):
        CODEC.encode(Update(REF, REF, 0, True, 1, {str(number): 0.0 for number in range(LIST_MAX + 1)}))


def test_a_message_is_bounded_in_bytes():
    small = Codec(OVERLAY, 100)
    assert small.decode(small.encode(gather(b"x" * 80))) == gather(b"x" * 80)
    with pytest.raises(Misuse, match="at most 100"):
        small.encode(gather(b"x" * 100))
    with pytest.raises(Violation, match="too long"):
        small.decode(CODEC.encode(gather(b"x" * 100)))


def test_numbers_have_64_bits():
    with pytest.raises(Misuse):
        CODEC.encode(HopAck(1 << 63))
    with pytest.raises(Violation):
        CODEC.decode(bytes((NUMBER[HopAck],)) + msgspec.msgpack.encode([1 << 63]))


def test_what_is_not_in_the_vocabulary_is_not_sent():
    class Strange(Message, frozen=True):
        pass

    with pytest.raises(Misuse, match="Strange is not in the vocabulary"):
        CODEC.encode(Strange())


@pytest.mark.parametrize(
    "data", [b"", b"\x00", b"\xff\x90", bytes((NUMBER[HopAck],)), bytes((NUMBER[HopAck],)) + b"\x91"]
)
def test_what_is_no_message_is_a_violation(data):
    with pytest.raises(Violation):
        CODEC.decode(data)


def test_a_newer_broker_may_append_a_field():
    """And one that is missing has its default."""
    assert CODEC.decode(bytes((NUMBER[HopAck],)) + msgspec.msgpack.encode([5, "new"])) == HopAck(5)
    assert CODEC.decode(bytes((NUMBER[Gather],)) + msgspec.msgpack.encode([1, None, 0, ()])) == gather(None)


@given(st.binary(max_size=80), st.sampled_from(sorted(OVERLAY)))
def test_any_bytes_are_a_message_or_a_violation(data, number):
    with contextlib.suppress(Violation):
        assert isinstance(CODEC.decode(bytes((number,)) + data), Message)


@given(st.data())
def test_a_message_with_a_byte_changed_is_a_message_or_a_violation(data):
    good = CODEC.encode(Hop(9, Gone(REF)))
    at = data.draw(st.integers(0, len(good) - 1))
    with contextlib.suppress(Violation):
        CODEC.decode(good[:at] + bytes((data.draw(st.integers(0, 255)),)) + good[at + 1 :])
