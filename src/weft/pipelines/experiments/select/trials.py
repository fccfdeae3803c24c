"""SELECT §4.3–4.4: one trial reserves all components of one topic in one cluster, request after request.

The ring is the paper's: each broker has a node of its own and one for each of three topics, keys ordered by topic, cluster
and broker, so that a search range is Nr places in a row; the sender holds the first of them (§4.5: the delegate is at the
left end). The tables start converged. A hop is a message between two brokers.

Algorithm 1 is taken to the letter: nothing is remembered, and a walk without a candidate begins again where it is. The paper
leaves open at which level of its sweep each node is when a trial begins; ``sweeps`` says it: ``together`` (all nodes refresh
the same level within the same T, as if all had started at once) or ``apart`` (each where it happens to be).
"""

from dataclasses import dataclass

import numpy as np

from weft.core.errors import Misuse
from weft.pipelines.experiments.experiment import Point, Rows
from weft.sim.vector.draws import Draws
from weft.sim.vector.layout import Layout, Longs, Span
from weft.sim.vector.multicast import multicast
from weft.sim.vector.select import SELECTIONS, Selector, Walk, multicast_hops, optimal_hops
from weft.sim.vector.suzaku import Suzaku

BROKERS = 128
NODES_EACH = 4
"""§4.3: three topics and the broker's own node."""
INTERVAL_S = 60.0
"""T (§4.7); waits are multiples of it, so nothing depends on how long it is."""
MESSAGE_BYTES = 800.0
"""S (§4.8)."""
UNBOUNDED = 1_000_000
"""The paper's walks end when they find somebody; one that takes as many hand-overs as this would be a mistake of ours."""

MEMORY_MB = 350.0
"""Measured 302 MB: the interpreter with Spark's worker, numpy and numba's compiler; a ring of 512 is next to nothing."""

TOGETHER, APART = "together", "apart"
_TURNS = 0x5E1EC7
"""The stream of the levels that sweeps begin with."""


@dataclass(frozen=True, slots=True)
class Setting:
    """The overlay of ``brokers``, and the range of ``members`` in it."""

    layout: Layout
    span: Span

    @classmethod
    def of(cls, brokers: int, members: int) -> "Setting":
        if not 0 < members <= brokers:
            raise Misuse(f"a range of {members} in a topic of {brokers}")
        size = NODES_EACH * brokers
        layout = Layout.shared(range(1, brokers + 1), np.arange(size) % brokers)
        return cls(layout, Span(brokers, brokers + members))

    @property
    def levels(self) -> int:
        """k + 1."""
        return Suzaku(self.layout).top + 1

    def selector(self, selection: str, sweeps: str, seed: int) -> Selector:
        """All of the range are free, and everybody knows."""
        values = np.zeros(self.layout.size)
        values[self.span.low : self.span.high] = 1.0
        turns = None
        if sweeps == APART:
            turns = Draws(seed, _TURNS).below(self.levels, self.layout.size)
        elif sweeps != TOGETHER:
            raise Misuse(f"unknown sweeps {sweeps}")
        made = Selector.seeded(self.layout, values, seed, self.span, selection, INTERVAL_S, turns)
        made.remember, made.ttl = False, UNBOUNDED
        return made

    def multicast(self) -> tuple[int, int]:
        """(delay, traffic) of a selection by Multicast, in hops: the range is cut at the keys of the finger table (§3.2)."""
        sender = int(self.layout.owners()[self.span.low])
        return multicast_hops(multicast(Suzaku(self.layout), sender, self.span, "split"))


def reserve(selector: Selector, wait: float, top: int | None = None, used: Longs | None = None) -> list[Walk]:
    """§4.4: until all are reserved, one request each ``wait`` T. ``top``: tables know no values above this level."""
    walks = []
    ageing = selector.ageing
    for _ in range(selector.span.high - selector.span.low):
        if top is not None:
            forget(selector, top)
        walk = selector.walk(selector.span.low, used)
        if walk.picked < 0:
            raise Misuse("nobody was found though somebody is free")
        walks.append(walk)
        ageing.put(walk.picked, 0.0)
        ageing.run(ageing.now + wait * INTERVAL_S)
    return walks


def forget(selector: Selector, top: int) -> None:
    """Values of levels above ``top`` are not known; those below are never made of them."""
    selector.ageing.forward[:, top + 1 :] = 0.0
    selector.ageing.backward[:, top + 1 :] = 0.0


def requests(point: Point, seed: int) -> Rows:
    """A row for each request: delay (hops one after the other), messages, and those spent on retransmissions."""
    members, selection = int(point["members"]), str(point["selection"])
    setting = Setting.of(int(point["brokers"]), members)
    again: Longs = np.zeros(members, np.int64)
    if selection == "multicast":
        delay, traffic = setting.multicast()
        delays, messages = np.full(members, delay), np.full(members, traffic)
    elif selection == "optimal":
        delays = messages = optimal_hops(setting.layout.size, setting.levels, setting.span.low, setting.span)
    elif selection in SELECTIONS:
        walks = reserve(setting.selector(selection, str(point["sweeps"]), seed), float(point["wait"]))
        delays = messages = np.array([walk.hops for walk in walks])
        again = np.array([walk.again for walk in walks])
    else:
        raise Misuse(f"unknown selection {selection}")
    return {"request": np.arange(1, members + 1), "hops": delays, "again": again, "messages": messages}


def totals(point: Point, seed: int) -> Rows:
    """One row for the trial: the hops and messages of all its requests, what they come to in KB, and fresh starts."""
    members, selection = int(point["members"]), str(point["selection"])
    setting = Setting.of(int(point["brokers"]), members)
    if selection == "multicast":
        delay, traffic = setting.multicast()
        hops, messages, restarts = members * delay, members * traffic, 0
    else:
        top = int(point["top"])
        walks = reserve(
            setting.selector(selection, str(point["sweeps"]), seed), float(point["wait"]), None if top < 0 else top
        )
        hops = messages = sum(walk.hops for walk in walks)
        restarts = sum(walk.restarts for walk in walks)
    return {
        "hops": [hops],
        "messages": [messages],
        "restarts": [restarts],
        "kilobytes": [messages * MESSAGE_BYTES / 1000],
    }


def choices(point: Point, seed: int) -> Rows:
    """How often each table entry was chosen in a trial (fig. 10): ``FFT`` from −1, ourselves, and ``BFT`` from 0."""
    setting = Setting.of(int(point["brokers"]), int(point["members"]))
    selector = setting.selector(str(point["selection"]), str(point["sweeps"]), seed)
    levels = selector.ageing.levels
    used: Longs = np.zeros(1 + 2 * levels, np.int64)
    reserve(selector, float(point["wait"]), used=used)
    return {
        "table": ["FFT"] * (1 + levels) + ["BFT"] * levels,
        "level": [*range(-1, levels), *range(levels)],
        "chosen": used,
    }
