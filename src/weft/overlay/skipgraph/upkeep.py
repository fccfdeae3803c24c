"""How towers grow, are kept, and are taken down (overlay §6).

A node in level i walks right along it, asking each node that it comes to, until it meets one that shares i + 1 digits, and
inserts itself beside that one at level i + 1 by DDLL; then it walks along that level. Who shares the digits but is alone
with them founds the level's ring when it is asked. Of two walkers that meet, the one that has walked further wins: the
other stops, founds the ring, and takes the winner in; a loser that comes asking backs off (doubling, with jitter).

Rings of one level and prefix that arose apart (a race, a crash, a healed partition) are joined by the same walk, repeated
from time to time by nodes that are in the next level already: the first one it meets there should have the walker as its
left neighbour; if not, it looks at the walker, and the ring's own checks zip the two rings together. A node all of whose
left neighbours at a level are dead walks left along the level below. Each level is put right by the one below it.

One broker's keys share one vector: a walk ends at our own next key, which looks after what lies beyond, and the first of
our keys in a level's ring calls the others.
"""

from collections import Counter

from weft.core.errors import Violation
from weft.core.ids import NodeId
from weft.core.machine import Handlers, Outbox, TimerHandlers
from weft.overlay.api import Ref
from weft.overlay.keys import Key
from weft.overlay.local import Local
from weft.overlay.ring.geometry import fits
from weft.overlay.ring.machine import Ring
from weft.overlay.ring.messages import Status
from weft.overlay.ring.tables import Link
from weft.overlay.settings import Settings
from weft.overlay.skipgraph.geometry import common_prefix, goes_on, wins
from weft.overlay.skipgraph.messages import LonelyDue, Met, Step, StepDue, Stepped, WalkDue
from weft.overlay.skipgraph.tables import Tower, Walk

WALK_STEPS_MAX = 4_096
"""Brokers asked in one walk. Each is kin with probability 1/2, so only a few vectors can make it long."""

OWN_STEPS_MAX = 1_024
"""Nodes of our own that one Step is taken along without a message."""

CALM_LOOKS = 4
"""Looks, each twice as late as the one before, from a sign of disorder until the interval is reached again."""

BACKOFF_MAX = 6
"""Doublings of the wait after a walk that led to nothing."""


