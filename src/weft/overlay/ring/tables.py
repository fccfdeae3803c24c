"""What one virtual node knows of its ring: DDLL's variables, and the state of what it has under way."""

from dataclasses import dataclass, field
from typing import Protocol

from weft.core.ids import NodeId
from weft.core.limits import LEFT_NEIGHBOURS_MAX
from weft.core.machine import Message, Outbox
from weft.overlay.api import Ref
from weft.overlay.ring.messages import FIRST, Kind, Seq, SetRAck, SetRNak, Status

ANSWERS_MAX = 16
"""Answers to SetRs kept per link, so that a repeated SetR gets the same one."""

CHECK_STEPS_MAX = 64
"""Nodes looked at in one check; then the next ping starts afresh."""


@dataclass(slots=True)
class Request:
    """Our SetR under way: one at a time per link."""

    number: int
    asked: Ref
    cur: Ref
    new: Ref
    seq: Seq
    kind: Kind
    job: Message | None
    tries: int = 1


@dataclass(slots=True)
class Check:
    """A walk towards the nearest live left neighbour. ``via`` is the live node that pointed at ``candidate``, if one did."""

    candidate: Ref
    via: Ref | None
    dead: tuple[Ref, ...] = ()
    tries: int = 1
    steps: int = 0


@dataclass(slots=True)
class Link:
    """Invariants I1–I5 of overlay §2 are about these fields; ``sim/invariants`` checks them after every event."""

    me: Ref
    level: int
    status: Status
    left: Ref
    right: Ref
    left_seq: Seq = FIRST
    right_seq: Seq = FIRST
    lefts: tuple[Ref, ...] = ()
    """Known nodes to the left, nearest first; a live node's whole list, never edited but by a live node's (Zave)."""
    note: bytes = b""
    leaving: bool = False
    job: Message | None = None
    refusals: int = 0
    ticks: int = 0
    request: Request | None = None
    check: Check | None = None
    answers: dict[tuple[Ref, int], SetRAck | SetRNak] = field(default_factory=dict)

    def for_right(self) -> tuple[Ref, ...]:
        """The left-neighbour list of whoever is right of us."""
        return (self.me, *self.lefts)[:LEFT_NEIGHBOURS_MAX]

    def remember(self, asker: Ref, number: int, answer: SetRAck | SetRNak) -> None:
        self.answers[asker, number] = answer
        if len(self.answers) > ANSWERS_MAX:
            del self.answers[next(iter(self.answers))]


class RingUser(Protocol):
    """What the overlay above hears of its links."""

    def ring_joined(self, now: float, link: Link, note: bytes, out: Outbox) -> None: ...

    def ring_refused(self, now: float, link: Link, out: Outbox) -> None:
        """The insertion failed and its link is gone: look the place up again."""

    def ring_left(self, now: float, link: Link, out: Outbox) -> None: ...

    def ring_changed(self, now: float, link: Link, out: Outbox) -> None:
        """``left``, ``right`` or ``lefts`` changed."""

    def ring_job(self, now: float, link: Link, source: NodeId, job: Message, out: Outbox) -> None:
        """A job rode on an accepted SetR: runs in the same step."""

    def ring_leave_job(self, link: Link) -> Message | None:
        """What the left neighbour should do when it takes this node out."""

    def ring_dead(self, now: float, ref: Ref, out: Outbox) -> None:
        """``ref`` does not answer: dead, or cut off from us."""

    def ring_silent(self, now: float, node: NodeId) -> bool:
        """Has ``node`` failed to answer, a moment ago, whichever of our links asked?"""

    def ring_alone(self, now: float, link: Link, out: Outbox) -> None:
        """No known node to the left is alive: find one (``Ring.suggest``), or give up (``Ring.isolate``)."""
