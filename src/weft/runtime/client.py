"""The asyncio host of ``mqtt.client``: dials, writes, keeps time, dials again.

A ``Courier`` carries one client's bytes to one endpoint and back. What the client tells goes to a listener; what the listener
raises, such as a closed stdout, ends the courier and comes out of ``run``.
"""

import asyncio
import errno
import os
import ssl
from collections.abc import Callable, Iterable
from typing import Protocol, cast

import msgspec

from weft.core.rand import Rng
from weft.mqtt.client.endpoint import Endpoint
from weft.mqtt.client.events import Connected, Disconnected, Event, Refused
from weft.mqtt.client.machine import Client
from weft.runtime.clienttls import context
from weft.runtime.clock import now

DIAL_TIMEOUT_S = 30.0
BUFFER_BYTES = 65_536
"""Output past which whoever writes is asked to wait."""
CLOSE_TIMEOUT_S = 5.0
"""How long the last bytes may take once the client is done."""


class Unreachable(Exception):
    """No connection, and why, in one line that says what to do."""


class Retry(msgspec.Struct, frozen=True):
    """Waits between attempts: doubling from ``first_s`` to ``max_s``, each shortened by chance so that clients of a broker
    that restarts do not come back in step.
    """

    first_s: float = 1.0
    max_s: float = 60.0

    def wait_s(self, attempt: int, rng: Rng) -> float:
        return float(min(self.max_s, self.first_s * 2 ** min(attempt, 30)) * rng.uniform(0.5, 1.0))


class Pipe(Protocol):
    """What turns the socket's bytes into MQTT's and back: nothing for TCP and TLS, frames for WebSockets."""

    def opening(self) -> bytes: ...
    def receive(self, data: bytes) -> tuple[bytes, bytes]: ...
    def wrap(self, data: bytes) -> bytes: ...
    @property
    def is_open(self) -> bool: ...


class Owner(Protocol):
    """Whom a ``Wire`` tells what happens to it."""

    def on_open(self, wire: "Wire") -> None: ...
    def on_data(self, data: bytes) -> None: ...
    def on_lost(self, why: str) -> None: ...
    def on_writable(self, is_writable: bool) -> None: ...


