"""What walkers along a level ask, and what they are told."""

from enum import Enum

import msgspec

from weft.core.machine import Message
from weft.overlay.api import Ref
from weft.overlay.keys import Key


class Met(Enum):
    """What a walker finds at the node asked."""

    NOBODY = "nobody"
    """Not of the next level: go on to ``following``."""
    KIN = "kin"
    """It will be of the next level, and is not yet in its ring: go on, and come again."""
    MATE = "mate"
    """It is in the next level's ring; ``following`` is its left neighbour there."""
    RIVAL = "rival"
    """It walks itself and has walked further: back off."""
    LOST = "lost"
    """No such node at this level (any more): come again when the ring is whole."""


class Standing(Enum):
    """Who of the walker's broker is in the ring of the next level that the walk looks for."""

    NONE = "none"
    BROKER = "broker"
    """Another of its nodes is there, or about to be: nobody should found that ring a second time."""
    SELF = "self"
    """The walker: it only looks whether the ring is whole."""


class Step(Message, frozen=True, gc=False):
    """``origin`` walks along ``level`` and has come to ``at``, its ``hops``-th node: are you of level + 1, as I am?"""

    at: Ref
    level: int
    origin: Ref
    vector: int
    standing: Standing
    rightward: bool
    hops: int
    number: int


class Stepped(Message, frozen=True, gc=False):
    """The answer; ``at`` is the walker. ``source`` is the node asked, or one of the same broker directly behind it."""

    at: Ref
    level: int
    rightward: bool
    number: int
    source: Ref
    met: Met
    following: Ref


class StepDue(msgspec.Struct, frozen=True, gc=False):
    """Timer: Step ``number`` is unanswered."""

    key: Key
    level: int
    rightward: bool
    number: int


class WalkDue(msgspec.Struct, frozen=True, gc=False):
    """Timer: walk along ``level`` (again)."""

    key: Key
    level: int
    rightward: bool


class LonelyDue(msgspec.Struct, frozen=True, gc=False):
    """Timer: is there still nobody but us at ``level``?"""

    level: int
