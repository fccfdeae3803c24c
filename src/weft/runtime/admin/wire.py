"""One HTTP/1.1 connection, on h11: keep-alive, pipelining, and a bound on everything that the other side can make wait or grow.

    waiting ──first byte──▶ reading ──whole request──▶ answering ──written──▶ waiting
       │ idle_s                │ request_s, too large       │ answer_s, write_s       │ last one
       ▼                       ▼                            ▼                         ▼
     closed                 refused: the answer leaves, what still comes is thrown away for linger_s, closed

Requests of one connection are answered one after another, at most one in each turn of the loop: a thousand of them sent at once
hold up nobody else. While an answer waits for a slow reader, nothing more is read, so what a connection can hold is one chunk
of the socket, one body and one answer.
"""

import asyncio
from collections.abc import Awaitable
from email.utils import formatdate
from enum import Enum, auto
from typing import Protocol, cast

import h11
import msgspec

from weft.runtime.admin.exchange import Problem, Reply, Request

VERSIONS = (b"1.0", b"1.1")


class Bounds(msgspec.Struct, frozen=True):
    """Of one connection, but for ``connections_max``. Times in seconds, sizes in bytes."""

    connections_max: int = 64
    header_bytes_max: int = 16_384
    body_bytes_max: int = 4_194_304
    request_s: float = 10.0
    """From a request's first byte to its last, however it drips."""
    answer_s: float = 60.0
    write_s: float = 30.0
    """An answer must have left by then."""
    idle_s: float = 60.0
    linger_s: float = 1.0


class State(Enum):
    WAITING = auto()
    READING = auto()
    ANSWERING = auto()
    REFUSED = auto()
    CLOSED = auto()


class Front(Protocol):
    """What stands behind all connections."""

    bounds: Bounds

    def joined(self, wire: "Wire") -> bool:
        """False: there are too many."""

    def left(self, wire: "Wire") -> None: ...

    def admit(self, request: Request) -> None:
        """Raises a ``Problem`` before a body is read."""

    def answer(self, request: Request) -> Reply | Awaitable[Reply]:
        """Never raises but ``Problem``."""