class Courier:
    """In: a client and an endpoint. ``run`` ends when the client is done, or raises why it cannot go on.

    ``retry`` None: one connection and no more. With it, the first attempt must succeed all the same unless ``stubborn``.
    """

    def __init__(
        self,
        client: Client,
        endpoint: Endpoint,
        listener: Callable[[Event], None],
        retry: Retry | None = None,
        stubborn: bool = False,
        debug: Callable[[str], None] = lambda _: None,
    ) -> None:
        self.client = client
        self.endpoint = endpoint
        self.listener = listener
        self.retry = retry
        self.stubborn = stubborn
        self.debug = debug
        self._rng = Rng(int.from_bytes(os.urandom(8), "big"))
        self._tls = context(endpoint.tls) if endpoint.is_secure else None
        self._stopped = asyncio.Event()
        self._writable = asyncio.Event()
        self._writable.set()
        self._wire: Wire | None = None
        self._failure: BaseException | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._has_met = False
        self._again = True
        self._attempt = 0

    # ------------------------------------------------------------------------------------------------- the caller's side

    async def run(self) -> None:
        """Connect, and again if need be, until ``stop``."""
        while not self._stopped.is_set():
            try:
                await self._dial()
            except OSError as error:
                why = explain(error, self.endpoint)
                if self.retry is None or not (self._has_met or self.stubborn):
                    raise Unreachable(why) from error
                self.debug(why)
            else:
                assert self._wire is not None
                await self._wire.gone.wait()
                self._wire = None
                if self._failure is not None:
                    raise self._failure
                if self._stopped.is_set():
                    return
                if not (self._has_met or self.stubborn) and self._again:
                    hint = "does it want a certificate of ours?" if self._tls else "does this port speak plain MQTT?"
                    raise Unreachable(f"{self.endpoint} ended the connection before it answered: {hint}")
                if self.retry is None or not self._again:
                    return
            wait_s = self.retry.wait_s(self._attempt, self._rng)
            self._attempt += 1
            self.debug(f"trying again in {wait_s:.1f} s")
            await self._pause(wait_s)

    def stop(self) -> None:
        """The client has said DISCONNECT, or need not: write what is left and end."""
        self._stopped.set()
        self.flush()
        if self._wire is not None:
            self._wire.close()

    def flush(self) -> None:
        """Call after every call of the client's: writes what it has, tells what it caused, sets the timer."""
        self._tell(self.client.ready())
        wire = self._wire
        if wire is None:
            return
        wire.write(self.client.take())
        if self.client.closing:
            wire.close()
        self._arm()

    def fail(self, error: BaseException) -> None:
        """End, and let ``run`` raise ``error``."""
        self._failure = self._failure or error
        self.stop()

    async def drained(self) -> None:
        """Until the socket takes more, or the courier ends."""
        await self._writable.wait()

    # ------------------------------------------------------------------------------------------------------------ within

    async def _pause(self, wait_s: float) -> None:
        try:
            await asyncio.wait_for(self._stopped.wait(), wait_s)
        except TimeoutError:
            return

    async def _dial(self) -> None:
        self.debug(f"connecting to {self.endpoint}")
        await dial(self.endpoint, self, self._tls)

    def on_open(self, wire: "Wire") -> None:
        self._wire = wire
        self.client.open(now())
        self.flush()

    def on_data(self, data: bytes) -> None:
        self._tell(self.client.receive(now(), data))
        self.flush()

    def on_lost(self, why: str) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        self._writable.set()
        self._tell(self.client.lost(why))

    def on_writable(self, is_writable: bool) -> None:
        (self._writable.set if is_writable else self._writable.clear)()

    def _tell(self, events: Iterable[Event]) -> None:
        for event in events:
            if isinstance(event, Connected):
                self._has_met, self._attempt = True, 0
            elif isinstance(event, Refused | Disconnected):
                self._again = event.again
            if self._failure is not None:
                continue
            try:
                self.listener(event)
            except BaseException as error:  # noqa: BLE001 - it is raised again by run, where somebody waits for it
                self.fail(error)

    def _arm(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        deadline = self.client.deadline
        if deadline is not None and not self.client.closing:
            self._timer = asyncio.get_running_loop().call_later(max(0.0, deadline - now()), self._on_timer)

    def _on_timer(self) -> None:
        self._timer = None
        self._tell(self.client.timeout(now()))
        self.flush()


async def dial(where: Endpoint, owner: Owner, tls: ssl.SSLContext | None, buffer_bytes: int = BUFFER_BYTES) -> "Wire":
    """A network connection; ``owner`` has been told when this returns. No connection is an ``OSError``."""
    loop = asyncio.get_running_loop()

    def make() -> Wire:
        return Wire(owner, _pipe(where), buffer_bytes)

    async with asyncio.timeout(DIAL_TIMEOUT_S):
        if where.scheme == "unix":
            return (await loop.create_unix_connection(make, where.path))[1]
        name = (where.tls.server_name or where.host) if tls else None
        return (await loop.create_connection(make, where.host, where.port, ssl=tls, server_hostname=name))[1]


def _pipe(where: Endpoint) -> Pipe:
    if not where.is_websocket:
        return _Plain()
    from weft.runtime.wsclient import Opening  # with numpy, which `weft pub` without WebSocket need not wait for

    return Opening(where, os.urandom)


class _Plain:
    """TCP, TLS and unix sockets carry MQTT as it is."""

    is_open = True

    def opening(self) -> bytes:
        return b""

    def receive(self, data: bytes) -> tuple[bytes, bytes]:
        return data, b""

    def wrap(self, data: bytes) -> bytes:
        return data


class Wire(asyncio.Protocol):
    """One socket."""

    def __init__(self, owner: Owner, pipe: Pipe, buffer_bytes: int) -> None:
        self.gone = asyncio.Event()
        self._owner = owner
        self._pipe = pipe
        self._buffer_bytes = buffer_bytes
        self._transport: asyncio.Transport | None = None
        self._held: list[bytes] = []
        self._why = "the server closed the connection"

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        transport = cast(asyncio.Transport, transport)  # uvloop's is none by inheritance
        self._transport = transport
        transport.set_write_buffer_limits(high=self._buffer_bytes)
        transport.write(self._pipe.opening())
        self._owner.on_open(self)

    def data_received(self, data: bytes) -> None:
        try:
            inside, answer = self._pipe.receive(data)
        except ConnectionError as error:
            self._why = str(error)
            if self._transport is not None:
                self._transport.abort()
            return
        if answer and self._transport is not None:
            self._transport.write(answer)
        if self._pipe.is_open and self._held:
            held, self._held = b"".join(self._held), []
            self.write(held)
        if inside:
            self._owner.on_data(inside)

    def connection_lost(self, error: Exception | None) -> None:
        self._transport = None
        self._owner.on_lost(f"connection lost: {_strip(error)}" if error else self._why)
        self.gone.set()

    def pause_writing(self) -> None:
        self._owner.on_writable(False)

    def resume_writing(self) -> None:
        self._owner.on_writable(True)

    def write(self, data: bytes) -> None:
        if not data or self._transport is None or self._transport.is_closing():
            return
        if not self._pipe.is_open:
            self._held.append(data)  # CONNECT alone: nothing else is said before CONNACK
            return
        self._transport.write(self._pipe.wrap(data))

    def read(self, is_reading: bool) -> None:
        """Read on, or leave what comes with the kernel for now."""
        if self._transport is not None and not self._transport.is_closing():
            (self._transport.resume_reading if is_reading else self._transport.pause_reading)()

    def close(self) -> None:
        """Write what is left; a server that does not take it in time is cut off."""
        transport = self._transport
        if transport is None or transport.is_closing():
            return
        transport.close()
        asyncio.get_running_loop().call_later(CLOSE_TIMEOUT_S, transport.abort)


def explain(error: OSError, where: Endpoint) -> str:
    """Why there is no connection, and what to do about it."""
    if isinstance(error, TimeoutError):
        return f"no answer from {where} within {DIAL_TIMEOUT_S:g} s: is there a firewall in between?"
    if isinstance(error, ssl.SSLCertVerificationError):
        return f"{where}: its certificate is not trusted ({error.verify_message}): give its CA with --cafile"
    if isinstance(error, ssl.SSLError):
        return f"{where}: TLS failed ({error.reason or error}): is this its TLS port?"
    if isinstance(error, ConnectionRefusedError):
        return f"connection refused by {where}: is a broker listening there? (weft broker starts one)"
    if isinstance(error, FileNotFoundError):
        return f"{where}: there is no such socket: does the broker listen on it?"
    if isinstance(error, ConnectionError):
        return f"{where}: {_strip(error)}: does this port speak {'TLS' if where.is_secure else 'plain MQTT'}?"
    if error.errno in {errno.ENETUNREACH, errno.EHOSTUNREACH}:
        return f"{where}: {_strip(error)}: check the address and the network"
    return f"{where}: {_strip(error)}"


def _strip(error: Exception) -> str:
    """An OSError's own words, without the call that it came from."""
    text = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
    return text or type(error).__name__
