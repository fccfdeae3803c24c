"""What each publish costs by ALM while members move, the conventional way and the proposed: MIGRATE's figure 9 as a model.

a publishes every .2 s, from before the publish at time 0 that sets off the migration until long after. M_OFM and M_Q are left
out, as in the paper (§6). *conventional*: Suzaku machines that rejoin under the paper's intervals, in an order that is drawn;
before, a publishes to both topics, and from then on to the ALM topic, members or none. *proposed*: the hand-over of
``sim.migration.handover`` says who is where and what a has been told; as a rename leaves everybody's place, each publish is the
bulk model's tree over the members that are still in the ALM topic, and none at all once a knows that nobody is.
"""

import numpy as np

from weft.core.ids import NodeId
from weft.core.rand import Rng
from weft.overlay.keys import OFM
from weft.pipelines.experiments.experiment import Point, Rows
from weft.pipelines.experiments.migrate.line import (
    ALM_RANGE,
    LATENCY_MS,
    MEMBERS,
    OFM_RANGE,
    PUBLISHER,
    SETTLED_S,
    Setup,
)
from weft.pipelines.experiments.migrate.moving import INTERVALS
from weft.sim.des.engine import Simulation
from weft.sim.migration.handover import MovedOver, Stopped, ring_of
from weft.sim.migration.rejoin import Move, publish, rejoin, whole
from weft.sim.vector.layout import Layout, Longs, Span
from weft.sim.vector.multicast import Tree, multicast
from weft.sim.vector.physical import unicasts
from weft.sim.vector.suzaku import Suzaku

COLUMNS: dict[str, type] = {"tick": int, "second": float, "hops": float, "empty": float}
EVERY_S = 0.2
TICKS = range(-5, 36)
"""Publishes, 0 being the one that sets off the migration."""
STRATEGY = "split"
"""Suzaku's own range multicast (SELECT §3.2)."""


def publishes(point: Point, seed: int) -> Rows:
    """A row for each publish; ``empty``: the part that went to a topic without members."""
    found = (conventional if point["method"] == "conventional" else proposed)(Setup.drawn(seed), seed)
    ticks = np.array(TICKS)
    return {"tick": ticks, "second": np.round(ticks * EVERY_S, 6), "hops": found[0], "empty": found[1]}


def conventional(setup: Setup, seed: int) -> tuple[Longs, Longs]:
    """Hops of each publish, and of those to a topic without members."""
    network = setup.network(LATENCY_MS)
    simulation = whole("suzaku", setup.keys(), network, seed, upkeep=True)
    moves = [Move(key, key._replace(segment=OFM)) for key in setup.keys()]
    Rng(seed, 4).shuffle(moves)
    start, sender = -TICKS[0] * EVERY_S, setup.broker(PUBLISHER)
    intervals = INTERVALS["rejoin"]
    for tick in TICKS:
        publish(simulation, sender, ALM_RANGE, (tick, "alm"), STRATEGY, start + tick * EVERY_S)
        if tick <= 0:
            publish(simulation, sender, OFM_RANGE, (tick, "ofm"), STRATEGY, start + tick * EVERY_S)
    rejoin(simulation, moves, intervals, start)
    simulation.run(until=SETTLED_S)
    alm, ofm = (np.array([network.hops[tick, way] for tick in TICKS], np.int64) for way in ("alm", "ofm"))
    over = np.array([tick * EVERY_S > intervals.lasting(MEMBERS) + 1 for tick in TICKS])
    return alm + ofm, ofm + np.where(over, alm, 0)


def proposed(setup: Setup, seed: int) -> tuple[Longs, Longs]:
    """The same; a publish that finds the ALM topic empty before a is told counts as one to a topic without members."""
    sites = np.array(setup.places, np.int32)

    def tree(members: int) -> Tree:
        overlay = Suzaku(Layout.plain(range(1, MEMBERS + 1)))
        return multicast(overlay, setup.publisher, Span(0, members), STRATEGY)

    begins = float(tree(MEMBERS).depths[-1]) * LATENCY_MS / 1_000
    simulation = Simulation(seed, setup.network(LATENCY_MS))
    for node, member in ring_of(setup.keys()).items():
        simulation.add(node, member)
    simulation.do(NodeId(MEMBERS), lambda member, now, out: member.begin(now, out), at=begins)  # type: ignore[attr-defined]
    simulation.run_idle()
    moved = sorted(at for at, _, event in simulation.upward if isinstance(event, MovedOver))
    sender = setup.broker(PUBLISHER)
    (told,) = (at for at, node, event in simulation.upward if isinstance(event, Stopped) and node == sender)
    costs = [unicasts(tree(members), sites, setup.fabric)[0] for members in range(MEMBERS + 1)]
    hops, empty = np.zeros(len(TICKS), np.int64), np.zeros(len(TICKS), np.int64)
    for row, tick in enumerate(TICKS):
        at = tick * EVERY_S
        if at < told:
            left = MEMBERS - sum(1 for when in moved if when < at)
            hops[row] = costs[left]
            empty[row] = 0 if left else costs[left]
    return hops, empty
