"""How finger tables are made and kept: one update per level, both ways in one exchange (SELECT §3.2–3.3; overlay §3).

A newcomer asks in zig-zag order FFT[0], BFT[0], FFT[1], …; afterwards one FFT level is refreshed every T, so a sweep takes
(k+1)T, and a changed value is known everywhere after at most (k+1)²T. The reply to level p carries the responder's aggregate
FFT[−1…p−1], and its own entry p as the asker's level p+1; the query carries the asker's FFT[−1…p−2] for the responder's
BFT[p] (SELECT §3.3's worked example is off by one here, its definition of the ranges is not).
"""

from collections.abc import Callable, Sequence

from weft.core.errors import Violation
from weft.core.ids import NodeId
from weft.core.limits import LEFT_NEIGHBOURS_MAX, LEVELS_MAX
from weft.core.machine import Handlers, Outbox, TimerHandlers
from weft.overlay.api import Ref
from weft.overlay.contacts import Contacts
from weft.overlay.keys import Key
from weft.overlay.local import Local
from weft.overlay.lookup import Gone
from weft.overlay.ring.tables import Link
from weft.overlay.settings import Settings
from weft.overlay.suzaku.geometry import advances, covered_levels, stands_in, zigzag
from weft.overlay.suzaku.messages import Replace, Update, UpdateAck, UpdateDue, UpdateLate
from weft.overlay.suzaku.tables import Asked, Fingers
from weft.overlay.values import LABELS_MAX, merge, select

STALE_SWEEPS = 3
"""Sweeps of a table that a backward finger may miss."""

Values = Callable[[Key], dict[str, float]]
LinkOf = Callable[[Key], Link | None]
Backed = tuple[Ref, tuple[Ref, ...]]
"""A finger's node, and its left neighbours."""


