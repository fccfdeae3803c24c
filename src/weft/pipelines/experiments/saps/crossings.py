"""What one publish costs between clusters: by the overlay, clusters in its keys or not, and by switches (SAPS §4.1.1).

A run is one overlay: subscribers placed on clusters uniformly, each a broker with a membership vector of its own, and one of
them publishes. The same subscribers, clusters, vectors and publisher serve every method and both topologies; only the order
of keys differs. ALM: no cluster in the key, so subscribers stand in random order. ALM-LA: by cluster.

On a line a cluster's number may be its place or not (``random ids``: a new numbering for each overlay). There is a second
reading of the line, in columns ``hung_…``: each cluster hangs on a switch of its own, and the links to and from that count too.
"""

from collections.abc import Iterator

import numpy as np

from weft.pipelines.experiments.experiment import Point, Rows
from weft.sim.vector.draws import Draws
from weft.sim.vector.layout import Ints, Layout, Longs, Span
from weft.sim.vector.multicast import Tree, multicast
from weft.sim.vector.physical import Fabric, Line, Ofm, Star, unicasts
from weft.sim.vector.skipgraph import seeded

LINE, TREE = "line", "tree"
ALM, LOCAL, RANDOM_IDS = "ALM", "ALM-LA", "ALM-LA, random ids"
OFM, OFM_SILENT = "OFM", "OFM without loopback"
LOOPBACK = 1
"""Messages: from its switch back to the publisher (SAPS §3.1.2)."""

COLUMNS = {"method": str, "traffic": int, "delay": int, "crossings": int, "hung_traffic": int, "hung_delay": int}
_PLACING, _NUMBERING = 1, 2

Row = tuple[str, int, int, int, int, int]


class Overlay:
    """The subscribers of one topic, and who of them publishes."""

    def __init__(self, subscribers: int, clusters: int, seed: int) -> None:
        draws = Draws(seed, _PLACING)
        self.seed = seed
        self.sites = draws.below(clusters, subscribers).astype(np.int32)
        self.publisher = int(draws.below(subscribers, 1)[0])
        self.members: Longs = np.bincount(self.sites, minlength=clusters)

    @property
    def home(self) -> int:
        """The publisher's cluster."""
        return int(self.sites[self.publisher])

    def by_key(self, local: bool) -> Ints:
        """Subscribers in the order of their keys."""
        order = np.argsort(self.sites, kind="stable") if local else np.arange(self.sites.size)
        return order.astype(np.int32)

    def cast(self, local: bool, strategy: str = "binary") -> tuple[Tree, Ints]:
        """One publish to all, and the cluster of each position."""
        order = self.by_key(local)
        sites = self.sites[order]
        run = np.cumsum(np.diff(sites, prepend=sites[:1]) > 0) if local else None
        layout = Layout.plain(order.astype(np.int64) + 1, run=run, site=sites if local else None)
        sender = int(np.flatnonzero(order == self.publisher)[0])
        return multicast(seeded(layout, self.seed), sender, Span(0, order.size), strategy), sites


def fabric_of(topology: str, clusters: int) -> Fabric:
    return Line(clusters) if topology == LINE else Star(clusters)


def numbered(clusters: int, seed: int) -> Line:
    """A line whose clusters are numbered at random."""
    return Line(clusters, Draws(seed, _NUMBERING).shuffled(clusters))


def model(point: Point, seed: int) -> Rows:
    """A row for each method."""
    clusters = int(point["clusters"])
    overlay = Overlay(int(point["subscribers"]), clusters, seed)
    fabric = fabric_of(str(point["topology"]), clusters)
    rows = list(_methods(overlay, fabric))
    return {name: [row[at] for row in rows] for at, name in enumerate(COLUMNS)}


def _methods(overlay: Overlay, fabric: Fabric) -> Iterator[Row]:
    yield by_overlay(ALM, *overlay.cast(local=False), fabric)
    tree, sites = overlay.cast(local=True)
    yield by_overlay(LOCAL, tree, sites, fabric)
    if isinstance(fabric, Line):
        yield by_overlay(RANDOM_IDS, tree, sites, numbered(fabric.clusters, overlay.seed))
    ofm = fabric.ofm(overlay.members, overlay.home)
    reached = int(np.count_nonzero(overlay.members))
    yield by_switches(OFM, ofm, reached, fabric, LOOPBACK)
    yield by_switches(OFM_SILENT, ofm, reached, fabric, 0)


def by_overlay(method: str, tree: Tree, sites: Ints, fabric: Fabric) -> Row:
    traffic, delay = unicasts(tree, sites, fabric)
    crossings = tree.crossings(sites)
    if not isinstance(fabric, Line):
        return method, traffic, delay, crossings, traffic, delay
    costs = fabric.hops(sites[tree.source], sites[tree.target])
    hung = tree.along(costs + 2 * (costs > 0)).max(initial=0)
    return method, traffic, delay, crossings, traffic + 2 * crossings, int(hung)


def by_switches(method: str, ofm: Ofm, reached: int, fabric: Fabric, loopback: int) -> Row:
    """The loopback is a message more, and delays nobody."""
    traffic = ofm.links + loopback
    if not isinstance(fabric, Line):
        return method, traffic, ofm.largest, ofm.links, traffic, ofm.largest
    away = reached > 1
    return method, traffic, ofm.largest, ofm.links, traffic + away * reached, ofm.largest + 2 * away
