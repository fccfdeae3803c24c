"""WebSocket framing of a server, without I/O (RFC 6455 §5).

In     bytes from a client, in any pieces.
Out    payload of binary messages as it arrives, pings, the close, and what was wrong: a list for each ``receive``.

MQTT over WebSocket does not care where frames begin [MQTT-6.0.0-2], so payload is passed on as it comes and nothing
is gathered: what is kept between two calls is a header and a control frame's payload, at most ``KEPT_MAX`` bytes. A
frame may therefore be as long as it likes; how large a packet may be is for the packet layer to say. No extension is
negotiated, so a reserved bit is an error.
"""

from typing import NamedTuple

CONTINUATION, TEXT, BINARY, CLOSE, PING, PONG = 0, 1, 2, 8, 9, 10
"""Opcodes (§5.2)."""

NORMAL, GOING_AWAY, PROTOCOL_ERROR, UNSUPPORTED = 1000, 1001, 1002, 1003
"""Close codes (§7.4.1)."""

CONTROL_BYTES_MAX = 125  # §5.5
KEPT_MAX = 14 + CONTROL_BYTES_MAX
SENT_FRAME_BYTES_MAX = 1 << 20
"""A longer output is sent as several messages: some client libraries refuse larger ones."""

_LARGE = 512
"""From here on numpy's setting-up costs less than what it saves (measured: equal at about 500 bytes)."""


class Ping(NamedTuple):
    payload: bytes


class Pong(NamedTuple):
    payload: bytes


class Close(NamedTuple):
    """The client closes; ``code`` is None if it gave none (§7.1.5)."""

    code: int | None
    reason: str


class Broken(NamedTuple):
    """The client broke the protocol: close with ``code``; nothing that follows is looked at."""

    code: int
    text: str


Event = bytes | Ping | Pong | Close | Broken


class _Bad(Exception):
    def __init__(self, code: int, text: str) -> None:
        super().__init__(text)
        self.code = code


