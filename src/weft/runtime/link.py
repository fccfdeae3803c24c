"""One client's socket, whatever it speaks: what ``tcp`` and ``websocket`` have in common.

A link belongs to a ``Host``, which walks the links that have output once per tick. Reading stops when the connection
says so; while the socket takes no more, output stays with the connection.
"""

import asyncio
from typing import Any, cast

from weft.runtime.origins import Origins
from weft.runtime.seam import Driver

PIECE_BYTES = 1 << 18
"""A tick's output beyond this is written in pieces, so that what a full socket does not take stays where it can be trimmed."""


class Link(asyncio.Protocol):
    """Slots only, and nothing that an idle connection does not need: there may be a hundred thousand."""

    __slots__ = ("connection", "host", "is_behind", "is_closing", "is_reading", "origins", "transport")

    def __init__(self, host: Driver, origins: Origins) -> None:
        self.host = host
        self.origins = origins
        self.connection: Any = None
        self.transport: asyncio.Transport = cast("asyncio.Transport", None)
        self.is_behind = False
        self.is_closing = False
        self.is_reading = True

    # ------------------------------------------------------------------------------------------ from the transport

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = cast("asyncio.Transport", transport)
        # Any byte that the socket does not take means behind: what waits is then counted, and trimmed if it must be.
        self.transport.set_write_buffer_limits(high=1, low=0)
        if not self.host.opened(self, self.origins.of(self.transport)):
            self.transport.abort()

    def connection_lost(self, error: Exception | None) -> None:
        self.is_closing = True
        self.host.gone(self, "closed by the peer" if error is None else str(error) or type(error).__name__)

    def pause_writing(self) -> None:
        self.is_behind = True
        self.host.behind(self, self.transport.get_write_buffer_size())

    def resume_writing(self) -> None:
        self.is_behind = False
        self.host.relieved(self)

    # ------------------------------------------------------------------------------------------------ from the host

    def write(self, data: bytes) -> None:
        """Bytes of MQTT, as this link carries them."""
        self.transport.write(data)

    def write_pieces(self, out: list[bytes]) -> None:
        """More than ``PIECE_BYTES``: stop where the socket does; what is left stays in ``out``."""
        written = 0
        while written < len(out) and not self.is_behind:
            size, end = 0, written
            while end < len(out) and (size == 0 or size + len(out[end]) <= PIECE_BYTES):
                size += len(out[end])
                end += 1
            self.write(b"".join(out[written:end]))
            written = end
        del out[:written]

    def settle(self) -> None:
        """Carry out what the connection wants besides writing: reading or not, closing."""
        connection = self.connection
        if connection.closing and not self.is_closing:
            self.is_closing = True
            self.host.ending(self)
        if self.is_closing:
            if not connection.out:
                self.finish()
            return
        reading = connection.reading
        if reading is not self.is_reading:
            self.is_reading = reading
            if reading:
                self.transport.resume_reading()
            else:
                self.transport.pause_reading()

    def finish(self) -> None:
        """All is written: end it as this link does."""
        self.transport.close()
