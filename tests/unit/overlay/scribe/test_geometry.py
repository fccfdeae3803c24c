"""The tree as a pure function."""

from weft.overlay.scribe.geometry import depth, tree


def test_the_tree_is_the_union_of_the_ways_to_the_root():
    onward = {5: 3, 4: 3, 3: 1, 2: 1, 1: 0}.__getitem__
    parents = tree([5, 4, 0], 0, onward)
    assert parents == {5: 3, 3: 1, 1: 0, 4: 3}
    assert [depth(node, 0, parents) for node in (0, 1, 3, 4, 5)] == [0, 1, 2, 3, 3]


def test_the_order_of_joining_does_not_matter():
    onward = lambda node: node // 2  # noqa: E731
    assert tree([9, 5, 12], 0, onward) == tree([12, 9, 5], 0, onward)
