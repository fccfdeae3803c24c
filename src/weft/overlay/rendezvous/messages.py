"""What travels between publishers and roots, and down a tree."""

import msgspec

from weft.core.ids import NodeId
from weft.core.machine import Message
from weft.overlay.groups import Publication


class Walk(msgspec.Struct, frozen=True, gc=False):
    """How far a message has come over the rings of a Skip Graph: SkipNet's ringLvl, startNode, bestNode, finalDestination."""

    level: int
    start: NodeId
    best: NodeId
    best_identity: int
    final: bool = False


class Post(Message, frozen=True, gc=False):
    """To the root: ``seeking`` if the publisher does not know it yet and wants to."""

    publication: Publication
    hops: int
    seeking: bool
    walk: Walk | None


class Rooted(Message, frozen=True, gc=False):
    """To a publisher that was seeking: the root of ``topic`` is who says this."""

    topic: str


class Data(Message, frozen=True, gc=False):
    """Down the tree."""

    publication: Publication
    hops: int
    relay: int
