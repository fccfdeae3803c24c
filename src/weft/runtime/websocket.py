"""MQTT in a WebSocket: an HTTP request, then binary frames (``upgrade`` and ``frames`` know the protocols).

Until the request is answered nothing is written, and the broker's own timeout for a CONNECT ends a connection that
dawdles. When the connection ends, a close frame is sent and the client's is waited for, as long as the host's grace.
"""

from weft.node.config import WebSocket
from weft.runtime import frames
from weft.runtime.clock import now
from weft.runtime.frames import SENT_FRAME_BYTES_MAX, Broken, Close, Frames, Ping
from weft.runtime.link import Link
from weft.runtime.origins import Origins
from weft.runtime.seam import Driver
from weft.runtime.upgrade import Refusal, Upgrade


class WebSocketLink(Link):
    """``_upgrade`` until the request is answered, ``_frames`` from then on."""

    __slots__ = ("_frames", "_upgrade", "_was_closed")

    def __init__(self, host: Driver, origins: Origins, settings: WebSocket) -> None:
        super().__init__(host, origins)
        self._upgrade: Upgrade | None = Upgrade(settings.paths, settings.origins)
        self._frames = Frames()
        self._was_closed = False  # we sent a close frame

    def data_received(self, data: bytes) -> None:
        if self._upgrade is not None:
            data = self._open(self._upgrade, data)
        for event in self._frames.receive(data) if data else ():
            if isinstance(event, bytes):
                if not self.is_closing:
                    self.connection.receive(now(), event)
            elif isinstance(event, Ping):
                if not self.is_closing and not self.is_behind:  # §5.5.3: only the newest need be answered
                    self.transport.write(frames.frame(frames.PONG, event.payload))
            elif isinstance(event, Close):
                self._end(event.code or frames.NORMAL)
            elif isinstance(event, Broken):
                self._refused(event.text)
                self._end(event.code, event.text)
        self.host.wake()

    def write(self, data: bytes) -> None:
        if self._upgrade is not None or self._was_closed:
            return
        for start in range(0, len(data), SENT_FRAME_BYTES_MAX):
            part = data[start : start + SENT_FRAME_BYTES_MAX] if len(data) > SENT_FRAME_BYTES_MAX else data
            self.transport.write(frames.header(frames.BINARY, len(part)) + part)

    def finish(self) -> None:
        if self._upgrade is not None:
            self.transport.close()
        elif not self._was_closed:
            self._was_closed = True
            self.transport.write(frames.close_frame(frames.NORMAL))
            if not self.is_reading:
                self.is_reading = True
                self.transport.resume_reading()

    def _open(self, upgrade: Upgrade, data: bytes) -> bytes:
        """Feed the request; what came after it, once it is answered."""
        if self.is_closing:
            return b""
        answer = upgrade.receive(data)
        if answer is None:
            return b""
        self.transport.write(answer.response)
        if isinstance(answer, Refusal):
            self._refused(answer.text)
            self.is_closing = True
            self.host.ending(self)
            self.transport.close()
            return b""
        self._upgrade = None
        return answer.rest

    def _end(self, code: int, reason: str = "") -> None:
        """The client closes, or must: answer with a close frame (RFC 6455 §5.5.1) and close."""
        if not self._was_closed:
            self._was_closed = True
            self.transport.write(frames.close_frame(code, reason))
        if not self.is_closing:
            self.is_closing = True
            self.host.ending(self)
        self.transport.close()

    def _refused(self, why: str) -> None:
        host = self.host
        host.counters["weft_websockets_refused_total"] += 1
        address = self.connection.origin.address
        host.broker.notices.say_seldom(host.now(), "info", "websocket refused", address, address=address, why=why)
