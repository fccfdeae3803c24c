"""Update messages by construction: the very ones that the machines send."""

import msgspec

from weft.core.ids import NodeId
from weft.overlay.keys import ALM, Key
from weft.overlay.settings import Settings
from weft.overlay.suzaku.messages import Update, UpdateAck
from weft.sim.des.engine import Simulation
from weft.sim.des.network import Uniform
from weft.sim.vector.updates import Values, exchange
from weft.sim.whole import whole_suzaku

T = 60.0
KEYS = [
    Key("L", topic, ALM, 0, (cluster,), NodeId(at + 1))
    for topic in ("a", "b", "c", "d")
    for at, cluster in enumerate(["x"] * 5 + ["y"] * 5)
]


def label(key):
    """The first topic announces nothing."""
    return None if key.literals == "a" else f"{key.literals}|{key.cluster[0]}"


LABELS = [label(key) for key in KEYS]


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
    held = {NodeId(node): [key for key in KEYS if key.broker == node] for node in range(1, 11)}
    network = Recorder()
    simulation = Simulation(2, network)
    for node, peer in whole_suzaku(
        held, Settings(ping_interval_s=None, lost_interval_s=None, update_interval_s=T), seed=2
    ).items():
        simulation.add(node, peer)
    for key in KEYS:
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
    refs = [next(q.source for q in queries.values() if q.source.key == key) for key in KEYS]
    values = Values(LABELS)
    for number, query in queries.items():
        (lent, told), pairs = exchange(refs, values, KEYS.index(query.source.key), query.level, carried=True)
        assert msgspec.structs.replace(query, number=1) == lent
        assert msgspec.structs.replace(replies[number], number=1) == told
        assert pairs == (len(query.values), len(replies[number].values))


def test_a_stretch_may_go_round_the_end():
    values = Values(LABELS)
    assert values.of(8, 4) == {"b|x": 2.0}
    assert values.of(39, 12) == {"d|y": 1.0, "b|x": 1.0}
    assert values.of(0, 10) == {}
    assert values.of(35, 40) == {f"{topic}|{cluster}": 5.0 for topic in "bcd" for cluster in "xy"}
