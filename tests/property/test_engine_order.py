"""The engine's promises, for whatever schedule Hypothesis thinks of."""

import heapq
import os
import subprocess
import sys
from math import inf

from hypothesis import given
from hypothesis import strategies as st

from weft.core.ids import NodeId
from weft.core.machine import Message, Outbox
from weft.core.rand import Rng
from weft.sim.des.agenda import LANES, Agenda
from weft.sim.des.draws import draws
from weft.sim.des.engine import Simulation
from weft.sim.des.faults import FaultPlan
from weft.sim.des.injection import Injector
from weft.sim.des.network import Uniform
from weft.sim.des.toys import Flood, Ticker, Token, start
from weft.sim.des.trace import Level, Trace

TIMES = st.integers(0, 5).map(float)
ENTRIES = st.lists(st.tuples(TIMES, st.integers(0, LANES - 1), st.lists(st.tuples(TIMES, st.integers(0, LANES - 1)))))


@given(ENTRIES)
def test_buckets_have_the_order_of_one_heap_of_time_priority_counter(entries) -> None:
    """Each entry that is taken adds its own followers, at its time or later: the two must agree at every step."""
    agenda, heap, counter = Agenda(), [], 0
    names: list[int] = []
    for at, lane, followers in entries:
        counter += 1
        agenda.push(at, lane, (counter, followers))
        heapq.heappush(heap, (at, lane, counter, followers))
    added = counter
    while agenda.take(inf):
        for name, followers in agenda.current:
            at, lane, expected, _ = heapq.heappop(heap)
            assert (at, lane, expected) == (agenda.at, agenda.lane, name)
            names.append(name)
            for later, other in followers:
                added += 1
                agenda.push(at + later, other, (added, []))
                heapq.heappush(heap, (at + later, other, added, []))
            if agenda.interrupted:
                agenda.put_back()
                break
    assert not heap
    assert sorted(names) == list(range(1, added + 1))


@given(st.integers(), st.integers(0, 9))
def test_draws_are_the_generator_s_own_numbers(seed: int, path: int) -> None:
    rng, bulk = Rng(seed, path), draws(seed, path)
    assert [next(bulk) for _ in range(5000)] == [rng.random() for _ in range(5000)]


class Chronicle(Ticker):
    """A Ticker that checks what it is told about time."""

    def __init__(self, *arguments) -> None:
        super().__init__(*arguments)
        self.before = -inf

    def receive(self, now: float, source: NodeId, message: Message, out: Outbox) -> None:
        assert now >= self.before
        self.before = now
        super().receive(now, source, message, out)

    def timeout(self, now: float, out: Outbox) -> None:
        assert now >= self.before
        self.before = now
        super().timeout(now, out)


def world(seed: int, cut: float | None = None) -> Simulation:
    """Ten tickers in a ring under a random fault plan; ``cut`` runs it in two pieces."""
    nodes = [NodeId(number) for number in range(1, 11)]
    plan = FaultPlan.random(seed, nodes, 10.0, joiners=nodes[:3])

    def make(node: NodeId, run: int) -> Chronicle:
        return Chronicle(nodes[node % 10], 0.5, 20, 20 * run)

    faults = Injector(plan, lambda node, run: make(node, 0), rejoin=start, storm=lambda machine, now, out: None)
    simulation = Simulation(seed, Uniform(0.05, 0.02), faults, Trace(Level.FULL))
    for node in nodes:
        simulation.add(node, make(node, 0))
        simulation.do(node, start)
    times = [0.0]

    def observe(seen: Simulation) -> None:
        assert seen.now >= times[-1]
        times.append(seen.now)

    simulation.observers.append(observe)
    if cut is not None:
        simulation.run(until=cut)
    while simulation.run(until=30.0, events_max=None if cut is None else 7):
        pass
    assert len(times) == simulation.steps + 1
    return simulation


@given(st.integers(0, 10_000), st.floats(0.0, 12.0))
def test_the_same_seed_gives_the_same_run_however_it_is_cut(seed: int, cut: float) -> None:
    one, other = world(seed), world(seed, cut)
    assert one.trace.hash() == other.trace.hash()
    assert one.upward == other.upward
    assert one.disk == other.disk


@given(st.integers(0, 10_000))
def test_each_step_s_cause_is_an_earlier_step_and_no_message_is_lost_from_the_books(seed: int) -> None:
    simulation = world(seed)
    for step in simulation.trace.steps():
        assert 0 <= step.cause < step.id
    under_way: dict[str, int] = {}
    for _, _, message in simulation.in_flight:
        name = type(message).__name__
        under_way[name] = under_way.get(name, 0) + 1
    for name in ("Beat", "Echo"):
        made = simulation.sent[name] + simulation.doubled[name]
        assert made == simulation.delivered[name] + simulation.dropped[name] + under_way.get(name, 0)


HASHED = """
import sys
from weft.core.machine import Message
from weft.sim.des.engine import Simulation
from weft.sim.des.network import Uniform
from weft.sim.des.faults import FaultPlan
from weft.sim.des.injection import Injector
from weft.sim.des.toys import Flood
from weft.sim.des.trace import Level, Trace

class Tags(Message, frozen=True, gc=False):
    number: int
    tags: frozenset[str]
    table: dict[tuple[str, int], set[str]]

class Tagged(Flood):
    def receive(self, now, source, message, out):
        if message.number not in self._seen:
            self._seen.add(message.number)
            for other in self.neighbours:
                out.send(other, Tags(message.number, message.tags | {f"via {other}"}, {("a", 1): {"x", "y"}, ("b", 2): set()}))

plan = FaultPlan.random(3, range(1, 9), 2.0, ("drop", "duplicate", "reorder", "pause"))
simulation = Simulation(7, Uniform(0.01, 0.01), Injector(plan), Trace(Level.DIGEST))
for node in range(1, 9):
    simulation.add(node, Tagged([node % 8 + 1, (node + 2) % 8 + 1]))
for number in range(20):
    first = Tags(number, frozenset({"p", "q", "r"}), {})
    simulation.do(number % 8 + 1, lambda m, now, out, first=first: m.receive(now, 0, first, out), at=number * 0.1)
simulation.run()
print(simulation.steps, simulation.trace.hash())
"""


def test_the_trace_hash_does_not_depend_on_the_hash_seed() -> None:
    outputs = set()
    for hash_seed in ("0", "1", "4242"):
        environment = {**os.environ, "PYTHONHASHSEED": hash_seed}
        done = subprocess.run(
            [sys.executable, "-c", HASHED], env=environment, capture_output=True, text=True, check=True
        )
        outputs.add(done.stdout)
    assert len(outputs) == 1
    assert int(outputs.pop().split()[0]) > 100


@given(st.integers(1, 40), st.integers(2, 20))
def test_a_flood_reaches_everybody_once(seed: int, size: int) -> None:
    rng = Rng(seed)
    nodes = [NodeId(number) for number in range(1, size + 1)]
    links = {node: {nodes[node % size], nodes[(node - 2) % size], rng.choice(nodes)} - {node} for node in nodes}
    simulation = Simulation(seed, Uniform(0.01, 0.05))
    for node in nodes:
        simulation.add(node, Flood(sorted(links[node])))
    simulation.do(nodes[0], lambda machine, now, out: machine.receive(now, nodes[0], Token(1), out))
    simulation.run_idle()
    assert sorted(node for _, node, _ in simulation.upward) == nodes
