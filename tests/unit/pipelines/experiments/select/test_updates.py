"""Update messages by construction: the very ones that the machines send."""

import msgspec
import pytest

from weft.core.errors import Misuse
from weft.core.ids import NodeId
from weft.overlay.settings import Settings
from weft.overlay.suzaku.messages import Update, UpdateAck
from weft.pipelines.experiments.select.updates import Values, exchange, label, ring, sizes
from weft.sim.des.engine import Simulation
from weft.sim.des.network import Uniform
from weft.sim.whole import whole_suzaku

T = 60.0


class Recorder(Uniform):
    """A network that keeps what it carries."""

    def __init__(self) -> None:
        super().__init__(0.0)
        self.carried = []

    def depart(self, now, source, to, message):
        self.carried.append((source, message))
        return super().depart(now, source, to, message)


def test_they_are_the_machines_messages():
    """Ten brokers in two clusters, 40 nodes, after (k+1)²T: one sweep of every node, message by message."""
    keys = ring(10, 5)
    held = {NodeId(node): [key for key in keys if key.broker == node] for node in range(1, 11)}
    network = Recorder()
    simulation = Simulation(2, network)
    for node, peer in whole_suzaku(
        held, Settings(ping_interval_s=None, lost_interval_s=None, update_interval_s=T), seed=2
    ).items():
        simulation.add(node, peer)
    for key in keys:
        if label(key):
            simulation.do(key.broker, lambda peer, now, out, key=key: peer.aggregate(now, key, {label(key): 1.0}, out))
    simulation.run(until=36 * T)
    network.carried.clear()
    simulation.run(until=42 * T)
    queries, replies = {}, {}
    for source, message in network.carried:
        if isinstance(message, Update):
            queries[source, message.number] = message
        elif isinstance(message, UpdateAck):
            replies[message.at.node, message.number] = message
    assert len(queries) == len(replies) == 6 * 40
    refs = [next(q.source for q in queries.values() if q.source.key == key) for key in keys]
    values = Values(keys)
    for number, query in queries.items():
        (lent, told), pairs = exchange(refs, values, keys.index(query.source.key), query.level, carried=True)
        assert msgspec.structs.replace(query, number=1) == lent
        assert msgspec.structs.replace(replies[number], number=1) == told
        assert pairs == (len(query.values), len(replies[number].values))


def test_labels_of_a_stretch_round_the_end():
    keys = ring(4, 2)
    assert [label(key) for key in keys[:6]] == [None] * 4 + ["c1|Edge0"] * 2
    values = Values(keys)
    assert values.of(3, 4) == {"c1|Edge0": 2.0, "c1|Edge1": 1.0}
    assert values.of(15, 16) == {f"c{topic}|Edge{edge}": 2.0 for topic in (1, 2, 3) for edge in (0, 1)}
    assert values.of(15, 2) == {"c3|Edge1": 1.0}


def test_without_values_all_levels_are_alike():
    rows = sizes({"brokers": 16, "members": 4, "carried": "none"}, 0)
    for message in ("query", "reply"):
        assert len({mean for mean, name in zip(rows["mean"], rows["message"], strict=True) if name == message}) == 1
    assert set(rows["pairs"]) == {0.0}
    used = sizes({"brokers": 16, "members": 4, "carried": "used"}, 0)
    assert [pairs > 0 for pairs in used["pairs"]] == [True] * 6 + [False] * 6


def test_misuse_is_said_at_once():
    for wrong in ({"carried": "some"}, {"members": 5}):
        with pytest.raises(Misuse):
            sizes({"brokers": 16, "members": 4, "carried": "all", **wrong}, 0)
