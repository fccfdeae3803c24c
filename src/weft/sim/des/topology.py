"""The physical world: switches and hosts, the links between them, and which broker stands where.

A vertex is a switch or a host, named; a link joins two vertices, with a delay and perhaps a bandwidth, and is the same both
ways. A broker stands at a vertex, and a message between two brokers crosses the links of the shortest way between their
vertices: none, if they share one. Where hosts are drawn, a broker stands at a host and the host's link counts.

Invariants: names are unique; links join two different known vertices, at most one link a pair; arc 2·i leads from a to b
of link i, arc 2·i + 1 back.
"""

from collections.abc import Iterable

import msgspec

from weft.core.errors import Misuse
from weft.core.ids import NodeId
from weft.sim.des.routes import Routes

VERTICES_MAX = 1_000_000


class Link(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """``bandwidth_mbps`` None: as many messages at once as you like."""

    a: str
    b: str
    delay_ms: float = 1.0
    bandwidth_mbps: float | None = None

    @property
    def delay_ns(self) -> int:
        return round(self.delay_ms * 1e6)


class Topology:
    """``places`` are where brokers stand by default, in the order in which they are filled."""

    def __init__(
        self,
        switches: Iterable[str],
        hosts: Iterable[str] = (),
        links: Iterable[Link] = (),
        places: Iterable[str] | None = None,
    ) -> None:
        self.switches = tuple(switches)
        self.hosts = tuple(hosts)
        self.vertices = self.switches + self.hosts
        self.links = tuple(links)
        self._index = {name: index for index, name in enumerate(self.vertices)}
        if len(self._index) < len(self.vertices):
            twice = sorted(name for name in self._index if self.vertices.count(name) > 1)
            raise Misuse(f"two vertices are called {twice[0]}")
        if not 0 < len(self.vertices) <= VERTICES_MAX:
            raise Misuse(f"a topology has 1…{VERTICES_MAX} vertices, not {len(self.vertices)}")
        self._routes = Routes(self._edges())
        self.places = tuple(places) if places is not None else self.hosts or self.switches
        for place in self.places:
            self._vertex(place)
        self._at: dict[NodeId, int] = {}

    def _edges(self) -> list[list[tuple[int, int, int]]]:
        edges: list[list[tuple[int, int, int]]] = [[] for _ in self.vertices]
        pairs: set[frozenset[str]] = set()
        for number, link in enumerate(self.links):
            a, b = self._vertex(link.a), self._vertex(link.b)
            pair = frozenset((link.a, link.b))
            if a == b or pair in pairs:
                raise Misuse(f"a link joins two vertices, once: {link.a} – {link.b}")
            if link.delay_ms < 0 or (link.bandwidth_mbps is not None and link.bandwidth_mbps <= 0):
                raise Misuse(f"link {link.a} – {link.b}: delay_ms is not below 0, bandwidth_mbps is above 0")
            pairs.add(pair)
            edges[a].append((b, link.delay_ns, 2 * number))
            edges[b].append((a, link.delay_ns, 2 * number + 1))
        return edges

    def _vertex(self, name: str) -> int:
        index = self._index.get(name)
        if index is None:
            raise Misuse(f"there is no switch or host called {name}")
        return index

    # ---------------------------------------------------------------------------------------------- placement

    def place(self, node: NodeId, vertex: str) -> None:
        """``node`` stands at ``vertex`` from now on."""
        self._at[node] = self._vertex(vertex)

    def place_in_turn(self, nodes: Iterable[NodeId]) -> None:
        """``nodes`` fill ``places`` one by one, and again from the first when they are full."""
        for number, node in enumerate(nodes):
            self.place(node, self.places[number % len(self.places)])

    def place_of(self, node: NodeId) -> str:
        return self.vertices[self._standing(node)]

    def _standing(self, node: NodeId) -> int:
        at = self._at.get(node)
        if at is None:
            raise Misuse(f"node {node} stands nowhere: place it first")
        return at

    # ------------------------------------------------------------------------------------------------- paths

    def way(self, source: NodeId, to: NodeId) -> tuple[int, tuple[int, ...]]:
        """(delay in ns, arcs) between two placed nodes."""
        return self._routes.way(self._standing(source), self._standing(to))

    def path(self, a: str, b: str) -> tuple[str, ...]:
        """The vertices from ``a`` to ``b``, both included."""
        _, arcs = self._routes.way(self._vertex(a), self._vertex(b))
        return (a, *(self.ends(arc)[1] for arc in arcs))

    def ends(self, arc: int) -> tuple[str, str]:
        """(from, to) of an arc."""
        link = self.links[arc // 2]
        return (link.b, link.a) if arc % 2 else (link.a, link.b)
