"""WebSocket framing: the RFC's examples, and each way to break its rules."""

import pytest

from weft.runtime import frames
from weft.runtime.frames import Broken, Close, Frames, Ping, Pong, frame, unmask

MASK = bytes.fromhex("37fa213d")


def masked(opcode: int, payload: bytes, fin: bool = True, mask: bytes = MASK) -> bytes:
    """A frame as a client sends it."""
    head = bytearray(frame(opcode, b"x" * len(payload))[: -len(payload) or None])
    head[0] = (head[0] & 0x7F) | (0x80 if fin else 0)
    head[1] |= 0x80
    return bytes(head) + mask + unmask(payload, mask)


def test_the_example_of_a_masked_message_is_read() -> None:
    """RFC 6455 §5.7: "Hello", masked; there as text, here as binary."""
    assert Frames().receive(bytes.fromhex("828537fa213d7f9f4d5158")) == [b"Hello"]


def test_the_example_of_a_ping_is_read_and_its_pong_written() -> None:
    """RFC 6455 §5.7."""
    assert Frames().receive(bytes.fromhex("898537fa213d7f9f4d5158")) == [Ping(b"Hello")]
    assert frame(frames.PONG, b"Hello") == bytes.fromhex("8a0548656c6c6f")
    assert Frames().receive(masked(frames.PONG, b"")) == [Pong(b"")]


@pytest.mark.parametrize(("size", "head"), [(5, "8205"), (256, "827e0100"), (65536, "827f0000000000010000")])
def test_the_examples_of_lengths_are_written(size: int, head: str) -> None:
    """RFC 6455 §5.7: 256 bytes and 64 KiB in one unmasked frame."""
    assert frame(frames.BINARY, bytes(size)) == bytes.fromhex(head) + bytes(size)


@pytest.mark.parametrize("size", [0, 1, 125, 126, 511, 512, 513, 65535, 65536, 100_003])
def test_every_length_is_read(size: int) -> None:
    payload = bytes(range(256)) * (size // 256 + 1)
    assert b"".join(Frames().receive(masked(frames.BINARY, payload[:size]))) == payload[:size]


def test_a_fragmented_message_with_a_ping_inside() -> None:
    """RFC 6455 §5.4."""
    data = (
        masked(frames.BINARY, b"Hel", fin=False)
        + masked(frames.PING, b"?")
        + masked(frames.CONTINUATION, b"", fin=False)
        + masked(frames.CONTINUATION, b"lo")
        + masked(frames.BINARY, b"!")
    )
    assert Frames().receive(data) == [b"Hel", Ping(b"?"), b"lo", b"!"]


def test_byte_by_byte_gives_the_same_and_payload_is_not_held_back() -> None:
    """[MQTT-6.0.0-2], [MQTT-6.0.0-2 (3.1.1)]: nothing depends on where frames begin or end."""
    reader = Frames()
    data = masked(frames.BINARY, b"Hello") + masked(frames.PING, b"abc")
    events = [event for byte in data for event in reader.receive(bytes((byte,)))]
    assert events == [b"H", b"e", b"l", b"l", b"o", Ping(b"abc")]


@pytest.mark.parametrize(
    ("data", "code"),
    [
        (masked(frames.TEXT, b"hi"), 1003),
        (frame(frames.BINARY, b"hi"), 1002),
        (b"\xc2" + masked(frames.BINARY, b"hi")[1:], 1002),
        (masked(3, b""), 1002),
        (masked(11, b""), 1002),
        (masked(frames.CONTINUATION, b"hi"), 1002),
        (masked(frames.BINARY, b"hi", fin=False) + masked(frames.BINARY, b"hi"), 1002),
        (masked(frames.PING, b"", fin=False), 1002),
        (masked(frames.PING, bytes(126)), 1002),
        (bytes.fromhex("82fe0005") + MASK + bytes(5), 1002),
        (bytes.fromhex("82ff0000000000000100") + MASK, 1002),
        (bytes.fromhex("82ff8000000000000000") + MASK, 1002),
        (masked(frames.CLOSE, b"\x03"), 1002),
        (masked(frames.CLOSE, (999).to_bytes(2, "big")), 1002),
        (masked(frames.CLOSE, (1005).to_bytes(2, "big")), 1002),
        (masked(frames.CLOSE, (1000).to_bytes(2, "big") + b"\xff"), 1002),
    ],
)
def test_what_breaks_the_rules_closes_with_its_code_and_ends_it(data: bytes, code: int) -> None:
    """[MQTT-6.0.0-1] a text frame is 1003; the rest is RFC 6455 §5."""
    reader = Frames()
    *before, last = reader.receive(data)
    assert all(isinstance(event, bytes) for event in before)
    assert isinstance(last, Broken)
    assert last.code == code
    assert reader.receive(masked(frames.BINARY, b"more")) == []


def test_a_wrong_first_byte_is_noticed_before_the_header_is_complete() -> None:
    assert isinstance(Frames().receive(b"\x81\x85")[0], Broken)


def test_a_close_has_code_and_reason_or_neither() -> None:
    reader = Frames()
    assert reader.receive(masked(frames.CLOSE, b"\x03\xe8bye") + masked(frames.PING, b"")) == [Close(1000, "bye")]
    assert reader.is_over
    assert Frames().receive(masked(frames.CLOSE, b"")) == [Close(None, "")]
    assert frames.close_frame(1001, "x" * 200)[:4] == b"\x88\x7d\x03\xe9"
