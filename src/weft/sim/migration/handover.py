"""Migration by rename on a ring that stands still: the hand-over of MIGRATE §5.2 and §5.4, with ranks (ADR 0003).

For experiments, before the product has it: the layer above the overlay that is to rename real brokers' keys will replace this.
Each member knows its neighbours' keys, and who has it in a table; nobody joins, leaves or fails meanwhile (MIGRATE §6).

    begin ▶ Allow ▶ … ▶ left end of alm ▶ Allowed ▶ rename, Turn ▶ … ▶ left end: rename, Stop ▶ … ▶ right end of ofm

Allow and Stop are relayed from member to member, as the paper extends DDLL's events; Turn carries the key that its sender has
now, from which the next one's rank follows. Renamed goes to whoever has the member in a table, and nobody waits for it.

Invariant: at every instant the members' keys, in ring order, ascend from one place of the ring on; only what is alm renames.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from weft.core.errors import Misuse
from weft.core.ids import NodeId
from weft.core.machine import Event, Message, Outbox
from weft.overlay.keys import ALM, OFM, Key, Segment
from weft.overlay.suzaku.geometry import top_level


class Allow(Message, frozen=True, gc=False):
    """From now on there may be members in ofm: publish there, too. ``point``: who waits to hear that all know."""

    point: NodeId


class Allowed(Message, frozen=True, gc=False):
    """The left end of alm knows, and so does everybody on the way."""


class Turn(Message, frozen=True, gc=False):
    """It is your turn to rename; ``key`` is the sender's own since it did."""

    key: Key


class Renamed(Message, frozen=True, gc=False):
    """For tables: ``old`` is ``new`` now."""

    old: Key
    new: Key


class Stop(Message, frozen=True, gc=False):
    """alm is empty: do not publish there."""


class MovedOver(Event, frozen=True, gc=False):
    """A member is in ofm."""

    key: Key


class Began(Event, frozen=True, gc=False):
    """The first rename may go ahead: all of alm know that they may publish to ofm."""


class Stopped(Event, frozen=True, gc=False):
    """A member knows that alm is empty."""


@dataclass(slots=True)
class Neighbour:
    node: NodeId
    key: Key


class Member:
    """One broker's member of one topic. In: ``begin`` at the right end of alm, messages. Out: messages, events."""

    def __init__(self, node: NodeId, key: Key, fitting: bool = False) -> None:
        self.node = node
        self.fitting = fitting
        self.key = key
        self.left = self.right = Neighbour(node, key)
        self.pointing: tuple[NodeId, ...] = ()
        """Who has us in a table."""
        self.publishes_ofm = key.segment == OFM
        self.publishes_alm = True
        self.deadline: float | None = None

    def _beside(self, other: Neighbour, segment: Segment, *, rightwards: bool) -> bool:
        """Is ``other``, which is our neighbour on that side, a member of ``segment`` of our topic, and not round the ring?"""
        onwards = self.key < other.key if rightwards else other.key < self.key
        return other.node != self.node and onwards and other.key[:2] == self.key[:2] and other.key.segment == segment

    def begin(self, now: float, out: Outbox) -> None:
        """OFM has reached us, the rendezvous point of alm: the migration starts here (MIGRATE figure 7, 1)."""
        if self.key.segment != ALM or self._beside(self.right, ALM, rightwards=True):
            raise Misuse(f"{self.key} is not the right end of alm")
        self._allow(self.node, out)

    def receive(self, now: float, source: NodeId, message: Message, out: Outbox) -> None:
        match message:
            case Allow(point=point):
                self._allow(point, out)
            case Allowed():
                out.deliver(Began())
                self._rename(out)
            case Turn(key=key):
                self.right.key = key
                self._rename(out)
            case Renamed(old=old, new=new):
                for neighbour in (self.left, self.right):
                    if neighbour.key == old:
                        neighbour.key = new
            case Stop():
                self._stop(out)

    def timeout(self, now: float, out: Outbox) -> None:
        raise AssertionError("a member has no timer")

    def _allow(self, point: NodeId, out: Outbox) -> None:
        self.publishes_ofm = True
        if self._beside(self.left, ALM, rightwards=False):
            out.send(self.left.node, Allow(point))
        else:
            out.send(point, Allowed())

    def _rename(self, out: Outbox) -> None:
        """Our own doing, without a message; then tell, and hand on (MIGRATE figure 7, 2 and 3)."""
        old = self.key
        self.key = old._replace(segment=OFM, rank=self._rank())
        assert self.right.key <= old or self.key < self.right.key, "a rename keeps its place"
        out.deliver(MovedOver(self.key))
        for node in self.pointing:
            out.send(node, Renamed(old, self.key))
        if self._beside(self.left, ALM, rightwards=False):
            out.send(self.left.node, Turn(self.key))
        else:
            self._stop(out)

    def _rank(self) -> int:
        """The successor's less one, 0 if ofm is empty; ``fitting``: the successor's own, where we sort below it even so."""
        if not self._beside(self.right, OFM, rightwards=True):
            return 0
        rank = self.right.key.rank
        fits = self.key._replace(segment=OFM, rank=rank) < self.right.key
        return rank if self.fitting and fits else rank - 1

    def _stop(self, out: Outbox) -> None:
        self.publishes_alm = False
        out.deliver(Stopped())
        if self._beside(self.right, OFM, rightwards=True):
            out.send(self.right.node, Stop())


def ring_of(keys: Sequence[Key], fitting: bool = False) -> dict[NodeId, Member]:
    """Members in one ring, each in the tables that Suzaku's fingers make: 2^i places to either side (SELECT §3.2)."""
    held = sorted(keys)
    if len({key.broker for key in held}) < len(held):
        raise Misuse("a broker has one member of a topic")
    members = [Member(key.broker, key, fitting) for key in held]
    count = len(members)
    for place, member in enumerate(members):
        left, right = members[place - 1], members[(place + 1) % count]
        member.left, member.right = Neighbour(left.node, left.key), Neighbour(right.node, right.key)
        apart = (sign * 2**level for level in range(top_level(count) + 1) for sign in (1, -1))
        pointing = dict.fromkeys(members[(place + away) % count].node for away in apart)
        member.pointing = tuple(node for node in pointing if node != member.node)
    return {member.node: member for member in members}
