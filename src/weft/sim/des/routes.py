"""Shortest paths in a graph of links: by delay, then by the number of links, then by the vertices' order.

Whole numbers of nanoseconds, so that two equally long ways are really equal, and the choice between them is the same
everywhere. One Dijkstra per source, when it is first asked for, then kept.
"""

from heapq import heappop, heappush

from weft.core.errors import Misuse


class Routes:
    """``edges[v]`` lists (other end, delay in ns, arc); an arc is a link in one direction."""

    def __init__(self, edges: list[list[tuple[int, int, int]]]) -> None:
        self._edges = edges
        self._trees: dict[int, list[tuple[int, int, int, int] | None]] = {}

    def way(self, source: int, to: int) -> tuple[int, tuple[int, ...]]:
        """(delay in ns, the arcs in order) from ``source`` to ``to``."""
        tree = self._trees.get(source)
        if tree is None:
            tree = self._trees[source] = self._grow(source)
        reached = tree[to]
        if reached is None:
            raise Misuse(f"there is no way from vertex {source} to vertex {to}")
        arcs: list[int] = []
        at = to
        while at != source:
            step = tree[at]
            assert step is not None
            _, _, at, arc = step
            arcs.append(arc)
        return reached[0], tuple(reversed(arcs))

    def _grow(self, source: int) -> list[tuple[int, int, int, int] | None]:
        """For each vertex (delay, links, the vertex before it, the arc from there), or None if it cannot be reached."""
        best: list[tuple[int, int, int, int] | None] = [None] * len(self._edges)
        heap = [(0, 0, source, source, -1)]
        while heap:
            delay, links, at, before, arc = heappop(heap)
            if best[at] is not None:
                continue
            best[at] = (delay, links, before, arc)
            for other, cost, onward in self._edges[at]:
                if best[other] is None:
                    heappush(heap, (delay + cost, links + 1, other, at, onward))
        return best
