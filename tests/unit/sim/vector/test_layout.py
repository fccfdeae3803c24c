"""Layouts: whose each position is."""

import numpy as np
import pytest

from weft.core.errors import Misuse
from weft.overlay.keys import ALM, Key
from weft.sim.vector.layout import Layout


def test_plain_stores_nothing_about_owners():
    layout = Layout.plain([9, 4, 7])
    assert (layout.size, layout.brokers, layout.owner.size, layout.most) == (3, 3, 0, 1)
    assert layout.owners().tolist() == [0, 1, 2]
    assert layout.positions(2).tolist() == [2]
    assert layout.starts.tolist() == [0, 3]


def test_brokers_with_several_keys():
    layout = Layout.shared([5, 6, 7], [2, 0, 2, 2, 0], run=[0, 0, 1, 1, 2])
    assert [layout.positions(broker).tolist() for broker in range(3)] == [[1, 4], [], [0, 2, 3]]
    assert layout.most == 3
    assert layout.starts.tolist() == [0, 2, 4, 5]


def test_of_real_keys():
    keys = [Key("L", "a", ALM, 0, cluster, broker) for cluster, broker in (((), 8), ((), 9), (("x",), 3))]
    keys.append(Key("L", "b", ALM, 0, ("x",), 8))
    layout = Layout.of(keys)
    assert layout.ids.tolist() == [3, 8, 9]
    assert layout.owner.tolist() == [1, 2, 0, 1]
    assert layout.run.tolist() == [0, 0, 1, 2], "the topic is part of a locality"
    assert layout.site.tolist() == [0, 0, 1, 1], "and not of a site"


@pytest.mark.parametrize(
    "make",
    [
        lambda: Layout.plain([]),
        lambda: Layout.plain([1, 2], run=[0]),
        lambda: Layout.plain([1, 2, 3], run=[0, 2, 2]),
        lambda: Layout.plain([1, 2, 3], run=[0, 1, 0]),
        lambda: Layout.shared([1], np.array([0, 1])),
        lambda: Layout.of([Key("L", "b", ALM, 0, (), 1), Key("L", "a", ALM, 0, (), 1)]),
    ],
)
def test_what_is_no_layout_is_refused(make):
    with pytest.raises(Misuse):
        make()
