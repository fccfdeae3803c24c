"""Joining a CAN and leaving it: how the zones come to tile the space, and go on tiling it.

Join: the owner of the joiner's point halves its zone. Leave: the buddy takes the zone, if it is one node's; if it is not, two
buddies further down in it make room: one takes the zone of both, the other the leaver's (CAN's own rule).
One change at a time: the experiments need converged CANs, not their repair. Joins or leaves side by side may leave two
neighbours unknown to each other, and nothing guards against loss or a crash.
"""

from collections.abc import Callable

from msgspec import structs

from weft.core.errors import Violation
from weft.core.ids import NodeId
from weft.core.limits import TTL_HOPS, VIRTUAL_NODES_MAX
from weft.core.machine import Handlers, Outbox
from weft.overlay.can.geometry import BITS, SIDE, away, where
from weft.overlay.can.messages import (
    Find,
    Gone,
    Introduced,
    Introducers,
    Join,
    Moved,
    Place,
    Vacate,
    Welcome,
    Withdraw,
    Zone,
)
from weft.overlay.can.tables import NEIGHBOURS_MAX, Member
from weft.overlay.groups import heard_hops, heard_topic
from weft.overlay.local import Local
from weft.overlay.rendezvous.geometry import identity

ALL = ""
"""The name of the CAN of all nodes."""


