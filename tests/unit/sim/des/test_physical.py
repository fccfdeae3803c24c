"""The network over a topology: link counters, delays and queues, exactly."""

import pytest

from weft.core.ids import NodeId
from weft.core.machine import Message
from weft.sim.des.encoding import size_of
from weft.sim.des.engine import Simulation
from weft.sim.des.physical import Physical, Traffic
from weft.sim.des.shapes import line, star
from weft.sim.des.topology import Link, Topology
from weft.sim.des.toys import Relay, Token

A, B, C = NodeId(1), NodeId(2), NodeId(3)


class Blob(Message, frozen=True, gc=False):
    data: bytes


def blob(size: int) -> Blob:
    """A message of exactly ``size`` bytes."""
    return next(message for filling in range(size) if size_of(message := Blob(b"x" * filling)) == size)


class Sink:
    def __init__(self) -> None:
        self.deadline = None
        self.times: list[float] = []

    def receive(self, now, source, message, out) -> None:
        self.times.append(now)

    def timeout(self, now, out) -> None:
        raise AssertionError


def test_delays_add_up_and_every_link_is_counted_in_its_direction() -> None:
    topology = line(4, delay_ms=2.0)
    topology.place(A, "s1")
    topology.place(B, "s4")
    topology.place(C, "s1")
    simulation = Simulation(1, Physical(topology))
    sink = Sink()
    for node, machine in ((A, Relay(B)), (B, sink), (C, Relay(A))):
        simulation.add(node, machine)
    simulation.do(A, lambda machine, now, out: out.send(B, Token(1)))
    simulation.do(C, lambda machine, now, out: out.send(A, Token(2)))
    simulation.run()
    assert sink.times == pytest.approx([0.006, 0.006])
    assert simulation.links_crossed == {"Token": 6}
    network = simulation.network
    assert isinstance(network, Physical)
    assert network.traffic() == {
        ("s1", "s2"): Traffic(2, 0),
        ("s2", "s3"): Traffic(2, 0),
        ("s3", "s4"): Traffic(2, 0),
    }


def test_bytes_are_counted_when_asked_for() -> None:
    topology = line(2)
    topology.place_in_turn([A, B])
    network = Physical(topology, count_bytes=True)
    simulation = Simulation(1, network)
    simulation.add(A, Sink())
    simulation.add(B, Sink())
    simulation.do(A, lambda machine, now, out: out.send(B, blob(100)))
    simulation.do(B, lambda machine, now, out: out.send(A, blob(30)))
    simulation.run()
    assert network.traffic() == {("s1", "s2"): Traffic(1, 100), ("s2", "s1"): Traffic(1, 30)}


def test_messages_queue_for_a_link() -> None:
    # 0.008 Mbit/s are 1,000 bytes a second: 500 bytes take half a second, 100 bytes a tenth
    topology = line(2, delay_ms=10.0, bandwidth_mbps=0.008)
    topology.place_in_turn([A, B])
    simulation = Simulation(1, Physical(topology))
    sink = Sink()
    simulation.add(A, Sink())
    simulation.add(B, sink)

    def send(machine, now, out) -> None:
        out.send(B, blob(500))
        out.send(B, blob(100))

    simulation.do(A, send)
    simulation.do(A, lambda machine, now, out: out.send(B, blob(100)), at=5.0)
    simulation.run()
    assert sink.times == pytest.approx([0.51, 0.61, 5.11])


def test_the_two_directions_of_a_link_do_not_wait_for_each_other() -> None:
    topology = line(2, delay_ms=0.0, bandwidth_mbps=0.008)
    topology.place_in_turn([A, B])
    simulation = Simulation(1, Physical(topology))
    a, b = Sink(), Sink()
    simulation.add(A, a)
    simulation.add(B, b)
    simulation.do(A, lambda machine, now, out: out.send(B, blob(500)))
    simulation.do(B, lambda machine, now, out: out.send(A, blob(500)))
    simulation.run()
    assert a.times == b.times == pytest.approx([0.5])


def test_store_and_forward_queues_where_ways_meet_in_the_order_of_arrival() -> None:
    # A is far from the hub and B near: A sends first, but B's message is the first at the hub's link to C
    links = [Link("hub", "a", 300.0), Link("hub", "b", 100.0), Link("hub", "c", 0.0, 0.008)]
    topology = Topology(["hub", "a", "b", "c"], links=links)
    for node, place in ((A, "a"), (B, "b"), (C, "c")):
        topology.place(node, place)
    simulation = Simulation(1, Physical(topology))
    sink = Sink()
    for node, machine in ((A, Sink()), (B, Sink()), (C, sink)):
        simulation.add(node, machine)
    simulation.do(A, lambda machine, now, out: out.send(C, blob(100)))
    simulation.do(B, lambda machine, now, out: out.send(C, blob(500)), at=0.05)
    simulation.run(until=0.2)
    assert {message for _, _, message in simulation.in_flight} == {blob(100), blob(500)}
    simulation.run()
    # B's is at the hub at 0.15 and through at 0.65; A's is there at 0.3 and waits until then
    assert sink.times == pytest.approx([0.65, 0.75])
    assert simulation.links_crossed == {"Blob": 4}


def test_a_new_simulation_starts_with_free_links() -> None:
    topology = star(3)
    topology.place_in_turn([A, B])
    network = Physical(topology)
    for _ in range(2):
        simulation = Simulation(1, network)
        simulation.add(A, Sink())
        simulation.add(B, Sink())
        simulation.do(A, lambda machine, now, out: out.send(B, Token(1)))
        simulation.run()
        assert network.traffic() == {("s2", "s1"): Traffic(1, 0), ("s1", "s3"): Traffic(1, 0)}
