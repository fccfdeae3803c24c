"""What a node knows of one CAN that it is in, or about to be in."""

from dataclasses import dataclass, field

from weft.core.ids import NodeId
from weft.overlay.can.messages import Place, Zone
from weft.overlay.groups import SEEN_MAX, Publication

NEIGHBOURS_MAX = 65_536
WAITING_MAX = 1_024
"""Publications that wait until we are in their topic's CAN."""


@dataclass(slots=True)
class Member:
    """``zone`` is None until we are welcome. Invariant: every neighbour touches our zone."""

    zone: Zone | None = None
    version: int = 0
    neighbours: dict[NodeId, Place] = field(default_factory=dict)
    waiting: list[Publication] = field(default_factory=list)
    opened: dict[tuple[NodeId, int], int] = field(default_factory=dict)
    """The sequence cache: through which sides each publication has gone on."""

    def note(self, place: Place) -> None:
        """Keep ``place`` if it is a neighbour's and is news; forget who is none any more."""
        assert self.zone is not None
        known = self.neighbours.get(place.node)
        if known is not None and known.version > place.version:
            return
        if place.sides(self.zone):
            self.neighbours[place.node] = place
        else:
            self.neighbours.pop(place.node, None)

    def prune(self) -> None:
        """Our zone has changed: who is no neighbour any more?"""
        assert self.zone is not None
        self.neighbours = {node: place for node, place in self.neighbours.items() if place.sides(self.zone)}

    def places(self) -> list[Place]:
        """The neighbours, in an order that does not depend on how they came."""
        return [self.neighbours[node] for node in sorted(self.neighbours)]

    def newly(self, publication: Publication, sides: int) -> int | None:
        """Of ``sides``, those through which ``publication`` has not gone yet; None if it is here for the first time."""
        key = publication.origin, publication.number
        before = self.opened.get(key)
        self.opened[key] = sides | (before or 0)
        if len(self.opened) > SEEN_MAX:
            del self.opened[next(iter(self.opened))]
        return None if before is None else sides & ~before