class Wire(asyncio.Protocol):
    """See the module. ``trusted``: it has sent a request that was admitted."""

    def __init__(self, front: Front) -> None:
        self._front = front
        self._bounds = front.bounds
        self._http = h11.Connection(h11.SERVER, max_incomplete_event_size=front.bounds.header_bytes_max)
        self._state = State.WAITING
        self._request: Request | None = None
        self._problem: Problem | None = None
        """Why it is not admitted."""
        self._body: list[bytes] = []
        self._body_bytes = 0
        self._blocked = False
        self._ended = False
        self._reads = True
        self._yields = False
        """It goes on in the loop's next turn."""
        self._task: asyncio.Task[None] | None = None
        self._timer: asyncio.TimerHandle | None = None
        self.trusted = False

    # ---------------------------------------------------------------------------------------------- from the socket

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)
        if not self._front.joined(self):
            self._refuse(Problem(503, "too many connections", (("Retry-After", "1"),)))
            return
        self._become(State.WAITING, self._bounds.request_s)  # the first request is owed at once

    def data_received(self, data: bytes) -> None:
        if self._state in (State.REFUSED, State.CLOSED):
            return
        self._http.receive_data(data)
        if self._state is State.WAITING:
            self._become(State.READING, self._bounds.request_s)
        self._advance()

    def eof_received(self) -> bool:
        """A client may close its half and wait for the answer."""
        self._ended = True
        if self._state in (State.REFUSED, State.CLOSED, State.WAITING):
            return False
        self._http.receive_data(b"")
        self._advance()
        has_halves = self._transport.can_write_eof()  # TLS has not
        return has_halves and (self._state is State.ANSWERING or self._blocked or self._yields)

    def connection_lost(self, exc: Exception | None) -> None:
        self._become(State.CLOSED, None)
        if self._task is not None:
            self._task.cancel()
        self._front.left(self)

    def pause_writing(self) -> None:
        self._blocked = True
        self._settle()
        self._arm(self._bounds.write_s)

    def resume_writing(self) -> None:
        self._blocked = False
        if self._state is State.CLOSED:
            return
        if self._state is State.READING:
            self._arm(self._bounds.request_s)
            self._advance()
        elif self._state is State.WAITING:
            self._arm(self._bounds.idle_s)
        self._settle()

    # ------------------------------------------------------------------------------------------------ one request

    def _advance(self) -> None:
        """Take what has come, until more is needed, an answer is awaited, or a reader is slow."""
        while self._state is State.READING and not self._blocked and not self._yields:
            try:
                event = self._http.next_event()
                if event is h11.NEED_DATA:
                    self._await_more()
                    return
                if event is h11.PAUSED or isinstance(event, h11.ConnectionClosed):
                    self.close()
                elif isinstance(event, h11.Request):
                    self._on_head(event)
                elif isinstance(event, h11.Data):
                    self._on_data(bytes(event.data))
                elif isinstance(event, h11.EndOfMessage):
                    self._on_end()
            except h11.RemoteProtocolError as error:
                self._refuse(Problem(error.error_status_hint, f"this is not HTTP/1.1: {error}"))
            except Problem as problem:
                self._refuse(problem)

    def _await_more(self) -> None:
        """Nothing, or a part of a request, has come."""
        if self._http.they_are_waiting_for_100_continue:
            go_on = h11.InformationalResponse(status_code=100, headers=[])
            self._transport.write(self._http.send(go_on) or b"")
        if self._http.their_state is h11.IDLE and not self._http.trailing_data[0]:
            self._become(State.WAITING, self._bounds.idle_s)

    def _on_head(self, event: h11.Request) -> None:
        if event.http_version not in VERSIONS:
            raise Problem(505, "only HTTP/1.1 and HTTP/1.0 are spoken here")
        headers: dict[str, str] = {}
        for name, value in event.headers:
            key, text = name.decode("ascii"), value.decode("latin-1")
            headers[key] = f"{headers[key]}, {text}" if key in headers else text
        request = self._request = _request(event.method.decode("ascii"), event.target.decode("ascii"), headers)
        self._problem = None
        try:
            self._front.admit(request)
        except Problem as problem:
            if "transfer-encoding" in headers or headers.get("content-length", "0") != "0":
                raise  # its body is not worth reading
            self._problem = problem
            return
        self.trusted = True
        if int(headers.get("content-length", "0")) > self._bounds.body_bytes_max:  # h11 has checked that it is a number
            raise self._too_large()
        self._body, self._body_bytes = [], 0

    def _on_data(self, data: bytes) -> None:
        self._body_bytes += len(data)
        if self._body_bytes > self._bounds.body_bytes_max:
            raise self._too_large()
        self._body.append(data)

    def _too_large(self) -> Problem:
        return Problem(413, f"a body may have {self._bounds.body_bytes_max} bytes")

    def _on_end(self) -> None:
        request = self._request
        assert request is not None
        request.body = b"".join(self._body)
        self._become(State.ANSWERING, self._bounds.answer_s)
        try:
            if self._problem is not None:
                raise self._problem
            reply = self._front.answer(request)
        except Problem as problem:
            reply = problem.reply()
        if isinstance(reply, Reply):
            self._answer(reply, request.method)
            return
        self._task = asyncio.get_running_loop().create_task(self._answer_later(reply, request.method))
        self._settle()

    async def _answer_later(self, reply: Awaitable[Reply], method: str) -> None:
        try:
            ready = await reply
        except Problem as problem:
            ready = problem.reply()
        self._task = None
        if self._state is State.ANSWERING:
            self._answer(ready, method)

    def _answer(self, reply: Reply, method: str) -> None:
        self._write(reply, method)
        if self._http.our_state is not h11.DONE or self._http.their_state is not h11.DONE:
            self.close()  # one of us does not keep the connection
            return
        self._http.start_next_cycle()
        self._request = None
        # Part of the next request may be here already: ``_go_on`` finds out.
        self._become(State.READING, self._bounds.write_s if self._blocked else self._bounds.request_s)
        self._yields = True
        self._settle()
        asyncio.get_running_loop().call_soon(self._go_on)

    def _go_on(self) -> None:
        self._yields = False
        self._advance()
        self._settle()

    def _settle(self) -> None:
        """Read only what can be handled: what came before goes first."""
        reads = not (self._blocked or self._yields or self._task is not None)
        if reads is not self._reads and self._state is not State.CLOSED:
            self._reads = reads
            if reads:
                self._transport.resume_reading()
            else:
                self._transport.pause_reading()

    def _write(self, reply: Reply, method: str = "GET", close: bool = False) -> None:
        headers = [
            ("Content-Type", reply.content_type),
            ("Content-Length", str(len(reply.body))),
            ("Date", formatdate(usegmt=True)),
            ("Cache-Control", "no-store"),
            ("X-Content-Type-Options", "nosniff"),
            *reply.headers,
        ]
        if close:
            headers.append(("Connection", "close"))
        sent = self._http.send(h11.Response(status_code=reply.status, headers=headers)) or b""
        if method != "HEAD":
            sent += self._http.send(h11.Data(data=reply.body)) or b""
        sent += self._http.send(h11.EndOfMessage()) or b""
        self._transport.write(sent)

    # -------------------------------------------------------------------------------------------------- endings

    def _refuse(self, problem: Problem) -> None:
        """The answer to what is not read to its end. Closing at once would lose it: a reset overtakes it (RFC 9112 §9.6)."""
        if self._http.our_state not in (h11.IDLE, h11.SEND_RESPONSE):
            self.close()
            return
        self._write(problem.reply(), "GET" if self._request is None else self._request.method, close=True)
        self._become(State.REFUSED, self._bounds.linger_s)
        if self._ended:
            self.close()
        elif self._transport.can_write_eof():
            self._transport.write_eof()

    def close(self) -> None:
        """No more requests; what is written leaves, if the other side reads it within ``write_s``."""
        if self._state is State.CLOSED:
            return
        self._become(State.CLOSED, self._bounds.write_s)
        self._transport.close()

    def abort(self) -> None:
        """At once."""
        self._become(State.CLOSED, None)
        self._transport.abort()

    def _become(self, state: State, seconds: float | None) -> None:
        self._state = state
        self._arm(seconds)

    def _arm(self, seconds: float | None) -> None:
        """The one timer of a connection."""
        if self._timer is not None:
            self._timer.cancel()
        self._timer = None if seconds is None else asyncio.get_running_loop().call_later(seconds, self._late)

    def _late(self) -> None:
        """Time is up."""
        self._timer = None
        if self._blocked or self._state in (State.CLOSED, State.REFUSED):
            self.abort()
        elif self._state is State.READING:
            self._refuse(Problem(408, f"a request must be complete within {self._bounds.request_s:g} s"))
        elif self._state is State.ANSWERING:
            if self._task is not None:
                self._task.cancel()
                self._task = None
            self._refuse(Problem(504, f"there was no answer within {self._bounds.answer_s:g} s"))
            self._settle()
        else:
            self.close()


def _request(method: str, target: str, headers: dict[str, str]) -> Request:
    """RFC 9112 §3.2: a path, or an absolute URL, whose host then counts instead of Host."""
    lowered = target.lower()
    if lowered.startswith(("http://", "https://")):
        authority, slash, rest = target.partition("//")[2].partition("/")
        headers["host"] = authority
        target = slash + rest
    if not target.startswith("/"):
        raise Problem(400, "the target of a request is a path")
    path, _, query = target.partition("?")
    return Request(method, path, query, headers)
