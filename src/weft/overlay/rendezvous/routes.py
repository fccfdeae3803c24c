"""Where next towards an id: the seam between a rendezvous tree and the substrate below it."""

from collections.abc import Callable
from typing import NamedTuple, Protocol

import msgspec

from weft.core.errors import Misuse, Violation
from weft.core.ids import NodeId
from weft.overlay.rendezvous.geometry import flip, nearer, shared
from weft.overlay.rendezvous.messages import Walk


class Step(NamedTuple):
    """``to`` is None: we own the id."""

    to: NodeId | None
    walk: Walk | None


OURS = Step(None, None)


class Route(Protocol):
    """``identity`` is our own id, ``digits`` its length."""

    @property
    def identity(self) -> int: ...

    @property
    def digits(self) -> int: ...

    def step(self, target: int, walk: Walk | None) -> Step: ...


class Numeric:
    """SkipNet's routing by numeric id. ``right`` is our right neighbour at a level, or None (or us) if we are alone there."""

    def __init__(self, node: NodeId, identity: int, digits: int, right: Callable[[int], NodeId | None]) -> None:
        if not 0 < digits < 64 or not 0 <= identity < 1 << digits:
            raise Misuse(f"{identity} is no id of {digits} binary digits (1…63)")
        self.identity = identity
        self.digits = digits
        self._node = node
        self._right = right

    def step(self, target: int, walk: Walk | None) -> Step:
        """SkipNet's RouteByNumericID; ``walk`` is None where the message begins."""
        level = shared(self.identity, target, self.digits)
        if level == self.digits or (walk is not None and walk.final):
            return OURS
        if walk is None or level > walk.level:
            walk = Walk(level, self._node, self._node, self.identity)
        elif level < walk.level:
            raise Violation("a walk that has left its ring")
        elif walk.start == self._node:
            return OURS if walk.best == self._node else Step(walk.best, msgspec.structs.replace(walk, final=True))
        elif nearer(self.identity, self._node, walk.best_identity, walk.best, target):
            walk = Walk(level, walk.start, self._node, self.identity)
        right = self._right(level)
        return OURS if right is None or right == self._node else Step(right, walk)


class Hypercube:
    """Nodes are the corners of a hypercube of dimension ``digits``; corner c is node c + 1, as a node id is not 0."""

    def __init__(self, corner: int, digits: int) -> None:
        if not 0 < digits < 63 or not 0 <= corner < 1 << digits:
            raise Misuse(f"{corner} is no corner of a hypercube of dimension {digits} (1…62)")
        self.identity = corner
        self.digits = digits

    def step(self, target: int, walk: Walk | None) -> Step:
        corner = flip(self.identity, target)
        return OURS if corner == self.identity else Step(NodeId(corner + 1), None)