class Upkeep:
    """In: links, Update, UpdateAck, Replace, timers. Out: the same messages, and tables that are true within (k+1)T."""

    def __init__(self, local: Local, contacts: Contacts, settings: Settings, values: Values, link_of: LinkOf) -> None:
        self._local = local
        self._contacts = contacts
        self._settings = settings
        self._values = values
        self._link_of = link_of
        self.tables: dict[Key, Fingers] = {}
        self.handlers: Handlers = {Update: self.on_update, UpdateAck: self.on_update_ack, Replace: self.on_replace}
        self.timers: TimerHandlers = {
            UpdateDue: self.on_update_due,
            UpdateLate: self.on_update_late,
        }

    # The ring's news

    def start(self, now: float, link: Link, out: Outbox) -> None:
        """A node is in the ring: build its tables."""
        fingers = self.tables.setdefault(link.me.key, Fingers(link.me, self._contacts))
        self._neighbours(fingers, link)
        self._go_on(now, fingers, out)

    def preset(self, now: float, me: Ref, forward: Sequence[Backed], backward: Sequence[Backed]) -> None:
        """Tables as they would have become: for a node about to be adopted by a ring that is whole.

        Who is 2**i nodes away has us 2**i nodes away on its other side: those that we point at point here.
        """
        fingers = self.tables[me.key] = Fingers(me, self._contacts, joining=None)
        for side, places in ((True, forward), (False, backward)):
            for level, (ref, backups) in enumerate(places):
                finger = fingers.put(side, level, ref)
                finger.heard, finger.backups = now, backups
                fingers.pointed_by(ref)

    def changed(self, now: float, link: Link, out: Outbox) -> None:
        """FFT[0] and BFT[0] are the ring's neighbours."""
        fingers = self.tables.get(link.me.key)
        if fingers is None:
            return
        alone = not fingers.forward
        self._neighbours(fingers, link)
        if alone and fingers.forward and fingers.asked is None:
            fingers.joining = (0, 0)
            self._go_on(now, fingers, out)

    def _neighbours(self, fingers: Fingers, link: Link) -> None:
        for forward, ref in ((True, link.right), (False, link.left)):
            if ref == link.me:
                fingers.cut(forward, 0)
                continue
            finger = fingers.put(forward, 0, ref)
            if forward:
                finger.backups = ()
            else:
                finger.backups = link.lefts[1:]
            self._trim(fingers, forward)

    def _trim(self, fingers: Fingers, forward: bool) -> None:
        """Take out the fingers that no longer lie beyond their predecessors; those farther on are as good as they were."""
        side = fingers.side(forward)
        level = 1
        while level < len(side):
            if advances(fingers.me.key, side[level - 1].ref.key, side[level].ref.key, forward):
                level += 1
            else:
                fingers.remove(forward, level)

    def stop(self, key: Key) -> None:
        """The node is out of the ring."""
        fingers = self.tables.pop(key, None)
        if fingers is None:
            return
        fingers.cut(True, 0)
        fingers.cut(False, 0)
        self._local.timers.cancel(UpdateDue(key))
        if fingers.asked is not None:
            self._local.timers.cancel(UpdateLate(key, fingers.asked.number))

    # Asking

    def _go_on(self, now: float, fingers: Fingers, out: Outbox) -> None:
        """The newcomer's next finger, or the start of the periodic update."""
        while fingers.joining is not None:
            step = zigzag(*fingers.joining)
            if step is None:
                fingers.joining = None
                break
            forward, level = step
            if level < len(fingers.side(forward)):
                self._ask(now, fingers, fingers.side(forward)[level].ref, level, forward, out)
                return
            self._side_done(fingers, forward)
        if self._settings.update_interval_s is not None and UpdateDue(fingers.me.key) not in self._local.timers:
            wait = self._local.rng.random() * self._settings.update_interval_s
            self._local.timers.set(UpdateDue(fingers.me.key), now + wait)

    def _side_done(self, fingers: Fingers, forward: bool) -> None:
        assert fingers.joining is not None
        ahead, behind = fingers.joining
        fingers.joining = (None, behind) if forward else (ahead, None)

    def on_update_due(self, now: float, due: UpdateDue, out: Outbox) -> None:
        fingers = self.tables.get(due.key)
        if fingers is None or self._settings.update_interval_s is None:
            return
        self._local.timers.set(due, now + self._settings.update_interval_s)
        self._expire(now, fingers, self._settings.update_interval_s)
        if fingers.asked is not None or not fingers.forward:
            return
        if fingers.cursor > len(fingers.forward) or (fingers.cursor == len(fingers.forward) and not fingers.following):
            fingers.cursor = 0
        ref = fingers.following if fingers.cursor and fingers.following else fingers.forward[fingers.cursor].ref
        self._ask(now, fingers, ref, fingers.cursor, True, out)

    def _expire(self, now: float, fingers: Fingers, interval_s: float) -> None:
        """Backward fingers are refreshed by those they point at, once a sweep; who has stopped does not point here."""
        patience = STALE_SWEEPS * (len(fingers.forward) + 1) * interval_s
        level = 1
        while level < len(fingers.backward):
            if now - fingers.backward[level].heard > patience:
                fingers.remove(False, level)
            else:
                level += 1

    def _ask(self, now: float, fingers: Fingers, ref: Ref, level: int, forward: bool, out: Outbox) -> None:
        asked = Asked(self._local.next_request(), ref, level, forward)
        fingers.asked = asked
        self._send(now, fingers, asked, out)

    def _send(self, now: float, fingers: Fingers, asked: Asked, out: Outbox) -> None:
        late = UpdateLate(fingers.me.key, asked.number)
        self._local.timers.set(late, now + self._settings.request_timeout_s)
        values = self._aggregate(fingers, asked.level, not asked.forward)
        update = Update(asked.ref, fingers.me, asked.level, asked.forward, asked.number, values)
        out.send(asked.ref.node, update)

    def _aggregate(self, fingers: Fingers, level: int, forward: bool) -> dict[str, float] | None:
        """Our value for somebody's finger at ``level``: ourselves and the forward fingers it covers; only what queries use."""
        if level >= self._settings.aggregate_levels:
            return None
        total = self._values(fingers.me.key)
        for finger in fingers.forward[: covered_levels(level, forward)]:
            if finger.values:
                total = merge(total, finger.values)
        return select(total, self._settings.aggregate_labels)

    # Being asked

    def on_update(self, now: float, source: NodeId, message: Update, out: Outbox) -> None:
        check(message.level, message.values)
        if message.source.node != source or message.source.key == message.at.key:
            raise Violation("Update on behalf of another node")
        link = self._link_of(message.at.key)
        if link is None or link.me != message.at:
            out.send(source, Gone(message.at))
            return
        fingers = self.tables.get(message.at.key)
        if fingers is None:
            return  # on its way in: the asker will ask again
        level, forward = message.level, message.forward
        side = fingers.side(forward)
        following = side[level].ref if level < len(side) else None
        backups = link.lefts
        values = self._aggregate(fingers, level, forward)
        out.send(source, UpdateAck(message.source, fingers.me, message.number, values, following, backups))
        self._learn(now, fingers, message)

    def _learn(self, now: float, fingers: Fingers, message: Update) -> None:
        """The passive update: the asker is our opposite finger of the same level."""
        fingers.pointed_by(message.source)
        opposite = not message.forward
        side = fingers.side(opposite)
        level = message.level
        if level == 0:
            if side and side[0].ref == message.source:
                side[0].values = message.values
            return
        if level > len(side):
            return
        if advances(fingers.me.key, side[level - 1].ref.key, message.source.key, opposite):
            finger = fingers.put(opposite, level, message.source)
            finger.values = message.values
            finger.heard = now
            self._trim(fingers, opposite)

    # Answers

    def on_update_ack(self, now: float, source: NodeId, message: UpdateAck, out: Outbox) -> None:
        check(0, message.values)
        if len(message.backups) > LEFT_NEIGHBOURS_MAX:
            raise Violation("too many backups")
        if message.source.node != source:
            raise Violation("UpdateAck on behalf of another broker's node")
        fingers = self.tables.get(message.at.key)
        if fingers is None or fingers.asked is None or fingers.me != message.at:
            return
        asked = fingers.asked
        if asked.number != message.number or asked.ref != message.source:
            return
        self._local.timers.cancel(UpdateLate(fingers.me.key, asked.number))
        fingers.asked = None
        fingers.pointed_by(message.source)
        self._install(now, fingers, asked, message)
        self._next(now, fingers, asked, message.next, out)

    def _install(self, now: float, fingers: Fingers, asked: Asked, ack: UpdateAck) -> None:
        side = fingers.side(asked.forward)
        if asked.level > len(side) or (asked.level == 0 and (not side or side[0].ref != asked.ref)):
            return  # the ring changed meanwhile, and with it what this answer is about
        if asked.level and not advances(fingers.me.key, side[asked.level - 1].ref.key, asked.ref.key, asked.forward):
            return
        finger = fingers.put(asked.forward, asked.level, asked.ref)
        finger.heard = now
        finger.values = ack.values
        finger.backups = ack.backups
        self._trim(fingers, asked.forward)

    def _next(self, now: float, fingers: Fingers, asked: Asked, following: Ref | None, out: Outbox) -> None:
        """Our table ends where that of the node asked comes round to us. A table that ends before says nothing of ours."""
        level = asked.level + 1
        ends = following is not None and not advances(fingers.me.key, asked.ref.key, following.key, asked.forward)
        if ends or level >= LEVELS_MAX:
            following = None
            fingers.cut(asked.forward, level)
        if fingers.joining is None:
            fingers.following = following
            fingers.cursor = level if following is not None or level < len(fingers.forward) else 0
            return
        ahead, behind = fingers.joining
        step = level if following is not None else None
        fingers.joining = (step, behind) if asked.forward else (ahead, step)
        if following is not None and level == len(fingers.side(asked.forward)):
            fingers.put(asked.forward, level, following).heard = now
            self._trim(fingers, asked.forward)  # the ring may have changed since we asked
        self._go_on(now, fingers, out)

    def on_update_late(self, now: float, late: UpdateLate, out: Outbox) -> None:
        fingers = self.tables.get(late.key)
        if fingers is None or fingers.asked is None or fingers.asked.number != late.number:
            return
        asked = fingers.asked
        if asked.tries < self._settings.request_tries:
            asked.tries += 1
            self._send(now, fingers, asked, out)
            return
        self._local.count("finger.dead", out, asked.ref)
        self._contacts.shun(asked.ref.node, now + self._settings.shun_s)
        fingers.asked = None
        if asked.level == 0:
            fingers.joining = None  # the ring will repair this; the periodic update does the rest
        self.unreachable(now, asked.ref, out)
        self._go_on(now, fingers, out)

    # The dead and the departed

    def unreachable(self, now: float, ref: Ref, out: Outbox) -> None:
        """No table should point at ``ref``: take its backup, or do without until the next sweep."""
        for fingers in self.tables.values():
            for forward in (True, False):
                self._bypass(now, fingers, forward, ref)
            if fingers.following == ref:
                fingers.following = None
            asked = fingers.asked
            if asked is not None and asked.ref == ref and asked.level > 0:
                self._local.timers.cancel(UpdateLate(fingers.me.key, asked.number))
                fingers.asked = None
                self._go_on(now, fingers, out)

    def _bypass(self, now: float, fingers: Fingers, forward: bool, ref: Ref) -> None:
        """Level 0 is the ring's to repair."""
        side = fingers.side(forward)
        for level in range(len(side) - 1, 0, -1):
            if side[level].ref != ref:
                continue
            backups = side[level].backups
            me, before = fingers.me.key, side[level - 1].ref.key
            spare = next((b for b in backups if b != ref and stands_in(me, before, b.key, ref.key, forward)), None)
            if spare is None:
                fingers.remove(forward, level)
            else:
                rest = backups[backups.index(spare) + 1 :]
                finger = fingers.put(forward, level, spare)
                finger.backups = rest
                finger.heard = now
            self._trim(fingers, forward)

    def hand_over(self, now: float, mine: Ref, old: Ref, pointers: tuple[Ref, ...], out: Outbox) -> None:
        """Our right neighbour ``old`` has left: those who point at it shall point at us."""
        fingers = self.tables.get(mine.key)
        for holder in pointers:
            if holder not in (mine, old):
                if fingers is not None:
                    fingers.pointed_by(holder)
                out.send(holder.node, Replace(holder, old, mine))

    def on_replace(self, now: float, source: NodeId, message: Replace, out: Outbox) -> None:
        if message.new.node != source:
            raise Violation("Replace by another broker's node")
        fingers = self.tables.get(message.at.key)
        if fingers is None or fingers.me != message.at:
            return
        for forward in (True, False):
            self._swap(now, fingers, forward, message.old, message.new)

    def _swap(self, now: float, fingers: Fingers, forward: bool, old: Ref, new: Ref) -> None:
        side = fingers.side(forward)
        for level in range(1, len(side)):
            if side[level].ref != old:
                continue
            if advances(fingers.me.key, side[level - 1].ref.key, new.key, forward):
                backups = side[level].backups
                finger = fingers.put(forward, level, new)
                finger.backups = backups[1:]
                finger.heard = now
            else:
                fingers.remove(forward, level)
            self._trim(fingers, forward)
            return


def check(level: int, values: dict[str, float] | None) -> None:
    if not 0 <= level < LEVELS_MAX:
        raise Violation(f"level {level} out of bounds")
    if values is not None and len(values) > LABELS_MAX:
        raise Violation("too many labels")
