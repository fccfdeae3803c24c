"""The model's Anycast goes the machines' way: the same node picked over the same number of messages, request by request."""

import numpy as np
import pytest

from weft.core.ids import NodeId
from weft.core.rand import Rng
from weft.overlay.api import Condition, Query, Received, Selected
from weft.overlay.keys import ALM, Key, KeyRange, after
from weft.overlay.settings import Settings
from weft.sim.des.engine import Simulation
from weft.sim.des.network import Uniform
from weft.sim.vector.layout import Layout, Span
from weft.sim.vector.select import SELECTIONS, Selector, marks_of
from weft.sim.whole import whole_suzaku

T = 60.0
SETTINGS = Settings(ping_interval_s=None, lost_interval_s=None, update_interval_s=T)
LABEL = "free:t1"


def environment(clusters: int, brokers_each: int, apart: int) -> list[Key]:
    """SELECT §4.3, small: each broker has a node of its own and one for each of three topics, in its cluster."""
    keys = []
    for number in range(clusters * brokers_each):
        cluster, broker = (f"c{number // brokers_each}",), NodeId(1 + apart * number)
        keys += [Key("L", topic, ALM, 0, () if topic == "B" else cluster, broker) for topic in ("B", "t0", "t1", "t2")]
    return sorted(keys)


@pytest.mark.parametrize("selection", sorted(SELECTIONS))
@pytest.mark.parametrize(("wait_s", "apart"), [(0.0, 1), (T, 7), (4 * T, 1)])
def test_request_by_request(selection, wait_s, apart):
    keys = environment(3, 12, apart)
    held = {node: [key for key in keys if key.broker == node] for node in {key.broker for key in keys}}
    layout = Layout.of(keys)
    low = next(at for at, key in enumerate(keys) if key.literals == "t1" and key.cluster == ("c1",))
    span = Span(low, low + 12)
    wanted = KeyRange(keys[low], after(keys[low + 11]))
    inside = [1.0 if low <= at < low + 12 else 0.0 for at in range(len(keys))]

    simulation = Simulation(3, Uniform(0.0))
    for node, peer in whole_suzaku(held, SETTINGS, seed=3).items():
        simulation.add(node, peer)
    for at in range(low, low + 12):
        put(simulation, keys[at], 1.0)
    model = Selector.seeded(layout, np.zeros(len(keys)), 3, span, selection, T)
    model.marks = marks_of(keys)
    for at in range(low, low + 12):
        model.ageing.put(at, 1.0)
    start = (model.ageing.levels**2 + 1) * T
    model.ageing.run(start)
    simulation.run(until=start)
    assert model.ageing.values.tolist() == inside

    rng = Rng(1)
    query = Query(wanted, "", condition=Condition(LABEL, ">=", 1))
    ends = set()
    for request in range(12):
        sender = low if request % 3 else low + rng.below(12)
        walk = model.walk(sender)
        selected = anycast(simulation, keys[sender].broker, query, selection)
        if walk.picked < 0:
            assert selected.by == "multicast"
            ends.add("given up")
            break
        assert (selected.by, selected.key, selected.hops) == ("anycast", keys[walk.picked], walk.hops)
        ends.add("restarted" if walk.restarts else "at once")
        model.ageing.put(walk.picked, 0.0)
        put(simulation, keys[walk.picked], 0.0)
        model.ageing.run(model.ageing.now + wait_s)
        simulation.run(until=model.ageing.now)
    assert ends


def put(simulation: Simulation, key: Key, value: float) -> None:
    simulation.do(key.broker, lambda peer, now, out: peer.aggregate(now, key, {LABEL: value}, out))
    simulation.run_idle(timers=False)


def anycast(simulation: Simulation, sender: NodeId, query: Query, selection: str) -> Selected:
    """What the machines answer when whoever is asked takes the request."""
    before = len(simulation.upward)
    simulation.do(sender, lambda peer, now, out: peer.anycast(now, query, selection, out))
    for _ in range(100):
        simulation.run_idle(timers=False)
        for _, node, event in simulation.upward[before:]:
            if isinstance(event, Selected):
                return event
            if isinstance(event, Received):
                simulation.do(node, lambda peer, now, out, event=event: peer.reply(now, event.token, "taken", out))
        before = len(simulation.upward)
    raise AssertionError("the search does not end")


@pytest.mark.parametrize("seed", range(16))
def test_any_ring_any_range(seed):
    """Several keys of a broker in the range, values above 1, tables that have not heard of them yet, values of any age."""
    rng = Rng(seed, 77)
    keys = environment(1 + rng.below(4), 1 + rng.below(16), rng.choice((1, 7)))
    selection = rng.choice(sorted(SELECTIONS))
    held = {node: [key for key in keys if key.broker == node] for node in {key.broker for key in keys}}
    low = rng.below(len(keys))
    span = Span(low, low + 1 + rng.below(len(keys) - low))
    query = Query(KeyRange(keys[low], after(keys[span.high - 1])), "", condition=Condition(LABEL, ">=", 1))
    simulation = Simulation(seed, Uniform(0.0))
    for node, peer in whole_suzaku(held, SETTINGS, seed=seed).items():
        simulation.add(node, peer)
    model = Selector.seeded(Layout.of(keys), np.zeros(len(keys)), seed, span, selection, T)
    model.marks = marks_of(keys)
    for at in range(len(keys)):
        value = float(rng.below(3))
        put(simulation, keys[at], value)
        model.ageing.put(at, value)
    for _ in range(15):
        model.ageing.run(model.ageing.now + T * rng.choice((0, 0.3, 1, 3, 30)))
        simulation.run(until=model.ageing.now)
        sender = keys[low + rng.below(span.high - low)].broker
        walk = model.walk(next(at for at in range(low, span.high) if keys[at].broker == sender))
        selected = anycast(simulation, sender, query, selection)
        if walk.picked < 0:
            assert selected.by == "multicast"
            return  # the census has drawn from the brokers' streams, which the model has not
        assert (selected.by, selected.key, selected.hops) == ("anycast", keys[walk.picked], walk.hops)
        model.ageing.put(walk.picked, 0.0)
        put(simulation, keys[walk.picked], 0.0)
