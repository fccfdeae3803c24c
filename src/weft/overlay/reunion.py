"""How two rings that were one become one again, without a restart (overlay §11; Shafaat's ring unification, in DDLL's terms).

A broker remembers whom it lost, and whom it has met. From time to time it asks one of them where its own key belongs (the lost
first, and more often). If the answer is a place
``(a, b)`` that is not its own, there are two rings: with ``c`` our ring's last node before ``b``, ``b`` is told to look at
``c``. ``c`` lies between ``a`` and ``b``, so ``b`` inserts itself behind it; from that one crossing the checks of the ring
zip the rest together, each neighbour finding the next.
"""

import msgspec

from weft.core.ids import NodeId
from weft.core.machine import Outbox, TimerHandlers
from weft.overlay.api import Ref
from weft.overlay.contacts import Contacts
from weft.overlay.keys import before
from weft.overlay.local import Local
from weft.overlay.lookup import Found, Lookup
from weft.overlay.ring.messages import Candidate
from weft.overlay.settings import Settings

BACKOFF_MAX = 6
"""A node that stays lost is tried at most this many times less often, and so is anybody when nobody is lost."""


class LostDue(msgspec.Struct, frozen=True, gc=False):
    """Timer: ask somebody."""


class AskLost(msgspec.Struct, frozen=True, gc=False):
    """Purpose of a lookup through broker ``node``, lost or met: where does ``mine`` belong in your ring?"""

    node: NodeId
    mine: Ref


class AskOurs(msgspec.Struct, frozen=True, gc=False):
    """Purpose of a lookup in our own ring: who is last before ``b``?"""

    b: Ref


class Reunion:
    """In: ``lost``, LostDue, answers of lookups. Out: Candidate to whoever should look again. Bounded by ``lost_max``."""

    def __init__(self, local: Local, contacts: Contacts, lookup: Lookup, settings: Settings) -> None:
        self._local = local
        self._contacts = contacts
        self._lookup = lookup
        self._settings = settings
        self.missing: dict[NodeId, int] = {}
        """Whom we lost, and how often we have asked: the next to be asked comes first."""
        lookup.askers[AskLost] = self.on_lost_answer
        lookup.askers[AskOurs] = self.on_our_answer
        self.timers: TimerHandlers = {LostDue: self.on_lost_due}

    def lost(self, now: float, node: NodeId) -> None:
        """``node`` does not answer: dead, or on the other side of a partition."""
        if self._settings.lost_interval_s is None or node == self._local.node:
            return
        self.missing[node] = 0
        if len(self.missing) > self._settings.lost_max:
            del self.missing[next(iter(self.missing))]
        self.arm(now, soon=True)

    def arm(self, now: float, *, soon: bool = False) -> None:
        """Ask again in a while; ``soon``: at the shortest interval, even if a later time was set."""
        interval = self._settings.lost_interval_s
        if interval is None or (LostDue() in self._local.timers and not soon):
            return
        rounds = min(1 + min(self.missing.values(), default=BACKOFF_MAX), BACKOFF_MAX)
        self._local.timers.set(LostDue(), now + interval * rounds * self._local.rng.uniform(0.75, 1.25))

    def on_lost_due(self, now: float, due: LostDue, out: Outbox) -> None:
        own = self._contacts.own
        if not own:
            return  # the next key that joins arms this again
        if self.missing:
            node = next(iter(self.missing))
            self.missing[node] = self.missing.pop(node) + 1
            self._ask(now, node, own, out)
        # Also while somebody is lost: the lost may be dead, and who was met alive the only way back.
        met = [node for node in self._contacts.met if node not in self.missing]
        if met:
            self._ask(now, self._local.rng.choice(met), own, out)
        self.arm(now)

    def _ask(self, now: float, node: NodeId, own: list[Ref], out: Outbox) -> None:
        mine = self._local.rng.choice(own)
        self._lookup.ask(now, before(mine.key), AskLost(node, mine), node, out)

    def on_lost_answer(self, now: float, asked: AskLost, found: Found, out: Outbox) -> None:
        if found.at is None or found.right is None:
            return
        if found.right == asked.mine:  # another node of ours is not enough: our own nodes may be in two rings
            self.missing.pop(asked.node, None)
        else:
            self._lookup.ask(now, before(found.right.key), AskOurs(found.right), None, out)

    def on_our_answer(self, now: float, asked: AskOurs, found: Found, out: Outbox) -> None:
        if found.at is not None and found.at != asked.b:
            self._local.count("reunion.hint", out, asked.b)
            out.send(asked.b.node, Candidate(asked.b, 0, found.at))
