"""Subscriptions by topic filter: who has a filter that matches this topic?

Every filter, with wildcards or without, is a key of one dictionary: a topic that is subscribed to literally costs one look-up,
and most subscriptions cost no more memory than that entry. Filters with wildcards stand in a tree besides, whose edges are
runs of levels: there are fewer than two nodes for each filter, however deep it is.

Invariants
    a node other than the root ends a filter, or has at least two ways on: whatever else is merged with what follows it
    each node is reached by one path only, so that a match visits no node twice: its cost is bounded by the nodes that there
    are, times the levels of the topic, whatever filters a hostile client thinks of
    no recursion: a topic may have 65,536 levels
"""

from collections.abc import Hashable, Iterator
from sys import intern
from typing import Generic, TypeVar

from weft.mqtt.topics import has_wildcards

K = TypeVar("K", bound=Hashable)
T = TypeVar("T")


class Node:
    """After ``edge``, which follows the level that led here: ``ways`` on by level (``+`` too), and the filters that end.

    ``exact`` ends here, ``rest`` has one more level, ``#``.
    """

    __slots__ = ("edge", "exact", "rest", "ways")

    def __init__(self, edge: tuple[str, ...] = ()) -> None:
        self.edge = edge
        self.ways: dict[str, Node] | None = None
        self.exact: str | None = None
        self.rest: str | None = None

    @property
    def is_needed(self) -> bool:
        """It ends a filter, or paths part here."""
        return self.exact is not None or self.rest is not None or (self.ways is not None and len(self.ways) > 1)


class Trie(Generic[K, T]):
    """A map from (filter, key) to a value; ``match`` finds by topic. Filters are valid and without their share."""

    __slots__ = ("_count", "_entries", "_root")

    def __init__(self) -> None:
        # What most filters have is one subscriber: a pair is a fifth of a dictionary with one entry.
        self._entries: dict[str, tuple[K, T] | dict[K, T]] = {}
        self._root = Node()
        self._count = 0

    def __len__(self) -> int:
        """Subscriptions: pairs of filter and key."""
        return self._count

    def filters(self) -> Iterator[str]:
        """Each filter once, in the order in which they came."""
        return iter(self._entries)

    def subscribers(self, pattern: str) -> list[tuple[K, T]]:
        """Who has this very filter."""
        return _pairs(self._entries.get(pattern))

    def add(self, pattern: str, key: K, value: T) -> bool:
        """True if ``key`` did not have this filter; the value is the new one in any case."""
        entry = self._entries.get(pattern)
        if entry is None:
            self._entries[pattern] = (key, value)
            if has_wildcards(pattern):
                self._grow(pattern)
        elif isinstance(entry, dict):
            is_new = key not in entry
            entry[key] = value
            self._count += is_new
            return is_new
        elif entry[0] == key:
            self._entries[pattern] = (key, value)
            return False
        else:
            self._entries[pattern] = {entry[0]: entry[1], key: value}
        self._count += 1
        return True

    def remove(self, pattern: str, key: K) -> bool:
        """True if ``key`` had this filter."""
        entry = self._entries.get(pattern)
        if entry is None:
            return False
        if isinstance(entry, dict):
            if key not in entry:
                return False
            del entry[key]
            if len(entry) == 1:
                (self._entries[pattern],) = entry.items()
        elif entry[0] != key:
            return False
        else:
            del self._entries[pattern]
            if has_wildcards(pattern):
                self._prune(pattern)
        self._count -= 1
        return True

    def match(self, topic: str) -> list[tuple[K, T]]:
        """Keys and values of all filters that match; a key comes once for each of its filters that do."""
        entries = self._entries
        found = _pairs(entries.get(topic))
        if not self._root.ways and self._root.rest is None:
            return found
        for pattern in self._patterns(topic):
            entry = entries[pattern]
            if isinstance(entry, dict):
                found += entry.items()
            else:
                found.append(entry)
        return found

    def _patterns(self, topic: str) -> list[str]:
        """The filters with wildcards that match."""
        levels = topic.split("/")
        end = len(levels)
        found = []
        stack = [(self._root, 0)]
        wild = topic[:1] != "$"  # no wildcard at the first level matches a "$" [MQTT-4.7.2-1], [MQTT-4.7.2-1 (3.1.1)]
        while stack:
            node, at = stack.pop()
            if node.rest is not None and (at or wild):  # also at its parent's own level (§4.7.1.2)
                found.append(node.rest)
            if at == end:
                if node.exact is not None:
                    found.append(node.exact)
                continue
            ways = node.ways
            if ways is None:
                continue
            way = ways.get(levels[at])
            if way is not None and (not way.edge or _follows(way.edge, levels, at + 1)):
                stack.append((way, at + 1 + len(way.edge)))
            way = ways.get("+")
            if way is not None and (at or wild) and (not way.edge or _follows(way.edge, levels, at + 1)):
                stack.append((way, at + 1 + len(way.edge)))
        return found

    def _grow(self, pattern: str) -> None:
        """The path of a new filter."""
        levels = [intern(level) for level in pattern.split("/")]
        is_rest = levels[-1] == "#"
        if is_rest:
            levels.pop()
        node, at, end = self._root, 0, len(levels)
        while at < end:
            ways = node.ways
            if ways is None:
                ways = node.ways = {}
            way = ways.get(levels[at])
            if way is None:
                node = ways[levels[at]] = Node(tuple(levels[at + 1 :]))
                break
            common = _common(way.edge, levels, at + 1)
            if common < len(way.edge):  # they part within the edge: a node between
                upper = Node(way.edge[:common])
                upper.ways = {way.edge[common]: way}
                way.edge = way.edge[common + 1 :]
                way = ways[levels[at]] = upper
            node, at = way, at + 1 + common
        if is_rest:
            node.rest = pattern
        else:
            node.exact = pattern

    def _prune(self, pattern: str) -> None:
        """Take the filter away, and the nodes that were there for it only."""
        levels = pattern.split("/")
        is_rest = levels[-1] == "#"
        if is_rest:
            levels.pop()
        node, at, end = self._root, 0, len(levels)
        above: list[tuple[Node, str]] = []
        while at < end:
            assert node.ways is not None
            above = [*above[-1:], (node, levels[at])]
            node = node.ways[levels[at]]
            at += 1 + len(node.edge)
        if is_rest:
            node.rest = None
        else:
            node.exact = None
        # Its parent may have stood only because two ways parted there; its grandparent is needed anyway.
        for parent, level in reversed(above):
            assert parent.ways is not None
            if not node.is_needed:
                if node.ways:
                    ((step, only),) = node.ways.items()
                    only.edge = (*node.edge, step, *only.edge)
                    parent.ways[level] = only
                else:
                    del parent.ways[level]
                    if not parent.ways:
                        parent.ways = None
            node = parent


def _pairs(entry: tuple[K, T] | dict[K, T] | None) -> list[tuple[K, T]]:
    if entry is None:
        return []
    return list(entry.items()) if isinstance(entry, dict) else [entry]


def _follows(edge: tuple[str, ...], levels: list[str], at: int) -> bool:
    """Whether the topic goes on as the edge does."""
    if at + len(edge) > len(levels):
        return False
    for level in edge:
        if level not in ("+", levels[at]):
            return False
        at += 1
    return True


def _common(edge: tuple[str, ...], levels: list[str], at: int) -> int:
    """How far a filter goes along with the edge."""
    count = 0
    for level in edge:
        if at + count == len(levels) or levels[at + count] != level:
            break
        count += 1
    return count
