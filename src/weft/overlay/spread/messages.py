"""What travels, and what is refused.

Scatter   sender → taker      pieces of a range and the query; all pieces for one broker in one message (RELAY §5.2 figure 5)
Gather    taker → sender      the answer for one Scatter: reduced value, number of keys, sub-ranges nobody answered for
Astray    taker → sender      the piece came here, but the virtual node it was meant for is not ours
Returned  taker → sender      and we know nobody to hand it on to, having left the ring: take it back
Pick      node → node         Anycast: choose one in ``scope`` (SELECT §3.4.2 Algorithm 1), or reserve ``to`` and nobody else
Picked    node → origin       who took it, or nobody

The checks are all that stands between a hostile peer and the handlers: whatever passes them is safe to act upon.
"""

from typing import Any

import msgspec

from weft.core.errors import Violation
from weft.core.ids import NODE_ID_MAX, NodeId
from weft.core.limits import LEVELS_MAX
from weft.core.machine import Message
from weft.overlay.api import Condition, Ref
from weft.overlay.keys import Key, KeyRange, after
from weft.overlay.spread.geometry import OPERATORS, STRATEGIES, contains, merge
from weft.overlay.values import REDUCERS

PARTS_MAX = 4_096
"""Pieces in one Scatter; more go in further messages."""

RANGES_MAX = 4_096
"""Missing sub-ranges in one Gather; past it the whole piece is reported missing."""

OFFERS_MAX = 256
"""Candidates that a census brings home."""

RULED_OUT_MAX = 128
"""Ranges that one Anycast remembers as fruitless."""

BUDGET_MAX_S = 86_400.0
"""Longest time a query may ask for."""

NUMBER_MAX = (1 << 63) - 1

SELECTIONS = ("many", "few", "close", "random")


class Asked(msgspec.Struct, frozen=True, gc=False):
    """A query as it travels: the range is that of the pieces. ``census`` asks who matches, and delivers nothing."""

    origin: NodeId
    request: int
    payload: Any
    strategy: str
    reduce: str | None = None
    reliable: bool = False
    condition: Condition | None = None
    stale_ok: bool = False
    census: bool = False

    @property
    def ident(self) -> tuple[NodeId, int]:
        return self.origin, self.request

    @property
    def wants_answers(self) -> bool:
        return self.census or self.reduce is not None


class Part(msgspec.Struct, frozen=True, gc=False):
    """``to`` is in charge of ``piece``, or nearer to it. ``level`` bounds the levels of the next hand-over (binary)."""

    to: Ref
    piece: KeyRange
    level: int
    first: Ref | None = None


class Offer(msgspec.Struct, frozen=True, gc=False):
    """A node that matches, with the value that its weight is made of."""

    ref: Ref
    value: float


class Scatter(Message, frozen=True, gc=False):
    """``ticket`` names this message in its answer; 0: none is wanted. ``careful``: acknowledge each hop."""

    asked: Asked
    parts: tuple[Part, ...]
    hops: int
    ticket: int = 0
    budget_s: float = 0.0
    careful: bool = False


class Gather(Message, frozen=True, gc=False):
    ticket: int
    value: Any
    keys: int
    missing: tuple[KeyRange, ...]
    offers: tuple[Offer, ...] = ()


class Astray(Message, frozen=True, gc=False):
    ref: Ref


class Returned(Message, frozen=True, gc=False):
    scatter: Scatter


class Pick(Message, frozen=True, gc=False):
    """``inside``: a node of the range has taken over from the sender. ``only``: ``to`` or nobody."""

    asked: Asked
    selection: str
    range: KeyRange
    scope: KeyRange
    to: Ref
    phase: int
    hops: int = 0
    steps: int = 0
    inside: bool = False
    only: bool = False
    ruled_out: tuple[KeyRange, ...] = ()


class Picked(Message, frozen=True, gc=False):
    """``key`` is None if nobody took it; ``empty`` says that there is nobody in the range at all."""

    request: int
    phase: int
    key: Key | None
    value: Any
    hops: int
    empty: bool = False


def _require(holds: bool, text: str) -> None:
    if not holds:
        raise Violation(text)


def _check_asked(asked: Asked) -> None:
    _require(0 < asked.origin <= NODE_ID_MAX and 0 <= asked.request <= NUMBER_MAX, "no such query can be")
    _require(asked.strategy in STRATEGIES, "unknown strategy")
    _require(asked.reduce is None or asked.reduce in REDUCERS, "unknown reducer")
    _require(asked.condition is None or asked.condition.op in OPERATORS, "unknown operator")
    _require(asked.condition is not None or not asked.census, "census without a condition")


def check_scatter(message: Scatter) -> None:
    """Pieces in order, none reversed, empty or overlapping; numbers within reason."""
    _check_asked(message.asked)
    _require(0 < len(message.parts) <= PARTS_MAX, "no parts, or too many")
    _require(0 < message.hops <= NUMBER_MAX, "impossible hop count")
    _require(0 <= message.ticket <= NUMBER_MAX, "impossible ticket")
    _require((message.ticket != 0) == message.asked.wants_answers, "a ticket and no answer wanted, or the reverse")
    _require(message.ticket == 0 or 0 < message.budget_s <= BUDGET_MAX_S, "impossible time budget")
    last: Key | None = None
    for part in message.parts:
        _require(part.piece.low < part.piece.high, "reversed or empty piece")
        _require(last is None or last <= part.piece.low, "overlapping pieces")
        _require(0 <= part.level <= LEVELS_MAX, "impossible level")
        last = part.piece.high


def check_gather(message: Gather, pieces: tuple[KeyRange, ...]) -> None:
    """The answer is about the pieces that its sender was given, and nothing else."""
    _require(0 <= message.keys <= NUMBER_MAX, "impossible number of keys")
    _require(len(message.missing) <= RANGES_MAX, "too many missing ranges")
    _require(len(message.offers) <= OFFERS_MAX, "too many offers")
    whole = merge(pieces)  # pieces that touch may be missing as one
    last: Key | None = None
    for missing in message.missing:
        _require(missing.low < missing.high, "reversed or empty missing range")
        _require(last is None or last <= missing.low, "overlapping missing ranges")
        _require(contains(whole, missing), "missing range outside the piece")
        last = missing.high
    for offer in message.offers:
        _require(contains(pieces, KeyRange(offer.ref.key, after(offer.ref.key))), "offer outside the piece")


def check_pick(message: Pick) -> None:
    _check_asked(message.asked)
    _require(message.asked.condition is not None, "anycast without a condition")
    _require(message.selection in SELECTIONS, "unknown selection")
    _require(message.range.low < message.range.high, "reversed or empty range")
    _require(message.scope.low < message.scope.high, "reversed or empty scope")
    _require(contains((message.range,), message.scope), "scope outside the range")
    _require(0 < message.hops <= NUMBER_MAX and 0 <= message.steps <= NUMBER_MAX, "impossible hop count")
    _require(0 <= message.phase <= NUMBER_MAX, "impossible phase")
    _require(len(message.ruled_out) <= RULED_OUT_MAX, "too many ruled-out ranges")


def check_picked(message: Picked) -> None:
    _require(0 <= message.hops <= NUMBER_MAX and 0 <= message.phase <= NUMBER_MAX, "impossible hop count")
