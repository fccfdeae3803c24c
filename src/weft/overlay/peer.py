"""One broker on an overlay: the front door and the verbs, which every overlay has in common.

``Peer`` stacks the shared components (ring, lookup, hops, spread, reunion), dispatches what arrives, joins and leaves keys
at level 0, and keeps the contacts in step with the links. An overlay derives from it and adds its own tables: ``rights``
and ``lefts``, and what happens when a node is in, changed, jobbed, leaving. A message that violates the protocol, whoever
sent it, is counted and traced here and never raises.
"""

from collections.abc import Sequence
from typing import Any

import msgspec

from weft.core.errors import Misuse, Violation
from weft.core.ids import NodeId
from weft.core.limits import VIRTUAL_NODES_MAX
from weft.core.machine import Handlers, Message, Outbox, TimerHandlers
from weft.overlay.api import Entry, Found, Joined, JoinFailed, Left, NeighbourChanged, Query, Ref
from weft.overlay.contacts import Contacts
from weft.overlay.hops import Hops
from weft.overlay.keys import Key, before, check_key
from weft.overlay.local import Local
from weft.overlay.lookup import Found as Place
from weft.overlay.lookup import Lookup
from weft.overlay.reunion import Reunion
from weft.overlay.ring.geometry import fits
from weft.overlay.ring.machine import Ring
from weft.overlay.ring.messages import NOTE_BYTES_MAX, Status
from weft.overlay.ring.tables import Link
from weft.overlay.settings import Settings
from weft.overlay.spread.machine import Spread
from weft.overlay.values import LABELS_MAX


class JoinDue(msgspec.Struct, frozen=True, gc=False):
    """Timer: a refused join is tried again."""

    key: Key


class ForCaller(msgspec.Struct, frozen=True, gc=False):
    """Purpose of a lookup: somebody above asked."""

    number: int
    key: Key


class ForJoin(msgspec.Struct, frozen=True, gc=False):
    """Purpose of a lookup: the place of a key that joins. ``number`` tells this join from one that was called off."""

    key: Key
    number: int


class ForRepair(msgspec.Struct, frozen=True, gc=False):
    """Purpose of a lookup: a live left neighbour for a node whose known ones are all dead (GetCandidates)."""

    me: Ref


class _Join(msgspec.Struct):
    introducer: NodeId | None
    number: int
    tries: int = 0


