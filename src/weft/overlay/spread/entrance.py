"""How a query of our own enters its range under strategy ``delegate`` (SELECT §3.4; overlay §5).

A sender outside hands everything to one node inside: the remembered one, one that our tables know, or one that a lookup
finds. That hand-over is always acknowledged, because a delegate that does not answer is forgotten; so is one that has left.
"""

from collections.abc import Callable, Sequence

import msgspec

from weft.core.ids import NodeId
from weft.core.limits import LEVELS_MAX
from weft.core.machine import Outbox
from weft.overlay.api import Ref
from weft.overlay.contacts import Contacts
from weft.overlay.keys import between
from weft.overlay.local import Local
from weft.overlay.lookup import Found, Lookup
from weft.overlay.spread.messages import Part
from weft.overlay.spread.tables import Delegates, Errand
from weft.overlay.spread.upkeep import Cover, Upkeep

Hand = Callable[[float, Errand, NodeId, Sequence[Part], Outbox, bool], None]


class ForDelegate(msgspec.Struct, frozen=True, gc=False):
    """Purpose of a lookup: a node inside the range of the piece held under ``number``."""

    number: int


class Entrance:
    """In: ``enter``, the lookup's answer. Out: one hand-over to a delegate, or the whole range to cover from here."""

    def __init__(
        self, local: Local, contacts: Contacts, lookup: Lookup, upkeep: Upkeep, cover: Cover, hand: Hand
    ) -> None:
        self._local = local
        self._contacts = contacts
        self._lookup = lookup
        self._upkeep = upkeep
        self._cover = cover
        self._hand = hand
        self.delegates = Delegates()
        lookup.askers[ForDelegate] = self._on_delegate

    def enter(self, now: float, errand: Errand, whole: Part, out: Outbox) -> None:
        """Set ``whole`` on its way: spread from here if we are in the range, else through one node that is."""
        if errand.asked.strategy != "delegate" or self._contacts.own_inside(*whole.piece):
            self._cover(now, errand, [whole], out, 0)
            return
        delegate = self.delegates.get(whole.piece)
        if delegate is None or self._contacts.is_shunned(delegate.node, now):
            inside = self._contacts.inside(*whole.piece, now)
            delegate = inside[0] if inside else None
        if delegate is not None:
            self._delegate(now, errand, whole, delegate, out)
            return
        number = self._upkeep.hold(errand, whole, 0, out)
        if number is not None:
            self._lookup.ask(now, whole.piece.low, ForDelegate(number), None, out)

    def _on_delegate(self, now: float, purpose: ForDelegate, found: Found, out: Outbox) -> None:
        held = self._upkeep.unhold(purpose.number)
        if held is None:
            return
        piece = held.part.piece
        inside = [ref for ref in (found.at, found.right) if ref is not None and ref.key in piece]
        empty = found.at and found.right and not inside and between(found.at.key, piece.low, found.right.key)
        if inside and inside[0].node != self._local.node:
            self._delegate(now, held.errand, held.part, inside[0], out)
        elif not empty:
            self._cover(now, held.errand, [held.part], out, 0)
        self._upkeep.settle(now, held.errand.duty, out)

    def _delegate(self, now: float, errand: Errand, whole: Part, delegate: Ref, out: Outbox) -> None:
        self.delegates.put(whole.piece, delegate)
        self._hand(now, errand, delegate.node, [Part(delegate, whole.piece, LEVELS_MAX)], out, True)
