"""What one publish costs between clusters if the overlay multicasts by ``cluster-first`` (overlay §5), beside its rivals.

The runs are those of saps-fig8 to saps-fig10, overlay by overlay. ``k − 1 unicasts``: the publisher itself sends one message
to each other cluster that has a subscriber, and within clusters nothing is counted, as in SAPS.
"""

from collections.abc import Iterator

import numpy as np

from weft.pipelines.experiments.experiment import Point, Rows
from weft.pipelines.experiments.saps.crossings import LOCAL, LOOPBACK, OFM, RANDOM_IDS, Overlay, fabric_of, numbered
from weft.sim.vector.layout import Ints
from weft.sim.vector.multicast import Tree
from weft.sim.vector.physical import Fabric, Line, unicasts

CLUSTER_FIRST, CLUSTER_FIRST_RANDOM = "cluster-first", "cluster-first, random ids"
DIRECT = "k − 1 unicasts"
COLUMNS = {"method": str, "traffic": int, "delay": int, "entrances": float}

Row = tuple[str, int, int, float]


def model(point: Point, seed: int) -> Rows:
    """A row for each method; ``entrances``: messages between clusters for each remote cluster that has a subscriber."""
    clusters = int(point["clusters"])
    overlay = Overlay(int(point["subscribers"]), clusters, seed)
    rows = list(_methods(overlay, fabric_of(str(point["topology"]), clusters)))
    return {name: [row[at] for row in rows] for at, name in enumerate(COLUMNS)}


def _methods(overlay: Overlay, fabric: Fabric) -> Iterator[Row]:
    remote = int(np.count_nonzero(overlay.members)) - (1 if overlay.members[overlay.home] else 0)
    binary, sites = overlay.cast(local=True)
    first, _ = overlay.cast(local=True, strategy="cluster-first")
    yield _by_overlay(LOCAL, binary, sites, fabric, remote)
    yield _by_overlay(CLUSTER_FIRST, first, sites, fabric, remote)
    if isinstance(fabric, Line):
        shuffled = numbered(fabric.clusters, overlay.seed)
        yield _by_overlay(RANDOM_IDS, binary, sites, shuffled, remote)
        yield _by_overlay(CLUSTER_FIRST_RANDOM, first, sites, shuffled, remote)
    away = fabric.hops(overlay.home, np.flatnonzero(overlay.members))
    yield DIRECT, int(away.sum()), int(away.max()), 1.0
    ofm = fabric.ofm(overlay.members, overlay.home)
    yield OFM, ofm.links + LOOPBACK, ofm.largest, ofm.links / max(remote, 1)


def _by_overlay(method: str, tree: Tree, sites: Ints, fabric: Fabric, remote: int) -> Row:
    return method, *unicasts(tree, sites, fabric), tree.crossings(sites) / max(remote, 1)
