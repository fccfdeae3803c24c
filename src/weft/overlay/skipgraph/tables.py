"""What a broker knows of its nodes' levels besides the links themselves, which are the ring's."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field

from weft.overlay.api import Ref
from weft.overlay.keys import Key
from weft.overlay.ring.machine import Ring
from weft.overlay.ring.messages import FIRST, Seq, Status
from weft.overlay.ring.tables import Link
from weft.overlay.skipgraph.messages import Standing


@dataclass(slots=True)
class Walk:
    """A walk under way: ``number`` and ``tries`` belong to the step that is unanswered."""

    me: Ref
    level: int
    rightward: bool
    asked: Ref
    """How far it has come: the node asked last, or one of the same broker directly behind it."""
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
    """The highest level with a link, in whatever state; there is one at each level below."""
    leaving: bool = False
    walks: dict[tuple[int, bool], Walk] = field(default_factory=dict)
    """By level and direction (rightward or not)."""
    refusals: dict[tuple[int, bool], int] = field(default_factory=dict)
    """By level and direction: how often in a row a walk has led to nothing that lasts."""
    lost: dict[int, Ref] = field(default_factory=dict)
    """By level: a left neighbour that is dead, as are all known nodes left of it."""
    looks: dict[int, int] = field(default_factory=dict)
    """By level: how many looks ago there was the last sign of disorder; each look comes later than the one before."""
    floors: dict[int, Seq] = field(default_factory=dict)
    """By level: where to start counting when we come back to its ring in this life."""

    def rise(self) -> tuple[int, Seq]:
        """One level more: which, and where its numbers start."""
        self.top += 1
        return self.top, self.floors.get(self.top, FIRST)

    def sink(self, link: Link) -> None:
        """The top level's link is gone."""
        self.top = link.level - 1
        self.floors[link.level] = link.left_seq.repaired()
        self.looks.pop(link.level, None)
        self.found_left(link.level)

    def found_left(self, level: int) -> None:
        """Who is left of us at ``level`` is known, or does not matter any more."""
        self.lost.pop(level, None)
        self.refusals.pop((level - 1, False), None)


class Towers:
    """One broker's towers. Invariant: our ring has ``company[i]`` links at level i > 0, ``members[i]`` of them past INS."""

    def __init__(self, ring: Ring) -> None:
        self._ring = ring
        self.by_key: dict[Key, Tower] = {}
        self.company: Counter[int] = Counter()
        self.members: Counter[int] = Counter()

    def __iter__(self) -> Iterator[Tower]:
        return iter(self.by_key.values())

    def below(self, level: int) -> list[Tower]:
        """Those that end just below ``level``."""
        return [tower for tower in self.by_key.values() if tower.top == level - 1 and not tower.leaving]

    def get(self, ref: Ref) -> Tower | None:
        """The tower of our node ``ref``, if it is that life of it."""
        tower = self.by_key.get(ref.key)
        return tower if tower is not None and tower.me == ref else None

    def link(self, level: int, tower: Tower) -> Link | None:
        """The link of ``tower`` at ``level``, in whatever state."""
        return self._ring.links.get((level, tower.me.key))

    def standing(self, level: int, ref: Ref) -> Standing:
        """What we say of our node ``ref`` when it walks towards ``level``."""
        if self.member(level, ref) is not None:
            return Standing.SELF
        return Standing.BROKER if self.company[level] else Standing.NONE

    def member(self, level: int, ref: Ref) -> Link | None:
        """The link of our node ``ref`` at ``level``, if it is in that ring and stays."""
        link = self._ring.find(ref, level)
        return link if link is not None and link.status is Status.IN else None
