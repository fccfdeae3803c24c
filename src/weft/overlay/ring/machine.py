"""DDLL: insert and delete without locks, three messages each, committed in one round trip (overlay §2).

    join u between p, q    u: INS, → p SetR(u, q)    p: → q SetL(u), → u SetRAck, p.r = u     u: IN
    leave u                u: DEL, → p SetR(q, u)    p: → q SetL(p), → u SetRAck, p.r = q     u: OUT

``p`` alone decides, by ``p.r == cur``; left pointers follow by SetL, the newest wins by its number. A SetR that is lost is
sent again and answered the same; a Nak's hint saves a lookup. Failure detection and repair are in ``upkeep``.
"""

from weft.core.errors import Violation
from weft.core.ids import NodeId
from weft.core.limits import LEFT_NEIGHBOURS_MAX
from weft.core.machine import Handlers, Message, Outbox, TimerHandlers
from weft.overlay.api import Ref
from weft.overlay.keys import Key, between
from weft.overlay.local import Local
from weft.overlay.ring.geometry import fits, leftwards
from weft.overlay.ring.messages import (
    FIRST,
    Kind,
    LeaveDue,
    PropagateNeighbours,
    Seq,
    SetL,
    SetR,
    SetRAck,
    SetRDue,
    SetRNak,
    Status,
    check_level,
    check_neighbours,
    check_note,
    check_seq,
)
from weft.overlay.ring.tables import Link, Request, RingUser
from weft.overlay.ring.upkeep import Upkeep
from weft.overlay.settings import Settings


