"""Topologies: their shapes, and shortest ways compared with a search that shares no code with theirs."""

from collections import deque
from itertools import pairwise, product

import pytest

from weft.core.errors import Misuse
from weft.core.ids import NodeId
from weft.sim.des.shapes import fat_tree, line, ring, star, tree
from weft.sim.des.topology import Link, Topology

SHAPES = {
    "line": line(7),
    "line with hosts": line(4, hosts_each=2),
    "ring": ring(8),
    "star": star(6),
    "tree": tree(3, 2),
    "tree with hosts": tree(2, 3, hosts_each=2),
    "fat-tree": fat_tree(4, hosts_each=2),
}


def distances(topology: Topology, start: str) -> dict[str, int]:
    """Breadth first, straight from the links."""
    neighbours: dict[str, list[str]] = {name: [] for name in topology.vertices}
    for link in topology.links:
        neighbours[link.a].append(link.b)
        neighbours[link.b].append(link.a)
    found = {start: 0}
    queue = deque([start])
    while queue:
        at = queue.popleft()
        for other in neighbours[at]:
            if other not in found:
                found[other] = found[at] + 1
                queue.append(other)
    return found


@pytest.mark.parametrize("name", SHAPES)
def test_ways_are_shortest_and_real(name: str) -> None:
    topology = SHAPES[name]
    joined = {frozenset((link.a, link.b)) for link in topology.links}
    for start in topology.vertices:
        expected = distances(topology, start)
        assert len(expected) == len(topology.vertices), "connected"
        for end in topology.vertices:
            path = topology.path(start, end)
            assert path[0] == start
            assert path[-1] == end
            assert len(path) - 1 == expected[end]
            assert all(frozenset(step) in joined for step in pairwise(path))


def test_the_quicker_way_wins_over_the_shorter_one() -> None:
    links = [Link("a", "b", 10.0), Link("a", "c", 3.0), Link("c", "d", 3.0), Link("d", "b", 3.0)]
    topology = Topology("abcd", links=links)
    assert topology.path("a", "b") == ("a", "c", "d", "b")
    topology.place(NodeId(1), "a")
    topology.place(NodeId(2), "b")
    assert topology.way(NodeId(1), NodeId(2))[0] == 9_000_000


def test_equal_ways_of_delays_that_floats_add_differently_are_equal() -> None:
    # 0.1 + 0.2 + 0.3 and 0.3 + 0.2 + 0.1 differ as floats; here the way through the lower vertex must win
    there = [Link("a", "c", 0.3), Link("c", "d", 0.2), Link("d", "b", 0.1)]
    too = [Link("a", "e", 0.1), Link("e", "f", 0.2), Link("f", "b", 0.3)]
    assert Topology("abcdef", links=there + too).path("a", "b") == ("a", "c", "d", "b")
    assert Topology("abcdef", links=too + there).path("a", "b") == ("a", "c", "d", "b")


def test_shapes_have_the_sizes_of_their_names() -> None:
    assert len(SHAPES["line"].links) == 6
    assert len(SHAPES["ring"].links) == 8
    assert SHAPES["star"].places == ("s2", "s3", "s4", "s5", "s6")
    assert len(SHAPES["tree"].switches) == 15
    assert SHAPES["tree"].places == tuple(f"s{number}" for number in range(8, 16))
    assert len(SHAPES["tree with hosts"].hosts) == 18
    k4 = SHAPES["fat-tree"]
    assert (len(k4.switches), len(k4.hosts), len(k4.links)) == (20, 16, 48)
    assert len(k4.path("h1", "h2")) - 1 == 2
    assert len(k4.path("h1", "h3")) - 1 == 4
    assert len(k4.path("h1", "h5")) - 1 == 6


def test_brokers_fill_the_places_in_turn() -> None:
    topology = line(3)
    nodes = [NodeId(number) for number in range(1, 6)]
    topology.place_in_turn(nodes)
    assert [topology.place_of(node) for node in nodes] == ["s1", "s2", "s3", "s1", "s2"]
    assert topology.way(nodes[0], nodes[3]) == (0, ())
    delay, arcs = topology.way(nodes[0], nodes[2])
    assert delay == 2_000_000
    assert [topology.ends(arc) for arc in arcs] == [("s1", "s2"), ("s2", "s3")]
    _, back = topology.way(nodes[2], nodes[0])
    assert [topology.ends(arc) for arc in back] == [("s3", "s2"), ("s2", "s1")]


@pytest.mark.parametrize(
    ("links", "said"),
    [
        ([Link("a", "x")], "no switch or host called x"),
        ([Link("a", "a")], "joins two vertices, once"),
        ([Link("a", "b"), Link("b", "a")], "joins two vertices, once"),
        ([Link("a", "b", -1.0)], "not below 0"),
        ([Link("a", "b", 1.0, 0.0)], "above 0"),
    ],
)
def test_impossible_links_are_refused(links: list[Link], said: str) -> None:
    with pytest.raises(Misuse, match=said):
        Topology("ab", links=links)


def test_impossible_shapes_are_refused() -> None:
    for wrong in (lambda: fat_tree(3), lambda: line(0), lambda: ring(2), lambda: star(1), lambda: tree(0, 2)):
        with pytest.raises(Misuse):
            wrong()
    with pytest.raises(Misuse, match="two vertices are called a"):
        Topology("aba")
    with pytest.raises(Misuse, match="no way"):
        Topology("ab").path("a", "b")
    with pytest.raises(Misuse, match="stands nowhere"):
        line(2).place_of(NodeId(1))


def test_a_way_is_the_same_whoever_asks_first() -> None:
    one, other = fat_tree(4), fat_tree(4)
    pairs = list(product(one.places, repeat=2))
    first = {pair: one.path(*pair) for pair in pairs}
    assert {pair: other.path(*pair) for pair in reversed(pairs)} == first
