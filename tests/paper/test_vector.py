"""What the papers say of whole overlays, at sizes where only the models of ``sim/vector`` can answer."""

import numpy as np
import pytest

from weft.core.rand import Rng
from weft.overlay.suzaku.geometry import hops_bound
from weft.sim.vector.ageing import Ageing
from weft.sim.vector.draws import Draws
from weft.sim.vector.layout import Layout, Span
from weft.sim.vector.multicast import Tree, multicast
from weft.sim.vector.physical import Line, Star, unicasts
from weft.sim.vector.select import Selector, multicast_hops
from weft.sim.vector.skipgraph import seeded
from weft.sim.vector.suzaku import Suzaku, lookups


def test_relay_5_2_footnote_5_binary_sends_at_most_two_messages_for_a_node_with_one_key():
    """RELAY §5.2, footnote 5; a sender outside the range sends one."""
    for model in (seeded(Layout.plain(range(1, 50_001)), 1), Suzaku(Layout.plain(range(1, 50_001)))):
        tree = multicast(model, 25_000, Span(10_000, 40_000), "binary")
        assert tree.forwards().max() == 2
        assert (
            np.bincount(tree.target, minlength=50_000)[10_000:40_000] == (np.arange(10_000, 40_000) != 25_000)
        ).all()
        assert multicast(model, 9_999, Span(10_000, 40_000), "binary").forwards()[9_999] == 1


def mean_depth(size: int, members: int, trees: int = 24) -> float:
    """Publishers next to a segment of ``members``, in overlays of ``size`` nodes."""
    low = size // 2
    depths = [
        multicast(
            seeded(Layout.plain(range(1, size + 1)), seed), low - 1, Span(low, low + members), "binary"
        ).depths.mean()
        for seed in range(trees)
    ]
    return float(np.mean(depths))


def test_relay_6_the_path_length_does_not_depend_on_the_size_of_the_overlay():
    """RELAY §6, figure 10: the same for 1,000 and 64,000 nodes; that of a topic's segment grows with the segment."""
    small, large = mean_depth(1_000, 100), mean_depth(64_000, 100)
    assert abs(large / small - 1) < 0.1
    assert mean_depth(1_000, 10) < 0.7 * small


def test_relay_5_2_the_path_grows_with_the_logarithm_of_the_members():
    means = [mean_depth(20_000, members, trees=4) for members in (100, 1_000, 10_000)]
    steps = np.diff(means)
    assert 0.6 < steps[1] / steps[0] < 1.6
    assert means[2] < 2 * np.log2(10_000)


@pytest.mark.parametrize("size", [4_096, 100_000])
def test_suzaku_no_lookup_takes_more_than_ceil_log2_n_minus_1_hops(size):
    draws = Draws(size)
    who, where = (draws.below(size, 50_000).astype(np.int32) for _ in range(2))
    assert lookups(Suzaku(Layout.plain(range(1, size + 1))), who, where).max() <= hops_bound(size)


def test_select_3_3_a_changed_value_is_known_everywhere_within_k_plus_1_squared_intervals():
    """SELECT §3.3, at the paper's 512 nodes (k = 8): all know it by 81 T, and not all after one sweep."""
    model = Ageing(np.zeros(512), Draws(4).random(512) * 60)
    model.run(1_000.0)
    model.put(77, 1.0)
    model.run(1_000.0 + model.levels * model.interval_s)
    assert model.stale() > 0
    model.run(1_000.0 + model.bound_s)
    assert (model.levels, model.stale()) == (9, 0)


NR, BROKERS = 64, 128
SPAN = Span(2 * BROKERS, 2 * BROKERS + NR)


