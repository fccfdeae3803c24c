"""Suzaku in bulk: fingers and lookups."""

import numpy as np
import pytest

from casting import STILL
from weft.core.ids import NodeId
from weft.core.rand import Rng
from weft.overlay.api import Found
from weft.overlay.keys import after, number_key
from weft.overlay.suzaku.geometry import hops_bound
from weft.sim.des.engine import Simulation
from weft.sim.vector.layout import Layout
from weft.sim.vector.suzaku import Suzaku, lookups
from weft.sim.whole import whole_suzaku


@pytest.mark.parametrize("size", [1, 2, 3, 5, 16, 33])
def test_fingers_are_those_of_the_machines(size):
    keys = [number_key(number, NodeId(number + 1)) for number in range(size)]
    peers = whole_suzaku({key.broker: [key] for key in keys}, STILL)
    model = Suzaku(Layout.of(keys))
    for position, key in enumerate(keys):
        peer = peers[key.broker]
        assert [keys[to] for to in model.fft(position)] == [entry.ref.key for entry in peer.rights(key)]
        assert [keys[to] for to in model.bft(position)] == [entry.ref.key for entry in peer.lefts(key)]


@pytest.mark.parametrize(("brokers", "keys_each"), [(1, 3), (2, 1), (37, 1), (20, 4)])
def test_lookups_take_the_machines_hops(brokers, keys_each):
    rng = Rng(brokers, keys_each)
    numbers = rng.sample(range(10_000), brokers * keys_each)
    keys = sorted(number_key(number, NodeId(1 + at % brokers)) for at, number in enumerate(numbers))
    held = {NodeId(node): [key for key in keys if key.broker == node] for node in range(1, brokers + 1)}
    simulation = Simulation(1)
    for node, peer in whole_suzaku(held, STILL).items():
        simulation.add(node, peer)
    layout = Layout.of(keys)
    asked = [(rng.below(brokers), rng.below(len(keys))) for _ in range(100)]
    for broker, place in asked:
        key = after(keys[place])
        simulation.do(NodeId(broker + 1), lambda peer, now, out, key=key: peer.lookup(now, key, out))
        simulation.run_idle(timers=False)
    found = [event.hops for _, _, event in simulation.upward if isinstance(event, Found)]
    who, where = (np.array(column, np.int32) for column in zip(*asked, strict=True))
    assert lookups(Suzaku(layout), who, where).tolist() == found


@pytest.mark.parametrize("size", [2, 3, 100, 1_000, 1_024, 1_025])
def test_no_lookup_takes_more_than_the_bound(size):
    places = np.arange(size, dtype=np.int32)
    hops = [
        lookups(Suzaku(Layout.plain(range(1, size + 1))), np.full(size, at, np.int32), places) for at in (0, size // 3)
    ]
    assert max(int(each.max()) for each in hops) <= hops_bound(size)
