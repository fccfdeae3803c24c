"""Values age in the model as they do in the machines' finger tables, entry by entry, at any time."""

import numpy as np
import pytest

from weft.core.ids import NodeId
from weft.core.rand import Rng
from weft.overlay.keys import Key, number_key
from weft.overlay.settings import Settings
from weft.overlay.suzaku.geometry import top_level
from weft.overlay.suzaku.machine import Suzaku as Machine
from weft.sim.des.engine import Simulation
from weft.sim.des.network import Uniform
from weft.sim.vector.ageing import Ageing
from weft.sim.vector.layout import Layout
from weft.sim.whole import whole_suzaku

UPDATED = Settings(ping_interval_s=None, lost_interval_s=None, update_interval_s=60.0)
LABEL = "free"


def told(peers: dict[NodeId, Machine], keys: list[Key], forward: bool) -> np.ndarray:
    """What the machines' tables say."""
    rows = []
    for key in keys:
        peer = peers[key.broker]
        entries = peer.rights(key) if forward else peer.lefts(key)
        rows.append([(entry.values or {}).get(LABEL, 0.0) for entry in entries])
    return np.array(rows).reshape(len(keys), -1)


@pytest.mark.parametrize("together", [True, False])
@pytest.mark.parametrize(("brokers", "keys_each"), [(2, 1), (3, 1), (5, 1), (16, 1), (23, 1), (9, 4), (64, 4)])
def test_every_entry_at_any_time(brokers, keys_each, together):
    rng = Rng(brokers, keys_each)
    numbers = rng.sample(range(10_000), brokers * keys_each)
    keys = sorted(number_key(number, NodeId(1 + at % brokers)) for at, number in enumerate(numbers))
    held = {NodeId(node): [key for key in keys if key.broker == node] for node in range(1, brokers + 1)}
    peers = whole_suzaku(held, UPDATED, seed=6)
    simulation = Simulation(6, Uniform(0.0))
    for node, peer in peers.items():
        simulation.add(node, peer)

    def put(position: int, value: float) -> None:
        key = keys[position]
        simulation.do(key.broker, lambda peer, now, out: peer.aggregate(now, key, {LABEL: value}, out))
        model.put(position, value)

    layout = Layout.of(keys)
    turns = [0 if together else rng.below(top_level(len(keys)) + 1) for _ in keys]
    for key, turn in zip(keys, turns, strict=True):
        peers[key.broker].fingers.tables[key].cursor = turn
    model = Ageing.seeded(layout, np.zeros(len(keys)), seed=6, turns=turns)
    for position in range(len(keys)):
        put(position, float(rng.below(4)))
    before = (model.levels**2 + 1) * 60.0
    for time in (before, before + 7.0, before + 61.0, before + 200.0, before + 1_000.0, 2 * before + 1_000.0):
        simulation.run(until=time)
        model.run(time)
        assert np.array_equal(model.forward, told(peers, keys, forward=True))
        assert np.array_equal(model.backward, told(peers, keys, forward=False))
        for _ in range(3):
            put(rng.below(len(keys)), float(rng.below(4)))
