"""Values by topic name, found by filter: the other way round than ``trie``. Retained messages stand in one.

Every name is a key of one dictionary, which also holds its value. A tree over the names' levels answers filters: an inner node
is where names part (its edge is the run of levels that they share), a leaf is the name itself. So a million names cost little
more than their strings, and ``a/b/+`` looks at what stands under ``a/b`` and at nothing else.

Invariants
    an inner node other than the root has at least two ways on, or one and a name that ends at it
    a walk goes on while names come and go: one that is there throughout is found once, others may or may not be found
    no recursion: a name may have 65,536 levels
"""

from collections.abc import Iterator
from typing import Generic, TypeVar

from weft.mqtt.topics import has_wildcards

T = TypeVar("T")


class Node:
    """After ``edge``, which follows the level that led here: ``ways`` on by level, and ``name`` if one ends here.

    Edges are never changed, nodes are replaced: a walk that holds the old one still finds its way in the same ``ways``.
    """

    __slots__ = ("edge", "name", "ways")

    def __init__(self, edge: tuple[str, ...], ways: "dict[str, Node | str]", name: str | None = None) -> None:
        self.edge = edge
        self.ways = ways
        self.name = name


class NameTree(Generic[T]):
    """A map from topic name to value, which is never None, with ``match``."""

    __slots__ = ("_root", "_values")

    def __init__(self) -> None:
        self._values: dict[str, T] = {}
        self._root = Node((), {})

    def __len__(self) -> int:
        return len(self._values)

    def __contains__(self, topic: str) -> bool:
        return topic in self._values

    def get(self, topic: str) -> T | None:
        return self._values.get(topic)

    def items(self) -> Iterator[tuple[str, T]]:
        """All of them, ``$`` or not, in the order in which they came."""
        return iter(self._values.items())

    def set(self, topic: str, value: T) -> T | None:
        """The value that was there before."""
        before = self._values.get(topic)
        if before is None:
            self._grow(topic)
        self._values[topic] = value
        return before

    def delete(self, topic: str) -> T | None:
        """The value that was there."""
        value = self._values.pop(topic, None)
        if value is not None:
            self._prune(topic)
        return value

    def match(self, pattern: str) -> Iterator[tuple[str, T]]:
        """Names and values that a filter matches, in no particular order; it may be left and resumed at any time."""
        if not has_wildcards(pattern):
            value = self._values.get(pattern)
            if value is not None:
                yield pattern, value
            return
        for topic in self._walk(pattern.split("/")):
            value = self._values.get(topic)
            if value is not None:
                yield topic, value

    def _walk(self, levels: list[str]) -> Iterator[str]:
        end = len(levels)
        # Ways to look at, and where in the filter they are: copies, so that names may come and go meanwhile.
        stack: list[tuple[list[Node | str], int]] = [([self._root], 0)]
        while stack:
            ways, at = stack[-1]
            if not ways:
                stack.pop()
                continue
            node = ways.pop()
            if isinstance(node, str):
                if _fits(levels, at, node):
                    yield node
                continue
            at = _along(levels, at, node.edge)
            if at < 0:
                continue
            if node.name is not None and (at == end or levels[at] == "#"):  # also "#"'s parent level (§4.7.1.2)
                yield node.name
            if at == end:
                continue
            wanted = levels[at]
            if wanted not in ("#", "+"):
                way = node.ways.get(wanted)
                if way is not None:
                    stack.append(([way], at + 1))
                continue
            if node is self._root:  # [MQTT-4.7.2-1], [MQTT-4.7.2-1 (3.1.1)]
                ways = [way for level, way in node.ways.items() if level[:1] != "$"]
            else:
                ways = list(node.ways.values())
            stack.append((ways, at if wanted == "#" else at + 1))  # "#" matches whatever follows: the walk stays at it

    def _grow(self, topic: str) -> None:
        levels = topic.split("/")
        node, at, end = self._root, 0, len(levels)
        while True:
            level = levels[at]
            way = node.ways.get(level)
            at += 1
            if way is None:
                node.ways[level] = topic
                return
            if isinstance(way, str):  # a leaf becomes a node, as deep as the two go together
                other = way.split("/")
                common = _common(other, at, levels, at)
                way = _fork(tuple(levels[at : at + common]), other, at + common, way)
                node.ways[level] = way
            else:
                common = _common(way.edge, 0, levels, at)
                if common < len(way.edge):  # they part within the edge: a node between
                    lower = Node(way.edge[common + 1 :], way.ways, way.name)
                    way = node.ways[level] = Node(way.edge[:common], {way.edge[common]: lower})
            at += common
            node = way
            if at == end:
                node.name = topic
                return

    def _prune(self, topic: str) -> None:
        levels = topic.split("/")
        node, at, end = self._root, 0, len(levels)
        above: tuple[Node, str] | None = None
        while True:
            level = levels[at]
            way = node.ways[level]
            at += 1
            if isinstance(way, str):
                del node.ways[level]
                break
            above = node, level
            node = way
            at += len(node.edge)
            if at == end:
                node.name = None
                break
        if above is None:
            return
        parent, level = above
        if not node.ways:
            assert node.name is not None
            parent.ways[level] = node.name
        elif len(node.ways) == 1 and node.name is None:
            ((step, only),) = node.ways.items()
            parent.ways[level] = (
                only if isinstance(only, str) else Node((*node.edge, step, *only.edge), only.ways, only.name)
            )


def _fork(edge: tuple[str, ...], levels: list[str], at: int, name: str) -> Node:
    """A node after ``edge`` that holds one name, which has ``levels`` and is at ``at``."""
    return Node(edge, {}, name) if at == len(levels) else Node(edge, {levels[at]: name})


def _common(one: list[str] | tuple[str, ...], start: int, other: list[str], at: int) -> int:
    """How far two runs of levels go together."""
    longest = min(len(one) - start, len(other) - at)
    for count in range(longest):
        if one[start + count] != other[at + count]:
            return count
    return longest


def _along(levels: list[str], at: int, edge: tuple[str, ...]) -> int:
    """Where in the filter the end of the edge is, −1 if the filter goes elsewhere; at ``#`` it stays."""
    for level in edge:
        if at == len(levels):
            return -1
        if levels[at] == "#":
            return at
        if levels[at] not in ("+", level):
            return -1
        at += 1
    return at


def _fits(levels: list[str], at: int, name: str) -> bool:
    """Whether the filter matches a name whose levels match up to ``at``."""
    if at < len(levels) and levels[at] == "#":
        return True
    names = name.split("/")
    for wanted in levels[at:]:
        if wanted == "#":
            return True
        if at == len(names) or wanted not in ("+", names[at]):
            return False
        at += 1
    return at == len(names)
