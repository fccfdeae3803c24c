"""How long eight members take to move from the ALM topic to the OFM topic: MIGRATE's figure 8 as a model.

*rejoin*: Suzaku machines under the paper's intervals, from the first join's start to the last leave's end. *rename*: the
hand-over of ``sim.migration.handover``, from the moment at which the rendezvous point begins to the last member's being told.
Each message takes the stated latency of whoever handles it, half as much to half as much again; links take no time.
"""

from weft.core.rand import Rng
from weft.overlay.api import Left
from weft.overlay.keys import OFM, Key
from weft.pipelines.experiments.experiment import Point, Rows
from weft.pipelines.experiments.migrate.line import MEMBERS, SETTLED_S, Setup
from weft.sim.des.engine import Simulation
from weft.sim.migration.handover import Began, MovedOver, Stopped, ring_of
from weft.sim.migration.rejoin import Counting, Intervals, Move, rejoin, whole

COLUMNS: dict[str, type] = {
    "time_ms": float,
    "intervals_ms": float,
    "telling_ms": float,
    "step_ms": float,
    "in_a_row": float,
    "messages": int,
}
INTERVALS = {"rejoin": Intervals(0.35, 0.35, 0.25), "rejoin-quick": Intervals(0.1, 0.7, 0.25)}
METHODS = (*INTERVALS, "rename")


def moved(point: Point, seed: int) -> Rows:
    """One row."""
    setup, method, latency_ms = Setup.drawn(seed), str(point["method"]), float(point["latency_ms"])
    network = setup.network(latency_ms)
    if method == "rename":
        found = _renamed(setup.keys(), network, seed)
    else:
        found = _rejoined(setup, network, INTERVALS[method], seed)
    found["in_a_row"] = (found["time_ms"] - found["intervals_ms"]) / latency_ms
    return {name: [found[name]] for name in COLUMNS}


def _rejoined(setup: Setup, network: Counting, intervals: Intervals, seed: int) -> dict[str, float]:
    simulation = whole("suzaku", setup.keys(), network, seed)
    moves = [Move(key, key._replace(segment=OFM)) for key in setup.keys()]
    Rng(seed, 4).shuffle(moves)
    rejoin(simulation, moves, intervals, 0.0)
    simulation.run(until=SETTLED_S)
    left = [at for at, _, event in simulation.upward if isinstance(event, Left)]
    assert len(left) == MEMBERS, "somebody did not move"
    return {
        "time_ms": 1_000 * max(left),
        "intervals_ms": 1_000 * intervals.lasting(MEMBERS),
        "telling_ms": 0.0,
        "step_ms": 0.0,
        "messages": simulation.sent.total(),
    }


def _renamed(keys: list[Key], network: Counting, seed: int) -> dict[str, float]:
    simulation = Simulation(seed, network)
    members = ring_of(keys)
    for node, member in members.items():
        simulation.add(node, member)
    simulation.do(keys[-1].broker, lambda member, now, out: member.begin(now, out))  # type: ignore[attr-defined]
    simulation.run_idle()
    (began,) = (at for at, _, event in simulation.upward if isinstance(event, Began))
    last = max(at for at, _, event in simulation.upward if isinstance(event, MovedOver))
    told = [at for at, _, event in simulation.upward if isinstance(event, Stopped)]
    assert len(told) == MEMBERS, "somebody was not told"
    return {
        "time_ms": 1_000 * max(told),
        "intervals_ms": 0.0,
        "telling_ms": 1_000 * (began + max(told) - last),
        "step_ms": 1_000 * (last - began) / (len(members) - 1),
        "messages": simulation.sent.total(),
    }