def total_hops(selection: str, wait_s: float, trials: int = 6) -> float:
    """SELECT §4.3: 128 brokers with four keys each; hops until all 64 are reserved, from the left end of the range."""
    layout = Layout.shared(range(1, BROKERS + 1), [at % BROKERS for at in range(4 * BROKERS)])
    values = np.zeros(4 * BROKERS)
    values[SPAN.low : SPAN.high] = 1.0
    totals = []
    for seed in range(trials):
        selector = Selector.seeded(layout, values, seed, SPAN, selection)
        selector.remember, selector.ttl = False, 1_000  # Algorithm 1 to the letter
        walks = selector.reserve_all(SPAN.low, wait_s)
        assert sorted(walk.picked for walk in walks) == list(range(SPAN.low, SPAN.high))
        totals.append(sum(walk.hops for walk in walks))
    return float(np.mean(totals))


@pytest.mark.parametrize("selection", ["many", "few", "close"])
def test_select_4_5_and_4_6_fresh_values_save_hops(selection):
    """SELECT §4.6, figure 11: the shorter T_w, the more hops; at (k+1)T each request goes straight to its node."""
    never, often, seldom = (total_hops(selection, wait_s) for wait_s in (0.0, 60.0, 540.0))
    assert never > often > seldom
    assert seldom == sum(at.bit_count() for at in range(NR))


def test_select_4_5_random_does_not_look_at_values():
    """SELECT §4.5: Random has the same number of hops even if T_w is changed."""
    assert total_hops("random", 0.0) == total_hops("random", 540.0)


def test_select_4_8_anycast_costs_less_traffic_than_multicast():
    """SELECT table 3: even at T_w = 0 Close costs less than Multicast, which asks all 64 for each request."""
    layout = Layout.shared(range(1, BROKERS + 1), [at % BROKERS for at in range(4 * BROKERS)])
    _, traffic = multicast_hops(multicast(Suzaku(layout), SPAN.low - 2 * BROKERS, SPAN, "split"))
    assert traffic == 2 * (NR - 1) + 1
    assert total_hops("close", 0.0) < traffic * NR / 3


def located(fabric: Line | Star, local: bool, seed: int) -> tuple[Tree, np.ndarray, np.ndarray]:
    """1,000 subscribers over the clusters, keys by cluster (ALM-LA) or not (ALM), and one multicast to all by one of them."""
    draws = Draws(seed)
    sites = draws.below(fabric.clusters, 1_000).astype(np.int32)
    if local:
        sites = np.sort(sites)
    layout = Layout.plain(range(1, 1_001), run=np.cumsum(np.diff(sites, prepend=sites[:1]) > 0) if local else None)
    tree = multicast(seeded(layout, seed), Rng(seed, 1).below(1_000), Span(0, 1_000), "binary")
    return tree, sites, np.bincount(sites, minlength=fabric.clusters)


@pytest.mark.parametrize("fabric", [Line(16), Star(16)])
def test_saps_4_1_1_switches_always_cross_least_and_locality_saves(fabric):
    """SAPS §4.1.1, figures 8 and 9: OFM below ALM-LA below ALM, in traffic and in the largest delay."""
    for seed in range(5):
        alm, sites, _ = located(fabric, local=False, seed=seed)
        local, local_sites, members = located(fabric, local=True, seed=seed)
        plain, sorted_by_site = unicasts(alm, sites, fabric), unicasts(local, local_sites, fabric)
        ofm = fabric.ofm(members, int(local_sites[local.sender]))
        assert ofm.links < sorted_by_site[0] < plain[0]
        assert ofm.largest <= sorted_by_site[1] < plain[1]


def test_saps_4_1_1_clusters_numbered_at_random_cost_more_on_a_line():
    """SAPS §4.1.1, figure 8: in the sorted case the largest delay is a fraction of the random one."""
    largest = dict.fromkeys(("sorted", "random"), 0)
    for seed in range(10):
        for name, places in (("sorted", None), ("random", Draws(seed, 9).shuffled(16))):
            tree, sites, _ = located(Line(16), local=True, seed=seed)
            largest[name] += unicasts(tree, sites, Line(16, places))[1]
    assert largest["random"] > 2 * largest["sorted"]
