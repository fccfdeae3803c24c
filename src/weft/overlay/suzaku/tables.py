"""The two finger tables of one virtual node, kept in step with the broker's contacts."""

from dataclasses import dataclass, field

from weft.overlay.api import Entry, Ref
from weft.overlay.contacts import Contacts

REVERSE_MAX = 512
"""Pointers at one node that it remembers, newest kept; who is forgotten finds out by its next update."""


@dataclass(slots=True)
class Finger:
    ref: Ref
    backups: tuple[Ref, ...] = ()
    values: dict[str, float] | None = None
    heard: float = 0.0
    """When a passive update last said that this finger is right: one that nobody confirms is dropped."""


@dataclass(slots=True)
class Asked:
    """An Update under way."""

    number: int
    ref: Ref
    level: int
    forward: bool
    tries: int = 1


@dataclass(slots=True)
class Fingers:
    """Invariant: the contacts hold each finger's node once for each place it has in these tables."""

    me: Ref
    contacts: Contacts
    forward: list[Finger] = field(default_factory=list)
    backward: list[Finger] = field(default_factory=list)
    reverse: dict[Ref, None] = field(default_factory=dict)
    following: Ref | None = None
    """What the last answer named as the next level's node: installed once it has answered itself."""
    cursor: int = 0
    """The level that the next periodic update refreshes."""
    joining: tuple[int | None, int | None] | None = (0, 0)
    """Where the newcomer's zig-zag is on each side; None once it is over."""
    asked: Asked | None = None

    def side(self, forward: bool) -> list[Finger]:
        return self.forward if forward else self.backward

    def put(self, forward: bool, level: int, ref: Ref) -> Finger:
        """Make ``ref`` the finger at ``level``, which must exist or be the next; values of another node are dropped."""
        side = self.side(forward)
        if level < len(side):
            finger = side[level]
            if finger.ref == ref:
                return finger
            self.contacts.drop(finger.ref)
            side[level] = finger = Finger(ref)
        else:
            assert level == len(side), (level, len(side))
            finger = Finger(ref)
            side.append(finger)
        self.contacts.add(ref)
        return finger

    def cut(self, forward: bool, level: int) -> None:
        """Drop the fingers from ``level`` on."""
        side = self.side(forward)
        for finger in side[level:]:
            self.contacts.drop(finger.ref)
        del side[level:]

    def remove(self, forward: bool, level: int) -> None:
        """Take one finger out; those beyond it move down until the next update puts them right."""
        side = self.side(forward)
        self.contacts.drop(side.pop(level).ref)
        if level:
            side[level - 1].values = None

    def pointed_by(self, ref: Ref) -> None:
        """``ref`` holds a pointer to us now."""
        self.reverse.pop(ref, None)
        self.reverse[ref] = None
        if len(self.reverse) > REVERSE_MAX:
            del self.reverse[next(iter(self.reverse))]

    def entries(self, forward: bool) -> list[Entry]:
        return [Entry(finger.ref, level, finger.values) for level, finger in enumerate(self.side(forward))]
