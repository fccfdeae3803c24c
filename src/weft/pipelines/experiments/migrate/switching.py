"""What each publish costs while a topic moves to OFM, under EITHER and BOTH: MIGRATE's figure 5 as a model.

Skip Graph machines of the eight members, `binary` range multicast (the paper's §4 ran on MKSG), every publish by a. OFM is
built between two publishes; from then on a knows the address, and every member has been reached by OFM. Under BOTH each member
then waits, joins the OFM topic, and leaves the ALM topic when it has joined. *drawn*: each waits U[500, 5000] ms; *example*:
figure 5's order, b to h and then a, one each two seconds. Under EITHER nobody moves: a asks, and sends one way or the other.

``off``: how far a publish of BOTH is from Table 2's formula, whose terms come from the bulk model of the same overlay.
M_Q is not in the rows: it depends on where OFGate is, and on nothing else.
"""

import numpy as np

from weft.core.ids import NodeId
from weft.core.machine import Event, Outbox
from weft.core.rand import Rng
from weft.overlay.api import Joined, Left
from weft.overlay.keys import ALM, OFM
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
from weft.sim.migration.rejoin import join, leave, publish, whole
from weft.sim.vector.layout import Layout, Span
from weft.sim.vector.multicast import multicast
from weft.sim.vector.physical import unicasts
from weft.sim.vector.skipgraph import seeded

COLUMNS: dict[str, type] = {
    "second": int,
    "phase": str,
    "either": float,
    "both": float,
    "to_alm": float,
    "to_ofm": float,
    "switches": float,
    "off": float,
}
BUILT_S, END_S = 10.0, 34.0
WAIT_LOW_S, WAIT_HIGH_S = 0.5, 5.0
EXAMPLE_S = 2.0
BEFORE, MOVING, AFTER = "before", "moving", "after"


def publishes(point: Point, seed: int) -> Rows:
    """A row for each publish, one a second; BOTH is the sum of what goes to either topic by ALM and over the switches."""
    setup = Setup.drawn(seed)
    network = setup.network(LATENCY_MS)
    simulation = whole("skipgraph", setup.keys(), network, seed, upkeep=True)
    sender = setup.broker(PUBLISHER)
    over: dict[NodeId, float] = {}

    def on_deliver(now: float, node: NodeId, event: Event, out: Outbox) -> None:
        if isinstance(event, Joined) and event.key.segment == OFM:
            leave(simulation, event.key._replace(segment=ALM), simulation.now)
        elif isinstance(event, Left):
            over[node] = simulation.now

    simulation.on_deliver = on_deliver
    for place, at in enumerate(_starts(str(point["schedule"]), seed)):
        joining = setup.keys(OFM)[setup.places.index(place)]
        join(simulation, joining, at)
    seconds = np.arange(END_S, dtype=float)
    for second in seconds:
        publish(simulation, sender, ALM_RANGE, (int(second), "alm"), "binary", second)
        if second < BUILT_S:  # a does not know the address: it sends to both topics by ALM
            publish(simulation, sender, OFM_RANGE, (int(second), "ofm"), "binary", second)
    simulation.run(until=SETTLED_S)
    assert len(over) == MEMBERS, "somebody did not move"
    last = max(over.values())
    to_alm, to_ofm = (np.array([network.hops[int(second), way] for second in seconds]) for way in ("alm", "ofm"))
    built = seconds >= BUILT_S
    switches = np.where(built, setup.ofm().links, 0)
    phases = [AFTER if second > last else MOVING if second >= BUILT_S else BEFORE for second in seconds]
    alm, empty = _formulas(setup, seed)
    formulas = {BEFORE: alm + empty, AFTER: empty + setup.ofm().links}
    both = to_alm + to_ofm + switches
    return {
        "second": seconds.astype(int),
        "phase": phases,
        "either": np.where(built, switches, to_alm),
        "both": both,
        "to_alm": to_alm,
        "to_ofm": to_ofm,
        "switches": switches,
        "off": [abs(cost - formulas.get(phase, cost)) for cost, phase in zip(both.tolist(), phases, strict=True)],
    }


def _starts(schedule: str, seed: int) -> list[float]:
    """When the member at each place begins to move."""
    if schedule == "example":
        return [BUILT_S + EXAMPLE_S * (MEMBERS if place == PUBLISHER else place) for place in range(MEMBERS)]
    rng = Rng(seed, 2)
    return [BUILT_S + rng.uniform(WAIT_LOW_S, WAIT_HIGH_S) for _ in range(MEMBERS)]


def _formulas(setup: Setup, seed: int) -> tuple[int, int]:
    """M_ALM, and the cost of a topic without members that lies right of all, by the bulk model."""
    graph = seeded(Layout.plain(range(1, MEMBERS + 1)), seed)
    sites = np.array(setup.places, np.int32)
    costs = []
    for span in (Span(0, MEMBERS), Span(MEMBERS, MEMBERS)):
        tree = multicast(graph, setup.publisher, span, "binary")
        costs.append(unicasts(tree, sites, setup.fabric)[0])
    return costs[0], costs[1]
