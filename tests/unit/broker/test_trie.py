"""Subscriptions by filter: what a topic finds, what is kept, what is given back."""

import tracemalloc

import pytest

from weft.broker.trie import Trie


def trie(*filters: str) -> Trie[str, int]:
    """A trie where each filter is its own key."""
    made: Trie[str, int] = Trie()
    for number, pattern in enumerate(filters):
        assert made.add(pattern, pattern, number)
    return made


def found(made: Trie[str, int], topic: str) -> set[str]:
    return {key for key, _ in made.match(topic)}


def test_wildcards_and_literals_are_found_together():
    made = trie("a/b", "a/+", "a/#", "#", "+/b", "a/b/#", "+/+", "a/c", "b/#", "a")
    assert found(made, "a/b") == {"a/b", "a/+", "a/#", "#", "+/b", "a/b/#", "+/+"}
    assert found(made, "a") == {"a", "a/#", "#"}
    assert found(made, "b/x/y") == {"#", "b/#"}


def test_wildcards_at_the_first_level_do_not_find_what_starts_with_a_dollar_sign():
    """[MQTT-4.7.2-1] [MQTT-4.7.2-1 (3.1.1)]"""
    made = trie("#", "+/a", "+/#", "$SYS/#", "$SYS/+", "$SYS/a")
    assert found(made, "$SYS/a") == {"$SYS/#", "$SYS/+", "$SYS/a"}
    assert found(made, "x/$SYS") == {"#", "+/#"}


def test_names_are_compared_as_they_are():
    """[MQTT-4.7.3-4] [MQTT-4.7.3-4 (3.1.1)]"""
    assert found(trie("A\u030a/+", "a/+"), "\u00c5/b") == set()


def test_a_key_comes_once_for_each_of_its_filters():
    made: Trie[str, str] = Trie()
    for pattern in ("a/b", "a/+", "#"):
        made.add(pattern, "me", pattern)
    assert sorted(made.match("a/b")) == [("me", "#"), ("me", "a/+"), ("me", "a/b")]


@pytest.mark.parametrize("pattern", ["a/b", "a/+"])
def test_the_same_again_replaces_the_value(pattern):
    made: Trie[str, int] = Trie()
    for keys in (["k"], ["k", "l"], ["k", "l", "m"]):
        for key in keys:
            assert made.add(pattern, key, 1) is (key == keys[-1])
            assert not made.add(pattern, key, 2)
        assert len(made) == len(keys)
        assert sorted(made.match("a/b")) == [(key, 2) for key in keys]
        assert sorted(made.subscribers(pattern)) == [(key, 2) for key in keys]
    for gone, left in (("k", ["l", "m"]), ("m", ["l"]), ("l", [])):
        assert not made.remove(pattern, "stranger")
        assert made.remove(pattern, gone)
        assert not made.remove(pattern, gone)
        assert sorted(made.match("a/b")) == [(key, 2) for key in left]
    assert [*made.filters()] == made.match("a/b") == made.subscribers(pattern) == []
    assert len(made) == 0


def test_filters_come_in_the_order_of_their_arrival():
    made = trie("b", "a/+", "#")
    made.add("b", "another", 0)
    assert list(made.filters()) == ["b", "a/+", "#"]
    assert len(made) == 4


def nodes(made: Trie[str, int]) -> int:
    """How many there are besides the root."""
    count, stack = -1, [made._root]
    while stack:
        node = stack.pop()
        count += 1
        assert node.is_needed or node is made._root, "a node that neither ends a filter nor parts two"
        stack += (node.ways or {}).values()
    return count


def test_there_are_fewer_than_two_nodes_for_each_filter():
    filters = [f"{'/'.join('ab'[number >> bit & 1] for bit in range(8))}/+/x" for number in range(256)]
    made = trie(*filters)
    assert nodes(made) < 2 * 256
    for count, pattern in enumerate(filters):
        assert made.remove(pattern, pattern)
        assert nodes(made) < 2 * (256 - count)
    assert nodes(made) == 0


def test_a_path_that_parts_and_joins_again_is_one_node():
    made = trie("a/b/c/d/+", "a/b/x/#", "a/b/#")
    assert nodes(made) == 3
    made.remove("a/b/x/#", "a/b/x/#")
    assert nodes(made) == 2, "a/b ends a filter"
    made.remove("a/b/#", "a/b/#")
    assert nodes(made) == 1
    assert found(made, "a/b/c/d/e") == {"a/b/c/d/+"}
    assert found(made, "a/b/c/e/e") == set()


def test_the_deepest_topic_needs_no_recursion():
    deep = "/" * 65_535
    made = trie(deep[:-1] + "#", "/" * 65_534 + "+", deep, "+/" * 32_767 + "#")
    assert found(made, deep) == {deep[:-1] + "#", deep, "+/" * 32_767 + "#"}
    for pattern in list(made.filters()):
        made.remove(pattern, pattern)
    assert nodes(made) == 0


class Counted(list):
    """Levels that count how often they are looked at."""

    looked = 0

    def __getitem__(self, at):
        self.looked += 1
        return super().__getitem__(at)


class Topic(str):
    """One that is split into such levels."""

    __slots__ = ("levels",)

    def split(self, *arguments, **named):
        self.levels = Counted(super().split(*arguments, **named))
        return self.levels


@pytest.mark.parametrize("tail", ["", "/b"])
def test_a_hostile_set_of_filters_costs_no_more_than_its_nodes(tail):
    """2^n paths of ``a`` and ``+`` all match, each of them is walked once."""
    filters = ["/".join("a+"[number >> bit & 1] for bit in range(10)) + "/x" + tail for number in range(1, 1024)]
    made = trie(*filters)
    topic = Topic("/".join("a" * 10) + "/x")
    assert len(made.match(topic)) == (0 if tail else 1023)
    assert 0 < topic.levels.looked <= 4 * nodes(made)


@pytest.mark.parametrize(("pattern", "bytes_max"), [("site/{}/device/{}/temp", 300), ("site/{}/+/{}/temp", 600)])
def test_a_subscription_costs_a_few_hundred_bytes(pattern, bytes_max):
    """With its string; a million of them fit."""
    made: Trie[str, str] = Trie()
    tracemalloc.start()
    try:
        for number in range(20_000):
            made.add(pattern.format(number % 100, number), "key", "value")
        assert tracemalloc.get_traced_memory()[0] / 20_000 < bytes_max
    finally:
        tracemalloc.stop()
