"""Frames of a link between brokers: four bytes of length, one of kind, a body.

A length beyond what is allowed *now* ends the connection before a byte of its body is kept: until the other side has proved
who it is that is little (``OPENING_BYTES_MAX``), so that a stranger costs no memory.
"""

from collections.abc import Iterator

from weft.core.errors import Violation

HEAD_BYTES = 5
OPENING_BYTES_MAX = 4_096
"""Body of a frame before both sides have proved who they are."""

HELLO, PROOF, REFUSED, ADOPTED, BYE, PING, PONG, BOOK, MESSAGE = range(1, 10)
"""Kinds."""


def frame(kind: int, body: bytes = b"") -> bytes:
    return len(body).to_bytes(4, "big") + kind.to_bytes(1, "big") + body


class Splitter:
    """In: bytes in any pieces. Out: whole frames. Invariant: what is kept is less than one frame."""

    __slots__ = ("_kept", "bytes_max")

    def __init__(self, bytes_max: int = OPENING_BYTES_MAX) -> None:
        self.bytes_max = bytes_max
        self._kept = bytearray()

    def feed(self, data: bytes) -> None:
        self._kept += data

    def frames(self) -> Iterator[tuple[int, bytes]]:
        """(kind, body) of each frame that is complete; ``bytes_max`` may be changed between two of them."""
        kept, at = self._kept, 0
        try:
            while len(kept) - at >= 4:
                size = int.from_bytes(kept[at : at + 4], "big")
                if size > self.bytes_max:
                    raise Violation(f"a frame of {size} bytes; at most {self.bytes_max}")
                end = at + HEAD_BYTES + size
                if len(kept) < end:
                    return
                body = bytes(memoryview(kept)[at + HEAD_BYTES : end])
                kind, at = kept[at + 4], end
                yield kind, body
        finally:
            del kept[:at]
