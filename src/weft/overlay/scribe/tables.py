"""What a forwarder knows of a topic."""

from dataclasses import dataclass, field

from weft.core.ids import NodeId

CHILDREN_MAX = 65_536
"""Children of one forwarder in one tree."""


@dataclass(slots=True)
class Branch:
    """``parent`` is None at the root, and only there. ``children`` is a dict for its order: the order of joining."""

    parent: NodeId | None = None
    children: dict[NodeId, None] = field(default_factory=dict)
    settled: bool = False
    """A Beat has come, and none has been missed since."""
