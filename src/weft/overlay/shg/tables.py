"""A node's subscription table: who behind it wants which pattern."""

from weft.core.ids import NodeId
from weft.overlay.shg.patterns import Attributes, Pattern, matches


class Table:
    """Invariant: a pattern is here exactly if we want it or a child does. Dicts, not sets: their order is that of coming."""

    def __init__(self) -> None:
        self.children: dict[Pattern, dict[NodeId, None]] = {}
        self.own: dict[Pattern, None] = {}

    def __len__(self) -> int:
        return len(self.children)

    def __contains__(self, pattern: Pattern) -> bool:
        return pattern in self.children

    def install(self, pattern: Pattern, child: NodeId | None) -> bool:
        """``child`` (None: we) wants ``pattern``. Is that new here?"""
        new = pattern not in self.children
        wanting = self.children.setdefault(pattern, {})
        if child is None:
            self.own[pattern] = None
        else:
            wanting[child] = None
        return new

    def remove(self, pattern: Pattern, child: NodeId | None) -> bool:
        """``child`` (None: we) no longer wants ``pattern``. Is it gone from here?"""
        if child is None:
            del self.own[pattern]
        else:
            del self.children[pattern][child]
        if self.children[pattern] or pattern in self.own:
            return False
        del self.children[pattern]
        return True

    def wanting(self, attributes: Attributes) -> tuple[bool, list[NodeId]]:
        """Do we want this event, and which children do? Each child once, however many of its patterns match."""
        us, wanting = False, dict[NodeId, None]()
        for pattern, children in self.children.items():
            if matches(pattern, attributes):
                us = us or pattern in self.own
                wanting.update(children)
        return us, list(wanting)
