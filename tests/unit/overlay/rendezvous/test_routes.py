"""SkipNet's routing by numeric id, step by step, and prefixes over a hypercube."""

import pytest

from groups_bench import vectors
from weft.core.errors import Misuse, Violation
from weft.core.ids import NodeId
from weft.overlay.rendezvous.geometry import nearer, shared
from weft.overlay.rendezvous.messages import Walk
from weft.overlay.rendezvous.routes import OURS, Hypercube, Numeric
from weft.sim.baselines import hypercube, numeric

RIGHTS = {0: 2, 1: 3, 2: 5}


def node(identity: int = 0b0110, me: int = 4) -> Numeric:
    return Numeric(NodeId(me), identity, 4, RIGHTS.get)


def test_the_way_begins_in_the_ring_of_the_digits_we_share():
    assert node().step(0b1000, None) == (2, Walk(0, 4, 4, 0b0110))
    assert node().step(0b0000, None) == (3, Walk(1, 4, 4, 0b0110))
    assert node().step(0b0110, None) == OURS, "it is our id"
    assert node().step(0b0111, None) == OURS, "alone in the ring of level 3: it wraps at once"


def test_who_shares_more_digits_has_found_a_higher_ring():
    assert node().step(0b0100, Walk(1, NodeId(9), NodeId(9), 0b0000)) == (5, Walk(2, 4, 4, 0b0110))


def test_the_nearest_of_a_ring_is_kept_on_the_way_round():
    assert node().step(0b1000, Walk(0, NodeId(9), NodeId(8), 0b0101)) == (2, Walk(0, 9, 4, 0b0110))
    walk = Walk(0, NodeId(9), NodeId(8), 0b0111)
    assert node().step(0b1000, walk) == (2, walk)


def test_when_the_ring_wraps_the_nearest_owns_the_id():
    to, walk = node().step(0b1000, Walk(0, NodeId(4), NodeId(8), 0b0111))
    assert (to, walk.final) == (8, True)
    assert node(0b0111, 8).step(0b1000, walk) == OURS
    assert node().step(0b1000, Walk(0, NodeId(4), NodeId(4), 0b0110)) == OURS


def test_a_walk_in_a_ring_that_is_not_ours_is_a_violation():
    with pytest.raises(Violation):
        node().step(0b1000, Walk(2, NodeId(9), NodeId(9), 0b1001))


@pytest.mark.parametrize("seed", range(20))
def test_all_ways_end_at_the_numerically_closest_of_those_who_share_most(seed):
    ids = vectors(1 + seed * 3, seed)
    routes = numeric(ids)
    for target in vectors(5, seed + 100):
        most = max(shared(one, target, 48) for one in ids)
        owner = 0
        for at in range(len(ids)):
            if shared(ids[at], target, 48) == most and (
                shared(ids[owner], target, 48) < most or nearer(ids[at], at, ids[owner], owner, target)
            ):
                owner = at
        for start in range(len(ids)):
            at, walk = start, None
            for _ in range(200):
                to, walk = routes[at].step(target, walk)
                if to is None:
                    break
                at = to - 1
            assert at == owner


def test_over_a_hypercube_every_step_gains_a_digit():
    routes = hypercube(5)
    assert routes[0b10110].step(0b10001, None) == (0b10010 + 1, None)
    assert routes[0b10001].step(0b10001, None) == OURS


@pytest.mark.parametrize(("identity", "digits"), [(16, 4), (-1, 4), (0, 0), (0, 64)])
def test_an_id_that_cannot_be_is_refused(identity, digits):
    with pytest.raises(Misuse, match="binary digits"):
        Numeric(NodeId(1), identity, digits, RIGHTS.get)
    with pytest.raises(Misuse, match="corner"):
        Hypercube(identity, digits)
