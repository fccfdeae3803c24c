"""How a tree grows and shrinks."""

import msgspec

from weft.core.machine import Message
from weft.overlay.rendezvous.messages import Walk


class Join(Message, frozen=True, gc=False):
    """Towards the root: the sender is your child. With ``walk.final`` it is not: you are told that you are the root.

    ``anew``: the sender has missed the root's Beats, so a forwarder that has missed them too does not stop this.
    """

    topic: str
    hops: int
    walk: Walk | None
    anew: bool = False


class Leave(Message, frozen=True, gc=False):
    """To the parent: the sender is no longer your child."""

    topic: str


class Beat(Message, frozen=True, gc=False):
    """From the parent: there is a root above."""

    topic: str


class BeatDue(msgspec.Struct, frozen=True, gc=False):
    """Timer: tell the trees of which we are the root."""


class SilentDue(msgspec.Struct, frozen=True, gc=False):
    """Timer: no Beat has come for too long."""

    topic: str
