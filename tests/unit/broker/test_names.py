"""Values by name: what a filter finds, and what comes and goes meanwhile."""

import tracemalloc

import pytest

from weft.broker.names import NameTree, Node


def tree(*names: str) -> NameTree[str]:
    """A tree where each name is its own value."""
    made: NameTree[str] = NameTree()
    for name in names:
        assert made.set(name, name) is None
    return made


def found(made: NameTree[str], pattern: str) -> list[str]:
    names = [name for name, value in made.match(pattern) if name == value]
    assert len(names) == len(set(names))
    return sorted(names)


NAMES = ("a", "a/b", "a/b/c", "a/b/c/d", "a/x", "a/", "/", "/a", "b/b", "$SYS/a", "$SYS/b/c", "a/$SYS")


@pytest.mark.parametrize(("pattern", "names"), [
    ("a", ["a"]),
    ("a/b/c", ["a/b/c"]),
    ("a/+", ["a/", "a/$SYS", "a/b", "a/x"]),
    ("a/b/#", ["a/b", "a/b/c", "a/b/c/d"]),
    ("a/b/c/d/#", ["a/b/c/d"]),
    ("+/b", ["a/b", "b/b"]),
    ("+/b/#", ["a/b", "a/b/c", "a/b/c/d", "b/b"]),
    ("+", ["a"]),
    ("+/+", ["/", "/a", "a/", "a/$SYS", "a/b", "a/x", "b/b"]),
    ("$SYS/#", ["$SYS/a", "$SYS/b/c"]),
    ("$SYS/+/c", ["$SYS/b/c"]),
    ("a/+/+/d", ["a/b/c/d"]),
    ("nothing/#", []),
    ("a/b/c/d/e/#", []),
    ("#", sorted(name for name in NAMES if name[0] != "$")),
])  # fmt: skip
def test_a_filter_finds_its_names(pattern, names):
    """[MQTT-4.7.2-1] [MQTT-4.7.2-1 (3.1.1)]"""
    made = tree(*NAMES)
    assert found(made, pattern) == names
    made = tree(*reversed(NAMES))
    assert found(made, pattern) == names


def test_a_value_is_set_replaced_and_deleted():
    made = tree("a/b", "a/c")
    assert (made.get("a/b"), made.get("a"), len(made), "a/b" in made) == ("a/b", None, 2, True)
    assert made.set("a/b", "new") == "a/b"
    assert dict(made.items()) == {"a/b": "new", "a/c": "a/c"}
    assert made.delete("a/b") == "new"
    assert made.delete("a/b") is None
    assert made.delete("a") is None
    assert found(made, "#") == ["a/c"]


def inner(made: NameTree[str]) -> int:
    """How many inner nodes there are besides the root."""
    count, stack = -1, [made._root]
    while stack:
        node = stack.pop()
        count += 1
        assert node is made._root or len(node.ways) + (node.name is not None) > 1
        stack += [way for way in node.ways.values() if isinstance(way, Node)]
    return count


def test_inner_nodes_are_where_names_part():
    made = tree("a/b/c/d/e", "a/b/c/x/e", "q/" + "/" * 1000)
    assert inner(made) == 1
    made.set("a/b", "a/b")
    assert inner(made) == 2
    made.delete("a/b")
    assert inner(made) == 1
    made.delete("a/b/c/x/e")
    assert inner(made) == 0
    assert found(made, "a/b/c/+/e") == ["a/b/c/d/e"]


def test_the_deepest_name_needs_no_recursion():
    deep = "/" * 65_535
    made = tree(deep, deep[:-1] + "a", deep[:-1])
    assert found(made, "/" * 65_534 + "+") == [deep[:-1], deep[:-1] + "a"]
    assert found(made, "/" * 65_534 + "#") == sorted([deep, deep[:-1], deep[:-1] + "a"])
    for name in (deep[:-1], deep, deep[:-1] + "a"):
        made.delete(name)
    assert inner(made) == 0


def test_a_walk_may_rest_while_names_come_and_go():
    stays = [f"a/{number}/x/y" for number in range(50)]
    made = tree(*stays, *(f"a/{number}/x/z" for number in range(50)))
    walk, seen = made.match("a/#"), []
    for step in range(50):
        seen.append(next(walk)[0])
        made.delete(f"a/{step}/x/z")
        made.set(f"a/{49 - step}/x", "new")
        made.set(f"a/{step}/x/y/deeper", "new")
    seen += [name for name, _ in walk]
    assert sorted(name for name in seen if name in stays) == sorted(stays)


def test_a_name_costs_a_few_hundred_bytes():
    made: NameTree[str] = NameTree()
    tracemalloc.start()
    try:
        for number in range(20_000):
            made.set(f"site/{number % 100}/device/{number}/temp", "value")
        assert tracemalloc.get_traced_memory()[0] / 20_000 < 350
    finally:
        tracemalloc.stop()
