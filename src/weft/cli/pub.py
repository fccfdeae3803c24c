"""``weft pub``: publish messages, as mosquitto_pub does."""

import asyncio
import contextlib
import sys
import threading
from collections.abc import AsyncIterator
from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from weft.cli.connecting import Options, Plan, Says, client_of, older, plan, refusal, shared, until_signal, valid
from weft.cli.exits import Failed
from weft.core.errors import Misuse
from weft.mqtt.client.events import Connected, Disconnected, Event, Published, Refused
from weft.mqtt.topics import check_name

PAYLOAD_BYTES_MAX = 268_435_455
CHUNK = 65_536
LOST_MAX = 5
"""Connections lost in a row without one message accepted in between; then it is no accident."""

Topic = Annotated[str | None, typer.Option("-t", "--topic", help="Topic to publish to.")]
Text = Annotated[str | None, typer.Option("-m", "--message", help="The message.")]
File = Annotated[Path | None, typer.Option("-f", "--file", metavar="FILE", help="The message is what FILE holds.")]
Lines = Annotated[bool, typer.Option("-l", "--stdin-line", help="One message for each line of stdin.")]
Whole = Annotated[bool, typer.Option("-s", "--stdin-file", help="The message is all of stdin.")]
Null = Annotated[
    bool, typer.Option("-n", "--null-message", help="An empty message; with -r it clears what is retained.")
]
Qos = Annotated[int, typer.Option("-q", "--qos", min=0, max=2, help="Quality of service.")]
Retain = Annotated[bool, typer.Option("-r", "--retain", help="The broker keeps it for those who subscribe later.")]
Repeat = Annotated[int, typer.Option("--repeat", min=1, help="Publish it so many times.")]
Delay = Annotated[float, typer.Option("--repeat-delay", min=0, help="Seconds between them.")]
Inflight = Annotated[
    int, typer.Option("-M", "--max-inflight", min=1, max=65535, help="QoS 1 and 2: so many under way.")
]


@shared
def pub(  # noqa: PLR0917  options, by name
    options: Options,
    topic: Topic = None,
    message: Text = None,
    file: File = None,
    lines: Lines = False,
    whole: Whole = False,
    null: Null = False,
    qos: Qos = 0,
    retain: Retain = False,
    repeat: Repeat = 1,
    delay: Delay = 0.0,
    inflight: Inflight = 20,
) -> None:
    """Publish a message, or many.

    Ends when the broker has acknowledged everything. Exit code 1 if there is no connection or a message was refused, 2 for
    options that do not fit together.

    Examples:

      weft pub -t home/lamp -m on -q 1 -r

      weft pub -L mqtts://me@broker.example/home/log --password-file secret -l < log.txt

      weft pub -t home/doc -f page.html -V 5 -D publish content-type text/html -D publish user-property author me
    """
    planned = plan(options)
    topic = topic or planned.topic
    if not topic:
        raise Misuse("which topic? give -t TOPIC, or --url with a topic at its end")
    valid(check_name, topic)
    if sum((message is not None, file is not None, lines, whole, null)) != 1:
        raise Misuse("give exactly one of -m MESSAGE, -f FILE, -l, -s and -n")
    if lines and (repeat > 1 or delay):
        raise Misuse("--repeat goes with one message, not with -l")
    payload: bytes | None = None
    if message is not None:
        payload = message.encode("utf-8", "surrogateescape")
    elif null:
        payload = b""
    elif file is not None:
        payload = file.read_bytes()
    elif whole:
        payload = sys.stdin.buffer.read(PAYLOAD_BYTES_MAX + 1)
    if payload is not None and len(payload) > PAYLOAD_BYTES_MAX:
        raise Misuse(f"MQTT carries {PAYLOAD_BYTES_MAX} bytes at most in one message")
    while True:
        publishing = Publishing(planned, options, topic, qos, retain, inflight)
        if (
            until_signal(partial(publishing.run, payload=payload, repeat=repeat, delay=delay))
            and not publishing.is_done
        ):
            raise KeyboardInterrupt
        if publishing.instead is None:
            return
        planned = publishing.instead


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
        from weft.runtime.client import Courier, Retry, Unreachable

        self._courier = Courier(self._client, self.planned.endpoint, self._on, Retry(), debug=self._says.debug)
        source = stdin_lines() if payload is None else repeated(payload, repeat, delay)
        async with asyncio.TaskGroup() as group:
            works = [group.create_task(work) for work in (self._guard(Unreachable), self._feed(source), asked.wait())]
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

    async def _guard(self, unreachable: type[Exception]) -> None:
        try:
            await self._courier.run()
        except (unreachable, Failed) as error:
            self._why = str(error)

    async def _feed(self, source: AsyncIterator[bytes]) -> None:
        from weft.runtime.clock import now

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
