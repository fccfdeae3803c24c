"""Walking along a level, from node to node, until somebody of the next level is met.

One step is one question and its answer (``upkeep`` answers). Steps over our own nodes cost no message, and a walk to the
right ends at our own next key, which looks after what lies beyond, unless we are in the next level with other keys already.
"""

from typing import Protocol

from weft.core.errors import Violation
from weft.core.ids import NodeId
from weft.core.machine import Handlers, Outbox, TimerHandlers
from weft.overlay.api import Ref
from weft.overlay.local import Local
from weft.overlay.ring.messages import Status
from weft.overlay.ring.tables import Link
from weft.overlay.settings import Settings
from weft.overlay.skipgraph.geometry import goes_on
from weft.overlay.skipgraph.messages import Met, Step, StepDue, Stepped
from weft.overlay.skipgraph.tables import Tower, Towers, Walk

WALK_STEPS_MAX = 4_096
"""Brokers asked in one walk. Each is kin with probability 1/2, so only vectors of few kinds can make it long."""


class WalksUser(Protocol):
    """Who wants to know how a walk ended; it is over when these are called."""

    def walk_met(self, now: float, tower: Tower, walk: Walk, mate: Ref, left: Ref, out: Outbox) -> None:
        """``mate`` is in the next level's ring, and ``left`` is left of it there."""

    def walk_failed(self, now: float, tower: Tower, walk: Walk) -> None:
        """Something is in the way: try again later."""

    def walk_round(self, now: float, tower: Tower, walk: Walk, out: Outbox) -> None:
        """All the way round, or as far as our next key, and nobody is in the next level's ring."""

    def is_silent(self, now: float, node: NodeId) -> bool:
        """Has ``node`` just failed to answer?"""

    def consider(self, now: float, link: Link, walker: Ref, out: Outbox) -> None:
        """``walker`` is a member that met our ``link`` of its next level first."""


class Walks:
    """In: ``right``, ``left``, Stepped, StepDue. Out: Step; ``WalksUser`` hears each walk's end exactly once."""

    def __init__(self, local: Local, settings: Settings, vector: int, towers: Towers, user: WalksUser) -> None:
        self._local = local
        self._settings = settings
        self._vector = vector
        self._towers = towers
        self._user = user
        self.handlers: Handlers = {Stepped: self.on_stepped}
        self.timers: TimerHandlers = {StepDue: self.on_step_due}

    def right(self, now: float, tower: Tower, level: int, out: Outbox) -> None:
        """Look to the right for the next level: to get into it, or to see that it is whole."""
        link = self._towers.member(level, tower.me)
        upper = self._towers.link(level + 1, tower)
        busy = (level, True) in tower.walks or (upper is not None and upper.status is not Status.IN)
        if link is not None and not tower.leaving and not busy and level < self._settings.membership_digits:
            self._start(now, tower, level, link.right, True, out)

    def left(self, now: float, tower: Tower, level: int, out: Outbox) -> None:
        """Look to the left for a live neighbour in the next level."""
        link = self._towers.member(level, tower.me)
        if link is not None and (level, False) not in tower.walks:
            self._start(now, tower, level, link.left, False, out)

    def _start(self, now: float, tower: Tower, level: int, first: Ref, rightward: bool, out: Outbox) -> None:
        walk = tower.walks[level, rightward] = Walk(tower.me, level, rightward, tower.me)
        self._go(now, tower, walk, first, out)

    def end(self, tower: Tower, level: int, rightward: bool) -> None:
        """Call a walk off, if there is one."""
        walk = tower.walks.pop((level, rightward), None)
        if walk is not None:
            self._local.timers.cancel(StepDue(walk.me.key, level, rightward, walk.number))

    def _go(self, now: float, tower: Tower, walk: Walk, following: Ref, out: Outbox) -> None:
        """On to ``following``: by message, or over our own nodes at once."""
        at, towers = walk.asked, self._towers
        while goes_on(tower.me.key, at.key, following.key, walk.rightward):
            if following.node != self._local.node:
                self._ask(now, tower, walk, following, out)
                return
            mine = towers.member(walk.level, following)
            other = towers.get(following)
            if mine is None or other is None:
                self._fail(now, tower, walk)
                return
            upper = towers.member(walk.level + 1, following)
            if upper is not None:
                if walk.rightward and towers.member(walk.level + 1, tower.me) is not None:
                    self._user.consider(now, upper, tower.me, out)
                self._met(now, tower, walk, upper.me, upper.left, out)
                return
            if walk.rightward and not other.leaving and not towers.members[walk.level + 1]:
                break
            at, following = following, mine.right if walk.rightward else mine.left
        self._round(now, tower, walk, out)

    def _ask(self, now: float, tower: Tower, walk: Walk, to: Ref, out: Outbox) -> None:
        if walk.hops >= WALK_STEPS_MAX:
            self._local.count("skipgraph.walk.long", out, walk.me)
            self._round(now, tower, walk, out)
            return
        if self._user.is_silent(now, to.node):
            self._fail(now, tower, walk)
            return
        walk.asked = to
        walk.hops += 1
        walk.tries = 1
        walk.number = self._local.next_request()
        self._send(now, walk, out)

    def _send(self, now: float, walk: Walk, out: Outbox) -> None:
        due = StepDue(walk.me.key, walk.level, walk.rightward, walk.number)
        self._local.timers.set(due, now + self._settings.walk_timeout_s)
        standing = self._towers.standing(walk.level + 1, walk.me)
        step = Step(walk.asked, walk.level, walk.me, self._vector, standing, walk.rightward, walk.hops, walk.number)
        out.send(walk.asked.node, step)

    def on_step_due(self, now: float, due: StepDue, out: Outbox) -> None:
        tower = self._towers.by_key[due.key]
        walk = tower.walks[due.level, due.rightward]
        if walk.tries < self._settings.request_tries:
            walk.tries += 1
            self._send(now, walk, out)
        else:
            self._fail(now, tower, walk)

    def on_stepped(self, now: float, source: NodeId, message: Stepped, out: Outbox) -> None:
        tower = self._towers.get(message.at)
        walk = None if tower is None else tower.walks.get((message.level, message.rightward))
        if tower is None or walk is None or walk.number != message.number:
            self._local.counts["skipgraph.stepped.late"] += 1
            return
        behind = message.source
        onward = behind == walk.asked or goes_on(tower.me.key, walk.asked.key, behind.key, walk.rightward)
        if walk.asked.node != source or behind.node != source or not onward:
            raise Violation("answer to a step by another broker, or from where the walk has been")
        self._local.timers.cancel(StepDue(walk.me.key, walk.level, walk.rightward, walk.number))
        walk.asked = behind
        if message.met is Met.MATE:
            self._met(now, tower, walk, behind, message.following, out)
        elif message.met in (Met.RIVAL, Met.LOST):
            self._fail(now, tower, walk)
        else:
            walk.kin = walk.kin or message.met is Met.KIN
            self._go(now, tower, walk, message.following, out)

    def _met(self, now: float, tower: Tower, walk: Walk, mate: Ref, left: Ref, out: Outbox) -> None:
        self.end(tower, walk.level, walk.rightward)
        self._user.walk_met(now, tower, walk, mate, left, out)

    def _round(self, now: float, tower: Tower, walk: Walk, out: Outbox) -> None:
        self.end(tower, walk.level, walk.rightward)
        self._user.walk_round(now, tower, walk, out)

    def _fail(self, now: float, tower: Tower, walk: Walk) -> None:
        self.end(tower, walk.level, walk.rightward)
        self._user.walk_failed(now, tower, walk)
