"""What an overlay offers, whichever it is: the verbs, what they answer, and what they tell the layer above.

Every verb takes the time and an outbox, as machines do; answers come back as events. A verb that is misused (a key that
is not ours, a range upside down, an unknown strategy) raises ``Misuse`` at once; nothing a peer sends ever raises.
"""

from typing import Any, Protocol

import msgspec

from weft.core.ids import NodeId
from weft.core.machine import Event, Machine, Message, Outbox
from weft.overlay.keys import Key, KeyRange


class Ref(msgspec.Struct, frozen=True, gc=False):
    """A pointer to one life of one virtual node: who left and came back is somebody else (overlay §2)."""

    key: Key
    node: NodeId
    incarnation: int


class Entry(msgspec.Struct, frozen=True, gc=False):
    """One line of a routing table.

    ``level`` is the paper's: FFT[i] is 2**i nodes away, a Skip Graph neighbour at level i shares i digits.
    ``values`` is what is known of the nodes from here to the next entry away from us (a hint), or None.
    """

    ref: Ref
    level: int
    values: dict[str, float] | None = None


class Condition(msgspec.Struct, frozen=True, gc=False):
    """``label`` ``op`` ``bound`` on a virtual node's attributes; a label that is absent counts as 0."""

    label: str
    op: str
    bound: float


class Query(msgspec.Struct, frozen=True, gc=False):
    """What to do in a key range.

    reduce     name of the reducer for the answers, or None: no answer wanted, fire and forget
    strategy   binary | split | cluster-first | delegate (overlay §5)
    reliable   each hop is acknowledged and sent again; without it a lost message loses its sub-range
    condition  only nodes that satisfy it deliver
    stale_ok   the condition may be judged by aggregated values, skipping sub-ranges on their word
    """

    range: KeyRange
    payload: Any
    reduce: str | None = None
    strategy: str = "cluster-first"
    reliable: bool = False
    condition: Condition | None = None
    stale_ok: bool = False


# What an overlay tells the layer above.


class Joined(Event, frozen=True, gc=False):
    """``key`` is in the ring. ``note`` is what its predecessor had noted for newcomers (RELAY §5.3.5)."""

    key: Key
    note: bytes


class JoinFailed(Event, frozen=True, gc=False):
    key: Key
    reason: str


class Left(Event, frozen=True, gc=False):
    key: Key


class NeighbourChanged(Event, frozen=True, gc=False):
    """The ring around ``key`` is now ``left``, ``key``, ``right``: all that a rendezvous point looks at (RELAY §5.3.3)."""

    key: Key
    left: Ref
    right: Ref


class Found(Event, frozen=True, gc=False):
    """The answer to ``lookup``: ``at`` has the greatest key not above the one asked for, ``right`` follows it.

    ``at`` is None when nothing answered in time. If ``right`` is not above the key, it is a dead node, over
    which the ring was not mended in time: there may be others beyond it.
    """

    request: int
    key: Key
    at: Ref | None
    right: Ref | None
    hops: int


class Received(Event, frozen=True, gc=False):
    """A query reached ``key``. If it wants answers, exactly one ``reply(token, …)`` is due."""

    token: int | None
    key: Key
    payload: Any
    origin: NodeId
    hops: int


class Missed(Event, frozen=True, gc=False):
    """A query met nobody in a piece of its range: ``key``, ours, is the greatest below it, and its right neighbour is beyond.

    So a publication for an empty segment is certain to meet whoever stands at that segment's border (RELAY §5.3.6).
    """

    key: Key
    payload: Any
    origin: NodeId


class Answered(Event, frozen=True, gc=False):
    """A query with answers is over: their reduction, how many keys gave one, and the sub-ranges that nobody answered for."""

    request: int
    value: Any
    keys: int
    missing: tuple[KeyRange, ...]


class Selected(Event, frozen=True, gc=False):
    """Anycast is over: ``key`` took the request (``value`` is its answer), or None: nobody in the range could."""

    request: int
    key: Key | None
    value: Any
    hops: int
    by: str


class Overlay(Machine, Protocol):
    """The verbs. ``introducer`` is any broker in the ring; None founds a ring, or joins through our own other keys."""

    def join(self, now: float, key: Key, introducer: NodeId | None, out: Outbox) -> None: ...

    def leave(self, now: float, key: Key, out: Outbox) -> None: ...

    def lookup(self, now: float, key: Key, out: Outbox) -> int: ...

    def multicast(self, now: float, query: Query, out: Outbox) -> int: ...

    def anycast(self, now: float, query: Query, selection: str, out: Outbox) -> int: ...

    def reply(self, now: float, token: int, value: Any, out: Outbox) -> None: ...

    def aggregate(self, now: float, key: Key, values: dict[str, float], out: Outbox) -> None: ...

    def note(self, key: Key, note: bytes) -> None: ...

    def keys(self) -> list[Key]: ...


__all__ = [
    "Answered",
    "Condition",
    "Entry",
    "Found",
    "JoinFailed",
    "Joined",
    "Left",
    "Message",
    "Missed",
    "NeighbourChanged",
    "Overlay",
    "Query",
    "Received",
    "Ref",
    "Selected",
]
