"""Failure detection and repair: each node looks at its left, and only the right neighbour of a dead node repairs (overlay §2).

A check starts at the left pointer and ends where a live node's right pointer is settled with us: held, walked along,
repaired over the dead, or inserted anew (``geometry.judge``). Candidates are the left-neighbour list of the last live left
neighbour; when all are dead the overlay is asked (GetCandidates by lookup). Repairs number themselves ``(repair+1, 0)``,
which beats every older SetL. A check never blocks a leave, and a leave ends a check: either may finish first.
"""

from typing import Protocol

from weft.core.errors import Violation
from weft.core.ids import NodeId
from weft.core.machine import Handlers, Message, Outbox, TimerHandlers
from weft.overlay.api import Ref
from weft.overlay.keys import Key, between
from weft.overlay.local import Local
from weft.overlay.lookup import Gone
from weft.overlay.ring.geometry import Verdict, judge, nearer_left
from weft.overlay.ring.messages import (
    Candidate,
    Kind,
    LeaveDue,
    Ping,
    PingDue,
    Pong,
    PongDue,
    Seq,
    SetRAck,
    SetRDue,
    Status,
    check_neighbours,
    check_seq,
)
from weft.overlay.ring.tables import CHECK_STEPS_MAX, Check, Link, Request, RingUser
from weft.overlay.settings import Settings

NOTIFY_TICKS = 4
"""Each so many pings the right neighbour is told that it is ours: finds a right pointer whose node looks elsewhere."""


class Core(Protocol):
    """What upkeep needs of the ring machine it belongs to."""

    links: dict[tuple[int, Key], Link]

    def find(self, at: Ref, level: int) -> Link | None: ...

    def ask(
        self,
        now: float,
        link: Link,
        left: Ref,
        *,
        cur: Ref,
        new: Ref,
        seq: Seq,
        kind: Kind,
        out: Outbox,
        job: Message | None = None,
    ) -> None: ...

    def enter(self, now: float, link: Link, note: bytes, out: Outbox) -> None: ...

    def take_lefts(self, now: float, link: Link, lefts: tuple[Ref, ...], out: Outbox, *, changed: bool) -> None: ...

    def propagate(self, link: Link, out: Outbox) -> None: ...


