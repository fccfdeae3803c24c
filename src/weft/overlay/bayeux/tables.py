"""What a node on the way from a root to members knows of a topic."""

from dataclasses import dataclass, field

from weft.core.ids import NodeId

MEMBERS_MAX = 1_000_000
"""Members that one node registers for one topic."""


@dataclass(slots=True)
class Branch:
    """``members``: the next hop to each. ``parents``: from whom Trees have come, and for how many members."""

    members: dict[NodeId, NodeId] = field(default_factory=dict)
    parents: dict[NodeId, set[NodeId]] = field(default_factory=dict)

    def targets(self) -> list[NodeId]:
        """The next hops, each once, in the order in which they came to be."""
        return list(dict.fromkeys(self.members.values()))

    def forget(self, member: NodeId, parent: NodeId | None) -> NodeId | None:
        """``member`` is gone; its next hop, if it had one."""
        if parent is not None and member in self.parents.get(parent, ()):
            self.parents[parent].discard(member)
            if not self.parents[parent]:
                del self.parents[parent]
        return self.members.pop(member, None)