class Upkeep:
    """In: the ring's news, Step, Stepped, timers. Out: the same messages; inserts, checks and deletes at levels above 0."""

    def __init__(self, local: Local, ring: Ring, settings: Settings, vector: int) -> None:
        self._local = local
        self._ring = ring
        self._settings = settings
        self._vector = vector
        self.towers: dict[Key, Tower] = {}
        self._company: Counter[int] = Counter()
        """By level: how many of our nodes have a link there, in whatever state."""
        self._members: Counter[int] = Counter()
        """By level: how many of our nodes have come into the ring there."""
        self.handlers: Handlers = {Step: self.on_step, Stepped: self.on_stepped}
        self.timers: TimerHandlers = {
            StepDue: self.on_step_due,
            WalkDue: self.on_walk_due,
            LonelyDue: self.on_lonely_due,
        }

    # The ring's news

    def inserted(self, now: float, link: Link, out: Outbox) -> None:
        """A node is in a ring: on to the next level."""
        level = link.level
        if level == 0:
            self.towers[link.me.key] = Tower(link.me)
        tower = self.towers[link.me.key]
        self._members[level] += 1
        tower.refusals.pop(level - 1, None)
        if link.leaving or tower.leaving:
            return
        self._arm(now, tower, level)
        self._walk(now, tower, level, out)
        if level and self._members[level] == 1:
            for other in list(self.towers.values()):
                if other.top == level - 1:
                    self._walk(now, other, level - 1, out)

    def changed(self, now: float, link: Link) -> None:
        """A neighbour changed: if it is one of our own, there may be nobody else left."""
        if link.level and link.right.node == self._local.node:
            self._suspect(now, link.level)

    def refused(self, now: float, link: Link, out: Outbox) -> None:
        """An insertion failed: walk again, later."""
        self._removed(now, link, out)

    def deleted(self, now: float, link: Link, out: Outbox) -> None:
        """A node is out of a ring: on with the next level down, if it leaves."""
        self._members[link.level] -= 1
        if link.level:
            self._removed(now, link, out)
        else:
            tower = self.towers.pop(link.me.key)
            self._stop(tower, 0)

    def _removed(self, now: float, link: Link, out: Outbox) -> None:
        tower = self.towers[link.me.key]
        self._company[link.level] -= 1
        tower.top = link.level - 1
        tower.floors[link.level] = link.left_seq.repaired()
        tower.looks.pop(link.level, None)
        self._stop(tower, link.level)
        self._end_walk(tower, link.level - 1, rightward=False)
        if tower.leaving:
            self._descend(now, tower, out)
        else:
            self._end_walk(tower, link.level - 1, rightward=True)
            self._wait(now, tower, link.level - 1)

    def leave(self, now: float, link: Link, out: Outbox) -> None:
        """Take a node out of all its rings, from the top."""
        tower = self.towers.get(link.me.key)
        if tower is None:
            self._ring.delete(now, link, out)
            return
        tower.leaving = True
        for level in range(tower.top + 1):
            self._stop(tower, level)
        self._descend(now, tower, out)

    def _descend(self, now: float, tower: Tower, out: Outbox) -> None:
        self._ring.delete(now, self._ring.links[tower.top, tower.me.key], out)

    def _stop(self, tower: Tower, level: int) -> None:
        """No more walks along ``level``."""
        self._local.timers.cancel(WalkDue(tower.me.key, level))
        self._end_walk(tower, level, rightward=True)
        self._end_walk(tower, level, rightward=False)

    # Walking

    def _arm(self, now: float, tower: Tower, level: int) -> None:
        """The next look at ``level``: soon after a sign of disorder, or our coming, then twice as late each time."""
        interval = self._settings.walk_interval_s
        if interval is not None and level < self._settings.membership_digits:
            looks = tower.looks.get(level, 0)
            tower.looks[level] = min(looks + 1, CALM_LOOKS)
            wait = self._local.rng.uniform(0.75, 1.25) * interval / (1 << (CALM_LOOKS - min(looks, CALM_LOOKS)))
            self._local.timers.set(WalkDue(tower.me.key, level), now + wait)

    def _hurry(self, now: float, tower: Tower, level: int) -> None:
        """Two rings have met at ``level``: they may be two at the next level too."""
        if tower.top >= level and tower.looks.pop(level, 0) > 1:
            self._arm(now, tower, level)

    def _wait(self, now: float, tower: Tower, level: int) -> None:
        """Walk again, after a while."""
        refusals = tower.refusals.get(level, 0)
        tower.refusals[level] = refusals + 1
        mean = self._settings.retry_wait_s * (1 << min(refusals, BACKOFF_MAX))
        self._local.timers.set(WalkDue(tower.me.key, level), now + self._local.rng.uniform(0.5, 1.5) * mean)

    def on_walk_due(self, now: float, due: WalkDue, out: Outbox) -> None:
        tower = self.towers.get(due.key)
        if tower is not None and not tower.leaving:
            self._arm(now, tower, due.level)
            self._walk(now, tower, due.level, out)

    def _walk(self, now: float, tower: Tower, level: int, out: Outbox) -> None:
        """Look to the right for the next level: to get into it, or to see that it is whole."""
        link = self._member(level, tower.me)
        upper = self._ring.links.get((level + 1, tower.me.key))
        busy = (level, True) in tower.walks or (upper is not None and upper.status is not Status.IN)
        if link is None or tower.leaving or busy or level >= self._settings.membership_digits:
            return
        walk = tower.walks[level, True] = Walk(tower.me, level, rightward=True, asked=tower.me)
        self._go(now, tower, walk, link.right, out)

    def alone(self, now: float, link: Link, out: Outbox) -> None:
        """All that we know left of us at this level are dead: look along the level below."""
        tower = self.towers[link.me.key]
        below = link.level - 1
        lower = self._member(below, tower.me)
        if (below, False) not in tower.walks and lower is not None:
            walk = tower.walks[below, False] = Walk(tower.me, below, rightward=False, asked=tower.me)
            self._go(now, tower, walk, lower.left, out)

    def _go(self, now: float, tower: Tower, walk: Walk, following: Ref, out: Outbox) -> None:
        """On to ``following``: by message, or over our own nodes at once."""
        at = walk.asked
        while goes_on(tower.me.key, at.key, following.key, walk.rightward):
            if following.node != self._local.node:
                self._ask(now, tower, walk, following, out)
                return
            mine = self._member(walk.level, following)
            if mine is None:
                self._fail(now, tower, walk)
                return
            upper = self._member(walk.level + 1, following)
            if upper is not None:
                if walk.rightward and self._member(walk.level + 1, tower.me) is not None:
                    self._consider(now, upper, tower.me, out)
                self._mate(now, tower, walk, upper.me, upper.left, out)
                return
            if walk.rightward and not self.towers[following.key].leaving and not self._members[walk.level + 1]:
                break
            at, following = following, mine.right if walk.rightward else mine.left
        self._nobody(now, tower, walk, out)

    def _ask(self, now: float, tower: Tower, walk: Walk, to: Ref, out: Outbox) -> None:
        if walk.hops >= WALK_STEPS_MAX:
            self._local.count("skipgraph.walk.long", out, walk.me)
            self._end_walk(tower, walk.level, walk.rightward)
            return
        walk.asked = to
        walk.hops += 1
        walk.tries = 1
        walk.number = self._local.next_request()
        self._send(now, walk, out)

    def _send(self, now: float, walk: Walk, out: Outbox) -> None:
        due = StepDue(walk.me.key, walk.level, walk.rightward, walk.number)
        self._local.timers.set(due, now + self._settings.walk_timeout_s)
        member = self._member(walk.level + 1, walk.me) is not None
        step = Step(walk.asked, walk.level, walk.me, self._vector, member, walk.rightward, walk.hops, walk.number)
        out.send(walk.asked.node, step)

    def on_step_due(self, now: float, due: StepDue, out: Outbox) -> None:
        tower = self.towers.get(due.key)
        walk = None if tower is None else tower.walks.get((due.level, due.rightward))
        if tower is None or walk is None or walk.number != due.number:
            return
        if walk.tries < self._settings.request_tries:
            walk.tries += 1
            self._send(now, walk, out)
        else:
            self._fail(now, tower, walk)

    def on_stepped(self, now: float, source: NodeId, message: Stepped, out: Outbox) -> None:
        tower = self.towers.get(message.at.key)
        walk = None if tower is None else tower.walks.get((message.level, message.rightward))
        if tower is None or walk is None or tower.me != message.at or walk.number != message.number:
            return
        onward = message.source == walk.asked or goes_on(
            tower.me.key, walk.asked.key, message.source.key, walk.rightward
        )
        if walk.asked.node != source or message.source.node != source or not onward:
            raise Violation("answer to a step by another broker, or from where the walk has been")
        self._local.timers.cancel(StepDue(walk.me.key, walk.level, walk.rightward, walk.number))
        walk.asked = message.source
        if message.met is Met.MATE:
            self._mate(now, tower, walk, message.source, message.following, out)
        elif message.met in (Met.RIVAL, Met.LOST):
            self._fail(now, tower, walk)
        else:
            walk.kin = walk.kin or message.met is Met.KIN
            self._go(now, tower, walk, message.following, out)

    # How a walk ends

    def _end_walk(self, tower: Tower, level: int, rightward: bool) -> None:
        walk = tower.walks.pop((level, rightward), None)
        if walk is not None:
            self._local.timers.cancel(StepDue(walk.me.key, level, rightward, walk.number))

    def _fail(self, now: float, tower: Tower, walk: Walk) -> None:
        """Back off; a member just looks again at the next interval, and the ring asks again for its lost left neighbour."""
        self._end_walk(tower, walk.level, walk.rightward)
        if walk.rightward and tower.top == walk.level:
            self._wait(now, tower, walk.level)

    def _mate(self, now: float, tower: Tower, walk: Walk, mate: Ref, left: Ref, out: Outbox) -> None:
        """``mate`` is in the next level's ring, right of ``left`` there."""
        level = walk.level + 1
        upper = self._ring.links.get((level, tower.me.key))
        if upper is None and not (walk.rightward and fits(left, tower.me, mate)):
            self._fail(now, tower, walk)  # somebody is inserting itself between us just now
            return
        self._end_walk(tower, walk.level, walk.rightward)
        if upper is None:
            self._company[level] += 1
            tower.top = level
            self._ring.insert(now, level, tower.me, left, mate, out, tower.floor(level))
        elif not walk.rightward:
            self._ring.upkeep.check(now, upper, mate, out)
        elif left != tower.me:
            self._hurry(now, tower, level)

    def _nobody(self, now: float, tower: Tower, walk: Walk, out: Outbox) -> None:
        """The walk has been all the way round, or as far as our next key."""
        if walk.kin:
            self._fail(now, tower, walk)
            return
        self._end_walk(tower, walk.level, walk.rightward)
        upper = self._ring.links.get((walk.level + 1, tower.me.key))
        if walk.rightward:
            tower.refusals.pop(walk.level, None)
        elif upper is not None:
            self._ring.upkeep.isolate(now, upper, out)

    # Being asked

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
        out.send(
            source,
            Stepped(message.origin, message.level, message.rightward, message.number, at, met, following),
        )

    def _meet(self, now: float, link: Link, message: Step, out: Outbox) -> tuple[Ref, Met, Ref]:
        """Answer for ``link``, and for our own nodes directly behind it."""
        level = message.level
        kin = common_prefix(self._vector, message.vector, self._settings.membership_digits) > level
        at: Link | None = link
        last, following = link, link.me
        for _ in range(OWN_STEPS_MAX):
            if at is None or not (at is link or goes_on(message.origin.key, last.me.key, at.me.key, message.rightward)):
                break
            last, following = at, at.right if message.rightward else at.left
            upper = self._member(level + 1, at.me) if kin else None
            if upper is not None:
                if message.member and message.rightward:
                    self._consider(now, upper, message.origin, out)
                return upper.me, Met.MATE, upper.left
            at = self._ring.find(following, level) if following.node == self._local.node else None
        if not kin:
            return last.me, Met.NOBODY, following
        return self._kin(now, link, message, out) or (last.me, Met.KIN, following)

    def _kin(self, now: float, link: Link, message: Step, out: Outbox) -> tuple[Ref, Met, Ref] | None:
        """A walker of our next level, where ``link``'s node is not yet: found its ring, or get in, or say who goes first."""
        tower = self.towers[link.me.key]
        level = message.level
        if link.status is not Status.IN or tower.leaving:
            return None
        if message.member or self._company[level + 1]:
            if message.member and tower.top == level:
                self._walk(now, tower, level, out)
            return None
        walk = tower.walks.get((level, True))
        if walk is not None and not wins((message.hops, message.origin.key), (walk.hops, tower.me.key)):
            return link.me, Met.RIVAL, link.me
        self._end_walk(tower, level, rightward=True)
        self._company[level + 1] += 1
        tower.top = level + 1
        self._ring.found(now, level + 1, tower.me, out, tower.floor(level + 1))
        self._suspect(now, level + 1)
        return link.me, Met.MATE, link.me

    def _consider(self, now: float, link: Link, walker: Ref, out: Outbox) -> None:
        """``walker`` is in our ring, or should be, and nobody of it is between us: our left neighbour."""
        if link.left != walker:
            self._ring.upkeep.consider(now, link, walker, out)
            self._hurry(now, self.towers[link.me.key], link.level)

    def _member(self, level: int, ref: Ref) -> Link | None:
        """Our node's link at ``level``, if it is in that ring for good."""
        link = self._ring.find(ref, level)
        return link if link is not None and link.status is Status.IN else None

    # Nobody but us

    def _suspect(self, now: float, level: int) -> None:
        """Look, once an insertion under way must have ended, whether a ring still holds others than us."""
        if LonelyDue(level) not in self._local.timers:
            wait = self._settings.request_timeout_s * (self._settings.request_tries + 1)
            self._local.timers.set(LonelyDue(level), now + wait)

    def on_lonely_due(self, now: float, due: LonelyDue, out: Outbox) -> None:
        """A ring that holds only our own keys ends our height (overlay §6)."""
        links = self._ring.links
        towers = [tower for tower in self.towers.values() if tower.top >= due.level]
        if any(links[due.level, tower.me.key].right.node != self._local.node for tower in towers):
            return
        above = [links[level, tower.me.key] for tower in towers for level in range(tower.top, due.level - 1, -1)]
        if any(link.status is not Status.IN or link.request is not None for link in above):
            self._suspect(now, due.level)
            return
        for link in above:
            if self._member(link.level, link.me) is link:  # one that leaves may be further down already
                self._ring.drop(now, link, out)
