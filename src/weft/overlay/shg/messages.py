"""What travels up a sub-partition, across the event partition, and down again."""

from weft.core.machine import Message
from weft.overlay.groups import Publication
from weft.overlay.shg.patterns import Pattern


class Subscribe(Message, frozen=True, gc=False):
    """From one node further from the dominating node: the sender, or somebody behind it, wants ``pattern``."""

    pattern: Pattern


class Unsubscribe(Message, frozen=True, gc=False):
    """Nobody there wants it any more."""

    pattern: Pattern


class Up(Message, frozen=True, gc=False):
    """An event on its way from the publisher to its dominating node."""

    publication: Publication
    hops: int


class Across(Message, frozen=True, gc=False):
    """An event in the event partition; it came along ``dimension``, and goes on along those below it."""

    publication: Publication
    dimension: int
    hops: int
    relay: int


class Down(Message, frozen=True, gc=False):
    """An event on an installed path."""

    publication: Publication
    hops: int
    relay: int
