"""Zones: halves, buddies, and what a peer may call one."""

import pytest

from weft.core.errors import Violation
from weft.core.ids import NodeId
from weft.overlay.can.geometry import SIDE
from weft.overlay.can.messages import Place, Zone

H, Q = SIDE // 2, SIDE // 4


def test_a_zone_is_halved_along_each_dimension_in_turn():
    one, other = Zone.whole(2).halves()
    assert (one.high, other.low) == ((H, SIDE), (H, 0))
    one, other = other.halves()
    assert (one, other) == (Zone((H, 0), (SIDE, H), 2), Zone((H, H), (SIDE, SIDE), 2))


def test_buddies_are_halves_of_one_parent():
    waiting = [Zone.whole(3)]
    for _ in range(40):
        zone = waiting.pop(0)
        one, other = zone.halves()
        assert one.parent() == other.parent() == zone
        assert (one.buddy(), other.buddy()) == (other, one)
        assert zone.contains(one)
        assert not one.contains(other)
        one.check(3)
        other.check(3)
        waiting += [one, other]


def test_a_zone_holds_its_low_edge_and_not_its_high_one():
    zone = Zone((0, H), (H, SIDE), 2)
    assert zone.holds((0, H))
    assert not zone.holds((H, H))
    assert not zone.holds((0, 0))


def test_places_touch_through_sides():
    one, other = (Place(NodeId(node), zone, 0) for node, zone in enumerate(Zone.whole(1).halves(), 1))
    assert one.touches(other)
    assert one.sides(other.zone) == 0b11
    assert not one.touches(one)


@pytest.mark.parametrize(
    "zone",
    [
        Zone((0,), (SIDE,), 0),
        Zone((0, 0), (SIDE, SIDE), 1),
        Zone((Q, 0), (H + Q, SIDE), 1),
        Zone((0, 0), (SIDE, H), 1),
        Zone((SIDE, 0), (SIDE + H, SIDE), 1),
        Zone((-H, 0), (0, SIDE), 1),
        Zone((0, 0), (SIDE, SIDE), -1),
        Zone((0, 0), (1, 1), 60),
    ],
)
def test_a_box_that_no_halving_makes_is_a_violation(zone):
    with pytest.raises(Violation):
        zone.check(2)
