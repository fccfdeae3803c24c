"""Shares of right pointers and entries: all of them in a whole ring, and fewer by what is missing or dead."""

import pytest

from weft.core.ids import NodeId
from weft.overlay.keys import number_key
from weft.overlay.settings import Settings
from weft.sim.churn.rightness import pointers, tables
from weft.sim.whole import whole_skipgraph, whole_suzaku

STILL = Settings(ping_interval_s=None, update_interval_s=None, lost_interval_s=None, walk_interval_s=None)
STARTS = {"suzaku": whole_suzaku, "skipgraph": whole_skipgraph}


def ring(overlay: str, size: int):
    members = [number_key(10 * number, NodeId(number)) for number in range(1, size + 1)]
    return STARTS[overlay]({key.broker: [key] for key in members}, STILL, 5), members


@pytest.mark.parametrize("overlay", STARTS)
@pytest.mark.parametrize("size", [2, 3, 8, 33])
def test_a_whole_ring_is_right(overlay, size):
    peers, members = ring(overlay, size)
    assert pointers(peers, members) == (size, size)
    found = tables(peers, members, range(size))
    assert all(level.held == level.live == level.defined == level.right for level in found)
    assert found[0].held == 2 * size
    assert sum(level.off for level in found) == 0.0


@pytest.mark.parametrize("overlay", STARTS)
def test_who_died_is_a_wrong_pointer_each_way_and_a_dead_entry_wherever_it_is_held(overlay):
    peers, members = ring(overlay, 16)
    gone = members.pop(4)
    assert pointers(peers, members) == (14, 14), "of 15: not those beside it"
    found = tables(peers, members, range(15))
    dead = sum(level.held - level.live for level in found)
    holders = [
        key
        for key in members
        for side in (peers[key.broker].rights(key), peers[key.broker].lefts(key))
        for e in side
        if e.ref.key == gone
    ]
    assert dead == len(holders) >= 2


def test_a_finger_beyond_who_died_is_one_too_near():
    peers, members = ring("suzaku", 16)
    del members[4]
    found = tables(peers, members, [3])
    assert [level.off for level in found[:3]] == [0.0, 0.5, 0.25], (
        "FFT[0] is dead; 6 and 8 were 2 and 4 away; BFT is right"
    )
