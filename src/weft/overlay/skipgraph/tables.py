"""What one virtual node knows of its levels besides the links themselves, which are the ring's."""

from dataclasses import dataclass, field

from weft.overlay.api import Ref
from weft.overlay.ring.messages import FIRST, Seq


@dataclass(slots=True)
class Walk:
    """A walk under way: ``number`` and ``tries`` belong to the step that is unanswered."""

    me: Ref
    level: int
    rightward: bool
    asked: Ref
    number: int = 0
    hops: int = 0
    tries: int = 1
    kin: bool = False
    """Somebody was met who will be in the next level's ring, and is not yet."""


@dataclass(slots=True)
class Tower:
    """One virtual node. Bounded by the number of levels, each table of it."""

    me: Ref
    top: int = 0
    """The highest level with a link, in whatever state."""
    leaving: bool = False
    walks: dict[tuple[int, bool], Walk] = field(default_factory=dict)
    """By level and direction (rightward or not)."""
    refusals: dict[int, int] = field(default_factory=dict)
    """By level: how often in a row a walk along it has led to nothing that lasts."""
    looks: dict[int, int] = field(default_factory=dict)
    """By level: how many looks ago there was the last sign of disorder; each look comes later than the one before."""
    floors: dict[int, Seq] = field(default_factory=dict)
    """By level: where to start counting when we come back to its ring in this life."""

    def floor(self, level: int) -> Seq:
        return self.floors.get(level, FIRST)
