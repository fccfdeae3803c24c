"""CAN-MC in bulk: zones tile the space; floods; what cannot be is refused."""

import numpy as np
import pytest

from weft.core.errors import Misuse
from weft.core.ids import NodeId
from weft.overlay.can.geometry import SIDE, touching, where
from weft.overlay.rendezvous.geometry import identity
from weft.sim.vector.can import Space, points


def test_points_are_those_of_the_machines():
    nodes = np.array([1, 5, 900])
    for dims in (1, 3):
        assert points(7, nodes, "a/b", dims).tolist() == [
            list(where(7, NodeId(node), identity("a/b", 63), dims)) for node in nodes.tolist()
        ]


@pytest.mark.parametrize("dims", [1, 2, 4])
def test_zones_tile_the_space_and_neighbours_are_mutual(dims):
    space = Space.joined(points(1, np.arange(1, 201), "t", dims))
    low, high, first, near, through = space.zones
    assert ((high - low) / SIDE).prod(axis=1).sum() == pytest.approx(1.0)
    for one in range(200):
        around = dict(zip(near[first[one] : first[one + 1]].tolist(), through[first[one] :].tolist(), strict=False))
        assert list(around) == sorted(around)
        for other in range(200):
            assert around.get(other, 0) == touching(low[one], high[one], low[other], high[other])
            assert (other in around) == (one in near[first[other] : first[other + 1]])


def test_the_path_grows_with_the_root_of_the_members_and_not_with_anything_else():
    """RELAY §5.4: O(d · members^(1/d)); four times the members are twice as far."""
    near, far = (Space.joined(points(3, np.arange(1, size + 1), "t", 2)).flood(0).hops.mean() for size in (500, 2_000))
    assert far / near == pytest.approx(2.0, abs=0.4)


def test_handing_on_anew_misses_nobody_and_costs_little():
    space = Space.joined(points(3, np.arange(1, 501), "t", 3))
    printed, mended = space.flood(9), space.flood(9, again=True)
    assert (mended.hops >= 0).all()
    assert printed.sent.sum() <= mended.sent.sum() < 1.2 * printed.sent.sum()
    assert mended.sent.sum() == mended.copies + 499


def test_what_cannot_be_is_refused():
    for wrong, text in (
        (np.zeros((0, 2)), "members"),
        ([[-1, 0]], "outside"),
        ([[0, SIDE]], "outside"),
        ([[5, 5], [5, 5], [5, 5]], None),
    ):
        if text is None:
            assert Space.joined(wrong).size == 3, "a point is where somebody joins, not where it is"
        else:
            with pytest.raises(Misuse, match=text):
                Space.joined(wrong)
    with pytest.raises(Misuse, match="halv"):
        Space.joined(np.zeros((40, 1), np.int64))
    with pytest.raises(Misuse, match="no member"):
        Space.joined([[0, 0]]).flood(1)
