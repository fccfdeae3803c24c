"""WebSocket, PROXY and HTTP readers under any bytes: nothing is raised, nothing is lost, nothing depends on the pieces."""

from hypothesis import given
from hypothesis import strategies as st

from weft.core.errors import Violation
from weft.runtime import frames
from weft.runtime.frames import KEPT_MAX, Broken, Frames, unmask
from weft.runtime.proxy import HEADER_BYTES_MAX, SIGNATURE, missing, parse
from weft.runtime.upgrade import Refusal, Upgrade

PIECES = st.lists(st.integers(1, 40), min_size=1, max_size=30)


def split(data: bytes, sizes: list[int]) -> list[bytes]:
    pieces, at = [], 0
    for size in sizes:
        pieces.append(data[at : at + size])
        at += size
    return [*pieces, data[at:]]


def client_frame(opcode: int, payload: bytes, fin: bool, mask: bytes) -> bytes:
    head = bytearray(frames.header(opcode, len(payload)))
    head[0] = (head[0] & 0x7F) | fin << 7
    head[1] |= 0x80
    return bytes(head) + mask + unmask(payload, mask)


@given(st.lists(st.tuples(st.binary(max_size=700), st.binary(min_size=4, max_size=4)), min_size=1), PIECES, st.data())
def test_fragments_masks_and_pieces_give_the_payload_back(
    parts: list[tuple[bytes, bytes]], sizes: list[int], data: st.DataObject
) -> None:
    """RFC 6455 §5.4; [MQTT-6.0.0-2]."""
    stream, payload, begins = b"", b"", True
    for payload_part, mask in parts:
        ends = data.draw(st.booleans())
        stream += client_frame(frames.BINARY if begins else frames.CONTINUATION, payload_part, ends, mask)
        begins = ends
        payload += payload_part
    reader = Frames()
    events = [event for piece in split(stream, sizes) for event in reader.receive(piece)]
    assert all(isinstance(event, bytes) for event in events)
    assert b"".join(events) == payload
    assert not reader.is_over


@given(st.binary(max_size=2000), st.binary(min_size=4, max_size=4))
def test_masking_is_its_own_inverse_and_bytewise(data: bytes, mask: bytes) -> None:
    """RFC 6455 §5.3."""
    masked = unmask(data, mask)
    assert masked == bytes(byte ^ mask[at & 3] for at, byte in enumerate(data))
    assert unmask(masked, mask) == data


@given(st.lists(st.binary(max_size=60), max_size=20))
def test_any_bytes_are_events_and_little_is_kept(pieces: list[bytes]) -> None:
    reader = Frames()
    for piece in pieces:
        events = reader.receive(piece)
        assert len(reader._kept) <= KEPT_MAX
        assert all(not isinstance(event, Broken) for event in events[:-1])


@given(st.binary(max_size=300), PIECES)
def test_pieces_do_not_change_what_any_bytes_mean(data: bytes, sizes: list[int]) -> None:
    def told(pieces: list[bytes]) -> tuple[bytes, list[object]]:
        reader = Frames()
        events = [event for piece in pieces for event in reader.receive(piece)]
        payload = b"".join(event for event in events if isinstance(event, bytes))
        return payload, [event for event in events if not isinstance(event, bytes)]

    assert told([data]) == told(split(data, sizes))


@given(st.one_of(st.binary(max_size=300), st.binary(max_size=300).map(lambda tail: SIGNATURE + b"\x21" + tail),
                 st.binary(max_size=120).map(lambda tail: b"PROXY " + tail + b"\r\n")))  # fmt: skip
def test_any_bytes_are_a_proxy_header_or_a_violation(data: bytes) -> None:
    header = b""
    try:
        while (size := missing(header)) > 0:
            assert len(header) + size <= HEADER_BYTES_MAX
            if not data:
                return
            header, data = header + data[:size], data[size:]
        parse(header)
    except Violation:
        pass


@given(st.lists(st.binary(max_size=100), max_size=10), st.booleans())
def test_any_bytes_are_a_request_or_a_refusal(pieces: list[bytes], is_http: bool) -> None:
    upgrade = Upgrade(["/mqtt"])
    for piece in [b"GET /mqtt HTTP/1.1\r\n", *pieces] if is_http else pieces:
        if piece and isinstance(upgrade.receive(piece), Refusal):
            return
