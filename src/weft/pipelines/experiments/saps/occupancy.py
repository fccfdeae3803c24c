"""How many switches a topic's OFM tree occupies, by how its subscribers are placed (SAPS §4.1.2).

Zipf: the cluster of rank r has a subscriber with probability ∝ r^−exponent; exponent 0 is the uniform placement. In a tree it
makes no difference which cluster has which rank.
"""

import numpy as np

from weft.pipelines.experiments.experiment import Point, Rows
from weft.pipelines.experiments.saps.crossings import fabric_of
from weft.sim.vector.draws import Draws
from weft.sim.vector.layout import Longs
from weft.sim.vector.physical import HOST_SUBSCRIBERS_MAX, occupied

UNIFORM = 0.0
COLUMNS = {"entries": float, "buckets": float, "edges": float, "all_entries": float, "all_buckets": float}
_PLACING = 3


def placed(clusters: int, subscribers: int, exponent: float, seed: int) -> Longs:
    """Subscribers in each cluster."""
    draws = Draws(seed, _PLACING)
    if exponent == UNIFORM:
        sites = draws.below(clusters, subscribers)
    else:
        weights = np.arange(1, clusters + 1) ** -exponent
        sites = np.searchsorted(np.cumsum(weights / weights.sum())[:-1], draws.random(subscribers), side="right")
    return np.bincount(sites, minlength=clusters)


def model(point: Point, seed: int) -> Rows:
    """One row. ``entries`` and ``buckets`` are the paper's ratios; ``edges``: the part of the edge switches with a bucket.

    ``all_…``, by the number of switches too: as our controller would install them, with a loopback entry for each host port,
    and the buckets towards other switches (§3.1.2).
    """
    fabric = fabric_of(str(point["topology"]), int(point["clusters"]))
    members = placed(fabric.clusters, int(point["subscribers"]), float(point["exponent"]), seed)
    entries, buckets = occupied(fabric, members)
    ports = -(-members // HOST_SUBSCRIBERS_MAX)
    whole = fabric.ofm(ports, int(np.argmax(ports > 0)))
    return {
        "entries": [entries],
        "buckets": [buckets],
        "edges": [np.count_nonzero(members) / fabric.clusters],
        "all_entries": [float(whole.flows.sum()) / fabric.switches],
        "all_buckets": [float(whole.buckets.sum()) / fabric.switches],
    }
