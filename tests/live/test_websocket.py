"""WebSocket over real sockets: the upgrade, frames, pings, the close from either side, and who is turned away."""

import asyncio
import base64
import contextlib
import struct

import pytest

from driving import Driven, driving, run
from echo_broker import EchoBroker
from weft.node.config import Listener, WebSocket
from weft.runtime import frames
from weft.runtime import host as hosts
from weft.runtime.frames import unmask

pytestmark = pytest.mark.live
WS = Listener("ws://127.0.0.1:0")
KEY = base64.b64encode(bytes(16)).decode()
MASK = b"\x01\x02\x03\x04"


class Client:
    """A WebSocket client, by hand."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.reader = reader
        self.writer = writer

    @classmethod
    async def open(cls, port: int, path: str = "/mqtt", protocol: str = "mqtt", more: bytes = b"") -> "Client":
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(
            f"GET {path} HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Key: {KEY}\r\n"
            f"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Protocol: {protocol}\r\nOrigin: http://a\r\n\r\n".encode()
            + more
        )
        return cls(reader, writer)

    async def answer(self) -> bytes:
        return (await self.reader.readuntil(b"\r\n\r\n")).split(b"\r\n", 1)[0]

    @staticmethod
    def frame(opcode: int, payload: bytes) -> bytes:
        head = bytearray(frames.header(opcode, len(payload)))
        head[1] |= 0x80
        return bytes(head) + MASK + unmask(payload, MASK)

    def say(self, opcode: int, payload: bytes) -> None:
        self.writer.write(self.frame(opcode, payload))

    async def hear(self) -> tuple[int, bytes]:
        first, second = await self.reader.readexactly(2)
        assert not second & 0x80, "a server does not mask (RFC 6455 §5.1)"
        size = second
        if size > 125:
            width = 2 if size == 126 else 8
            size = int.from_bytes(await self.reader.readexactly(width), "big")
        return first & 0x0F, await self.reader.readexactly(size)

    async def end(self) -> None:
        with contextlib.suppress(ConnectionResetError):
            assert await self.reader.read() == b""
        self.writer.close()


BOTH = pytest.mark.parametrize("loop", ["asyncio", "uvloop"])


async def opened(driven: Driven) -> Client:
    client = await Client.open(driven.ports[0])
    assert await client.answer() == b"HTTP/1.1 101 "
    return client


@BOTH
def test_bytes_travel_in_binary_frames_however_they_are_cut(loop: str) -> None:
    """[MQTT-6.0.0-1], [MQTT-6.0.0-2], [MQTT-6.0.0-1 (3.1.1)], [MQTT-6.0.0-2 (3.1.1)]"""

    async def scene() -> None:
        broker = EchoBroker()
        async with driving(broker, WS) as driven:
            client = await Client.open(driven.ports[0], more=Client.frame(frames.BINARY, b"early"))
            assert await client.answer() == b"HTTP/1.1 101 "
            assert await client.hear() == (frames.BINARY, b"early")
            client.say(frames.BINARY, b"he")
            client.say(frames.BINARY, b"llo")
            heard = b""
            while len(heard) < 5:
                opcode, payload = await client.hear()
                assert opcode == frames.BINARY
                heard += payload
            assert heard == b"hello"
            assert broker.connections[0].origin.transport == "ws"
            client.say(frames.BINARY, b"big 3000000")
            sizes = [len((await client.hear())[1]) for _ in range(3)]
            assert sizes == [1 << 20, 1 << 20, 3_000_000 - (2 << 20)]
            client.writer.close()

    run(scene(), loop)


@BOTH
def test_pings_are_answered_and_the_clients_close_too(loop: str) -> None:
    """RFC 6455 §5.5."""

    async def scene() -> None:
        broker = EchoBroker()
        async with driving(broker, WS) as driven:
            client = await opened(driven)
            client.say(frames.PING, b"abc")
            assert await client.hear() == (frames.PONG, b"abc")
            client.say(frames.CLOSE, struct.pack("!H", 1001))
            assert await client.hear() == (frames.CLOSE, struct.pack("!H", 1001))
            await client.end()
            await driven.until(lambda: broker.lost)

    run(scene(), loop)


@BOTH
def test_the_broker_closes_with_a_close_frame_and_waits_for_the_answer(loop: str) -> None:
    async def scene() -> None:
        broker = EchoBroker()
        async with driving(broker, WS) as driven:
            client = await opened(driven)
            client.say(frames.BINARY, b"close")
            assert await client.hear() == (frames.BINARY, b"bye")
            assert await client.hear() == (frames.CLOSE, struct.pack("!H", 1000))
            client.say(frames.BINARY, b"too late")
            client.say(frames.CLOSE, struct.pack("!H", 1000))
            await client.end()
            await driven.until(lambda: broker.lost)
            assert broker.connections[0].received == b"close"

    run(scene(), loop)


@BOTH
def test_a_client_that_does_not_answer_the_close_is_cut_off(loop: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hosts, "CLOSE_GRACE_S", 0.05)

    async def scene() -> None:
        broker = EchoBroker()
        async with driving(broker, WS) as driven:
            client = await opened(driven)
            client.say(frames.BINARY, b"close")
            await driven.until(lambda: broker.lost)
            client.writer.close()

    run(scene(), loop)


@BOTH
@pytest.mark.parametrize(("opcode", "code"), [(frames.TEXT, 1003), (7, 1002)])
def test_what_breaks_the_rules_is_told_and_closed(loop: str, opcode: int, code: int) -> None:
    """[MQTT-6.0.0-1], [MQTT-6.0.0-1 (3.1.1)]: other data frames close the connection."""

    async def scene() -> None:
        broker = EchoBroker()
        async with driving(broker, WS) as driven:
            client = await opened(driven)
            client.say(opcode, b"text")
            heard, payload = await client.hear()
            assert (heard, payload[:2]) == (frames.CLOSE, struct.pack("!H", code))
            await client.end()
            await driven.until(lambda: broker.lost)
            assert broker.counters["weft_websockets_refused_total"] == 1

    run(scene(), loop)


@BOTH
def test_who_is_no_websocket_for_mqtt_gets_an_http_answer(loop: str) -> None:
    async def scene() -> None:
        broker = EchoBroker()
        strict = Listener("ws://127.0.0.1:0", websocket=WebSocket(paths=["/here"], origins=["http://b"]))
        async with driving(broker, WS, strict) as driven:
            for port, path, protocol, status in (
                (0, "/nowhere", "mqtt", 404),
                (0, "/", "chat", 400),
                (1, "/mqtt", "mqtt", 404),
                (1, "/here", "mqtt", 403),
            ):
                client = await Client.open(driven.ports[port], path, protocol)
                assert await client.answer() == f"HTTP/1.1 {status} ".encode()
                await client.reader.read()
                client.writer.close()
            await driven.until(lambda: len(broker.lost) == 4)
            assert broker.counters["weft_websockets_refused_total"] == 4
            assert all(connection.received == b"" for connection in broker.connections)

    run(scene(), loop)


@BOTH
def test_a_drain_before_the_upgrade_says_nothing_and_after_it_closes_properly(loop: str) -> None:
    async def scene() -> None:
        broker = EchoBroker()
        async with driving(broker, WS) as driven:
            silent_reader, silent = await asyncio.open_connection("127.0.0.1", driven.ports[0])
            client = await opened(driven)
            await driven.until(lambda: len(broker.connections) == 2)
            driven.host.begin_drain()
            assert await client.hear() == (frames.BINARY, b"drained")
            assert await client.hear() == (frames.CLOSE, struct.pack("!H", 1000))
            assert await silent_reader.read() == b""
            client.say(frames.CLOSE, b"")
            await client.end()
            silent.close()
            assert await driven.host.drained(5.0) == 0

    run(scene(), loop)
