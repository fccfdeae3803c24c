"""Members that move to OFM in rounds: newcomers join the ALM topic, all of them move, and again (MIGRATE §5.3, ADR 0003).

Three ways to move. *rejoin*: Suzaku machines under the paper's intervals. *rename*: the hand-over with ranks as decided, the
successor's less one. *fitting*: the same, but a member takes the successor's very rank where it sorts below it even so. The
paper's own rename is the first round of either; later it would have to change PeerIDs, with messages of its own.

What a round leaves behind is an order of keys. Multicasts over the OFM topic by the overlay, which are for those who do not
know the OFM address, cross clusters as that order, and the localities in it, allow: counted on the bulk model.
"""

from itertools import pairwise

import numpy as np

from weft.core.ids import NodeId
from weft.core.rand import Rng
from weft.overlay.api import Left
from weft.overlay.keys import ALM, OFM, Key, topic_key
from weft.pipelines.experiments.experiment import Point, Rows
from weft.sim.des.engine import Simulation
from weft.sim.des.network import Network, Uniform
from weft.sim.migration.handover import MovedOver, Stopped, ring_of
from weft.sim.migration.rejoin import Intervals, Move, rejoin, whole
from weft.sim.vector.layout import Layout, Span
from weft.sim.vector.multicast import multicast
from weft.sim.vector.suzaku import Suzaku

METHODS = ("rejoin", "rename", "fitting")
COLUMNS: dict[str, type] = {
    "round": int,
    "messages": float,
    "telling": float,
    "time_ms": float,
    "telling_ms": float,
    "stretches": float,
    "ranks": int,
    "crossings_first": float,
    "crossings_split": float,
}
NEWCOMERS, CLUSTERS, ROUNDS = 8, 4, 6
LATENCY_MS = 20.0
"""As stated for MIGRATE's figures."""
INTERVALS = Intervals(0.35, 0.35, 0.25)
SETTLED_S = 60.0
SENDERS = 8


def rounds(point: Point, seed: int) -> Rows:
    """A row for each round; messages are for each member that moves, ``telling`` is the part that no rejoin has."""
    rng, method = Rng(seed, 5), str(point["method"])
    brokers = list(range(1, NEWCOMERS * ROUNDS + 1))
    rng.shuffle(brokers)
    ofm: list[Key] = []
    rows: list[dict[str, float]] = []
    for number in range(ROUNDS):
        chosen = brokers[number * NEWCOMERS : (number + 1) * NEWCOMERS]
        alm = sorted(topic_key("t", ALM, NodeId(broker), (f"c{rng.below(CLUSTERS)}",)) for broker in chosen)
        network = Uniform(LATENCY_MS / 2_000, LATENCY_MS / 1_000)
        if method == "rejoin":
            row, ofm = _rejoined(alm, ofm, network, seed)
        else:
            row, ofm = _renamed(alm, ofm, network, seed, fitting=method == "fitting")
        rows.append({"round": number + 1, **row, **_order(ofm, rng)})
    return {name: [row[name] for row in rows] for name in COLUMNS}


def _rejoined(alm: list[Key], ofm: list[Key], network: Network, seed: int) -> tuple[dict[str, float], list[Key]]:
    simulation = whole("suzaku", [*alm, *ofm], network, seed)
    moves = [Move(key, key._replace(segment=OFM)) for key in alm]
    Rng(seed, 4).shuffle(moves)
    rejoin(simulation, moves, INTERVALS, 0.0)
    simulation.run(until=SETTLED_S)
    left = [at for at, _, event in simulation.upward if isinstance(event, Left)]
    assert len(left) == len(alm), "somebody did not move"
    messages = simulation.sent.total() / len(alm)
    row = {"messages": messages, "telling": 0.0, "time_ms": 1_000 * max(left), "telling_ms": 0.0}
    return row, sorted([*ofm, *(move.new for move in moves)])


def _renamed(
    alm: list[Key], ofm: list[Key], network: Network, seed: int, fitting: bool
) -> tuple[dict[str, float], list[Key]]:
    simulation = Simulation(seed, network)
    members = ring_of([*alm, *ofm], fitting)
    for node, member in members.items():
        simulation.add(node, member)
    simulation.do(alm[-1].broker, lambda member, now, out: member.begin(now, out))  # type: ignore[attr-defined]
    simulation.run_idle()
    moved = [at for at, _, event in simulation.upward if isinstance(event, MovedOver)]
    told = [at for at, _, event in simulation.upward if isinstance(event, Stopped)]
    assert len(told) == len(members), "somebody was not told"
    sent = simulation.sent
    telling = (sent["Allow"] + sent["Allowed"] + sent["Stop"]) / len(alm)
    row = {
        "messages": sent.total() / len(alm),
        "telling": telling,
        "time_ms": 1_000 * max(told),
        "telling_ms": 1_000 * (max(told) - max(moved) + min(moved)),
    }
    return row, sorted(member.key for member in members.values())


def _order(ofm: list[Key], rng: Rng) -> dict[str, float]:
    """What the order of ``ofm`` is worth: stretches of one cluster by clusters, ranks, crossings of a multicast."""
    clusters = [key.cluster for key in ofm]
    borders = sum(1 for one, other in pairwise(clusters) if one != other)
    overlay = Suzaku(Layout.of(ofm))
    numbers = {broker: number for number, broker in enumerate(sorted(key.broker for key in ofm))}
    sites = np.zeros(len(ofm), np.int32)
    for key in ofm:
        sites[numbers[key.broker]] = int(key.cluster[0][1:])
    crossings = {}
    senders = [rng.below(len(ofm)) for _ in range(SENDERS)]
    for name, strategy in (("crossings_first", "cluster-first"), ("crossings_split", "split")):
        trees = [multicast(overlay, sender, Span(0, len(ofm)), strategy) for sender in senders]
        crossings[name] = float(np.mean([tree.crossings(sites) for tree in trees]))
    return {
        "stretches": (borders + 1) / len(set(clusters)),
        "ranks": len({key.rank for key in ofm}),
        **crossings,
    }