class Upkeep:
    """In: ticks, pings, answers, suspicions. Out: pings and repairing SetRs; ``RingUser.ring_dead`` and ``ring_alone``."""

    def __init__(self, ring: Core, local: Local, settings: Settings, user: RingUser) -> None:
        self._ring = ring
        self._local = local
        self._settings = settings
        self._user = user
        self.handlers: Handlers = {
            Ping: self.on_ping,
            Pong: self.on_pong,
            Candidate: self.on_candidate,
        }
        self.timers: TimerHandlers = {
            PingDue: self.on_ping_due,
            PongDue: self.on_pong_due,
        }

    def start(self, now: float, link: Link) -> None:
        """Look at the left from now on, at random phase."""
        if self._settings.ping_interval_s is not None:
            wait = self._local.rng.uniform(0.5, 1.5) * self._settings.ping_interval_s
            self._local.timers.set(PingDue(link.me.key, link.level), now + wait)

    def stop(self, link: Link) -> None:
        """Forget all that is under way."""
        self.drop_check(link)
        self._local.timers.cancel(PingDue(link.me.key, link.level))
        self._local.timers.cancel(LeaveDue(link.me.key, link.level))
        if link.request is not None:
            self._local.timers.cancel(SetRDue(link.me.key, link.level, link.request.number))
            link.request = None

    def drop_check(self, link: Link) -> None:
        if link.check is not None:
            self._local.timers.cancel(PongDue(link.me.key, link.level, link.check.candidate))
            link.check = None

    def on_ping_due(self, now: float, due: PingDue, out: Outbox) -> None:
        link = self._ring.links.get((due.level, due.key))
        if link is None or self._settings.ping_interval_s is None:
            return
        self._local.timers.set(due, now + self._settings.ping_interval_s)
        link.ticks += 1
        if link.ticks % NOTIFY_TICKS == 0:
            self._ring.propagate(link, out)
        if link.left != link.me and link.check is None:
            self.check(now, link, link.left, out)

    # A check

    def check(self, now: float, link: Link, candidate: Ref, out: Outbox) -> None:
        """Look at ``candidate`` and settle who is left of us."""
        if link.status is Status.IN and link.request is None and candidate != link.me:
            self.drop_check(link)
            self._look(now, link, Check(candidate, None), out)

    def consider(self, now: float, link: Link, candidate: Ref, out: Outbox) -> None:
        """Check ``candidate`` if it would be a nearer left neighbour than the one we have."""
        if link.check is None and nearer_left(link.me, candidate, link.left):
            self.check(now, link, candidate, out)

    def on_candidate(self, now: float, source: NodeId, message: Candidate, out: Outbox) -> None:
        link = self._ring.find(message.at, message.level)
        if link is not None:
            self.consider(now, link, message.ref, out)

    def _look(self, now: float, link: Link, check: Check, out: Outbox) -> None:
        link.check = check
        candidate = check.candidate
        self._local.timers.set(PongDue(link.me.key, link.level, candidate), now + self._settings.ping_timeout_s)
        held = candidate == link.left
        out.send(candidate.node, Ping(candidate, link.level, link.me, held, link.left_seq))

    def on_ping(self, now: float, source: NodeId, message: Ping, out: Outbox) -> None:
        check_seq(message.seq)
        link = self._ring.find(message.at, message.level)
        if link is None:
            out.send(source, Gone(message.at))
            return
        if link.status is Status.INS and message.held and message.source.node == source:
            # Its left pointer can only be ours because we were inserted: the SetRAck is late or lost.
            link.right = message.source
            link.right_seq = message.seq
            self._ring.enter(now, link, b"", out)
        pong = Pong(message.source, link.level, link.me, link.status, link.right, link.right_seq, link.for_right())
        out.send(source, pong)

    def on_pong(self, now: float, source: NodeId, message: Pong, out: Outbox) -> None:
        check_seq(message.seq)
        check_neighbours(message.neighbours)
        if message.source.node != source:
            raise Violation("Pong on behalf of another broker's node")
        link = self._ring.find(message.at, message.level)
        if link is None or link.check is None or link.check.candidate != message.source or link.request is not None:
            return
        check = link.check
        self.drop_check(link)
        if message.status is not Status.IN or link.status is not Status.IN:
            return  # it is on its way in or out: a SetL, or the next ping, will tell
        dead = check.dead
        if self._user.ring_silent(now, link.left.node):
            dead = (*dead, link.left)  # it has just been looked at, in vain
        verdict = judge(link.me, message.source, message.right, dead)
        if verdict is Verdict.HELD:
            self._held(now, link, message, out)
        elif verdict is Verdict.WALK:
            self._walk(now, link, check, message, out)
        elif verdict is Verdict.REPAIR:
            self._repair(now, link, message.source, message.right, Kind.BOTH, out)
        else:
            self._repair(now, link, message.source, message.right, Kind.INSERT, out)

    def _held(self, now: float, link: Link, pong: Pong, out: Outbox) -> None:
        if pong.source == link.left and pong.seq == link.left_seq:
            self._ring.take_lefts(now, link, pong.neighbours, out, changed=False)
        elif pong.seq > link.left_seq:  # a SetL that is late or lost
            link.left = pong.source
            link.left_seq = pong.seq
            self._ring.take_lefts(now, link, pong.neighbours, out, changed=True)
        else:
            self._repair(now, link, pong.source, link.me, Kind.LEFTONLY, out)

    def _walk(self, now: float, link: Link, check: Check, pong: Pong, out: Outbox) -> None:
        if check.steps < CHECK_STEPS_MAX:
            self._look(now, link, Check(pong.right, pong.source, check.dead, 1, check.steps + 1), out)
        else:
            self._local.count("ring.check.long", out, link.me)

    def _repair(self, now: float, link: Link, left: Ref, cur: Ref, kind: Kind, out: Outbox) -> None:
        self._local.count("ring.repair", out, link.me, kind.value)
        seq = link.left_seq.repaired()
        self._ring.ask(now, link, left, cur=cur, new=link.me, seq=seq, kind=kind, out=out)

    def repaired(self, now: float, link: Link, request: Request, ack: SetRAck, out: Outbox) -> None:
        """The repairing SetR was accepted: ``request.asked`` is our left neighbour."""
        if request.seq <= link.left_seq:
            self.check(now, link, link.left, out)
            return
        link.left = request.asked
        link.left_seq = request.seq
        alone = link.right == link.me
        if request.kind is Kind.INSERT and (alone or between(link.me.key, request.cur.key, link.right.key)):
            link.right = request.cur
            link.right_seq = ack.seq
        self._ring.take_lefts(now, link, ack.neighbours, out, changed=True)
        self._ring.propagate(link, out)

    def unanswered(self, now: float, link: Link, request: Request, out: Outbox) -> None:
        """The node that should have taken our repair does not answer: it is dead too."""
        self._user.ring_dead(now, request.asked, out)
        self._dead(now, link, Check(request.asked, None, (request.cur,)), out)

    # The dead

    def on_pong_due(self, now: float, due: PongDue, out: Outbox) -> None:
        link = self._ring.links.get((due.level, due.key))
        if link is None or link.check is None or link.check.candidate != due.candidate:
            return
        check = link.check
        if check.tries < self._settings.ping_tries:
            check.tries += 1
            self._look(now, link, check, out)
        else:
            link.check = None
            self._user.ring_dead(now, check.candidate, out)
            self._dead(now, link, check, out)

    def gone(self, now: float, ref: Ref, out: Outbox) -> None:
        """``ref``'s broker says that it has no such node: as good as dead, at once."""
        for link in list(self._ring.links.values()):
            check = link.check
            if check is not None and check.candidate == ref:
                self.drop_check(link)
                self._dead(now, link, check, out)

    def _dead(self, now: float, link: Link, check: Check, out: Outbox) -> None:
        """Go on from a candidate that is dead: repair behind whoever pointed at it, or try the next one we know.

        One on a broker that has just been silent is passed over; if the next one points at it, it is looked at after all.
        """
        if link.status is not Status.IN or link.request is not None:
            return
        dead = (*check.dead, check.candidate)
        if check.via is not None and check.via not in dead:
            self._repair(now, link, check.via, check.candidate, Kind.BOTH, out)
            return
        for candidate in link.lefts:
            if candidate not in dead and candidate != link.me and not self._user.ring_silent(now, candidate.node):
                self._look(now, link, Check(candidate, None, dead, 1, check.steps + 1), out)
                return
        self._user.ring_alone(now, link, out)

    def isolate(self, now: float, link: Link, out: Outbox) -> None:
        """Nobody is left: be a ring of one, until one of the lost is found again."""
        if link.status is not Status.IN or link.request is not None:
            return
        self._local.count("ring.isolated", out, link.me)
        link.left = link.right = link.me
        link.left_seq = link.right_seq = link.left_seq.repaired()
        self.drop_check(link)
        self._ring.take_lefts(now, link, (), out, changed=True)
