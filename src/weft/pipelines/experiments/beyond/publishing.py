"""What publications cost where filters with wildcards are keys of a Skip Graph: by shapes, by literal prefixes, by flooding.

Each filter is a broker's only key. A publication is made by a random broker; by shapes and by prefixes it is one multicast to
the range of each kind of query, whether anybody is in it or not; flooding is one to all keys.
"""

from collections.abc import Sequence

import numpy as np

from weft.pipelines.experiments.beyond.filters import Scheme, by_prefixes, by_shapes, drawn
from weft.pipelines.experiments.experiment import Point, Rows
from weft.sim.vector.draws import Draws
from weft.sim.vector.layout import Ints, Layout, Longs, Span
from weft.sim.vector.multicast import multicast
from weft.sim.vector.skipgraph import seeded

COLUMNS = {
    "scheme": str,
    "queries": float,
    "messages": float,
    "relays": float,
    "matching": float,
    "false": float,
    "longest": float,
    "mean_path": float,
    "cut": float,
}
"""Means over the publications of a run: multicasts, messages, of them to brokers that have no key in the range; deliveries
that match and that do not; hops to whoever matches, the most and the mean; and how many that match are not reached, because a
copy that has come over ``TTL_HOPS`` messages is dropped.
"""

PUBLICATIONS = 100
FLOODS = 5
STRATEGY = "binary"


def published(point: Point, seed: int) -> Rows:
    """A row for each scheme: means over publications of topics drawn as the filters' are."""
    keys, live = int(point["keys"]), int(point["shapes"])
    draws = Draws(seed, keys)
    topics = drawn(draws, keys)
    shape_of = draws.below(live, keys)
    publications = drawn(draws, PUBLICATIONS)
    senders = draws.below(keys, PUBLICATIONS)
    shapes = by_shapes(topics, shape_of, live)
    matching = [_matching(shapes, topic) for topic in publications]
    rows = [
        ("shapes", *_cost(shapes, matching, publications, senders, seed)),
        ("prefixes", *_cost(by_prefixes(topics, shape_of, live), matching, publications, senders, seed)),
        ("flooding", *_flood(keys, matching, senders, seed)),
    ]
    return dict(zip(COLUMNS, (list(column) for column in zip(*rows, strict=True)), strict=True))


def _matching(shapes: Scheme, topic: Longs) -> Longs:
    """The filters that match: exactly those of the codes asked for."""
    return np.flatnonzero(np.isin(shapes.codes, shapes.asked(topic)))


def _cost(scheme: Scheme, matching: list[Longs], publications: Longs, senders: Longs, seed: int) -> tuple[float, ...]:
    order = np.argsort(scheme.codes, kind="stable")
    codes = scheme.codes[order]
    place = np.empty(order.size, np.int64)
    place[order] = np.arange(order.size)
    graph = seeded(Layout.plain(order + 1), seed)
    sums = np.zeros(5)
    paths: list[Longs] = []
    for topic, sender, wanted in zip(publications, senders, matching, strict=True):
        depth = np.full(order.size, -1)
        asked = scheme.asked(topic)
        for code in asked:
            span = Span(int(np.searchsorted(codes, code)), int(np.searchsorted(codes, code, side="right")))
            tree = multicast(graph, int(place[sender]), span, STRATEGY)
            depth[span.low : span.high] = tree.depths
            members = span.high - span.low
            own = span.low <= place[sender] < span.high
            sums += (1, len(tree.messages), len(tree.messages) - members + own, members, 0)
        sums[4] += wanted.size
        paths.append(depth[place[wanted]])
    queries, messages, relays, delivered, matched = (float(total) for total in sums / len(matching))
    return queries, messages, relays, matched, delivered - matched, *_paths(paths)


def _paths(paths: Sequence[Ints | Longs]) -> tuple[float, float, float]:
    """Mean over publications of the longest, and over all deliveries, 0 if nobody was reached; and of who was not reached."""
    cut = float(np.mean([np.count_nonzero(depths < 0) for depths in paths])) if paths else 0.0
    some = [depths[depths >= 0] for depths in paths if (depths >= 0).any()]
    if not some:
        return 0.0, 0.0, cut
    return float(np.mean([depths.max() for depths in some])), float(np.concatenate(some).mean()), cut


def _flood(keys: int, matching: list[Longs], senders: Longs, seed: int) -> tuple[float, ...]:
    """All keys, whatever the order: a few of the trees."""
    graph = seeded(Layout.plain(np.arange(1, keys + 1)), seed)
    trees = [multicast(graph, int(sender), Span(0, keys), STRATEGY) for sender in senders[:FLOODS]]
    matched = float(np.mean([wanted.size for wanted in matching]))
    messages = float(np.mean([len(tree.messages) for tree in trees]))
    paths = [tree.depths[wanted] for tree in trees for wanted in matching]
    return 1.0, messages, 0.0, matched, keys - matched, *_paths(paths)
