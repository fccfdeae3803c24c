"""The client's side of WebSocket, held to our own server's side."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from weft.mqtt.client.endpoint import Endpoint
from weft.runtime import frames
from weft.runtime.upgrade import Upgrade, Upgraded
from weft.runtime.wsclient import KEPT_MAX, RESPONSE_BYTES_MAX, Opening

WHERE = Endpoint("ws", "127.0.0.1", 8083, "/mqtt")


def opening() -> Opening:
    return Opening(WHERE, lambda size: bytes(range(1, size + 1)))


def opened() -> Opening:
    client = opening()
    answer = Upgrade(["/mqtt"]).receive(client.opening())
    assert isinstance(answer, Upgraded)
    assert client.receive(answer.response) == (b"", b"")
    assert client.is_open
    return client


@given(st.lists(st.binary(max_size=300), max_size=4), st.integers(0, 70_000))
def test_what_the_client_sends_the_server_reads(pieces, long):
    client, server = opened(), frames.Frames()
    pieces = [*pieces, bytes(long)]
    events = server.receive(b"".join(map(client.wrap, pieces)))
    assert b"".join(event for event in events if isinstance(event, bytes)) == b"".join(pieces)
    assert all(isinstance(event, bytes) for event in events)


@given(st.lists(st.binary(max_size=300), max_size=4), st.integers(1, 50))
def test_what_the_server_sends_the_client_reads_in_any_pieces(messages, size):
    client = opened()
    data = b"".join(frames.frame(frames.BINARY, each) for each in messages) + frames.frame(frames.PING, b"there?")
    inside, answers = b"", b""
    for at in range(0, len(data), size):
        mine, answer = client.receive(data[at : at + size])
        inside, answers = inside + mine, answers + answer
        assert len(client._kept) <= KEPT_MAX
    assert inside == b"".join(messages)
    assert frames.Frames().receive(answers) == [frames.Pong(b"there?")]


@pytest.mark.parametrize(
    ("response", "said"),
    [
        (b"HTTP/1.1 404 Not Found\r\n\r\n", "it says 404 Not Found; check port and path"),
        (b"\x15\x03\x01\x00\r\n\r\n", "does not speak HTTP"),
        (b"HTTP/1.1 101 x\r\nUpgrade: websocket\r\nSec-WebSocket-Accept: x\r\n\r\n", "a wrong answer"),
        (b"x" * (RESPONSE_BYTES_MAX + 1), "does not speak HTTP"),
    ],
)
def test_a_wrong_answer_is_said(response, said):
    with pytest.raises(ConnectionError, match=said):
        opening().receive(response)


@pytest.mark.parametrize(
    "data",
    [
        b"\x81\x01a",  # text [MQTT-6.0.0-1] [MQTT-6.0.0-1 (3.1.1)]
        b"\xc2\x00",  # a reserved bit
        b"\x82\x81abcd0",  # masked
        b"\x80\x00",  # goes on without having begun
        b"\x89\x7e\x00\x80",  # a long ping
        b"\x88\x00",  # the end
    ],
)
def test_what_breaks_the_protocol_ends_it(data):
    with pytest.raises(ConnectionError):
        opened().receive(data)


@given(st.binary(max_size=100))
def test_whatever_comes_only_the_socket_is_of_no_more_use(data):
    client = opened()
    try:
        client.receive(data)
    except ConnectionError:
        return
