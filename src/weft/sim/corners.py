"""SHG on a small hypercube, counted: its partitions, and what machines do there with each event (SHG §III.C, figures 2 and 3).

A machine for each corner; every corner publishes once, and every ``SPACING``-th wants all of it. What a dominating node is
*handed* is counted where it comes in: an event across, or one that is published or arrives there from below.
"""

from collections import Counter
from collections.abc import Iterable
from typing import Any

import numpy as np

from weft.core.ids import NodeId
from weft.core.machine import Message, Outbox
from weft.overlay.groups import Received
from weft.overlay.shg import geometry
from weft.overlay.shg.machine import Shg
from weft.overlay.shg.messages import Across, Subscribe, Up
from weft.overlay.shg.patterns import Predicate, pattern
from weft.sim.baselines import shg
from weft.sim.des.engine import Simulation

SPACING = 3
"""Corners 0, 3, 6 …: of every partition some, dominating nodes and others."""


class Watched:
    """A machine, how often an event came to it, and whether it sent one on."""

    def __init__(self, machine: Shg) -> None:
        self.machine = machine
        self.handed = 0
        self.busy = False

    @property
    def deadline(self) -> float | None:
        return self.machine.deadline

    def receive(self, now: float, source: NodeId, message: Message, out: Outbox) -> None:
        self.handed += isinstance(message, Across) or (isinstance(message, Up) and self.machine.dominates)
        self.busy |= not isinstance(message, Subscribe)
        self.machine.receive(now, source, message, out)

    def timeout(self, now: float, out: Outbox) -> None:
        self.machine.timeout(now, out)

    def publish(self, now: float, out: Outbox) -> None:
        self.handed += self.machine.dominates
        self.busy = True
        self.machine.publish(now, {"t": 25}, b"", out)


def counted(n: int, k: int, variant: str) -> dict[str, float]:
    """The sizes of everything, and the least and most of what should be exactly one."""
    corners = range(1 << n)
    full = [corner for corner in corners if geometry.is_dominating(corner, k)]
    parts = Counter(geometry.partition(corner, k) for corner in corners)
    subs = Counter(geometry.dominating(corner, k) for corner in corners)
    return {
        "corners": len(corners),
        "partitions": len(parts),
        "partition_size": _one(parts.values()),
        "dominating": len(full),
        "dominating_each": _one(Counter(geometry.partition(corner, k) for corner in full).values()),
        "sub_partitions": len(subs),
        "sub_partition_size": max(subs.values()),
        "farthest": max(geometry.distance(corner, k) for corner in corners),
        "as_defined": 1 << (n - k),  # Definition 6 to the letter: subsets of the high letters, and no others
        **_events(n, k, variant),
    }


def _events(n: int, k: int, variant: str) -> dict[str, float]:
    simulation, nodes = Simulation(0), {}
    for node, machine in shg(n, k, variant).items():
        nodes[node] = Watched(machine)
        simulation.add(node, nodes[node])
    wanted, wanting = pattern(Predicate("t", ">", 20)), [NodeId(corner + 1) for corner in range(0, 1 << n, SPACING)]
    for node in wanting:
        simulation.do(node, lambda watched, now, out: watched.machine.subscribe(now, wanted, out))  # type: ignore[attr-defined]
        simulation.run_idle(timers=False)
    abroad = _abroad(n, k, variant)
    subscribing = simulation.sent["Subscribe"]
    dominators = [node for node in nodes if geometry.is_dominating(node - 1, k)]
    handed, received, strangers, busy = [], [], 0, []
    for publisher in nodes:
        for watched in nodes.values():
            watched.handed, watched.busy = 0, False
        before = len(simulation.upward)
        simulation.do(publisher, lambda watched, now, out: watched.publish(now, out))  # type: ignore[attr-defined]
        simulation.run_idle(timers=False)
        got = Counter(node for _, node, event in simulation.upward[before:] if isinstance(event, Received))
        handed += [nodes[node].handed for node in dominators]
        received += [got[node] for node in wanting]
        strangers += sum(count for node, count in got.items() if node not in wanting)
        busy.append([watched.busy for watched in nodes.values()])
    sent = simulation.sent
    return {
        "handed_least": min(handed),
        "handed_most": max(handed),
        "received_least": min(received),
        "received_most": max(received),
        "strangers": strangers,
        "abroad": abroad,
        "across": sent["Across"] / len(nodes),
        "subscribing": subscribing,
        "publishing": (sent["Up"] + sent["Across"] + sent["Down"]) / len(nodes),
        "alike": _alike(np.array(busy)),
    }


def _abroad(n: int, k: int, variant: str) -> int:
    """The most partitions in which one corner's subscription is installed."""
    most = 0
    wanted = pattern(Predicate("t", ">", 20))
    for corner in range(1 << n):
        simulation, machines = Simulation(0), shg(n, k, variant)
        for node, machine in machines.items():
            simulation.add(node, machine)
        simulation.do(NodeId(corner + 1), lambda machine, now, out: machine.subscribe(now, wanted, out))  # type: ignore[attr-defined]
        simulation.run_idle(timers=False)
        known = {geometry.partition(node - 1, k) for node, machine in machines.items() if wanted in machine.table}
        most = max(most, len(known))
    return most


def _alike(busy: np.ndarray[Any, np.dtype[np.bool_]]) -> float:
    """Over all pairs of publishers, the mean share of nodes that handle both events among those that handle either."""
    flags = busy.astype(np.int64)
    both = flags @ flags.T
    each = flags.sum(axis=1)
    either = each[:, None] + each[None, :] - both
    pairs = ~np.eye(len(flags), dtype=bool)
    return float(np.mean((both / either)[pairs]))


def _one(sizes: Iterable[int]) -> int:
    """The size that all have; −1 if they differ."""
    different = set(sizes)
    return different.pop() if len(different) == 1 else -1
