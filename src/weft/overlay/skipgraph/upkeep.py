"""How towers grow, are kept, and are taken down (overlay §6).

A node in level i walks right (``walks``, ``answers``) until it meets one that shares i + 1 digits, and inserts itself beside
that one at level i + 1 by DDLL; then it walks along that level. Who shares the digits but is alone with them founds the
level's ring when it is asked. Of two walkers that meet, the one that has walked further wins: the other stops, founds the
ring, and takes the winner in; a loser that comes asking backs off (doubling, with jitter).

Rings of one level and prefix that arose apart (a race, a crash, a healed partition) are joined by the same walk, repeated
from time to time by nodes that are in the next level already: the first one it meets there should have the walker as its
left neighbour; if not, it looks at the walker, and the ring's own checks zip the two rings together. A node all of whose
left neighbours at a level are dead walks left along the level below. So each level is put right by the one below it.

One broker's keys share one vector: the first of our keys that has company in a level's ring calls the others.
"""

from weft.core.ids import NodeId
from weft.core.machine import Handlers, Outbox, TimerHandlers
from weft.overlay.api import Ref
from weft.overlay.contacts import Contacts
from weft.overlay.local import Local
from weft.overlay.ring.geometry import fits
from weft.overlay.ring.machine import Ring
from weft.overlay.ring.messages import Status
from weft.overlay.ring.tables import Link
from weft.overlay.settings import Settings
from weft.overlay.skipgraph.answers import Answers
from weft.overlay.skipgraph.messages import LonelyDue, WalkDue
from weft.overlay.skipgraph.tables import Tower, Towers, Walk
from weft.overlay.skipgraph.walks import Walks

CALM_LOOKS = 4
"""Looks, each twice as late as the one before, from a sign of disorder until the interval is reached again."""

BACKOFF_MAX = 6
"""Doublings of the wait after a walk that led to nothing."""


