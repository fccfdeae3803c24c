"""Rejoin on real machines, and what is counted of publishes."""

import pytest

from weft.core.ids import NodeId
from weft.overlay.api import Joined, Left
from weft.overlay.keys import ALM, OFM, segment_range, topic_key
from weft.sim.des import shapes
from weft.sim.migration.rejoin import Counting, Intervals, Move, publish, rejoin, whole

KEYS = [topic_key("t", ALM, NodeId(number)) for number in range(1, 6)]


def network(latency_s=0.001):
    topology = shapes.line(5, delay_ms=0.0)
    topology.place_in_turn(NodeId(number) for number in range(1, 6))
    return Counting(topology, latency_s)


def test_the_papers_intervals():
    assert Intervals(0.35, 0.35, 0.25).lasting(8) == pytest.approx(4.55)
    assert Intervals(0.1, 0.7, 0.25).lasting(8) == pytest.approx(3.15)


@pytest.mark.parametrize("overlay", ["suzaku", "skipgraph"])
@pytest.mark.parametrize("upkeep", [False, True])
def test_all_move_in_the_order_given(overlay, upkeep):
    simulation = whole(overlay, KEYS, network(), 1, upkeep)
    moves = [Move(key, key._replace(segment=OFM)) for key in reversed(KEYS)]
    rejoin(simulation, moves, Intervals(0.4, 0.4, 0.3), 1.0)
    simulation.run(until=30.0)
    joined = [(at, node) for at, node, event in simulation.upward if isinstance(event, Joined) and at > 0]
    left = [(at, node) for at, node, event in simulation.upward if isinstance(event, Left)]
    assert [node for _, node in joined] == [node for _, node in left] == [5, 4, 3, 2, 1]
    assert [at for at, _ in joined] == pytest.approx([1.0, 1.4, 1.8, 2.2, 2.6], abs=0.05)
    assert [at for at, _ in left] == pytest.approx([3.0, 3.3, 3.6, 3.9, 4.2], abs=0.05)


def test_hops_are_links_of_the_multicast_alone_and_by_name():
    counting = network()
    simulation = whole("suzaku", KEYS, counting, 1)
    wanted = segment_range(*KEYS[0][:2], ALM)
    publish(simulation, NodeId(1), wanted, "one", "split", 0.0)
    publish(simulation, NodeId(3), wanted, "other", "split", 1.0)
    simulation.run(until=5.0)
    assert set(counting.hops) == {"one", "other"}
    assert sum(counting.hops.values()) == simulation.links_crossed["Scatter"]


def test_a_message_takes_half_to_half_as_much_again():
    counting = network(0.02)
    counting.begin(3)
    times = [counting.depart(0.0, NodeId(1), NodeId(4), None)[0] for _ in range(200)]
    assert 0.01 <= min(times) < 0.012
    assert 0.028 < max(times) <= 0.03
    assert {counting.depart(0.0, NodeId(1), NodeId(4), None)[1] for _ in range(3)} == {3}
