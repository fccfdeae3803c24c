"""What travels between ring neighbours. ``at`` is the virtual node addressed: its key, and which life of it."""

from enum import Enum
from typing import NamedTuple

import msgspec

from weft.core.errors import Violation
from weft.core.limits import LEFT_NEIGHBOURS_MAX, LEVELS_MAX
from weft.core.machine import Message
from weft.overlay.api import Ref
from weft.overlay.keys import Key

NOTE_BYTES_MAX = 256
"""Most that a node may have noted for newcomers."""

SEQ_LIMIT = 1 << 62
"""Numbers stay below this: counted on from there they would not fit into a message any more."""


class Seq(NamedTuple):
    """Ordered lexicographically: a repair beats every SetL sent before it."""

    repair: int
    n: int

    def next(self) -> "Seq":
        return Seq(self.repair, self.n + 1)

    def repaired(self) -> "Seq":
        return Seq(self.repair + 1, 0)


FIRST = Seq(0, 0)


class Status(Enum):
    OUT = "out"
    INS = "ins"
    IN = "in"
    DEL = "del"


class Kind(Enum):
    """Why a right pointer should change."""

    INSERT = "insert"
    DELETE = "delete"
    LEFTONLY = "left-only"
    """The pointer is right, the numbers are not: agree on them again."""
    BOTH = "both"
    """The node between us is dead."""


class SetR(Message, frozen=True, gc=False):
    at: Ref
    level: int
    new: Ref
    cur: Ref
    seq: Seq
    kind: Kind
    request: int
    job: Message | None


class SetRAck(Message, frozen=True, gc=False):
    at: Ref
    level: int
    request: int
    seq: Seq
    neighbours: tuple[Ref, ...]
    note: bytes


class SetRNak(Message, frozen=True, gc=False):
    """Refused; ``right`` is the hint: who the right neighbour of the node asked is now (None: it is not in the ring)."""

    at: Ref
    level: int
    request: int
    right: Ref | None


class SetL(Message, frozen=True, gc=False):
    at: Ref
    level: int
    new: Ref
    seq: Seq
    neighbours: tuple[Ref, ...]


class PropagateNeighbours(Message, frozen=True, gc=False):
    """From a left neighbour: it, and who is left of it. To anybody else it says "I take you for my right neighbour"."""

    at: Ref
    level: int
    neighbours: tuple[Ref, ...]


class Candidate(Message, frozen=True, gc=False):
    """``ref`` may be a nearer left neighbour of yours: look at it (two rings that meet, see ``reunion``)."""

    at: Ref
    level: int
    ref: Ref


class Ping(Message, frozen=True, gc=False):
    """``held``: the asker's left pointer is ``at``, and its number is ``seq``."""

    at: Ref
    level: int
    source: Ref
    held: bool
    seq: Seq


class Pong(Message, frozen=True, gc=False):
    at: Ref
    level: int
    source: Ref
    status: Status
    right: Ref
    seq: Seq
    neighbours: tuple[Ref, ...]


class SetRDue(msgspec.Struct, frozen=True, gc=False):
    """Timer: no answer to SetR ``request``."""

    key: Key
    level: int
    request: int


class LeaveDue(msgspec.Struct, frozen=True, gc=False):
    """Timer: a refused leave is tried again."""

    key: Key
    level: int


class PingDue(msgspec.Struct, frozen=True, gc=False):
    """Timer: look at the left neighbour."""

    key: Key
    level: int


class PongDue(msgspec.Struct, frozen=True, gc=False):
    """Timer: ``candidate`` has not answered a Ping."""

    key: Key
    level: int
    candidate: Ref


def check_level(level: int) -> None:
    if not 0 <= level < LEVELS_MAX:
        raise Violation(f"level {level} out of bounds")


def check_seq(seq: Seq) -> None:
    if not 0 <= seq.repair < SEQ_LIMIT or not 0 <= seq.n < SEQ_LIMIT:
        raise Violation("sequence number out of bounds")


def check_neighbours(neighbours: tuple[Ref, ...]) -> None:
    if len(neighbours) > LEFT_NEIGHBOURS_MAX:
        raise Violation("too many neighbours")


def check_note(note: bytes) -> None:
    if len(note) > NOTE_BYTES_MAX:
        raise Violation("note too long")
