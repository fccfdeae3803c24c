"""What happened, step by step: the trace hash, and the records that stories are told from.

Levels: OFF keeps nothing; DIGEST hashes each step (time, source, destination, message content); FULL does that and keeps
the last ``steps_max`` steps with their notes (what was delivered upward, persisted, traced or dropped in them).

Invariants: two runs with equal hashes handled the same steps at the same times with the same contents, whatever
``PYTHONHASHSEED`` was; a step's cause is an earlier step, or 0; memory is bounded by ``steps_max``.
"""

from enum import Enum
from hashlib import blake2b
from typing import NamedTuple

from weft.core.errors import Misuse
from weft.core.ids import NodeId
from weft.core.machine import Message
from weft.sim.des.encoding import append

STEPS_MAX = 200_000
"""Steps kept by a full trace; the oldest go first."""

_FLUSH_BYTES = 1 << 16


class Level(Enum):
    OFF = "off"
    DIGEST = "digest"
    FULL = "full"


class Note(NamedTuple):
    """Something that happened in a step: ``kind`` is delivered | persisted | dropped | delayed | doubled | a record's own."""

    kind: str
    subject: object
    detail: object = None


class Step(NamedTuple):
    """One event. ``kind`` is message | timer | command | action; ``what`` is the message, or the action's label."""

    id: int
    cause: int
    time: float
    kind: str
    node: NodeId | None
    source: NodeId | None
    what: Message | str | None
    links: int
    notes: list[Note]


class Trace:
    """In: one call per step, and ``note`` for what happens in it. Out: ``hash``, ``get``, ``steps``."""

    def __init__(self, level: Level = Level.DIGEST, steps_max: int = STEPS_MAX) -> None:
        if steps_max < 1:
            raise Misuse(f"a trace keeps at least one step, not {steps_max}")
        self.level = level
        self.keeps = level is Level.FULL
        self.steps_max = steps_max
        self._buffer = bytearray()
        self._hash = blake2b(digest_size=16)
        self._kept: list[Step] = []
        self._oldest = 0

    def message(
        self, id_: int, cause: int, now: float, source: NodeId, to: NodeId, message: Message, links: int
    ) -> None:
        """Step ``id_`` is the arrival of ``message``."""
        append(self._buffer, (now, source, to, message))
        if len(self._buffer) > _FLUSH_BYTES:
            self._flush()
        if self.keeps:
            self._keep(Step(id_, cause, now, "message", to, source, message, links, []))

    def other(self, id_: int, cause: int, now: float, kind: str, node: NodeId | None, label: str | None) -> None:
        """Step ``id_`` is a timer, a command or an action."""
        append(self._buffer, (now, kind, node, label))
        if self.keeps:
            self._keep(Step(id_, cause, now, kind, node, None, label, 0, []))

    def dropped(self, now: float, source: NodeId, to: NodeId, message: Message) -> None:
        """A message ended without arriving."""
        append(self._buffer, (now, source, to, message, "dropped"))

    def note(self, step: int, kind: str, subject: object, detail: object = None) -> None:
        """Something happened in ``step``; forgotten with it."""
        kept = self.get(step)
        if kept is not None:
            kept.notes.append(Note(kind, subject, detail))

    def _keep(self, step: Step) -> None:
        if len(self._kept) < self.steps_max:
            self._kept.append(step)
        else:
            self._kept[self._oldest] = step
            self._oldest = (self._oldest + 1) % self.steps_max

    def get(self, id_: int) -> Step | None:
        """Step ``id_``, if it is still kept: ids are consecutive, so its place is known."""
        if not self._kept:
            return None
        behind = id_ - self._kept[self._oldest].id
        if not 0 <= behind < len(self._kept):
            return None
        return self._kept[(self._oldest + behind) % len(self._kept)]

    def steps(self) -> list[Step]:
        """The steps that are kept, in order."""
        return self._kept[self._oldest :] + self._kept[: self._oldest]

    def hash(self) -> str:
        """The trace hash of the run so far, 32 hexadecimal digits."""
        self._flush()
        return self._hash.hexdigest()

    def _flush(self) -> None:
        self._hash.update(self._buffer)
        self._buffer.clear()
