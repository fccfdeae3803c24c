"""What a walker along a level is told: the other side of ``walks``."""

from typing import Protocol

from weft.core.errors import Violation
from weft.core.ids import NodeId
from weft.core.machine import Handlers, Outbox
from weft.overlay.api import Ref
from weft.overlay.local import Local
from weft.overlay.ring.machine import Ring
from weft.overlay.ring.messages import Status
from weft.overlay.ring.tables import Link
from weft.overlay.settings import Settings
from weft.overlay.skipgraph.geometry import common_prefix, goes_on, wins
from weft.overlay.skipgraph.messages import Met, Standing, Step, Stepped
from weft.overlay.skipgraph.tables import Tower, Towers
from weft.overlay.skipgraph.walks import WALK_STEPS_MAX, Walks

OWN_STEPS_MAX = 1_024
"""Nodes of our own that one Step is taken along without a message."""


class AnswersUser(Protocol):
    """What a walker that comes by gives reason to do."""

    def consider(self, now: float, link: Link, walker: Ref, out: Outbox) -> None: ...

    def found(self, now: float, tower: Tower, out: Outbox) -> None: ...


class Answers:
    """In: Step. Out: Stepped, exactly one for each."""

    def __init__(
        self,
        local: Local,
        settings: Settings,
        vector: int,
        ring: Ring,
        towers: Towers,
        walks: Walks,
        user: AnswersUser,
    ) -> None:
        self._local = local
        self._settings = settings
        self._vector = vector
        self._ring = ring
        self._towers = towers
        self._walks = walks
        self._user = user
        self.handlers: Handlers = {Step: self.on_step}

    def on_step(self, now: float, source: NodeId, message: Step, out: Outbox) -> None:
        digits = self._settings.membership_digits
        if not 0 <= message.level < digits or not 0 <= message.vector < 1 << digits:
            raise Violation("level or membership vector out of bounds")
        if message.origin.node != source or not 1 <= message.hops <= WALK_STEPS_MAX:
            raise Violation("a step of another broker's node, or a walk too long")
        link = self._ring.find(message.at, message.level)
        if link is None or link.status is Status.INS or message.at.key == message.origin.key:
            at, met, following = message.at, Met.LOST, message.at
        else:
            at, met, following = self._meet(now, link, message, out)
        answer = Stepped(message.origin, message.level, message.rightward, message.number, at, met, following)
        out.send(source, answer)

    def _meet(self, now: float, link: Link, message: Step, out: Outbox) -> tuple[Ref, Met, Ref]:
        """Answer for ``link``, and for our own nodes directly behind it."""
        level, origin = message.level, message.origin
        kin = common_prefix(self._vector, message.vector, self._settings.membership_digits) > level
        last, following = link, link.me
        for _ in range(OWN_STEPS_MAX):
            upper = self._towers.member(level + 1, last.me) if kin else None
            if upper is not None:
                if message.standing is Standing.SELF and message.rightward:
                    self._user.consider(now, upper, origin, out)
                elif upper.left == origin and message.standing is not Standing.SELF:
                    self._ring.upkeep.check(now, upper, origin, out)  # it has been out of the ring, and we did not hear
                return upper.me, Met.MATE, upper.left
            following = last.right if message.rightward else last.left
            behind = self._ring.find(following, level) if following.node == self._local.node else None
            if behind is None or not goes_on(origin.key, last.me.key, following.key, message.rightward):
                break
            last = behind
        if not kin:
            return last.me, Met.NOBODY, following
        return self._kin(now, link, message, out) or (last.me, Met.KIN, following)

    def _kin(self, now: float, link: Link, message: Step, out: Outbox) -> tuple[Ref, Met, Ref] | None:
        """A walker of our next level, where ``link``'s node is not yet: found its ring, or get in, or say who goes first."""
        tower = self._towers.by_key[link.me.key]
        level = message.level
        if link.status is not Status.IN or tower.leaving or tower.top != level:
            return None
        if message.standing is not Standing.NONE:
            self._walks.right(now, tower, level, out)
            return None
        if self._towers.company[level + 1]:
            return None
        ours = [walk for other in self._towers.below(level + 1) if (walk := other.walks.get((level, True)))]
        if not all(wins((message.hops, message.origin.key), (walk.hops, walk.me.key)) for walk in ours):
            return link.me, Met.RIVAL, link.me
        self._user.found(now, tower, out)
        return link.me, Met.MATE, link.me
