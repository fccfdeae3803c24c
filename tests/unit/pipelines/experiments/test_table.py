"""Small tables: choosing, ordering, the one number."""

import pytest

from weft.pipelines.experiments.table import Missing, Table

TABLE = Table({"method": ["a", "b", "a", "b"], "size": [20, 10, 10, 20], "hops": [4.0, 1.0, 2.0, 3.0]})


def test_rows_are_chosen_by_value_or_by_several():
    assert TABLE.where(method="a")["hops"].tolist() == [4.0, 2.0]
    assert TABLE.where(method=("a", "b"), size=10)["hops"].tolist() == [1.0, 2.0]
    assert len(TABLE.where(method="c")) == 0


def test_rows_are_ordered_by_the_first_name_then_the_next():
    assert TABLE.ordered("method", "size")["hops"].tolist() == [2.0, 4.0, 1.0, 3.0]


def test_split_gives_each_value_its_rows():
    assert [(size, rows["hops"].tolist()) for size, rows in TABLE.split("size")] == [(10, [1.0, 2.0]), (20, [4.0, 3.0])]


def test_one_is_the_number_in_the_one_row():
    assert TABLE.one("hops", method="b", size=20) == 3.0
    with pytest.raises(Missing, match="2 rows with method=b"):
        TABLE.one("hops", method="b")
    with pytest.raises(Missing, match="0 rows"):
        TABLE.one("hops", method="c")


def test_columns_have_one_length():
    with pytest.raises(ValueError, match="lengths"):
        Table({"a": [1], "b": [1, 2]})
