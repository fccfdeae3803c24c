"""One overlay for every method and both topologies; what is counted of it."""

import numpy as np
import pytest

from weft.pipelines.experiments.saps import crossings
from weft.pipelines.experiments.saps.crossings import (
    ALM,
    LINE,
    LOCAL,
    OFM,
    OFM_SILENT,
    RANDOM_IDS,
    TREE,
    Overlay,
    model,
)
from weft.sim.vector.physical import Line, Star


def rows(topology: str, seed: int = 3, clusters: int = 8, subscribers: int = 60) -> dict[str, dict[str, int]]:
    found = model({"topology": topology, "clusters": clusters, "subscribers": subscribers}, seed)
    return {
        method: {name: found[name][at] for name in found if name != "method"}
        for at, method in enumerate(found["method"])
    }


def test_it_has_the_methods_of_its_topology():
    assert list(rows(LINE)) == [ALM, LOCAL, RANDOM_IDS, OFM, OFM_SILENT]
    assert list(rows(TREE)) == [ALM, LOCAL, OFM, OFM_SILENT]


def test_a_subscriber_is_the_same_whatever_the_order_of_keys():
    overlay = Overlay(200, 8, seed=4)
    plain, local = (overlay.cast(local=local) for local in (False, True))
    for tree, sites in (plain, local):
        who = tree.layout.ids - 1
        assert sites.tolist() == overlay.sites[who].tolist()
        assert who[tree.sender] == overlay.publisher
        assert tree.messages.shape[0] == 199
    assert sorted(local[1].tolist()) == local[1].tolist() != plain[1].tolist()


def test_a_message_between_clusters_counts_two_in_the_tree():
    for method in (ALM, LOCAL):
        assert rows(TREE)[method]["traffic"] == 2 * rows(TREE)[method]["crossings"]


def test_both_topologies_have_the_same_overlays():
    for method in (ALM, LOCAL):
        assert rows(TREE)[method]["crossings"] == rows(LINE)[method]["crossings"]
    assert rows(LINE)[LOCAL]["crossings"] == rows(LINE)[RANDOM_IDS]["crossings"]


def test_the_loopback_is_one_message_and_no_delay():
    for topology in (LINE, TREE):
        found = rows(topology)
        assert found[OFM]["traffic"] == found[OFM_SILENT]["traffic"] + 1
        assert found[OFM]["delay"] == found[OFM_SILENT]["delay"]


def test_clusters_that_hang_on_the_line_are_two_links_more_from_each_other():
    found = rows(LINE)
    for method in (ALM, LOCAL, RANDOM_IDS):
        assert found[method]["hung_traffic"] == found[method]["traffic"] + 2 * found[method]["crossings"]
        assert found[method]["hung_delay"] > found[method]["delay"]
    assert found[OFM]["hung_traffic"] == found[OFM]["traffic"] + 8
    assert found[OFM]["hung_delay"] == found[OFM]["delay"] + 2


def test_one_cluster_has_nothing_to_cross():
    for topology in (LINE, TREE):
        for method, row in rows(topology, clusters=1).items():
            assert row["delay"] == row["hung_delay"] == row["crossings"] == 0
            assert row["traffic"] == (method == OFM)


def test_a_numbering_is_drawn_for_each_overlay():
    assert sorted(crossings.numbered(16, 1).places) == list(range(16))
    assert not np.array_equal(crossings.numbered(16, 1).places, crossings.numbered(16, 2).places)


@pytest.mark.parametrize(("topology", "kind"), [(LINE, Line), (TREE, Star)])
def test_fabrics(topology, kind):
    assert isinstance(crossings.fabric_of(topology, 4), kind)
