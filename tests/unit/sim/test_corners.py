"""SHG counted on small hypercubes: sizes, and what is exactly one with the corrected rules and not with the printed ones."""

import pytest

from weft.sim.corners import counted


def test_the_sizes():
    found = counted(4, 2, "corrected")
    assert [found[name] for name in ("corners", "partitions", "partition_size", "dominating")] == [16, 4, 4, 8]
    assert [found[name] for name in ("dominating_each", "sub_partitions", "sub_partition_size", "farthest")] == [
        2,
        8,
        3,
        1,
    ]
    assert found["as_defined"] == 4


@pytest.mark.parametrize(("n", "k"), [(3, 1), (4, 2), (5, 4)])
def test_with_the_corrected_rules_everything_is_once(n, k):
    found = counted(n, k, "corrected")
    assert [found[name] for name in ("handed_least", "handed_most", "received_least", "received_most")] == [1, 1, 1, 1]
    assert (found["strangers"], found["abroad"]) == (0, 1)
    assert found["across"] == 2 ** (n - k + 1) - 1


def test_with_the_printed_ones_it_is_not():
    found = counted(5, 3, "literal")
    assert (found["handed_least"], found["received_least"]) == (0, 0)
    assert found["received_most"] > found["handed_most"] > 1
    assert found["abroad"] == 1