class Upkeep:
    """In: the ring's news, how walks end, what walkers find, timers. Out: walks; inserts, checks, deletes above level 0."""

    def __init__(self, local: Local, contacts: Contacts, ring: Ring, settings: Settings, vector: int) -> None:
        self._local = local
        self._contacts = contacts
        self._ring = ring
        self._settings = settings
        self.towers = Towers(ring)
        self._presets = False
        self._empty: set[int] = set()
        """Levels where we have founded a ring, and nobody has come yet."""
        self._walks = Walks(local, settings, vector, self.towers, self)
        answers = Answers(local, settings, vector, ring, self.towers, self._walks, self)
        self.handlers: Handlers = {**answers.handlers, **self._walks.handlers}
        self.timers: TimerHandlers = {
            WalkDue: self.on_walk_due,
            LonelyDue: self.on_lonely_due,
            **self._walks.timers,
        }

    def preset(self, now: float, link: Link, out: Outbox) -> None:
        """Take over a link that is in its ring: how a simulation starts with rings that are whole. From level 0 up."""
        if link.level:
            self.towers.by_key[link.me.key].rise()
            self.towers.company[link.level] += 1
        self._presets = True
        self._ring.adopt(now, link, out)
        self._presets = False

    # The ring's news

    def inserted(self, now: float, link: Link, out: Outbox) -> None:
        """A node is in a ring: on to the next level."""
        level, towers = link.level, self.towers
        if level == 0:
            towers.by_key[link.me.key] = Tower(link.me)
        tower = towers.by_key[link.me.key]
        towers.members[level] += 1
        tower.refusals.pop((level - 1, True), None)
        tower.leaving = tower.leaving or link.leaving  # told to leave while on its way in: it grows no further
        if tower.leaving:
            return
        if self._presets:
            tower.looks[level] = CALM_LOOKS
            self._arm(now, tower, level)
        else:
            self._arm(now, tower, level)
            self._walks.right(now, tower, level, out)

    def changed(self, now: float, link: Link, out: Outbox) -> None:
        """A neighbour changed: there is company, or perhaps there is none any more; or the way to the left is free."""
        if link.level and link.right.node == self._local.node:
            self._suspect(now, link.level)
        elif link.level and not self._presets and (link.level in self._empty or self.towers.members[link.level] == 1):
            self._empty.discard(link.level)
            for other in self.towers.below(link.level):
                self._walks.right(now, other, link.level - 1, out)
        tower = self.towers.by_key.get(link.me.key)
        if tower is not None and link.level + 1 in tower.lost:
            self._walks.end(tower, link.level, rightward=False)
            self._look_left(now, tower, link.level, out)

    def refused(self, now: float, link: Link, out: Outbox) -> None:
        """An insertion failed: walk again, later."""
        self._removed(now, link, out)

    def deleted(self, now: float, link: Link, out: Outbox) -> None:
        """A node is out of a ring: on with the next level down, if it leaves."""
        self.towers.members[link.level] -= 1
        if link.level:
            self._removed(now, link, out)
        else:
            self._stop(self.towers.by_key.pop(link.me.key), 0)

    def _removed(self, now: float, link: Link, out: Outbox) -> None:
        tower = self.towers.by_key[link.me.key]
        self.towers.company[link.level] -= 1
        tower.sink(link)
        self._stop(tower, link.level)
        self._walks.end(tower, tower.top, rightward=False)
        if tower.leaving:
            self._descend(now, tower, out)
        else:
            self._walks.end(tower, tower.top, rightward=True)
            self._wait(now, tower, tower.top, rightward=True)

    def alone(self, now: float, link: Link, out: Outbox) -> None:
        """All that we know left of us at this level are dead: look along the level below."""
        tower = self.towers.by_key[link.me.key]
        tower.lost[link.level] = link.left
        self._look_left(now, tower, link.level - 1, out)

    def _look_left(self, now: float, tower: Tower, level: int, out: Outbox) -> None:
        """Walk left for a neighbour one level up, if it is still wanted."""
        upper = self.towers.link(level + 1, tower)
        if upper is None or upper.left != tower.lost.get(level + 1):
            tower.found_left(level + 1)
        else:
            self._walks.left(now, tower, level, out)

    def leave(self, now: float, link: Link, out: Outbox) -> None:
        """Take a node out of all its rings, from the top."""
        tower = self.towers.get(link.me)
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
        self._local.timers.cancel(WalkDue(tower.me.key, level, rightward=True))
        self._local.timers.cancel(WalkDue(tower.me.key, level, rightward=False))
        self._walks.end(tower, level, rightward=True)
        self._walks.end(tower, level, rightward=False)

    # When to walk

    def _arm(self, now: float, tower: Tower, level: int) -> None:
        """The next look at ``level``: soon after a sign of disorder, or our coming, then twice as late each time."""
        interval = self._settings.walk_interval_s
        if interval is not None and level < self._settings.membership_digits and not tower.leaving:
            looks = tower.looks.get(level, 0)
            tower.looks[level] = min(looks + 1, CALM_LOOKS)
            wait = self._local.rng.uniform(0.75, 1.25) * interval / (1 << (CALM_LOOKS - looks))
            self._local.timers.set(WalkDue(tower.me.key, level, rightward=True), now + wait)

    def _hurry(self, now: float, tower: Tower, level: int) -> None:
        """Two rings have met at ``level``: they may be two at the next level too."""
        if tower.top >= level and tower.looks.get(level, 0) > 1:
            tower.looks[level] = 0
            self._arm(now, tower, level)

    def _wait(self, now: float, tower: Tower, level: int, rightward: bool) -> None:
        """Walk again, after a while; who leaves walks no more, and a timer would outlive its tower."""
        if tower.leaving:
            return
        refusals = tower.refusals.get((level, rightward), 0)
        tower.refusals[level, rightward] = refusals + 1
        mean = self._settings.retry_wait_s * (1 << min(refusals, BACKOFF_MAX))
        due = WalkDue(tower.me.key, level, rightward)
        self._local.timers.set(due, now + self._local.rng.uniform(0.5, 1.5) * mean)

    def on_walk_due(self, now: float, due: WalkDue, out: Outbox) -> None:
        tower = self.towers.by_key[due.key]
        if due.rightward:
            self._arm(now, tower, due.level)
            self._walks.right(now, tower, due.level, out)
        else:
            self._look_left(now, tower, due.level, out)

    # How a walk ends

    def walk_met(self, now: float, tower: Tower, walk: Walk, mate: Ref, left: Ref, out: Outbox) -> None:
        """Insert ourselves left of ``mate``; or, if we are in, see that it agrees who is left of it."""
        upper = self.towers.link(walk.level + 1, tower)
        if upper is not None:
            if not walk.rightward:
                tower.found_left(upper.level)
                self._ring.upkeep.check(now, upper, mate, out)
            elif left != tower.me:
                self._hurry(now, tower, upper.level)
        elif walk.rightward and fits(left, tower.me, mate):
            level, seq = tower.rise()
            self.towers.company[level] += 1
            self._ring.insert(now, level, tower.me, left, mate, out, seq)
        else:
            self.walk_failed(now, tower, walk)  # somebody is inserting itself between us just now

    def walk_failed(self, now: float, tower: Tower, walk: Walk) -> None:
        """Back off; a member that looks whether all is well just looks again when it is due."""
        if not walk.rightward or tower.top == walk.level:
            self._wait(now, tower, walk.level, walk.rightward)

    def walk_round(self, now: float, tower: Tower, walk: Walk, out: Outbox) -> None:
        """Our height ends here, unless somebody is just on the way up; or nobody is left of the ring that we are in."""
        upper = self.towers.link(walk.level + 1, tower)
        if walk.rightward and walk.kin:
            self.walk_failed(now, tower, walk)
        elif walk.rightward:
            tower.refusals.pop((walk.level, True), None)
        elif upper is not None:
            tower.found_left(upper.level)
            self._ring.upkeep.isolate(now, upper, out)

    def found(self, now: float, tower: Tower, out: Outbox) -> None:
        """Be the first of the next level's ring; if nobody follows, that is undone. Our other keys are called when one does."""
        for other in self.towers.below(tower.top + 1):
            self._walks.end(other, tower.top, rightward=True)
        level, seq = tower.rise()
        self.towers.company[level] += 1
        self._empty.add(level)
        self._ring.found(now, level, tower.me, out, seq)
        self._suspect(now, level)

    def is_silent(self, now: float, node: NodeId) -> bool:
        return self._contacts.is_shunned(node, now)

    def consider(self, now: float, link: Link, walker: Ref, out: Outbox) -> None:
        """``walker`` is in our ring, or should be, and nobody of it is between us: our left neighbour."""
        if link.left != walker:
            self._ring.upkeep.consider(now, link, walker, out)
            self._hurry(now, self.towers.by_key[link.me.key], link.level)

    # Nobody but us

    def _suspect(self, now: float, level: int) -> None:
        """Look, once an insertion under way must have ended, whether a ring still holds others than us."""
        if LonelyDue(level) not in self._local.timers:
            wait = self._settings.request_timeout_s * (self._settings.request_tries + 1)
            self._local.timers.set(LonelyDue(level), now + wait)

    def on_lonely_due(self, now: float, due: LonelyDue, out: Outbox) -> None:
        """A ring that holds only our own keys ends our height (overlay §6)."""
        links = self._ring.links
        towers = [tower for tower in self.towers if tower.top >= due.level]
        if not towers or any(links[due.level, tower.me.key].right.node != self._local.node for tower in towers):
            return
        above = [links[level, tower.me.key] for tower in towers for level in range(tower.top, due.level - 1, -1)]
        if any(link.status is not Status.IN or link.request is not None for link in above):
            self._suspect(now, due.level)
            return
        self._empty.discard(due.level)
        for tower in self.towers.below(due.level):
            self._wait(now, tower, due.level - 1, rightward=True)
        for link in above:
            if self._ring.find(link.me, link.level) is link:  # one that leaves may be further down already
                self._ring.drop(now, link, out)
