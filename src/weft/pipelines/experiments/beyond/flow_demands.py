"""Topics as a planner finds them: what each would save if it had flow entries, and how many on which switch.

Drawn from stated distributions. Topic number r has about N / (r + 1)^s members (brokers with a subscriber), at least two; each
stands in the topic's home cluster with a given probability, else in any; a cluster has no more brokers than it has. How often a
topic is published to is Zipf-distributed too, in an order of its own: many readers do not mean many messages. The publisher is
one of the members.

What a publish would save: the links between switches that the unicasts of ``cluster-first`` cross, less those of the OFM tree
(``sim/vector/physical.py``). In the tree of switches the former is 2 (k − 1) for k clusters, whoever sends (overlay §5); on the
line it is measured on the multicast's own tree. Entries are those of ``physical.Ofm``; here they are computed for all topics at
once, and a test holds both together.
"""

from dataclasses import dataclass

import numpy as np

from weft.pipelines.planner.demands import Demands, Floats, Longs
from weft.sim.vector.draws import Draws
from weft.sim.vector.layout import Layout, Span
from weft.sim.vector.multicast import multicast
from weft.sim.vector.suzaku import Suzaku

MEMBERS, HOMES, RATES, SENDERS = 1, 2, 3, 4
"""Streams of a seed."""
MEMBERS_LEAST = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Town:
    """What topics are drawn from."""

    fabric: str = "tree"
    """``tree``: clusters' switches below a root; ``line``: in a row."""
    clusters: int = 16
    brokers: int = 64
    """Of each cluster."""
    topics: int = 2_000
    members: float = 1_000.0
    """Of the most popular topic."""
    members_exponent: float = 1.0
    rate: float = 100.0
    """Publishes per second to the busiest topic."""
    rate_exponent: float = 1.0
    at_home: float = 0.5
    """Probability that a member is in its topic's home cluster."""

    @property
    def switches(self) -> int:
        return self.clusters + (self.fabric == "tree")


@dataclass(frozen=True, slots=True)
class Topics:
    """``topic`` and ``cluster`` of each pair with members, in order; ``count`` of them."""

    town: Town
    topic: Longs
    cluster: Longs
    count: Longs
    rate: Floats

    @property
    def members(self) -> Longs:
        return np.bincount(self.topic, self.count, self.town.topics).astype(np.int64)

    @property
    def spread(self) -> Longs:
        """Clusters with members, by topic."""
        return np.bincount(self.topic, minlength=self.town.topics)


def drawn(town: Town, seed: int) -> Topics:
    ranks = np.arange(1, town.topics + 1, dtype=np.float64)
    wanted = np.maximum(np.rint(town.members / ranks**town.members_exponent), MEMBERS_LEAST).astype(np.int64)
    topic = np.repeat(np.arange(town.topics), wanted)
    draws = Draws(seed, MEMBERS)
    home = Draws(seed, HOMES).below(town.clusters, town.topics)
    cluster = draws.below(town.clusters, topic.size)
    cluster = np.where(draws.random(topic.size) < town.at_home, home[topic], cluster)
    pairs, count = np.unique(topic * town.clusters + cluster, return_counts=True)
    rate: Floats = town.rate / (Draws(seed, RATES).shuffled(town.topics) + np.float64(1.0)) ** town.rate_exponent
    return Topics(town, pairs // town.clusters, pairs % town.clusters, np.minimum(count, town.brokers), rate)


def saved(topics: Topics, seed: int) -> Floats:
    """Link crossings per publish that OFM saves, by topic."""
    town = topics.town
    if town.fabric == "tree":
        # 2 (k − 1) by unicasts; k by OFM: one to the root and one to each cluster but the sender's.
        fewer: Floats = np.maximum(topics.spread - 2.0, 0.0)
        return fewer
    first = np.searchsorted(topics.topic, np.arange(town.topics + 1))
    senders = Draws(seed, SENDERS).random(town.topics)
    found = np.zeros(town.topics)
    for topic in np.flatnonzero(topics.spread > 1):
        here = slice(first[topic], first[topic + 1])
        found[topic] = _line_saving(topics.cluster[here], topics.count[here], float(senders[topic]))
    return found


def _line_saving(clusters: Longs, counts: Longs, sender: float) -> float:
    """Unicasts over a Suzaku ring of the members, in the order of their clusters; a link each for neighbours."""
    sites = np.repeat(clusters, counts)
    run = np.repeat(np.arange(clusters.size), counts)
    ring = Suzaku(Layout.plain(np.arange(1, sites.size + 1), run=run, site=sites))
    tree = multicast(ring, int(sender * sites.size), Span(0, sites.size))
    unicasts = np.abs(sites[tree.source] - sites[tree.target]).sum()
    return float(unicasts - (clusters[-1] - clusters[0]))


def needs(topics: Topics, value: Floats, room: Longs) -> Demands:
    """One entry on each switch of the tree, and one more for each member behind it."""
    town = topics.town
    topic, switch, entries = topics.topic, topics.cluster, topics.count + 1
    if town.fabric == "tree":
        over = np.flatnonzero(topics.spread > 1)
        topic = np.concatenate((topic, over))
        switch = np.concatenate((switch, np.full(over.size, town.clusters)))
        entries = np.concatenate((entries, np.ones(over.size, np.int64)))
    else:
        first = np.searchsorted(topics.topic, np.arange(town.topics + 1))
        low, high = topics.cluster[first[:-1]], topics.cluster[first[1:] - 1]
        length = high - low + 1
        starts = np.concatenate(([0], np.cumsum(length)))
        topic = np.repeat(np.arange(town.topics), length)
        switch = np.arange(starts[-1]) - starts[topic] + low[topic]
        entries = np.ones(starts[-1], np.int64)
        entries[starts[topics.topic] + topics.cluster - low[topics.topic]] += topics.count
    order = np.lexsort((switch, topic))
    start = np.searchsorted(topic[order], np.arange(town.topics + 1))
    return Demands.of(value, start, switch[order], entries[order], room)
