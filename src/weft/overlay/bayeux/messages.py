"""How a member gets into the tables from the root to it, and out of them."""

from weft.core.ids import NodeId
from weft.core.machine import Message
from weft.overlay.rendezvous.messages import Walk


class Join(Message, frozen=True, gc=False):
    """To the root: ``member``, whose id is ``identity``, subscribes."""

    topic: str
    member: NodeId
    identity: int
    hops: int
    walk: Walk | None


class Tree(Message, frozen=True, gc=False):
    """From the root to ``member``: register it."""

    topic: str
    member: NodeId
    identity: int
    hops: int
    walk: Walk | None


class Leave(Message, frozen=True, gc=False):
    """To the root: ``member`` no longer subscribes."""

    topic: str
    member: NodeId
    hops: int
    walk: Walk | None


class Prune(Message, frozen=True, gc=False):
    """From the root, along the way that Tree has gone: forget ``member``."""

    topic: str
    member: NodeId
    hops: int
