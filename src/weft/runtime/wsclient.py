"""MQTT over WebSocket from the client's side (RFC 6455 §4.1, §5), without I/O.

A client masks what it sends and is not masked at; it opens with an HTTP request and checks the answer. Frames' payload is
passed on as it comes [MQTT-6.0.0-2]; what is kept is a header or a control frame, at most ``KEPT_MAX`` bytes, and before that
the answer to the request, at most ``RESPONSE_BYTES_MAX``. What a server does wrong is raised as ``ConnectionError``: the
socket is of no more use.
"""

import base64
import hashlib
from collections.abc import Callable

import numpy as np

from weft.mqtt.client.endpoint import Endpoint

RESPONSE_BYTES_MAX = 16_384
KEPT_MAX = 10 + 125
_GUID = b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11"
_CONTINUATION, _BINARY, _CLOSE, _PING, _PONG = 0, 2, 8, 9, 10


class Opening:
    """One connection: first the request, then frames. ``entropy`` gives random bytes: a key, and each frame's mask (§5.3)."""

    def __init__(self, where: Endpoint, entropy: Callable[[int], bytes]) -> None:
        self.is_open = False
        self._where = where
        self._entropy = entropy
        self._key = base64.b64encode(entropy(16))
        self._kept = b""
        self._left = 0
        self._in_message = False

    def opening(self) -> bytes:
        """The request (§4.1). [MQTT-6.0.0-3]: it offers ``mqtt``."""
        where = self._where
        host = f"[{where.host}]" if ":" in where.host else where.host
        return (
            f"GET {where.path} HTTP/1.1\r\nHost: {host}:{where.port}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
            f"Sec-WebSocket-Key: {self._key.decode()}\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Protocol: mqtt\r\n\r\n"
        ).encode()

    def wrap(self, data: bytes) -> bytes:
        """``data`` as one masked binary frame."""
        return self._frame(_BINARY, data)

    def receive(self, data: bytes) -> tuple[bytes, bytes]:
        """(what is MQTT's, what is to be answered)."""
        data = self._kept + data
        self._kept = b""
        if not self.is_open:
            end = data.find(b"\r\n\r\n")
            if end < 0 and len(data) <= RESPONSE_BYTES_MAX:
                self._kept = data
                return b"", b""
            self._check(data[: max(end, 0)])
            self.is_open = True
            data = data[end + 4 :]
        return self._walk(data)

    def _check(self, response: bytes) -> None:
        """§4.1, the client's list of what to fail on."""
        lines = response.decode("latin-1").split("\r\n")
        status = lines[0].split(" ", 2)
        if len(status) < 2 or not status[0].startswith("HTTP/1."):
            raise ConnectionError(f"{self._where} does not speak HTTP: is this its WebSocket port?")
        if status[1] != "101":
            said = " ".join(status[1:])
            raise ConnectionError(f"{self._where} opens no WebSocket: it says {said}; check port and path")
        headers: dict[str, str] = {}
        for line in lines[1:]:
            name, _, value = line.partition(":")
            headers[name.strip().lower()] = value.strip()
        wanted = base64.b64encode(hashlib.sha1(self._key + _GUID, usedforsecurity=False).digest()).decode()
        if headers.get("sec-websocket-accept") != wanted or headers.get("upgrade", "").lower() != "websocket":
            raise ConnectionError(f"{self._where} gave a wrong answer to the WebSocket request")
        if (
            headers.get("sec-websocket-protocol", "mqtt") not in {"mqtt", "mqttv3.1"}
            or "sec-websocket-extensions" in headers
        ):
            raise ConnectionError(f"{self._where} chose a protocol or an extension that was not offered")

    def _walk(self, data: bytes) -> tuple[bytes, bytes]:
        inside: list[bytes] = []
        answer: list[bytes] = []
        at = 0
        while at < len(data) or self._left:
            if self._left:
                part = data[at : at + self._left]
                if not part:
                    break
                inside.append(part)
                self._left -= len(part)
                at += len(part)
                continue
            taken = self._header(data, at, answer)
            if not taken:
                self._kept = data[at:]
                break
            at = taken
        return b"".join(inside), b"".join(answer)

    def _header(self, data: bytes, at: int, answer: list[bytes]) -> int:
        """Read one frame's header, and all of a control frame; where it ended, or 0 if it is not complete."""
        if len(data) - at < 2:
            return 0
        first, second = data[at], data[at + 1]
        opcode = first & 15
        control = opcode >= _CLOSE
        if first & 0x70 or second & 0x80 or (control and (not first & 0x80 or second > 125)) or opcode not in _KNOWN:
            raise ConnectionError(f"{self._where} sent a malformed WebSocket frame")
        size, start = second & 127, at + 2
        if size > 125:
            width = 2 if size == 126 else 8
            if len(data) - start < width:
                return 0
            size = int.from_bytes(data[start : start + width], "big")
            start += width
        if not control:
            if (opcode == _CONTINUATION) is not self._in_message:
                raise ConnectionError(f"{self._where} sent WebSocket frames out of order")
            self._in_message = not first & 0x80
            self._left = size
            return start
        if len(data) - start < size:
            return 0
        payload = data[start : start + size]
        if opcode == _PING:
            answer.append(self._frame(_PONG, payload))
        elif opcode == _CLOSE:
            raise ConnectionError("the server closed the WebSocket")
        return start + size

    def _frame(self, opcode: int, payload: bytes) -> bytes:
        size = len(payload)
        if size <= 125:
            head = bytes((0x80 | opcode, 0x80 | size))
        elif size <= 0xFFFF:
            head = bytes((0x80 | opcode, 0x80 | 126)) + size.to_bytes(2, "big")
        else:
            head = bytes((0x80 | opcode, 0x80 | 127)) + size.to_bytes(8, "big")
        mask = self._entropy(4)
        key = np.frombuffer(mask * (size // 4 + 1), np.uint8)[:size]
        return head + mask + (np.frombuffer(payload, np.uint8) ^ key).tobytes()


_KNOWN = frozenset({_CONTINUATION, _BINARY, _CLOSE, _PING, _PONG})
"""Text frames are not among them [MQTT-6.0.0-1]."""
