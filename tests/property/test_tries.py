"""Both tries against ``topics.matches``, for whatever comes and goes."""

from hypothesis import given
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from weft.broker.names import NameTree
from weft.broker.names import Node as NameNode
from weft.broker.trie import Trie
from weft.mqtt.topics import matches

NAME = st.lists(st.sampled_from(["a", "b", "", "$x"]), min_size=1, max_size=6).map("/".join).filter(bool)
PATTERN = (
    st.tuples(st.lists(st.sampled_from(["a", "b", "", "$x", "+"]), max_size=6), st.sampled_from([[], ["#"]]))
    .map(lambda parts: "/".join(parts[0] + parts[1]))
    .filter(bool)
)
KEY = st.sampled_from(["k", "l", "m"])


class Subscriptions(RuleBasedStateMachine):
    """A trie and a plain dictionary."""

    def __init__(self) -> None:
        super().__init__()
        self.trie: Trie[str, int] = Trie()
        self.model: dict[tuple[str, str], int] = {}
        self.count = 0

    @rule(pattern=PATTERN, key=KEY)
    def add(self, pattern: str, key: str) -> None:
        self.count += 1
        assert self.trie.add(pattern, key, self.count) is ((pattern, key) not in self.model)
        self.model[pattern, key] = self.count

    @rule(pattern=PATTERN, key=KEY)
    def remove_any(self, pattern: str, key: str) -> None:
        assert self.trie.remove(pattern, key) is (self.model.pop((pattern, key), None) is not None)

    @rule(data=st.data())
    def remove_one(self, data: st.DataObject) -> None:
        if self.model:
            pattern, key = data.draw(st.sampled_from(list(self.model)))
            assert self.trie.remove(pattern, key)
            del self.model[pattern, key]

    @rule(topic=NAME)
    def match(self, topic: str) -> None:
        expected = [(key, value) for (pattern, key), value in self.model.items() if matches(pattern, topic)]
        assert sorted(self.trie.match(topic)) == sorted(expected)

    @invariant()
    def counts(self) -> None:
        assert len(self.trie) == len(self.model)
        assert set(self.trie.filters()) == {pattern for pattern, _ in self.model}

    @invariant()
    def nodes_are_needed(self) -> None:
        stack = [self.trie._root]
        while stack:
            node = stack.pop()
            assert node is self.trie._root or node.is_needed
            stack += (node.ways or {}).values()


class Names(RuleBasedStateMachine):
    """A name tree and a plain dictionary, and walks that rest between the steps."""

    def __init__(self) -> None:
        super().__init__()
        self.tree: NameTree[int] = NameTree()
        self.model: dict[str, int] = {}
        self.count = 0
        self.walks: list[tuple] = []

    @rule(name=NAME)
    def set(self, name: str) -> None:
        self.count += 1
        assert self.tree.set(name, self.count) == self.model.get(name)
        self.model[name] = self.count

    @rule(name=NAME)
    def delete_any(self, name: str) -> None:
        assert self.tree.delete(name) == self.model.pop(name, None)
        self.forget(name)

    @rule(data=st.data())
    def delete_one(self, data: st.DataObject) -> None:
        if self.model:
            name = data.draw(st.sampled_from(list(self.model)))
            assert self.tree.delete(name) == self.model.pop(name)
            self.forget(name)

    def forget(self, name: str) -> None:
        for _, _, due in self.walks:
            due.discard(name)

    @rule(pattern=PATTERN)
    def match(self, pattern: str) -> None:
        expected = [(name, value) for name, value in self.model.items() if matches(pattern, name)]
        assert sorted(self.tree.match(pattern)) == sorted(expected)

    @rule(pattern=PATTERN)
    def walk(self, pattern: str) -> None:
        due = {name for name in self.model if matches(pattern, name)}
        walk = self.tree.match(pattern)
        seen = [name for name, _ in (next(walk, None),) if name] if due else []
        self.walks.append((walk, seen, due))

    @rule(data=st.data())
    def finish(self, data: st.DataObject) -> None:
        """A walk finds once whatever was there throughout."""
        if self.walks:
            walk, seen, due = self.walks.pop(data.draw(st.integers(0, len(self.walks) - 1)))
            seen += [name for name, _ in walk]
            assert {name: seen.count(name) for name in due} == dict.fromkeys(due, 1)

    @invariant()
    def counts(self) -> None:
        assert dict(self.tree.items()) == self.model
        assert all(self.tree.get(name) == value for name, value in self.model.items())

    @invariant()
    def nodes_are_needed(self) -> None:
        stack = [self.tree._root]
        while stack:
            node = stack.pop()
            assert node is self.tree._root or len(node.ways) + (node.name is not None) > 1
            stack += [way for way in node.ways.values() if isinstance(way, NameNode)]


TestSubscriptions = Subscriptions.TestCase
TestNames = Names.TestCase


@given(PATTERN, NAME)
def test_one_filter_and_one_name_agree_everywhere(pattern: str, name: str) -> None:
    trie: Trie[int, int] = Trie()
    trie.add(pattern, 1, 1)
    tree: NameTree[int] = NameTree()
    tree.set(name, 1)
    assert bool(trie.match(name)) is bool(list(tree.match(pattern))) is matches(pattern, name)