def unmask(data: bytes, mask: bytes) -> bytes:
    """``data`` XOR ``mask`` repeated (§5.3); masking is its own inverse."""
    size = len(data)
    if size < _LARGE:
        key = (mask * (size // 4 + 1))[:size]
        return (int.from_bytes(data, "little") ^ int.from_bytes(key, "little")).to_bytes(size, "little")
    import numpy as np  # 20 MB that a broker without large WebSocket messages need not carry

    whole = size & ~3
    words = np.frombuffer(data, np.uint32, whole >> 2) ^ np.frombuffer(mask, np.uint32)[0]
    unmasked: bytes = words.tobytes()
    return unmasked + unmask(data[whole:], mask) if whole < size else unmasked


def header(opcode: int, size: int) -> bytes:
    """The header of an unmasked final frame (§5.1: a server does not mask)."""
    first = 0x80 | opcode
    if size <= 125:
        return bytes((first, size))
    if size <= 0xFFFF:
        return bytes((first, 126)) + size.to_bytes(2, "big")
    return bytes((first, 127)) + size.to_bytes(8, "big")


def frame(opcode: int, payload: bytes) -> bytes:
    return header(opcode, len(payload)) + payload


def close_frame(code: int, reason: str = "") -> bytes:
    """§5.5.1."""
    return frame(CLOSE, code.to_bytes(2, "big") + reason.encode()[: CONTROL_BYTES_MAX - 2])


class Frames:
    """One client's frames. Invariant: ``_kept`` is the beginning of a header or of a control frame."""

    __slots__ = ("_in_message", "_kept", "_left", "_mask", "is_over")

    def __init__(self) -> None:
        self._kept = b""
        self._left = 0  # payload bytes of the data frame under way that have not come yet
        self._mask = b""
        self._in_message = False  # a fragmented message is under way (§5.4)
        self.is_over = False
        """The client closed, or broke the protocol."""

    def receive(self, data: bytes) -> list[Event]:
        """What ``data`` brings, in order; never raises."""
        events: list[Event] = []
        if self.is_over:
            return events
        if self._kept:
            data = self._kept + data
            self._kept = b""
        try:
            at = self._walk(data, events)
        except _Bad as bad:
            self.is_over = True
            events.append(Broken(bad.code, str(bad)))
            return events
        if not self.is_over:
            self._kept = data[at:]
        return events

    def _walk(self, data: bytes, events: list[Event]) -> int:
        """Take what is complete; the answer is where the rest begins."""
        at, end = 0, len(data)
        while not self.is_over:
            if self._left:
                at = self._payload(data, at, events)
            if end - at < 6:  # the shortest masked header (§5.2); say what is wrong with the first bytes early
                if end - at >= 2:
                    self._check(data[at], data[at + 1])
                return at
            first, second = data[at], data[at + 1]
            self._check(first, second)
            size, start = second & 0x7F, at + 2
            if size > 125:
                width = 2 if size == 126 else 8
                if end - start < width + 4:
                    return at
                size = _long(data[start : start + width])
                start += width
            mask = data[start : start + 4]
            start += 4
            opcode = first & 0x0F
            if opcode >= CLOSE:
                if end - start < size:
                    return at
                events.append(self._control(opcode, unmask(data[start : start + size], mask)))
                at = start + size
                continue
            self._in_message = not first & 0x80
            self._left, self._mask, at = size, mask, start
        return at

    def _payload(self, data: bytes, at: int, events: list[Event]) -> int:
        """Pass on what is there of the data frame under way."""
        part = data[at : at + self._left]
        if part:
            events.append(unmask(part, self._mask))
            self._left -= len(part)
            turn = len(part) & 3
            if turn:
                self._mask = self._mask[turn:] + self._mask[:turn]
        return at + len(part)

    def _check(self, first: int, second: int) -> None:
        """The rules on a header's first two bytes (§5.2, §5.4, §5.5)."""
        opcode = first & 0x0F
        if first & 0x70:
            raise _Bad(PROTOCOL_ERROR, "a reserved bit is set and no extension was agreed on")
        if not second & 0x80:
            raise _Bad(PROTOCOL_ERROR, "a client's frame is not masked")
        if opcode >= CLOSE:
            if opcode > PONG:
                raise _Bad(PROTOCOL_ERROR, f"unknown opcode {opcode}")
            if not first & 0x80 or second & 0x7F > CONTROL_BYTES_MAX:
                raise _Bad(PROTOCOL_ERROR, "a control frame is fragmented or too long")
        elif opcode == TEXT:
            # [MQTT-6.0.0-1] packets travel in binary frames; anything else closes the connection
            raise _Bad(UNSUPPORTED, "a text frame: MQTT travels in binary frames")
        elif opcode > BINARY:
            raise _Bad(PROTOCOL_ERROR, f"unknown opcode {opcode}")
        elif (opcode == CONTINUATION) is not self._in_message:
            raise _Bad(PROTOCOL_ERROR, "a message begins inside another, or goes on without having begun")

    def _control(self, opcode: int, payload: bytes) -> Event:
        if opcode == PING:
            return Ping(payload)
        if opcode == PONG:
            return Pong(payload)
        self.is_over = True
        return _close(payload)


def _long(data: bytes) -> int:
    """An extended length: as short as possible, and 63 bits at most (§5.2)."""
    size = int.from_bytes(data, "big")
    if len(data) == 8 and size >> 63:
        raise _Bad(PROTOCOL_ERROR, "a frame's length has its highest bit set")
    if size <= (125 if len(data) == 2 else 0xFFFF):
        raise _Bad(PROTOCOL_ERROR, "a frame's length is written longer than needed")
    return size


def _close(payload: bytes) -> Event:
    """§5.5.1, and which codes may be sent (§7.4)."""
    if not payload:
        return Close(None, "")
    code = int.from_bytes(payload[:2], "big")
    if len(payload) == 1 or code < 1000 or code in {1004, 1005, 1006, 1015} or 1015 < code < 3000 or code > 4999:
        return Broken(PROTOCOL_ERROR, "a close frame without a valid code")
    try:
        return Close(code, payload[2:].decode())
    except UnicodeDecodeError:
        return Broken(PROTOCOL_ERROR, "a close frame's reason is not UTF-8")
