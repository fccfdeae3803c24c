"""The HTTP request that opens a WebSocket, without I/O (RFC 6455 §4.2).

In     bytes from a client until its request is complete.
Out    an ``Upgraded`` with the answer and what came after the request, or a ``Refusal`` with the answer and a line for the log.

h11 reads the request: at most ``REQUEST_BYTES_MAX``. How long it may take is the business of the connection timeout.
"""

import base64
import binascii
import hashlib
from collections.abc import Sequence
from typing import NamedTuple
from urllib.parse import urlsplit

import h11

REQUEST_BYTES_MAX = 8_192
HEADERS_MAX = 64
SUBPROTOCOLS = ("mqtt", "mqttv3.1")
"""[MQTT-6.0.0-3] clients offer ``mqtt``; those of MQTT 3.1 offered ``mqttv3.1``."""

_GUID = b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11"  # §1.3


class Upgraded(NamedTuple):
    """``response`` is to be sent; ``rest`` are bytes of the WebSocket that came with the request."""

    response: bytes
    rest: bytes
    subprotocol: str


class Refusal(NamedTuple):
    """``response`` is to be sent before closing; ``text`` says why."""

    response: bytes
    text: str


class _Refused(Exception):
    def __init__(self, status: int, text: str, *headers: tuple[str, str]) -> None:
        super().__init__(text)
        self.status = status
        self.headers = headers


def accept_key(key: bytes) -> bytes:
    """§4.2.2: proof that the server speaks WebSocket."""
    return base64.b64encode(hashlib.sha1(key + _GUID, usedforsecurity=False).digest())


class Upgrade:
    """One client's request. ``paths``: where WebSockets live; ``origins``: allowed Origin values, empty for all."""

    __slots__ = ("_http", "_origins", "_paths")

    def __init__(self, paths: Sequence[str], origins: Sequence[str] = ()) -> None:
        self._paths = tuple(paths)
        self._origins = tuple(origin.lower() for origin in origins)
        self._http = h11.Connection(h11.SERVER, max_incomplete_event_size=REQUEST_BYTES_MAX)

    def receive(self, data: bytes) -> Upgraded | Refusal | None:
        """None: the request is not complete yet. Never raises."""
        try:
            self._http.receive_data(data)
            event = self._http.next_event()
            if event is h11.NEED_DATA:
                return None
            if not isinstance(event, h11.Request):
                return Refusal(b"", "the connection ended before the request was complete")
            return self._answer(event)
        except h11.RemoteProtocolError as error:
            return self._refuse(_Refused(error.error_status_hint, f"not an HTTP request: {error}"))
        except _Refused as refused:
            return self._refuse(refused)

    def _answer(self, request: h11.Request) -> Upgraded:
        subprotocol = self._check(request)
        headers = dict(request.headers)
        response = self._http.send(
            h11.InformationalResponse(
                status_code=101,
                headers=[
                    ("Upgrade", "websocket"),
                    ("Connection", "Upgrade"),
                    ("Sec-WebSocket-Accept", accept_key(headers[b"sec-websocket-key"]).decode()),
                    ("Sec-WebSocket-Protocol", subprotocol),  # [MQTT-6.0.0-4]
                ],
            )
        )
        return Upgraded(response or b"", self._http.trailing_data[0], subprotocol)

    def _check(self, request: h11.Request) -> str:
        """The subprotocol, if the request is one for an MQTT WebSocket on this server (§4.2.1)."""
        if request.method != b"GET":
            raise _Refused(405, "only GET opens a WebSocket", ("Allow", "GET"))
        path = urlsplit(request.target.decode("latin-1")).path
        if path not in self._paths:
            raise _Refused(404, f"no WebSocket at this path; there is one at {self._paths[0]}")
        if len(request.headers) > HEADERS_MAX:
            raise _Refused(431, "too many headers")
        headers = dict(request.headers)
        if b"websocket" not in _tokens(request, b"upgrade") or b"upgrade" not in _tokens(request, b"connection"):
            raise _Refused(
                426, "this port speaks MQTT over WebSocket", ("Upgrade", "websocket"), ("Connection", "Upgrade")
            )
        if headers.get(b"sec-websocket-version") != b"13":
            raise _Refused(426, "unknown version of WebSocket", ("Sec-WebSocket-Version", "13"))
        if not _is_key(headers.get(b"sec-websocket-key", b"")):
            raise _Refused(400, "Sec-WebSocket-Key is missing or not 16 bytes in base64")
        origin = headers.get(b"origin")
        if self._origins and origin is not None and origin.decode("latin-1").lower() not in self._origins:
            raise _Refused(403, "this origin is not allowed")
        offered = _tokens(request, b"sec-websocket-protocol")
        for name in SUBPROTOCOLS:
            if name.encode() in offered:
                return name
        raise _Refused(400, "Sec-WebSocket-Protocol does not offer mqtt")

    def _refuse(self, refused: _Refused) -> Refusal:
        body = f"{refused}\n".encode()
        headers = [
            *refused.headers,
            ("Content-Type", "text/plain; charset=utf-8"),
            ("Content-Length", str(len(body))),
            ("Connection", "close"),
        ]
        try:
            response = self._http.send(h11.Response(status_code=refused.status, headers=_last_wins(headers)))
            response = (response or b"") + (self._http.send(h11.Data(data=body)) or b"")
        except h11.LocalProtocolError:
            return Refusal(b"", str(refused))
        return Refusal(response, str(refused))


def _last_wins(headers: list[tuple[str, str]]) -> list[tuple[str, str]]:
    """A 426 names its own Connection (RFC 9110 §15.5.22); it stands beside ``close``."""
    upgrade = any(name == "Connection" and value == "Upgrade" for name, value in headers)
    kept = [(name, value) for name, value in headers if name != "Connection"]
    return [*kept, ("Connection", "close, Upgrade" if upgrade else "close")]


def _tokens(request: h11.Request, name: bytes) -> list[bytes]:
    """A header that is a comma-separated list, possibly over several lines, in lower case."""
    lines = [value for key, value in request.headers if key == name]
    return [token.strip().lower() for token in b",".join(lines).split(b",")]


def _is_key(key: bytes) -> bool:
    try:
        return len(base64.b64decode(key, validate=True)) == 16
    except (binascii.Error, ValueError):
        return False
