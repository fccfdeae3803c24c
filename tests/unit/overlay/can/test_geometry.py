"""Touching zones, open sides, distances."""

import heapq

import pytest

from weft.core.ids import NodeId
from weft.core.rand import Rng
from weft.overlay.can.geometry import SIDE, away, centre, opened, touching, where
from weft.overlay.can.messages import Zone

H, Q = SIDE // 2, SIDE // 4


def tiled(points: list[tuple[int, ...]]) -> list[Zone]:
    """The zones that joins at ``points`` make, the founder's first."""
    zones = [Zone.whole(len(points[0]))]
    for point in points:
        at = next(at for at, zone in enumerate(zones) if zone.holds(point))
        zones[at], other = zones[at].halves()
        zones.append(other)
    return zones


def drawn(seed: int) -> list[tuple[int, ...]]:
    """Points for 4 to 43 joins in 2 to 4 dimensions: uniform, towards a corner, or in a heap."""
    rng = Rng(seed)
    dims, count, skew = 2 + rng.below(3), 4 + rng.below(40), rng.below(3)

    def coordinate() -> int:
        x = rng.random()
        if skew == 1:
            x = x**4
        if skew == 2:
            x = (0.7 + 0.05 * rng.random()) % 1 if rng.random() < 0.7 else x
        return int(x * SIDE)

    return [tuple(coordinate() for _ in range(dims)) for _ in range(count)]


def missed(zones: list[Zone], source: int, again: bool, rng: Rng | None) -> int:
    """How many zones a flood from ``source`` does not reach; messages take one unit each, or a random time."""
    links = [[(j, touching(a.low, a.high, b.low, b.high)) for j, b in enumerate(zones)] for a in zones]
    middle = centre(zones[source].low, zones[source].high)
    done: dict[int, int] = {}
    queue, count = [(0.0, 0, source, -1)], 0
    while queue:
        at, _, zone, came = heapq.heappop(queue)
        sides = opened(zones[zone].low, zones[zone].high, middle, came)
        fresh = sides & ~done.get(zone, 0) if again or zone not in done else 0
        done[zone] = done.get(zone, 0) | sides
        for other, through in links[zone]:
            if through & fresh:
                count += 1
                side = (through & fresh & -(through & fresh)).bit_length() - 1
                heapq.heappush(queue, (at + (rng.random() if rng else 1), count, other, side))
    return len(zones) - len(done)


def test_zones_touch_through_the_side_between_them_also_round_the_end():
    one, other = (0, 0), (H, SIDE)
    assert touching(one, other, (H, 0), (SIDE, SIDE)) == 0b0011, "both ways round, along dimension 0"
    assert touching(one, (H, H), (0, H), (H, SIDE)) == 0b1100
    assert touching((Q, 0), (H, H), (H, 0), (SIDE, H)) == 0b0001
    assert touching((H, 0), (SIDE, H), (Q, 0), (H, H)) == 0b0010
    assert touching((0, 0), (Q, H), (H + Q, 0), (SIDE, H)) == 0b0010, "round the end"


def test_corners_gaps_and_oneself_do_not_touch():
    assert touching((0, 0), (Q, Q), (Q, Q), (H, H)) == 0
    assert touching((0, 0), (Q, SIDE), (H, 0), (H + Q, SIDE)) == 0
    assert touching((0, 0), (Q, Q), (0, 0), (Q, Q)) == 0
    assert touching((0, 0), (H, H), (0, 0), (Q, Q)) == 0


def test_the_publisher_hands_on_through_all_sides_and_others_below_and_straight_on():
    low, high = (Q, Q), (H, H)
    middle = centre(low, high)
    assert opened(low, high, middle, -1) == 0b1111
    assert opened(low, high, middle, 0) == 0b0001
    assert opened(low, high, middle, 1) == 0b0010
    assert opened(low, high, middle, 2) == 0b0111
    assert opened(low, high, middle, 3) == 0b1011


def test_not_past_half_way_round_from_the_publisher():
    source = (Q // 2,)
    assert opened((H,), (H + Q,), source, 0) == 0, "its far edge is at 5/8"
    assert opened((Q,), (H,), source, 0) == 1, "at 3/8"
    assert opened((H,), (H + Q,), (0,), 1) == 0, "exactly half-way is half-way"
    assert opened((H + Q,), (SIDE,), source, 1) == 2


@pytest.mark.parametrize("seed", range(12))
def test_where_all_zones_are_equal_everybody_gets_it_once(seed):
    dims, depth = 1 + seed % 3, 1 + seed % 7
    zones = [Zone.whole(dims)]
    for _ in range(depth):
        zones = [half for zone in zones for half in zone.halves()]
    for again in (False, True):
        assert missed(zones, seed % len(zones), again, None) == 0


def test_dropping_every_copy_misses_somebody_now_and_then_and_handing_on_anew_does_not():
    zones = tiled(drawn(89))
    lost = {again: sum(missed(zones, source, again, None) for source in range(len(zones))) for again in (False, True)}
    assert lost[False] > 0
    assert lost[True] == 0


@pytest.mark.parametrize("seed", range(30))
def test_handing_on_anew_misses_nobody(seed):
    zones = tiled(drawn(seed))
    for source in range(0, len(zones), 3):
        assert missed(zones, source, True, None) == missed(zones, source, True, Rng(seed, source)) == 0


def test_away_is_the_shorter_way_round_and_zero_inside():
    assert away((0, 0), (Q, Q), (5, Q - 1)) == 0
    assert away((0, 0), (Q, Q), (5, Q)) == 1
    assert away((0, 0), (Q, Q), (SIDE - 3, SIDE - 4)) == 7


def test_where_a_node_joins_depends_on_the_seed_the_node_and_the_topic():
    point = where(1, NodeId(2), 3, 4)
    assert len(point) == 4
    assert all(0 <= at < SIDE for at in point)
    assert point == where(1, NodeId(2), 3, 4)
    assert len({point, where(2, NodeId(2), 3, 4), where(1, NodeId(3), 3, 4), where(1, NodeId(2), 4, 4)}) == 4