class Upkeep:
    """In: Find … Vacate. Out: the same; ``entered`` is called when we have a zone."""

    def __init__(
        self,
        local: Local,
        members: dict[str, Member],
        dims: int,
        seed: int,
        entered: Callable[[float, str, Outbox], None],
    ) -> None:
        self._local = local
        self._members = members
        self._dims = dims
        self._seed = seed
        self._entered = entered
        self.introducers: Introducers = {}
        """Of the topics whose hash our zone in the CAN of all nodes holds."""
        self.handlers: Handlers = {
            Find: self.on_find,
            Introduced: self.on_introduced,
            Withdraw: self.on_withdraw,
            Join: self.on_join,
            Welcome: self.on_welcome,
            Moved: self.on_moved,
            Gone: self.on_gone,
            Vacate: self.on_vacate,
        }

    # Finding a topic's CAN

    def point(self, topic: str) -> tuple[int, ...]:
        """Where in the CAN of all nodes a topic's introducer is kept."""
        return where(0, NodeId(0), identity(topic, 63), self._dims)

    def seek(self, now: float, topic: str, out: Outbox) -> None:
        """We want to be in the CAN of ``topic``."""
        self._members[topic] = Member()
        self._find(now, Find(topic, self._local.node, 0), out)

    def on_find(self, now: float, source: NodeId, message: Find, out: Outbox) -> None:
        heard_topic(message.topic)
        heard_hops(message.hops)
        self._find(now, message, out)

    def _find(self, now: float, find: Find, out: Outbox) -> None:
        to = self._towards(ALL, self.point(find.topic))
        if to is not None:
            out.send(to, Find(find.topic, find.asker, find.hops + 1))
            return
        if find.topic not in self.introducers and len(self.introducers) >= VIRTUAL_NODES_MAX:
            raise Violation("introducers of too many topics")
        introducer = self.introducers.setdefault(find.topic, find.asker)
        answer = Introduced(find.topic, None if introducer == find.asker else introducer)
        if find.asker == self._local.node:
            self.on_introduced(now, find.asker, answer, out)
        else:
            out.send(find.asker, answer)

    def on_introduced(self, now: float, source: NodeId, message: Introduced, out: Outbox) -> None:
        member = self._members.get(message.topic)
        if member is None or member.zone is not None:
            raise Violation("introduced to nobody")
        if message.introducer is None:
            self.found(now, message.topic, out)
        else:
            self.join(message.topic, message.introducer, out)

    def withdraw(self, topic: str, heir: NodeId | None, out: Outbox) -> None:
        """We leave the CAN of ``topic``: if we are its introducer, ``heir`` is from now on."""
        self._withdraw(Withdraw(topic, self._local.node, heir, 0), out)

    def on_withdraw(self, now: float, source: NodeId, message: Withdraw, out: Outbox) -> None:
        heard_topic(message.topic)
        heard_hops(message.hops)
        self._withdraw(message, out)

    def _withdraw(self, message: Withdraw, out: Outbox) -> None:
        to = self._towards(ALL, self.point(message.topic))
        if to is not None:
            out.send(to, Withdraw(message.topic, message.old, message.new, message.hops + 1))
        elif self.introducers.get(message.topic) == message.old:
            if message.new is None:
                del self.introducers[message.topic]
            else:
                self.introducers[message.topic] = message.new

    def _towards(self, can: str, point: tuple[int, ...]) -> NodeId | None:
        """The neighbour nearest to ``point``, or None if it is ours."""
        member = self._in(can)
        assert member.zone is not None
        if member.zone.holds(point):
            return None
        nearest = min(member.places(), key=lambda place: away(place.zone.low, place.zone.high, point), default=None)
        if nearest is None:
            raise Violation("no way to a point")
        return nearest.node

    def _in(self, can: str) -> Member:
        member = self._members.get(can)
        if member is None or member.zone is None:
            raise Violation("not in that CAN")
        return member

    # Joining

    def found(self, now: float, can: str, out: Outbox) -> None:
        """All of the space is ours."""
        self._members.setdefault(can, Member()).zone = Zone.whole(self._dims)
        self._entered(now, can, out)

    def join(self, can: str, introducer: NodeId, out: Outbox) -> None:
        """Ask for a zone at a random point."""
        self._members.setdefault(can, Member())
        point = where(self._seed, self._local.node, identity(can, 63), self._dims)
        out.send(introducer, Join(can, point, self._local.node, 1))

    def on_join(self, now: float, source: NodeId, message: Join, out: Outbox) -> None:
        heard_hops(message.hops)
        if len(message.point) != self._dims or not all(0 <= at < SIDE for at in message.point):
            raise Violation("a point outside the space")
        to = self._towards(message.can, message.point)
        if to is not None:
            out.send(to, Join(message.can, message.point, message.joiner, message.hops + 1))
            return
        member = self._in(message.can)
        assert member.zone is not None
        if message.joiner == self._local.node or message.joiner in member.neighbours:
            raise Violation("a joiner that is in already")
        if member.zone.depth >= self._dims * (BITS - 1):
            raise Violation("a zone too small to halve")
        one, other = member.zone.halves()
        given, left = (one, other) if one.holds(message.point) else (other, one)
        around = (*member.places(), Place(self._local.node, left, member.version + 1))
        self._resize(message.can, member, left, out, message.joiner)
        newcomer = Place(message.joiner, given, 0)
        kept = {}
        if message.can == ALL:
            kept = {topic: node for topic, node in self.introducers.items() if given.holds(self.point(topic))}
            self.introducers = {topic: node for topic, node in self.introducers.items() if topic not in kept}
        out.send(message.joiner, Welcome(message.can, given, around, kept))
        member.neighbours[message.joiner] = newcomer

    def _resize(self, can: str, member: Member, zone: Zone, out: Outbox, but: NodeId | None = None) -> None:
        """Our zone is another now: tell all who were or are around it."""
        member.version += 1
        member.zone = zone
        self._announce(can, member, out, but)
        member.prune()

    def _announce(self, can: str, member: Member, out: Outbox, but: NodeId | None = None) -> None:
        assert member.zone is not None
        moved = Moved(can, Place(self._local.node, member.zone, member.version))
        for place in member.places():
            if place.node != but:
                out.send(place.node, moved)

    def on_welcome(self, now: float, source: NodeId, message: Welcome, out: Outbox) -> None:
        member = self._members.get(message.can)
        if member is None or member.zone is not None:
            raise Violation("welcome where nobody asked")
        self._check(message.zone, message.neighbours)
        if len(message.kept) > VIRTUAL_NODES_MAX:
            raise Violation("introducers of too many topics")
        self._settle(now, message.can, member, message.zone, message.neighbours, out)
        if message.can == ALL:
            self.introducers.update(message.kept)

    def _settle(self, now: float, can: str, member: Member, zone: Zone, around: tuple[Place, ...], out: Outbox) -> None:
        """``zone`` is ours; ``around`` it there are others, and some who are not."""
        member.zone = zone
        for place in around:
            if place.node != self._local.node:
                member.note(place)
        self._announce(can, member, out)
        self._entered(now, can, out)

    def _check(self, zone: Zone, places: tuple[Place, ...]) -> None:
        if len(places) > NEIGHBOURS_MAX:
            raise Violation("too many neighbours")
        zone.check(self._dims)
        for place in places:
            place.zone.check(self._dims)

    def on_moved(self, now: float, source: NodeId, message: Moved, out: Outbox) -> None:
        place = message.place
        place.zone.check(self._dims)
        member = self._members.get(message.can)
        if member is None or member.zone is None:
            self._local.count("can.late", out, source, message.can)  # we left while it was on its way
            return
        if place.node == self._local.node:
            raise Violation("news of ourselves")
        if len(member.neighbours) >= NEIGHBOURS_MAX and place.node not in member.neighbours:
            raise Violation("too many neighbours")
        member.note(place)

    # Leaving

    def leave(self, now: float, can: str, out: Outbox) -> None:
        """Give our zone to somebody, and be in ``can`` no more."""
        member = self._members.pop(can)
        if member.zone is None:
            return
        places = member.places()
        if can != ALL:
            self.withdraw(can, places[0].node if places else None, out)
        if places:
            self._hand_over(
                Vacate(can, Place(self._local.node, member.zone, member.version), tuple(places), 0),
                member.places(),
                out,
            )

    def _hand_over(self, vacate: Vacate, places: list[Place], out: Outbox) -> None:
        """To the deepest neighbour in our zone's buddy: if it is all of it, it takes our zone into its own."""
        out.send(_deepest(places, vacate.left.zone.buddy()), structs.replace(vacate, hops=vacate.hops + 1))

    def on_vacate(self, now: float, source: NodeId, message: Vacate, out: Outbox) -> None:
        heard_hops(message.hops)
        self._check(message.left.zone, message.neighbours)
        member = self._in(message.can)
        assert member.zone is not None
        if message.hops > TTL_HOPS or message.left.zone.depth == 0:
            raise Violation("a zone that nobody can take")
        if member.zone == message.left.zone.buddy():
            self._merge(message, member, out)
            return
        if member.zone.depth == 0:
            raise Violation("a zone in a CAN that is all ours")
        buddy = member.zone.buddy()
        single = next((place for place in member.places() if place.zone == buddy), None)
        if single is None:
            out.send(_deepest(member.places(), buddy), structs.replace(message, hops=message.hops + 1))
        else:
            self._move(now, message, member, single, out)

    def _merge(self, vacate: Vacate, member: Member, out: Outbox) -> None:
        """The leaver's zone and ours are the two halves of one."""
        self._tell_gone(vacate, out)
        member.neighbours.pop(vacate.left.node, None)
        member.zone = vacate.left.zone.parent()
        for place in vacate.neighbours:
            if place.node != self._local.node and place.node not in member.neighbours:
                member.note(place)
        self._resize(vacate.can, member, member.zone, out)

    def _move(self, now: float, vacate: Vacate, member: Member, single: Place, out: Outbox) -> None:
        """Our zone goes to its buddy, and we to the leaver's."""
        assert member.zone is not None
        member.neighbours.pop(vacate.left.node, None)
        ours = Vacate(vacate.can, Place(self._local.node, member.zone, member.version), tuple(member.places()), 1)
        out.send(single.node, ours)
        self._tell_gone(vacate, out)
        merged = Place(single.node, single.zone.parent(), single.version + 1)
        member.version += 1
        member.zone = None
        member.neighbours = {}
        around = [place for place in vacate.neighbours if place.node not in (self._local.node, single.node)]
        self._settle(now, vacate.can, member, vacate.left.zone, (*around, merged), out)

    def _tell_gone(self, vacate: Vacate, out: Outbox) -> None:
        gone = Gone(vacate.can, vacate.left.node, vacate.left.version)
        for place in vacate.neighbours:
            if place.node != self._local.node:
                out.send(place.node, gone)

    def on_gone(self, now: float, source: NodeId, message: Gone, out: Outbox) -> None:
        member = self._members.get(message.can)
        known = None if member is None else member.neighbours.get(message.node)
        if member is not None and known is not None and known.version <= message.version:
            del member.neighbours[message.node]


def _deepest(places: list[Place], zone: Zone) -> NodeId:
    """Of those within ``zone``, who has the smallest zone."""
    within = [place for place in places if zone.contains(place.zone)]
    if not within:
        raise Violation("nobody in the other half")
    return max(within, key=lambda place: place.zone.depth).node
