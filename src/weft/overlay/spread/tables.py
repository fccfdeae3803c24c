"""What spread asks of the overlay, and what it remembers of queries under way.

Invariants: every table here is bounded by the constant named beside it; a ticket names one child of one duty; a token
names one delivery, and leaves with it.
"""

from collections.abc import Sequence
from typing import Any, Protocol

import msgspec

from weft.core.ids import NodeId
from weft.overlay.api import Entry, Ref
from weft.overlay.keys import Key, KeyRange
from weft.overlay.spread.messages import Asked, Offer, Part, Pick

DELIVERIES_MAX = 65_536
"""Deliveries remembered, so that a repeat is recognised; the oldest query goes first."""

TICKETS_MAX = 65_536
"""Scatters remembered by (sender, ticket), so that a copy made by the network is recognised."""

DUTIES_MAX = 65_536
"""Queries with answers under way at one broker."""

HELD_MAX = 8_192
"""Pieces that wait for the ring to heal, or for a delegate to be found."""

DELEGATES_MAX = 1_024
"""Ranges whose delegate is remembered."""


class Tables(Protocol):
    """What spread asks of the overlay, about our own virtual nodes; entries nearest first, levels ascending.

    ``lefts`` may contain entries that wrap around (their key is not below ours), and so may ``rights``: a piece never
    wraps, so they are passed over, except where an aggregated value is asked for.
    """

    def lefts(self, key: Key) -> Sequence[Entry]: ...

    def rights(self, key: Key) -> Sequence[Entry]: ...

    def values(self, key: Key) -> dict[str, float]: ...

    def neighbours(self, key: Key) -> tuple[Ref, Ref]: ...


class Errand(msgspec.Struct, frozen=True, gc=False):
    """What does not change while a broker handles one message of a query. ``duty`` is 0 if no answer is wanted."""

    asked: Asked
    hops: int
    duty: int = 0
    careful: bool = False

    @property
    def acknowledged(self) -> bool:
        return self.careful or self.asked.reliable


class Child(msgspec.Struct, frozen=True, gc=False):
    """Who owes an answer for which pieces; None: we do ourselves, once a held piece can be handed on."""

    node: NodeId | None
    pieces: tuple[KeyRange, ...]


class Duty(msgspec.Struct):
    """Our share of a query with answers: the pieces of one Scatter, or (``parent`` None) a whole query of ours."""

    number: int
    asked: Asked
    pieces: tuple[KeyRange, ...]
    hops: int
    due: float
    parent: NodeId | None
    ticket: int
    careful: bool
    end: float = 0.0
    tries: int = 1
    busy: int = 0
    children: dict[int, Child] = {}
    awaited: dict[Key, None] = {}
    missing: list[KeyRange] = []
    value: Any = None
    keys: int = 0
    offers: tuple[Offer, ...] = ()

    @property
    def complete(self) -> bool:
        return not (self.busy or self.children or self.awaited)


class Held(msgspec.Struct):
    """A piece that cannot be handed on yet; ``tries`` waits so far."""

    errand: Errand
    part: Part
    tries: int


class Delivery(msgspec.Struct):
    """A query at one of our keys: delivered, and perhaps answered. ``waiters`` are the duties that count it."""

    token: int | None
    key: Key
    asked: Asked
    done: bool
    value: Any = None
    waiters: list[int] = []
    pick: Pick | None = None


class Memory:
    """Which of our keys a query has reached: a repeat is answered from here and not delivered again."""

    def __init__(self) -> None:
        self._queries: dict[tuple[NodeId, int], dict[Key, Delivery]] = {}
        self._tokens: dict[int, Delivery] = {}
        self._tickets: dict[tuple[NodeId, int], None] = {}
        self._size = 0

    def __len__(self) -> int:
        return self._size

    def get(self, asked: Asked, key: Key) -> Delivery | None:
        return self._queries.get(asked.ident, {}).get(key)

    def put(self, delivery: Delivery) -> int:
        """Remember ``delivery``; how many older ones had to be forgotten for it."""
        deliveries = self._queries.setdefault(delivery.asked.ident, {})
        old = deliveries.get(delivery.key)
        if old is None:
            self._size += 1
        elif old.token is not None:
            self._tokens.pop(old.token, None)
        deliveries[delivery.key] = delivery
        if delivery.token is not None:
            self._tokens[delivery.token] = delivery
        forgotten = 0
        while self._size > DELIVERIES_MAX and len(self._queries) > 1:
            forgotten += self._forget(next(iter(self._queries)))
        return forgotten

    def _forget(self, ident: tuple[NodeId, int]) -> int:
        deliveries = self._queries.pop(ident)
        self._size -= len(deliveries)
        for delivery in deliveries.values():
            if delivery.token is not None:
                self._tokens.pop(delivery.token, None)
        return len(deliveries)

    def answer(self, token: int) -> Delivery | None:
        """The delivery that ``token`` was given for, once."""
        return self._tokens.pop(token, None)

    def repeated(self, source: NodeId, ticket: int) -> bool:
        """Has this Scatter been here before?"""
        mark = (source, ticket)
        if mark in self._tickets:
            return True
        self._tickets[mark] = None
        if len(self._tickets) > TICKETS_MAX:
            del self._tickets[next(iter(self._tickets))]
        return False


class Delegates:
    """Range → the node inside it that we hand everything to, while it answers (SELECT §3.4)."""

    def __init__(self) -> None:
        self._refs: dict[KeyRange, Ref] = {}

    def get(self, piece: KeyRange) -> Ref | None:
        return self._refs.get(piece)

    def put(self, piece: KeyRange, ref: Ref) -> None:
        self._refs.pop(piece, None)
        self._refs[piece] = ref
        if len(self._refs) > DELEGATES_MAX:
            del self._refs[next(iter(self._refs))]

    def drop_node(self, node: NodeId) -> None:
        """``node`` does not answer."""
        self._refs = {piece: ref for piece, ref in self._refs.items() if ref.node != node}

    def drop(self, lost: Ref) -> None:
        """``lost`` is not where it was."""
        self._refs = {piece: ref for piece, ref in self._refs.items() if ref != lost}
