"""Integers, strings and binary data: what is written, what is read, what is refused."""

import pytest

from weft.core.errors import Misuse
from weft.mqtt.codec.primitives import (
    VARINT_MAX,
    binary,
    read_binary,
    read_byte,
    read_four,
    read_packet_id,
    read_pair,
    read_text,
    read_two,
    read_varint,
    text,
    varint,
)
from weft.mqtt.codec.reasons import Malformed, ProtocolError

# §1.5.5 table 1-1: the borders of one, two, three and four bytes.
BORDERS = {
    0: b"\x00",
    127: b"\x7f",
    128: b"\x80\x01",
    16_383: b"\xff\x7f",
    16_384: b"\x80\x80\x01",
    2_097_151: b"\xff\xff\x7f",
    2_097_152: b"\x80\x80\x80\x01",
    268_435_455: b"\xff\xff\xff\x7f",
}


@pytest.mark.parametrize(("number", "raw"), BORDERS.items())
def test_a_variable_byte_integer_takes_as_few_bytes_as_the_table_says(number, raw):
    """[MQTT-1.5.5-1]"""
    assert varint(number) == raw
    assert read_varint(b"?" + raw + b"?", 1, len(raw) + 2) == (number, len(raw) + 1)


@pytest.mark.parametrize("raw", [b"\x80\x00", b"\xff\x80\x00", b"\x80\x80\x80\x00"])
def test_more_bytes_than_needed_are_malformed(raw):
    """[MQTT-1.5.5-1]"""
    with pytest.raises(Malformed, match="more bytes than it needs"):
        read_varint(raw, 0, len(raw))


@pytest.mark.parametrize("raw", [b"", b"\x80", b"\xff\xff\xff", b"\xff\xff\xff\xff", b"\x80\x80\x80\x80\x01"])
def test_an_integer_that_does_not_end_in_four_bytes_is_malformed(raw):
    with pytest.raises(Malformed, match="without an end"):
        read_varint(raw, 0, len(raw))


@pytest.mark.parametrize("number", [-1, VARINT_MAX + 1])
def test_what_is_no_variable_byte_integer_is_not_written(number):
    with pytest.raises(Misuse, match="Variable Byte Integer"):
        varint(number)


@pytest.mark.parametrize("raw", [
    b"\xed\xa0\x80",  # U+D800
    b"\xed\xbf\xbf",  # U+DFFF
    b"\xed\xa0\xbd\xed\xb8\x80",  # a surrogate pair, as in CESU-8
    b"\xc0\x80",  # U+0000, overlong
    b"\xc1\xbf",  # U+007F, overlong
    b"\xe0\x80\xaf",  # "/", overlong
    b"\xf0\x80\x80\xaf",  # the same in four bytes
    b"\xf4\x90\x80\x80",  # U+110000
    b"\x80",  # a continuation of nothing
    b"\xe2\x82",  # unfinished
    b"\xff",
])  # fmt: skip
def test_a_string_of_ill_formed_utf8_is_malformed(raw):
    """[MQTT-1.5.4-1] [MQTT-1.5.3-1 (3.1.1)]"""
    with pytest.raises(Malformed, match="UTF-8"):
        read_text(binary(raw), 0, len(raw) + 2)


def test_a_string_with_the_null_character_is_malformed():
    """[MQTT-1.5.4-2] [MQTT-1.5.3-2 (3.1.1)]"""
    with pytest.raises(Malformed, match=r"U\+0000"):
        read_text(b"\x00\x03a\x00b", 0, 5)
    with pytest.raises(Misuse, match=r"U\+0000"):
        text("a\0b")


@pytest.mark.parametrize("word", ["\ufeffa", "a\ufeff", "\ufeff"])
def test_the_zero_width_no_break_space_stays(word):
    """[MQTT-1.5.4-3] [MQTT-1.5.3-3 (3.1.1)]"""
    raw = text(word)
    assert read_text(raw, 0, len(raw)) == (word, len(raw))


@pytest.mark.parametrize("word", ["", "A\U0002a6d4", "\u0001", "\u009f", "\uffff", "\U0010ffff"])
def test_every_other_character_passes(word):
    raw = text(word)
    assert read_text(raw, 0, len(raw)) == (word, len(raw))


def test_a_string_with_surrogates_is_not_written():
    with pytest.raises(Misuse, match="surrogates"):
        text("\ud800")


def test_the_longest_field_has_65535_bytes():
    raw = binary(b"x" * 65_535)
    assert read_binary(raw, 0, len(raw)) == (b"x" * 65_535, 65_537)
    with pytest.raises(Misuse, match="65536 bytes"):
        binary(b"x" * 65_536)
    with pytest.raises(Misuse, match="65536 bytes"):
        text("ä" * 32_768)


@pytest.mark.parametrize(("read", "raw"), [
    (read_byte, b"\x01"),
    (read_two, b"\x01\x02"),
    (read_packet_id, b"\x01\x02"),
    (read_four, b"\x01\x02\x03\x04"),
    (read_binary, b"\x00\x02ab"),
    (read_text, b"\x00\x02ab"),
    (read_pair, b"\x00\x01a\x00\x01b"),
])  # fmt: skip
def test_what_ends_too_early_is_malformed_at_each_byte(read, raw):
    """A pair is two strings [MQTT-1.5.7-1]."""
    assert read(raw, 0, len(raw))[1] == len(raw)
    for end in range(len(raw)):
        with pytest.raises(Malformed):
            read(raw, 0, end)  # the bytes are there, the packet has ended


def test_integers_are_big_endian():
    assert read_two(b"\x01\x02", 0, 2) == (0x102, 2)
    assert read_four(b"\x01\x02\x03\x04", 0, 4) == (0x1020304, 4)


def test_packet_identifier_zero_is_a_protocol_error():
    """[MQTT-2.2.1-3] [MQTT-2.3.1-1 (3.1.1)]"""
    with pytest.raises(ProtocolError, match="identifier 0"):
        read_packet_id(b"\x00\x00", 0, 2)