class Ring:
    """All links of one broker. In: ``insert``, ``delete``, the messages. Out: messages and ``RingUser`` calls."""

    def __init__(self, local: Local, settings: Settings, user: RingUser) -> None:
        self._local = local
        self._settings = settings
        self._user = user
        self.links: dict[tuple[int, Key], Link] = {}
        self.upkeep = Upkeep(self, local, settings, user)
        self.handlers: Handlers = {
            SetR: self.on_set_r,
            SetRAck: self.on_set_r_ack,
            SetRNak: self.on_set_r_nak,
            SetL: self.on_set_l,
            PropagateNeighbours: self.on_propagate_neighbours,
            **self.upkeep.handlers,
        }
        self.timers: TimerHandlers = {SetRDue: self.on_set_r_due, LeaveDue: self.on_leave_due, **self.upkeep.timers}

    # Ours to do

    def found(self, now: float, level: int, me: Ref, out: Outbox, seq: Seq = FIRST) -> Link:
        """Be the first node of a ring."""
        link = Link(me, level, Status.IN, left=me, right=me, left_seq=seq, right_seq=seq)
        self.adopt(now, link, out)
        return link

    def adopt(self, now: float, link: Link, out: Outbox) -> None:
        """Take over a link that is in its ring: how a simulation starts with a ring that is whole."""
        self.links[link.level, link.me.key] = link
        self._settled(now, link, b"", out)

    def insert(self, now: float, level: int, me: Ref, left: Ref, right: Ref, out: Outbox, seq: Seq = FIRST) -> Link:
        """Ask ``left`` to take ``me`` in before ``right``. Ends in ``ring_joined`` or ``ring_refused``.

        ``seq`` is where the numbers start: who was in this ring before, in the same life, starts above all of then (I3).
        """
        assert fits(left, me, right), (left, me, right)
        link = Link(me, level, Status.INS, left=left, right=right, left_seq=seq)
        self.links[level, me.key] = link
        self.ask(now, link, left, cur=right, new=me, seq=seq, kind=Kind.INSERT, out=out)
        return link

    def delete(self, now: float, link: Link, out: Outbox) -> None:
        """Take the node out. Ends in ``ring_left``; what is under way is finished first."""
        link.leaving = True
        if link.status is Status.IN and link.request is None:
            self._delete(now, link, out)

    def drop(self, now: float, link: Link, out: Outbox) -> None:
        """Take the node out of a ring that holds only our own nodes: there is nobody to tell."""
        self._gone(now, link, out)

    def _delete(self, now: float, link: Link, out: Outbox) -> None:
        self.upkeep.drop_check(link)
        if link.left == link.me:
            self._gone(now, link, out)
            return
        link.status = Status.DEL
        job = self._user.ring_leave_job(link)
        seq = link.right_seq.next()
        self.ask(now, link, link.left, cur=link.me, new=link.right, seq=seq, kind=Kind.DELETE, out=out, job=job)

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
    ) -> None:
        """Send SetR, and keep it until it is answered."""
        link.request = Request(self._local.next_request(), left, cur, new, seq, kind, job)
        self._send_request(now, link, link.request, out)

    def _send_request(self, now: float, link: Link, request: Request, out: Outbox) -> None:
        due = SetRDue(link.me.key, link.level, request.number)
        self._local.timers.set(due, now + self._settings.request_timeout_s)
        out.send(
            request.asked.node,
            SetR(
                request.asked,
                link.level,
                request.new,
                request.cur,
                request.seq,
                request.kind,
                request.number,
                request.job,
            ),
        )

    # The left neighbour's side

    def find(self, at: Ref, level: int) -> Link | None:
        """Our link that ``at`` names, if it is that life of it."""
        link = self.links.get((level, at.key))
        return link if link is not None and link.me == at else None

    def on_set_r(self, now: float, source: NodeId, message: SetR, out: Outbox) -> None:
        check_level(message.level)
        check_seq(message.seq)
        asker = message.cur if message.kind is Kind.DELETE else message.new
        if asker.node != source:
            raise Violation("SetR on behalf of another broker's node")
        link = self.find(message.at, message.level)
        if link is None:
            out.send(source, SetRNak(asker, message.level, message.request, None))
            return
        answer = link.answers.get((asker, message.request))
        if answer is None:
            answer = self._decide(now, link, asker, message, out)
            link.remember(asker, message.request, answer)
            out.send(source, answer)
            if isinstance(answer, SetRAck):
                self._user.ring_changed(now, link, out)
                if message.job is not None:  # last: one that violates leaves nothing half done
                    self._user.ring_job(now, link, source, message.job, out)
        else:
            out.send(source, answer)

    def _decide(self, now: float, link: Link, asker: Ref, message: SetR, out: Outbox) -> SetRAck | SetRNak:
        if link.status is not Status.IN or link.right != message.cur or not _allowed(link, message):
            right = link.right if link.status is Status.IN else None
            return SetRNak(asker, message.level, message.request, right)
        next_seq = link.right_seq.next()
        if message.kind is Kind.INSERT:
            neighbours = (message.new, *link.for_right())[:LEFT_NEIGHBOURS_MAX]
            out.send(message.cur.node, SetL(message.cur, link.level, message.new, next_seq, neighbours))
        elif message.kind is Kind.DELETE:
            out.send(message.new.node, SetL(message.new, link.level, link.me, message.seq, link.for_right()))
        link.right = message.new
        link.right_seq = message.seq
        return SetRAck(asker, link.level, message.request, next_seq, link.for_right(), link.note)

    # The asker's side

    def _answered(self, source: NodeId, at: Ref, level: int, number: int) -> tuple[Link, Request] | None:
        link = self.find(at, level)
        if link is None or link.request is None or link.request.number != number:
            return None
        if link.request.asked.node != source:
            raise Violation("answer to a SetR by another broker than the one asked")
        self._local.timers.cancel(SetRDue(link.me.key, level, number))
        request = link.request
        link.request = None
        return link, request

    def on_set_r_ack(self, now: float, source: NodeId, message: SetRAck, out: Outbox) -> None:
        check_seq(message.seq)
        check_neighbours(message.neighbours)
        check_note(message.note)
        answered = self._answered(source, message.at, message.level, message.request)
        if answered is None:
            return
        link, request = answered
        if link.status is Status.INS:
            link.right_seq = message.seq
            if link.left_seq == request.seq:
                link.lefts = leftwards(link.me, message.neighbours)
            self.enter(now, link, message.note, out)
        elif link.status is Status.DEL:
            self._gone(now, link, out)
        else:
            self.upkeep.repaired(now, link, request, message, out)
            self.proceed(now, link, out)

    def enter(self, now: float, link: Link, note: bytes, out: Outbox) -> None:
        """The insertion is known to have succeeded."""
        link.status = Status.IN
        if link.request is not None:
            self._local.timers.cancel(SetRDue(link.me.key, link.level, link.request.number))
            link.request = None
        self._settled(now, link, note, out)
        self.proceed(now, link, out)

    def _settled(self, now: float, link: Link, note: bytes, out: Outbox) -> None:
        self.upkeep.start(now, link)
        self._user.ring_joined(now, link, note, out)
        self._user.ring_changed(now, link, out)

    def proceed(self, now: float, link: Link, out: Outbox) -> None:
        """A leave that had to wait may go on."""
        waiting = LeaveDue(link.me.key, link.level) in self._local.timers
        if link.leaving and link.status is Status.IN and link.request is None and not waiting:
            self._delete(now, link, out)

    def on_set_r_nak(self, now: float, source: NodeId, message: SetRNak, out: Outbox) -> None:
        answered = self._answered(source, message.at, message.level, message.request)
        if answered is None:
            return
        link, request = answered
        link.refusals += 1
        if link.status is Status.INS:
            hint = message.right
            if hint is not None and link.refusals <= self._settings.join_tries and fits(request.asked, link.me, hint):
                link.right = hint
                self.ask(now, link, request.asked, cur=hint, new=link.me, seq=request.seq, kind=Kind.INSERT, out=out)
            else:
                self._refused(now, link, out)
        elif link.status is Status.DEL:
            self._leave_again(now, link, out)
        else:
            self.proceed(now, link, out)

    def on_set_r_due(self, now: float, due: SetRDue, out: Outbox) -> None:
        link = self.links.get((due.level, due.key))
        if link is None or link.request is None or link.request.number != due.request:
            return
        request = link.request
        if request.tries < self._settings.request_tries:
            request.tries += 1
            self._send_request(now, link, request, out)
            return
        link.request = None
        self._local.count("ring.unanswered", out, request.asked, request.kind.value)
        if link.status is Status.INS:
            self._refused(now, link, out)
        elif link.status is Status.DEL:
            link.refusals += 1
            self._leave_again(now, link, out)
            self.upkeep.check(now, link, link.left, out)
        else:
            self.upkeep.unanswered(now, link, request, out)
            self.proceed(now, link, out)

    def _refused(self, now: float, link: Link, out: Outbox) -> None:
        link.status = Status.OUT
        del self.links[link.level, link.me.key]
        self._user.ring_refused(now, link, out)

    def _leave_again(self, now: float, link: Link, out: Outbox) -> None:
        """Back to IN, wait at random, try again; in the end just go: the right neighbour repairs."""
        if link.refusals >= self._settings.leave_tries:
            self._local.count("ring.leave.forced", out, link.me)
            self._gone(now, link, out)
            return
        link.status = Status.IN
        mean = self._settings.retry_wait_s * (1 << min(link.refusals, 6))
        self._local.timers.set(LeaveDue(link.me.key, link.level), now + self._local.rng.uniform(0.5, 1.5) * mean)

    def on_leave_due(self, now: float, due: LeaveDue, out: Outbox) -> None:
        link = self.links.get((due.level, due.key))
        if link is None:
            return
        if link.check is not None:  # our left neighbour is being looked for: step aside (MIGRATE §6.3.2)
            wait = self._local.rng.uniform(0.5, 1.5) * self._settings.ping_timeout_s
            self._local.timers.set(due, now + wait)
        else:
            self.proceed(now, link, out)

    def _gone(self, now: float, link: Link, out: Outbox) -> None:
        link.status = Status.OUT
        self.upkeep.stop(link)
        del self.links[link.level, link.me.key]
        self._user.ring_left(now, link, out)

    # The right neighbour's side

    def on_set_l(self, now: float, source: NodeId, message: SetL, out: Outbox) -> None:
        check_seq(message.seq)
        check_neighbours(message.neighbours)
        link = self.find(message.at, message.level)
        if link is None or message.seq <= link.left_seq:
            self._local.counts["ring.set_l.old"] += 1
            return
        if message.new.key == link.me.key and message.new != link.me:
            raise Violation("SetL to a ghost of the node itself")
        link.left = message.new
        link.left_seq = message.seq
        self.upkeep.drop_check(link)
        self.take_lefts(now, link, message.neighbours, out, changed=True)

    def take_lefts(self, now: float, link: Link, lefts: tuple[Ref, ...], out: Outbox, *, changed: bool) -> None:
        """Adopt a live left neighbour's whole list (Zave), and pass ours on if it became another."""
        lefts = leftwards(link.me, lefts)
        differ = lefts != link.lefts
        if differ:
            link.lefts = lefts
            self.propagate(link, out)
        if differ or changed:
            self._user.ring_changed(now, link, out)

    def propagate(self, link: Link, out: Outbox) -> None:
        """Tell the right neighbour who is left of it."""
        if link.status is Status.IN and link.right != link.me:
            out.send(link.right.node, PropagateNeighbours(link.right, link.level, link.for_right()))

    def on_propagate_neighbours(self, now: float, source: NodeId, message: PropagateNeighbours, out: Outbox) -> None:
        neighbours = message.neighbours
        check_neighbours(neighbours)
        if not neighbours or neighbours[0].node != source:
            raise Violation("neighbours that do not start with their sender")
        link = self.find(message.at, message.level)
        if link is None or link.status is not Status.IN:
            return
        if neighbours[0] == link.left:
            self.take_lefts(now, link, neighbours, out, changed=False)
        else:
            self.upkeep.consider(now, link, neighbours[0], out)


def _allowed(link: Link, message: SetR) -> bool:
    """May this right pointer become that one? Keeps the circle in key order whatever a peer asks."""
    if message.kind is Kind.INSERT:
        return fits(link.me, message.new, message.cur)
    if message.kind is Kind.DELETE:
        return message.new == link.me or between(link.me.key, message.cur.key, message.new.key)
    if message.kind is Kind.LEFTONLY:
        return message.new == message.cur
    return message.new != message.cur
