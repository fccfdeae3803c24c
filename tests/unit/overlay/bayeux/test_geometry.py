"""The ways to the members as pure functions."""

from weft.overlay.bayeux.geometry import hops, ways


def test_the_table_is_the_union_of_the_ways_to_the_members():
    onward = lambda at, member: at + 1 if member - at < 3 else at + 3  # noqa: E731
    table = ways([4, 5], 0, onward)
    assert {at: list(following) for at, following in table.items()} == {0: [3], 3: [4], 4: [5]}
    assert hops(0, table) == {0: 0, 3: 1, 4: 2, 5: 3}


def test_where_ways_meet_again_the_shorter_counts():
    table = {0: dict.fromkeys([1, 2]), 1: {2: None}, 2: {3: None}}
    assert hops(0, table) == {0: 0, 1: 1, 2: 1, 3: 2}
    assert hops(0, {}) == {0: 0}
