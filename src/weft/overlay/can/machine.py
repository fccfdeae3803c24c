"""CAN-MC: publications flood the CAN of their topic (see the package)."""

from typing import Any

from weft.core.errors import Misuse, Violation
from weft.core.ids import NodeId
from weft.core.limits import VIRTUAL_NODES_MAX
from weft.core.machine import Outbox
from weft.overlay.can.geometry import SIDE, centre, opened
from weft.overlay.can.messages import Flood
from weft.overlay.can.tables import WAITING_MAX, Member
from weft.overlay.can.upkeep import ALL, Upkeep
from weft.overlay.groups import FrontDoor, Publication, check_topic, heard_hops, heard_topic
from weft.overlay.local import Local

DIMS_MAX = 8


class Can(FrontDoor):
    """``enter`` first. ``again``: hand a copy on through sides that it has not gone through yet (see ``geometry``)."""

    def __init__(self, node: NodeId, dims: int = 2, seed: int = 0, run: int = 0, *, again: bool = False) -> None:
        if not 0 < dims <= DIMS_MAX:
            raise Misuse(f"a space of {dims} dimensions: 1…{DIMS_MAX} are possible")
        super().__init__(Local(node, seed, run))
        self.members: dict[str, Member] = {}
        self.subscribed: set[str] = set()
        self.upkeep = Upkeep(self.local, self.members, dims, seed, self._entered)
        self._dims = dims
        self._again = again
        self._handlers.update({Flood: self.on_flood, **self.upkeep.handlers})

    # The verbs

    def enter(self, now: float, introducer: NodeId | None, out: Outbox) -> None:
        """Into the CAN of all nodes, through ``introducer``; None: we are the first."""
        if ALL in self.members:
            raise Misuse("this node has entered already, or is about to")
        if introducer is None:
            self.upkeep.found(now, ALL, out)
        else:
            self.upkeep.join(ALL, introducer, out)

    def subscribe(self, now: float, interest: str, out: Outbox) -> None:
        check_topic(interest)
        if interest in self.subscribed:
            raise Misuse(f"{interest} is subscribed already")
        self._be_in(now, interest, out)
        self.subscribed.add(interest)

    def unsubscribe(self, now: float, interest: str, out: Outbox) -> None:
        """Out of the topic's CAN: who publishes there too is back with its next publication."""
        if interest not in self.subscribed:
            raise Misuse(f"{interest} is not subscribed")
        self.subscribed.discard(interest)
        self.upkeep.leave(now, interest, out)

    def retire(self, now: float, topic: str, out: Outbox) -> None:
        """We publish to ``topic`` no more."""
        if topic not in self.members or topic == ALL or topic in self.subscribed:
            raise Misuse(f"{topic} is not a topic that we only publish to")
        self.upkeep.leave(now, topic, out)

    def publish(self, now: float, about: str, payload: Any, out: Outbox) -> int:
        """From within the topic's CAN, which we join for it."""
        check_topic(about)
        publication = Publication(about, payload, self.local.node, self.local.next_request())
        member = self._be_in(now, about, out)
        if member.zone is None:
            if len(member.waiting) >= WAITING_MAX:
                raise Misuse(f"more than {WAITING_MAX} publications wait to get into {about}")
            member.waiting.append(publication)
        else:
            self._flood(member, publication, centre(member.zone.low, member.zone.high), -1, 0, out)
        return publication.number

    def _be_in(self, now: float, topic: str, out: Outbox) -> Member:
        """In the CAN of ``topic``, or on our way there."""
        if ALL not in self.members or self.members[ALL].zone is None:
            raise Misuse("this node has not entered the CAN of all nodes yet")
        if topic not in self.members:
            if len(self.members) >= VIRTUAL_NODES_MAX:
                raise Misuse(f"more than {VIRTUAL_NODES_MAX} topics at one node")
            self.upkeep.seek(now, topic, out)
        return self.members[topic]

    def _entered(self, now: float, can: str, out: Outbox) -> None:
        member = self.members[can]
        waiting, member.waiting = member.waiting, []
        assert member.zone is not None
        for publication in waiting:
            self._flood(member, publication, centre(member.zone.low, member.zone.high), -1, 0, out)

    # Flooding

    def on_flood(self, now: float, source: NodeId, message: Flood, out: Outbox) -> None:
        heard_topic(message.publication.about)
        heard_hops(message.hops)
        member = self.members.get(message.publication.about)
        if member is None or member.zone is None:
            raise Violation("a publication in a CAN that we are not in")
        if len(message.source) != self._dims or not all(0 <= at < SIDE for at in message.source):
            raise Violation("a publisher outside the space")
        if not 0 <= message.side < 2 * self._dims:
            raise Violation("a side that no zone has")
        self._flood(member, message.publication, message.source, message.side, message.hops, out)

    def _flood(
        self, member: Member, publication: Publication, source: tuple[int, ...], came: int, hops: int, out: Outbox
    ) -> None:
        assert member.zone is not None
        sides = opened(member.zone.low, member.zone.high, source, came)
        more = member.newly(publication, sides)
        if more is None:
            if publication.about in self.subscribed:
                out.deliver(publication.received(hops, 0))
        else:
            self.local.counts["can.copy"] += 1
            sides = more if self._again else 0
        for place in member.places() if sides else ():
            through = place.sides(member.zone) & sides
            if through:
                side = (through & -through).bit_length() - 1
                out.send(place.node, Flood(publication, source, side, hops + 1))