class Peer:
    """In: the verbs of ``Overlay``, messages, timers. Out: effects. Invariant: ``contacts`` hold exactly what tables hold."""

    def __init__(self, node: NodeId, settings: Settings, seed: int = 0, run: int = 0) -> None:
        self.local = Local(node, seed, run)
        self.settings = settings
        self.contacts = Contacts(node)
        self.hops = Hops(self.local, self.contacts, settings, self._dispatch)
        self.lookups = Lookup(self.local, self.contacts, self.hops, settings, self._right_of, self._holds, self._purge)
        self.ring = Ring(self.local, settings, self)
        self.spread = Spread(self.local, self.contacts, self.hops, self.lookups, settings, self)
        self.reunion = Reunion(self.local, self.contacts, self.lookups, settings)
        self._joins: dict[Key, _Join] = {}
        self._joins_begun = 0
        self._linked: dict[tuple[int, Key], tuple[Ref, Ref]] = {}
        self._values: dict[Key, dict[str, float]] = {}
        self._notes: dict[Key, bytes] = {}
        self.lookups.askers[ForCaller] = self._on_asked
        self.lookups.askers[ForJoin] = self._on_place
        self.lookups.askers[ForRepair] = self._on_candidate
        self._handlers: Handlers = {
            **self.hops.handlers,
            **self.lookups.handlers,
            **self.ring.handlers,
            **self.spread.handlers,
        }
        self._timers: TimerHandlers = {
            JoinDue: self._on_join_due,
            **self.hops.timers,
            **self.lookups.timers,
            **self.ring.timers,
            **self.spread.timers,
            **self.reunion.timers,
        }

    # The machine

    @property
    def deadline(self) -> float | None:
        return self.local.timers.deadline

    def receive(self, now: float, source: NodeId, message: Message, out: Outbox) -> None:
        self.contacts.heard(source)
        self._dispatch(now, source, message, out)

    def _dispatch(self, now: float, source: NodeId, message: Message, out: Outbox) -> None:
        handler = self._handlers.get(type(message))
        if handler is None:
            self.local.count("violation.unknown", out, source, type(message).__name__)
            return
        try:
            handler(now, source, message, out)
        except Violation as violation:
            self.local.count("violation", out, source, str(violation))

    def timeout(self, now: float, out: Outbox) -> None:
        for token in self.local.timers.due(now):
            self._timers[type(token)](now, token, out)

    # The verbs

    def keys(self) -> list[Key]:
        """Our keys that are in the ring."""
        return [ref.key for ref in self.contacts.own]

    def is_member(self, key: Key) -> bool:
        """Is ``key`` ours: in the ring, on its way in, or on its way out?"""
        return key in self._joins or (0, key) in self.ring.links

    def join(self, now: float, key: Key, introducer: NodeId | None, out: Outbox) -> None:
        """Bring ``key`` into the ring; ends in ``Joined`` or ``JoinFailed``."""
        check_key(key)
        if key.broker != self.local.node:
            raise Misuse(f"key of broker {key.broker} joined at broker {self.local.node}")
        if self.is_member(key):
            raise Misuse(f"{key} has joined already, or is about to")
        if len(self._joins) + len(self.ring.links) >= VIRTUAL_NODES_MAX:
            raise Misuse(f"more than {VIRTUAL_NODES_MAX} keys at one broker")
        if introducer is None and not self.contacts.own and not self._joins:
            self.ring.found(now, 0, Ref(key, self.local.node, self.local.next_incarnation()), out)
            return
        self._joins_begun += 1
        self._joins[key] = _Join(introducer, self._joins_begun)
        if introducer is not None:
            self.contacts.meet(introducer)
        self._seek_place(now, key, out)

    def leave(self, now: float, key: Key, out: Outbox) -> None:
        """Take ``key`` out of the ring; ends in ``Left``. A join that is under way is called off, or finished first."""
        link = self.ring.links.get((0, key))
        if link is not None:
            self._leave(now, link, out)
        elif self._joins.pop(key, None) is not None:
            self.local.timers.cancel(JoinDue(key))
            self._forget(key)
            out.deliver(Left(key))
        else:
            raise Misuse(f"{key} is not in the ring here")

    def lookup(self, now: float, key: Key, out: Outbox) -> int:
        """Who has the greatest key not above ``key``? Ends in ``Found`` with the number returned here."""
        if not self.contacts.own:
            raise Misuse("lookup before any key has joined")
        number = self.local.next_request()
        self.lookups.ask(now, key, ForCaller(number, key), None, out, sure=True)
        return number

    def multicast(self, now: float, query: Query, out: Outbox) -> int:
        return self.spread.multicast(now, query, out)

    def anycast(self, now: float, query: Query, selection: str, out: Outbox) -> int:
        return self.spread.anycast(now, query, selection, out)

    def reply(self, now: float, token: int, value: Any, out: Outbox) -> None:
        self.spread.reply(now, token, value, out)

    def aggregate(self, now: float, key: Key, values: dict[str, float], out: Outbox) -> None:
        """Announce ``key``'s attributes; others learn them with the upkeep of their tables."""
        if len(values) > LABELS_MAX:
            raise Misuse(f"more than {LABELS_MAX} labels")
        self._require(key)
        self._values[key] = dict(values)

    def note(self, key: Key, note: bytes) -> None:
        """What a newcomer right of ``key`` is told with the answer to its insertion (RELAY §5.3.5)."""
        if len(note) > NOTE_BYTES_MAX:
            raise Misuse(f"note longer than {NOTE_BYTES_MAX} bytes")
        self._require(key)
        self._notes[key] = note
        link = self.ring.links.get((0, key))
        if link is not None:
            link.note = note

    def _require(self, key: Key) -> None:
        if not self.is_member(key):
            raise Misuse(f"{key} is not ours")

    # What the overlay's tables say (an overlay overrides the first two)

    def rights(self, key: Key) -> Sequence[Entry]:
        """Routing entries of our node ``key`` towards higher keys, nearest first."""
        return [Entry(self.ring.links[0, key].right, 0)]

    def lefts(self, key: Key) -> Sequence[Entry]:
        """Routing entries of our node ``key`` towards lower keys, nearest first."""
        return [Entry(self.ring.links[0, key].left, 0)]

    def values(self, key: Key) -> dict[str, float]:
        return self._values.get(key, {})

    def neighbours(self, key: Key) -> tuple[Ref, Ref]:
        link = self.ring.links[0, key]
        return link.left, link.right

    # What an overlay may add

    def _inserted(self, now: float, link: Link, out: Outbox) -> None:
        """``link`` is in its ring."""

    def _changed(self, now: float, link: Link, out: Outbox) -> None:
        """``link``'s left or right neighbour changed."""

    def _leave(self, now: float, link: Link, out: Outbox) -> None:
        """Take the node of the level-0 ``link`` out."""
        self.ring.delete(now, link, out)

    def _deleted(self, now: float, link: Link, out: Outbox) -> None:
        """``link`` is out of its ring."""

    def _unreachable(self, now: float, ref: Ref, out: Outbox) -> None:
        """``ref`` is dead, or gone: no table should hold it."""

    def _refused(self, now: float, link: Link, out: Outbox) -> None:
        """The insertion of ``link`` at a level above 0 was refused."""

    def _alone(self, now: float, link: Link, out: Outbox) -> None:
        """All known left neighbours of ``link``, at a level above 0, are dead."""
        self.ring.upkeep.isolate(now, link, out)

    def ring_leave_job(self, link: Link) -> Message | None:
        return None

    def ring_job(self, now: float, link: Link, source: NodeId, job: Message, out: Outbox) -> None:
        raise Violation(f"unknown job {type(job).__name__}")

    # Joining, level 0

    def _seek_place(self, now: float, key: Key, out: Outbox) -> None:
        """By our own tables where we have some; every other try through the introducer, in case ours lead nowhere."""
        join = self._joins[key]
        own = self.contacts.own and join.tries % 2 == 0
        self.lookups.ask(now, key, ForJoin(key, join.number), None if own else join.introducer, out)

    def _on_place(self, now: float, purpose: ForJoin, place: Place, out: Outbox) -> None:
        key = purpose.key
        join = self._joins.get(key)
        if join is None or join.number != purpose.number:
            return  # called off, and perhaps begun anew, which asks for itself
        me = Ref(key, self.local.node, self.local.next_incarnation())
        if place.at is None or place.right is None or not fits(place.at, me, place.right):
            self._join_again(now, key, out)  # nobody answered, or a former life of ours is still in the ring
        else:
            link = self.ring.insert(now, 0, me, place.at, place.right, out)
            link.note = self._notes.get(key, b"")

    def _join_again(self, now: float, key: Key, out: Outbox) -> None:
        join = self._joins[key]
        join.tries += 1
        if join.tries >= self.settings.join_tries:
            del self._joins[key]
            self._forget(key)
            self.local.count("join.failed", out, key)
            out.deliver(JoinFailed(key, f"no place in the ring after {join.tries} tries"))
            return
        mean = self.settings.retry_wait_s * (1 << min(join.tries - 1, 6))
        self.local.timers.set(JoinDue(key), now + self.local.rng.uniform(0.5, 1.5) * mean)

    def _on_join_due(self, now: float, due: JoinDue, out: Outbox) -> None:
        self._seek_place(now, due.key, out)

    def _forget(self, key: Key) -> None:
        self._values.pop(key, None)
        self._notes.pop(key, None)

    # What the ring says

    def ring_joined(self, now: float, link: Link, note: bytes, out: Outbox) -> None:
        if link.level == 0:
            self._joins.pop(link.me.key, None)
            link.note = self._notes.get(link.me.key, b"")
            self.contacts.settle(link.me)
            self.reunion.arm(now)
            out.deliver(Joined(link.me.key, note))
        self._inserted(now, link, out)

    def ring_refused(self, now: float, link: Link, out: Outbox) -> None:
        if link.level > 0:
            self._refused(now, link, out)
        elif link.leaving:
            self._joins.pop(link.me.key, None)
            self._forget(link.me.key)
            out.deliver(Left(link.me.key))
        else:
            self._join_again(now, link.me.key, out)

    def ring_left(self, now: float, link: Link, out: Outbox) -> None:
        self._relink(link, None)
        self._deleted(now, link, out)
        if link.level == 0:
            self.contacts.unsettle(link.me)
            self._forget(link.me.key)
            out.deliver(Left(link.me.key))

    def ring_changed(self, now: float, link: Link, out: Outbox) -> None:
        if link.status is Status.INS:
            return
        if self._relink(link, (link.left, link.right)):
            self._changed(now, link, out)
            if link.level == 0:
                out.deliver(NeighbourChanged(link.me.key, link.left, link.right))

    def _relink(self, link: Link, neighbours: tuple[Ref, Ref] | None) -> bool:
        """Keep the contacts in step with a link; False if nothing changed."""
        place = (link.level, link.me.key)
        old = self._linked.pop(place, None)
        if neighbours is not None:
            self._linked[place] = neighbours
        if old == neighbours:
            return False
        for ref in neighbours or ():
            self.contacts.add(ref)
        for ref in old or ():
            self.contacts.drop(ref)
        return True

    def ring_dead(self, now: float, ref: Ref, out: Outbox) -> None:
        self.contacts.shun(ref.node, now + self.settings.shun_s)
        self.reunion.lost(now, ref.node)
        self._unreachable(now, ref, out)

    def ring_silent(self, now: float, node: NodeId) -> bool:
        return self.contacts.is_shunned(node, now)

    def ring_alone(self, now: float, link: Link, out: Outbox) -> None:
        if link.level > 0:
            self._alone(now, link, out)
        else:
            self.lookups.ask(now, before(link.me.key), ForRepair(link.me), None, out)

    def _on_candidate(self, now: float, purpose: ForRepair, place: Place, out: Outbox) -> None:
        link = self.ring.find(purpose.me, 0)
        if link is None:
            return
        if place.at is None or place.at == link.me:
            self.ring.upkeep.isolate(now, link, out)
        else:
            self.ring.upkeep.check(now, link, place.at, out)

    # What lookup asks and says

    def _right_of(self, key: Key) -> Ref:
        return self.ring.links[0, key].right

    def _holds(self, ref: Ref) -> bool:
        return self.ring.find(ref, 0) is not None

    def _purge(self, now: float, ref: Ref, out: Outbox) -> None:
        self.ring.upkeep.gone(now, ref, out)
        self._unreachable(now, ref, out)

    def _on_asked(self, now: float, purpose: ForCaller, place: Place, out: Outbox) -> None:
        out.deliver(Found(purpose.number, purpose.key, place.at, place.right, place.hops))
