"""Rounds of members that move, by each method: order, ranks, messages."""

import pytest

from weft.pipelines.experiments.beyond.rounds import COLUMNS, METHODS, ROUNDS, rounds


@pytest.mark.parametrize("method", METHODS)
def test_a_row_for_each_round(method):
    rows = rounds({"method": method}, 1)
    assert list(rows) == list(COLUMNS)
    assert rows["round"] == list(range(1, ROUNDS + 1))
    assert rows["stretches"][0] == 1, "who moves in one round keeps the order of clusters"


def test_what_the_order_comes_to():
    rejoin, rename, fitting = (rounds({"method": method}, 2) for method in METHODS)
    assert set(rejoin["stretches"]) == {1.0}
    assert set(rejoin["ranks"]) == {1}
    assert rename["ranks"] == [8 * number for number in range(1, ROUNDS + 1)]
    assert fitting["ranks"] == list(range(1, ROUNDS + 1))
    assert rename["stretches"] == fitting["stretches"]
    assert fitting["crossings_first"][-1] < rename["crossings_first"][-1]
    assert rename["messages"][-1] < rejoin["messages"][-1]
