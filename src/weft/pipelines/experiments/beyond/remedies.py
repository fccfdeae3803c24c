"""What SELECT leaves for future work, in its own trial: memory, a TTL, a level filter, and Anycast and Multicast together.

``literal``   Algorithm 1 to the letter, as in the select family.
``memory``    a request remembers, while it is under way, what it has found occupied (docs/adr/0005).
``counting``  the sender knows whom it has reserved, and counts them off its own table (§4.5: "caching occupied elements").
``filter``    values of levels above log2 Nr do not travel (§4.7).
``ttl``       after ``TTL`` hand-overs the request goes on by Multicast (§6).
``impatient`` the same after as many hand-overs as Multicast takes hops.
``half``      by Anycast while more than half are free, by Multicast from then on (§4.8).
``weft``      memory, filter and TTL: what our machines do. ``combined``: counting, memory, filter, impatient.
``multicast`` each request by Multicast.
"""

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from weft.core.errors import Misuse
from weft.pipelines.experiments.experiment import Point, Rows
from weft.pipelines.experiments.select.trials import BROKERS, INTERVAL_S, UNBOUNDED, Setting, forget
from weft.pipelines.experiments.select.updates import sizes
from weft.sim.vector.layout import Span
from weft.sim.vector.select import TTL, Selector

WITHOUT_BYTES_S = 25.56
SWEEP_VALUES_BYTES = 20.00e3 - 13.80e3
"""SELECT §4.7: a node's updates without values; what values add in a sweep, at Nr = 8."""


@dataclass(frozen=True, slots=True)
class Remedy:
    """``patience``: hand-overs before Multicast, −1 for as many as Multicast takes hops; ``until``: least share free."""

    memory: bool = False
    counting: bool = False
    filter: bool = False
    patience: int = UNBOUNDED
    until: float = 0.0


AS_MULTICAST = -1
REMEDIES = {
    "literal": Remedy(),
    "memory": Remedy(memory=True),
    "counting": Remedy(counting=True),
    "filter": Remedy(filter=True),
    "ttl": Remedy(patience=TTL),
    "impatient": Remedy(patience=AS_MULTICAST),
    "half": Remedy(until=0.5),
    "weft": Remedy(memory=True, filter=True, patience=TTL),
    "combined": Remedy(memory=True, counting=True, filter=True, patience=AS_MULTICAST),
    "multicast": Remedy(until=1.0),
}


@lru_cache(maxsize=64)
def pairs(brokers: int, members: int, carried: str) -> float:
    """Label-value pairs that a node's updates carry in a sweep, both ways."""
    return float(np.sum(sizes({"brokers": brokers, "members": members, "carried": carried}, 0)["pairs"]))


def updates_bytes_s(brokers: int, members: int, carried: str) -> float:
    """A node's updates, B/s: the paper's rate without values, and what its values come to a pair, times our pairs."""
    pair = SWEEP_VALUES_BYTES / pairs(BROKERS, 8, "all")
    sweep_s = (Setting.of(brokers, members).levels) * INTERVAL_S
    return WITHOUT_BYTES_S + pair * pairs(brokers, members, carried) / sweep_s


def count_off(selector: Selector, stretch: Span) -> None:
    """The sender's entries speak for no more than it has left free itself."""
    begin, table = selector.span.low, selector.ageing.forward
    for level in range((stretch.high - stretch.low - 1).bit_length()):
        low, high = begin + (1 << level), min(begin + (2 << level), stretch.high)
        left = np.count_nonzero(selector.ageing.values[low:high] >= 1)
        table[begin, level] = min(table[begin, level], left)


def trial(point: Point, seed: int) -> Rows:
    """A row for each request: its delay in hops, its messages, and whether it came to Multicast."""
    brokers, members, wait = int(point["brokers"]), int(point["members"]), float(point["wait"])
    if point["method"] not in REMEDIES:
        raise Misuse(f"unknown method {point['method']}: one of {', '.join(REMEDIES)}")
    remedy = REMEDIES[str(point["method"])]
    setting = Setting.of(brokers, members)
    delay, traffic = setting.multicast()
    selector = setting.selector("close", str(point["sweeps"]), seed)
    selector.remember = remedy.memory
    selector.ttl = delay if remedy.patience == AS_MULTICAST else remedy.patience
    ageing, span = selector.ageing, selector.span
    rows: list[tuple[int, int, int, int]] = []
    for request in range(1, members + 1):
        if remedy.filter:
            forget(selector, (members - 1).bit_length())
        if remedy.counting:
            count_off(selector, span)
        free = members - request + 1
        hops, picked = 0, -1
        if free > remedy.until * members:
            walk = selector.walk(span.low)
            hops, picked = walk.hops, walk.picked
        asked = picked < 0
        if asked:  # Multicast hears of all that are free: the nearest is as good as any
            picked = span.low + int(np.flatnonzero(ageing.values[span.low : span.high] >= 1)[0])
        rows.append((request, hops + asked * delay, hops + asked * traffic, int(asked)))
        ageing.put(picked, 0.0)
        ageing.run(ageing.now + wait * INTERVAL_S)
    requests, hops_, messages, asked_ = zip(*rows, strict=True)
    carried = "none" if remedy.until >= 1 else "used" if remedy.filter else "all"
    rate = updates_bytes_s(brokers, members, carried)
    return {"request": requests, "hops": hops_, "messages": messages, "asked": asked_, "updates": [rate] * members}
