"""One run of ``weft pub``: connect, publish what a source gives, wait until all is acknowledged, disconnect."""

import asyncio
import contextlib
import sys
import threading
from collections.abc import AsyncIterator

from weft.cli.connecting import Options, Plan, Says, client_of, older, refusal
from weft.cli.exits import Failed
from weft.mqtt.client.events import Connected, Disconnected, Event, Published, Refused
from weft.runtime.client import Courier, Retry, Unreachable
from weft.runtime.clock import now

PAYLOAD_BYTES_MAX = 268_435_455
CHUNK = 65_536
LOST_MAX = 5
"""Connections lost in a row without one message accepted in between; then it is no accident."""


class Publishing:
    """One client from CONNECT to DISCONNECT."""

    def __init__(self, planned: Plan, options: Options, topic: str, qos: int, retain: bool, inflight: int) -> None:
        self.planned = planned
        self.instead: Plan | None = None
        self.is_done = False
        self._says = Says(options)
        self._client = client_of(planned, options, inflight)
        self._topic, self._qos, self._retain = topic, qos, retain
        self._connected = asyncio.Event()
        self._moved = asyncio.Event()
        self._sent = self._refused = self._lost = 0
        self._why = ""

    async def run(self, asked: asyncio.Event, payload: bytes | None, repeat: int, delay: float) -> None:
        self._courier = Courier(self._client, self.planned.endpoint, self._on, Retry(), debug=self._says.debug)
        source = stdin_lines() if payload is None else repeated(payload, repeat, delay)
        async with asyncio.TaskGroup() as group:
            works = [group.create_task(work) for work in (self._guard(), self._feed(source), asked.wait())]
            done, _ = await asyncio.wait(works[1:] + works[:1], return_when=asyncio.FIRST_COMPLETED)
            if works[1] in done or asked.is_set():
                self._courier.stop()
                await asyncio.wait(works[:1])
            for work in works:
                work.cancel()
        if self._why:
            raise Failed(self._why)
        if self.instead is None and not asked.is_set():
            if not self.is_done:
                raise Failed(f"{self.planned.endpoint} ended the connection before everything was acknowledged")
            if self._refused:
                raise Failed(f"{self._refused} of {self._sent} messages were refused")

    async def _guard(self) -> None:
        try:
            await self._courier.run()
        except (Unreachable, Failed) as error:
            self._why = str(error)

    async def _feed(self, source: AsyncIterator[bytes]) -> None:
        await self._connected.wait()
        properties = self.planned.of("publish")
        async for payload in source:
            while not self._client.room:
                self._moved.clear()
                await self._moved.wait()
            self._client.publish(now(), self._topic, payload, self._qos, self._retain, properties)
            self._sent += 1
            self._courier.flush()
            await self._courier.drained()
        while not self._client.is_idle:
            self._moved.clear()
            await self._moved.wait()
        self.is_done = True
        self._client.disconnect(now(), expiry_s=self.planned.of("disconnect").session_expiry_s)

    def _on(self, event: Event) -> None:
        self._moved.set()
        match event:
            case Connected():
                self._says.debug(f"connected as {event.client_id}")
                self._connected.set()
            case Refused():
                self.instead = older(self.planned, event)
                if self.instead is None:
                    raise refusal(self.planned, event)
                self._says.debug(f"{event.text}; trying 3.1.1")
                self._courier.stop()
            case Published():
                self._lost = 0
                if event.code >= 0x80:
                    self._refused += 1
                    self._says.warn(f"{self._topic}: refused: {event.text}")
                elif event.code == 0x10:
                    self._says.debug(f"{self._topic}: nobody listens")
            case Disconnected():
                self._lost += 1
                self._says.debug(f"disconnected: {event.text}")
                if self._lost > LOST_MAX or not event.again:
                    raise Failed(f"{self.planned.endpoint}: {event.text}")


async def repeated(payload: bytes, repeat: int, delay: float) -> AsyncIterator[bytes]:
    never = asyncio.Event()
    for turn in range(repeat):
        if turn and delay:
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(never.wait(), delay)
        yield payload


async def stdin_lines() -> AsyncIterator[bytes]:
    """stdin's lines without their ends, as they come; a thread reads, because stdin may be a file, a pipe or a terminal."""
    loop = asyncio.get_running_loop()
    chunks: asyncio.Queue[bytes] = asyncio.Queue(4)

    def read() -> None:
        while True:
            chunk = (
                sys.stdin.buffer.raw.read(CHUNK) if hasattr(sys.stdin.buffer, "raw") else sys.stdin.buffer.read(CHUNK)
            )
            try:
                asyncio.run_coroutine_threadsafe(chunks.put(chunk or b""), loop).result()
            except (RuntimeError, asyncio.CancelledError):
                return  # the loop has ended meanwhile
            if not chunk:
                return

    threading.Thread(target=read, daemon=True, name="stdin").start()
    rest = b""
    while chunk := await chunks.get():
        *whole, rest = (rest + chunk).split(b"\n")
        for line in whole:
            yield line.removesuffix(b"\r")
        if len(rest) > PAYLOAD_BYTES_MAX:
            raise Failed(f"a line of more than {PAYLOAD_BYTES_MAX} bytes")
    if rest:
        yield rest
