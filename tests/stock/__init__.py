"""Stock MQTT clients behind one blocking interface, so that one table of scenarios can drive them all.

A `Stock` is a library: what it can, and how to connect. A `Link` is one of its clients, connected. Nothing here knows
weft; an adapter says what the library's own documentation says to say, and no more.
"""

import asyncio
import contextlib
import os
import socket
import ssl
import threading
from collections.abc import Coroutine, Mapping
from concurrent.futures import TimeoutError as FutureTimeout
from dataclasses import dataclass, field
from pathlib import Path
from queue import SimpleQueue
from typing import Any, Protocol, TypeVar

PATIENCE_S = 20.0
T = TypeVar("T")


@dataclass(frozen=True)
class Where:
    """A listener: tcp, tls, ws or wss; `ca` signs its certificate."""

    transport: str
    port: int
    ca: Path

    @property
    def secure(self) -> bool:
        return self.transport in {"tls", "wss"}

    @property
    def websocket(self) -> bool:
        return self.transport in {"ws", "wss"}

    def context(self) -> ssl.SSLContext:
        return ssl.create_default_context(cafile=str(self.ca))


@dataclass(frozen=True)
class Message:
    """`properties` has the names of the standard with underscores; `user` is a list of pairs, `ids` a list."""

    topic: str
    payload: bytes = b""
    qos: int = 0
    retain: bool = False
    properties: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Wish:
    """What a client connects with; `again`: the library connects by itself when the connection is lost."""

    client_id: str
    version: int
    clean: bool = True
    expiry_s: int = 0
    user: str | None = None
    password: str | None = None
    will: Message | None = None
    receive_maximum: int | None = None
    again: bool = False


class Refused(Exception):
    """The CONNACK said no; `code` is what the library shows of it."""

    def __init__(self, code: int) -> None:
        super().__init__(code)
        self.code = code


class Link:
    """A connected client. What comes from the library's own thread or loop goes through queues."""

    def __init__(self) -> None:
        self.present: SimpleQueue[bool] = SimpleQueue()  # one for each CONNACK: was there a session?
        self.arrived: SimpleQueue[Message] = SimpleQueue()
        self.ended: SimpleQueue[int | None] = (
            SimpleQueue()
        )  # one for each lost connection; v5: the reason, if the library shows it

    def message(self) -> Message:
        return self.arrived.get(timeout=PATIENCE_S)

    def messages(self, count: int) -> list[Message]:
        return [self.message() for _ in range(count)]

    def session_was_present(self) -> bool:
        """Of the next CONNACK that was not asked about yet."""
        return self.present.get(timeout=PATIENCE_S)

    def lost(self) -> int | None:
        """Wait until the connection has ended."""
        return self.ended.get(timeout=PATIENCE_S)

    def subscribe(self, filter_: str, qos: int = 0, *, identifier: int = 0, no_local: bool = False) -> int:
        """The granted QoS, or the reason of the refusal."""
        raise AssertionError

    def unsubscribe(self, filter_: str) -> None:
        raise AssertionError

    def publish(self, message: Message) -> None:
        """Returns when the handshake of its QoS is over."""
        raise AssertionError

    def sever(self) -> None:
        """The network connection ends without a DISCONNECT."""
        raise AssertionError

    def close(self) -> None:
        """DISCONNECT if it is still connected; everything that the library started ends."""
        raise AssertionError


class Stock(Protocol):
    """A library; `lacks` names scenarios that its interface cannot express, each with the reason."""

    name: str
    transports: tuple[str, ...]
    versions: tuple[int, ...]
    lacks: Mapping[str, str]

    def connect(self, where: Where, wish: Wish) -> Link: ...

    def close(self) -> None: ...


def cut(fd: int) -> None:
    """End the TCP connection of a socket that somebody else owns."""
    with contextlib.closing(socket.socket(fileno=os.dup(fd))) as sock, contextlib.suppress(OSError):
        sock.shutdown(socket.SHUT_RDWR)


class LoopThread:
    """An event loop in a thread, for libraries that want one."""

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._thread.start()

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        future = asyncio.run_coroutine_threadsafe(work, self._loop)
        try:
            return future.result(PATIENCE_S)
        except FutureTimeout:
            future.cancel()
            raise

    def close(self) -> None:
        async def rest() -> None:
            others = asyncio.all_tasks() - {asyncio.current_task()}
            for task in others:
                task.cancel()
            await asyncio.gather(*others, return_exceptions=True)

        self.run(rest())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(PATIENCE_S)
        self._loop.close()
