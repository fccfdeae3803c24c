"""What RELAY §5.4 and §6 report, on one overlay each: the experiments' models called directly (overlay §12)."""

import numpy as np
import pytest

from weft.pipelines.experiments.relay import entries, growth, loads, messages, paths
from weft.pipelines.experiments.relay.laws import apart, exponent, interval_99, straightness

Found = dict[tuple[str, str], tuple[np.ndarray, np.ndarray]]


@pytest.fixture(scope="module")
def sent() -> dict[tuple[str, int], int]:
    rows = messages.model({"nodes": 100_000, "publishers": 10}, 0)
    columns = [rows[name] for name in ("method", "subscribers", "messages")]
    return {(method, left): count for method, left, count in zip(*columns, strict=True)}


def test_6_1_figure_9_without_subscribers_nothing_is_sent_but_by_scribe(sent):
    """§6.1: the number of messages drops to 0; regarding Scribe, messages are forwarded even so."""
    assert sent["proposed", 0] == 0
    assert sent["Scribe", 0] > 0


def test_6_1_figure_9_about_one_digit_fewer_than_scribe(sent):
    """§6.1: with 1,000, 100 or 10 subscribers; a factor that rounds to one digit."""
    for left in (1_000, 100, 10):
        assert 10**0.5 <= sent["Scribe", left] / sent["proposed", left] <= 10**1.5


@pytest.fixture(scope="module")
def hops() -> dict[tuple[str, str], float]:
    found = {}
    for pattern in ("alpha", "delta", "epsilon", "zeta"):
        rows = paths.means({"nodes": 100_000, "pattern": pattern, "overlays": 1}, 0)
        found |= {(method, pattern): mean for method, mean in zip(rows["method"], rows["hops"], strict=True)}
    return found


def test_6_2_figure_10_small_topics_take_less_than_4_hops_and_less_than_a_quarter_of_scribes(hops):
    """§6.2, abstract: patterns δ, ε, ζ with 100,000 nodes; Scribe 16, we count its message to the root besides."""
    for pattern in ("delta", "epsilon", "zeta"):
        assert hops[paths.PROPOSED, pattern] < 4
        assert hops[paths.SCRIBE, pattern] / hops[paths.PROPOSED, pattern] > 4
        assert hops[paths.FROM_ROOT, pattern] == pytest.approx(16, abs=0.5)


def test_6_2_figure_10_pattern_alpha_is_most_similar(hops):
    ratios = {each: hops[paths.SCRIBE, each] / hops[paths.PROPOSED, each] for _, each in hops}
    assert min(ratios, key=lambda each: ratios[each]) == "alpha"


def test_6_2_figure_11_at_10000_nodes_the_two_distributions_coincide():
    rows = paths.distribution({"nodes": 10_000, "pattern": "alpha", "overlays": 4}, 0)
    curves = []
    for method in (paths.PROPOSED, paths.SCRIBE):
        which = np.asarray(rows["method"]) == method
        ways = np.asarray(rows["ways"])[which]
        curves += [np.asarray(rows["hops"])[which], np.cumsum(ways) / ways.sum()]
    assert apart(*curves) < 0.1


@pytest.fixture(scope="module")
def loaded() -> Found:
    rows = loads.model({"topics": 100, "subscribers": 1_000}, 0)
    method, role = np.asarray(rows["method"]), np.asarray(rows["role"])
    own, forwarded = np.asarray(rows["own"]), np.asarray(rows["forwarded"])
    return {
        (m, r): (own[(method == m) & (role == r)], forwarded[(method == m) & (role == r)])
        for m in (loads.PROPOSED, loads.SCRIBE)
        for r in (loads.PUBLISHER, loads.SUBSCRIBER)
    }


def test_6_3_table_3_the_proposed_methods_correlations(loaded):
    """Table 3: 1.0, and .5483 with .5426 ≤ ρ ≤ .5540."""
    assert np.corrcoef(*loaded[loads.PROPOSED, loads.PUBLISHER])[0, 1] == pytest.approx(1.0, abs=1e-12)
    assert 0.5426 <= np.corrcoef(*loaded[loads.PROPOSED, loads.SUBSCRIBER])[0, 1] <= 0.5540


