"""What brokers keep, against a count by hand of the tables that the model lists."""

import numpy as np
import pytest

from weft.core.rand import Rng
from weft.sim.vector.layout import Layout
from weft.sim.vector.skipgraph import SkipGraph, seeded
from weft.sim.vector.storage import kept


def by_hand(graph: SkipGraph, broker: int, *, lists: bool, more: list[int]) -> tuple[int, int, int]:
    layout, found = graph.layout, list(more)
    for position in layout.positions(broker).tolist():
        for left, right in graph.levels(position):
            found += [int(layout.owners()[left])] if left < position or not lists else []
            found += [int(layout.owners()[right])] if right > position or not lists else []
    foreign = [other for other in found if other != broker]
    return len(found), len(foreign), len(set(foreign))


@pytest.mark.parametrize("lists", [True, False])
@pytest.mark.parametrize(("brokers", "keys"), [(1, 1), (2, 2), (9, 9), (7, 30), (40, 200)])
def test_every_entry_is_counted_once(brokers, keys, lists):
    rng = Rng(brokers, keys)
    owner = rng.sample(range(brokers), brokers) + [rng.below(brokers) for _ in range(keys - brokers)]
    ids = np.arange(1, brokers + 1)
    plain = keys == brokers
    graph = seeded(Layout.plain(ids) if plain else Layout.shared(ids, owner), seed=keys)
    keepers = np.array([rng.below(brokers) for _ in range(25)], np.int32)
    others = np.array([rng.below(brokers) for _ in range(25)], np.int32)
    found = kept(graph, lists=lists, keepers=keepers, others=others)
    for broker in range(brokers):
        more = others[keepers == broker].tolist()
        counted = (found.entries[broker], found.foreign[broker], found.brokers[broker])
        assert counted == by_hand(graph, broker, lists=lists, more=more)


def test_lists_have_two_entries_for_each_link_and_rings_two_for_each_node():
    graph = seeded(Layout.plain(range(1, 1_001)), 3)
    towers = np.diff(graph.base)
    assert kept(graph, lists=False).entries.tolist() == (2 * towers).tolist()
    ends = kept(graph, lists=False).entries.sum() - kept(graph).entries.sum()
    assert ends % 2 == 0, "a ring that is cut loses one link: an entry at each end"
    assert (ends // 2) < towers.sum() / 2