def test_6_3_table_3_with_scribe_there_are_no_correlations(loaded):
    """At the 99 % level, as table 3 has it."""
    for role in (loads.PUBLISHER, loads.SUBSCRIBER):
        own, forwarded = loaded[loads.SCRIBE, role]
        low, high = interval_99(float(np.corrcoef(own, forwarded)[0, 1]), own.size)
        assert low <= 0 <= high


def test_6_3_figure_13_three_lines_and_at_most_twice_the_number_received(loaded):
    own, forwarded = loaded[loads.PROPOSED, loads.SUBSCRIBER]
    assert set((forwarded / own).tolist()) == {0.0, 1.0, 2.0}


def test_6_4_figure_14_larger_than_scribes_and_linear():
    """At 10,000 nodes and 100 topics."""
    sizes: dict[str, list[float]] = {entries.PROPOSED: [], entries.SCRIBE: []}
    for each in (2, 6, 10):
        rows = entries.averages({"nodes": 10_000, "topics": 100, "each": each}, 0)
        for method, entered, known in zip(rows["method"], rows["entries"], rows["nodes_known"], strict=True):
            sizes[method].append(entered)
            assert known < entered
    assert np.all(np.array(sizes[entries.PROPOSED]) > sizes[entries.SCRIBE])
    assert straightness([2, 6, 10], sizes[entries.PROPOSED]) > 0.999
    assert straightness([2, 6, 10], sizes[entries.SCRIBE]) > 0.98


def test_6_4_figure_15_the_distribution_of_sizes_is_nearer_to_a_line_than_scribes():
    rows = entries.sizes({"nodes": 1_000}, 0)
    share, straight = np.arange(1, 1_001) / 1_000, {}
    for method in (entries.PROPOSED, entries.SCRIBE):
        sizes = np.sort(np.asarray(rows["normalised"])[np.asarray(rows["method"]) == method])
        straight[method] = straightness(sizes, share)
    assert straight[entries.PROPOSED] > 0.97 > straight[entries.SCRIBE]


@pytest.fixture(scope="module")
def grown() -> dict[int, dict[str, dict[str, float]]]:
    found = {}
    for nodes in (512, 2_048, 8_192):
        rows = growth.model({"nodes": nodes, "members": 32, "rounds": 2, "dims": 2}, 1)
        found[nodes] = {name: dict(zip(rows["method"], rows[name], strict=True)) for name in rows if name != "method"}
    return found


def test_5_4_table_1_who_is_relay_free_and_who_strongly_so(grown):
    for each in grown.values():
        assert each["strangers"][growth.PROPOSED] == each["parted"][growth.PROPOSED] == 0
        assert each["strangers"][growth.CAN] == 0 < each["parted"][growth.CAN]
        assert min(each["strangers"][growth.SCRIBE], each["strangers"][growth.BAYEUX]) > 0


def test_5_4_table_1_paths_do_not_depend_on_the_nodes_but_for_scribe_and_bayeux(grown):
    nodes = np.array(list(grown), float)
    for method in (growth.PROPOSED, growth.CAN):
        assert abs(exponent(nodes, [each["longest"][method] for each in grown.values()])) < 0.1
    for method in (growth.SCRIBE, growth.BAYEUX):
        assert grown[8_192]["longest"][method] - grown[512]["longest"][method] > 2, "of four doublings"


def test_5_4_table_1_storage_over_its_law_does_not_grow_with_the_nodes(grown):
    nodes = np.array(list(grown), float)
    for method, law in ((growth.PROPOSED, np.log2), (growth.SCRIBE, np.log2), (growth.BAYEUX, np.log2)):
        assert exponent(nodes, [each["storage"][method] for each in grown.values()] / law(nodes)) <= 0.1
    assert abs(exponent(nodes, [each["storage"][growth.CAN] for each in grown.values()])) < 0.1
