"""SHG (paper SHG, corrected): the example of figures 2 and 3, and the two properties that routing must have."""

from collections import Counter

import pytest

from groups_bench import Meeting
from weft.core.rand import Rng
from weft.overlay.shg.geometry import distance, dominating, is_dominating, partition
from weft.overlay.shg.patterns import Predicate, pattern
from weft.sim.baselines import shg

N, K = 5, 3
NODES = range(1 << N)
WARM = pattern(Predicate("t", ">", 20))


def test_figure_2_32_nodes_in_4_partitions_of_8():
    assert sorted(Counter(partition(node, K) for node in NODES).items()) == [(0, 8), (1, 8), (2, 8), (3, 8)]


def test_figure_2_the_event_partition_is_the_8_dominating_nodes():
    """ε = {σ−1, σ0σ1σ2, σ3, σ0σ1σ2σ3, σ4, σ0σ1σ2σ4, σ3σ4, σ0σ1σ2σ3σ4}."""
    wanted = [set(), {0, 1, 2}, {3}, {0, 1, 2, 3}, {4}, {0, 1, 2, 4}, {3, 4}, {0, 1, 2, 3, 4}]
    assert sorted(sum(1 << element for element in subset) for subset in wanted) == [
        node for node in NODES if is_dominating(node, K)
    ]


def test_figure_2_8_sub_partitions_of_4():
    sizes = Counter(dominating(node, K) for node in NODES)
    assert len(sizes) == 8
    assert set(sizes.values()) == {4}


def test_definition_7_every_node_is_at_most_half_of_k_from_its_dominating_node():
    assert {distance(node, K) for node in NODES} == {0, 1}
    assert max(distance(node, 6) for node in range(1 << 9)) == 3


def test_iii_c_the_event_partition_meets_every_subscription_partition():
    """'each event partition must intersect all subscription partitions, and vice versa'."""
    assert {partition(node, K) for node in NODES if is_dominating(node, K)} == {0, 1, 2, 3}


@pytest.mark.parametrize("publisher", NODES)
def test_figure_3_an_event_reaches_each_dominating_node_once_and_each_subscriber_once(publisher):
    meeting = Meeting(shg(N, K))
    subscribers = sorted(Rng(publisher, 4).sample(NODES, 9))
    for node in subscribers:
        meeting.subscribe(node + 1, interest=WARM)
    crossed: Counter[int] = Counter()
    for machine in meeting.machines.values():
        served = machine._down

        def down(*arguments, node=machine.corner, served=served):
            crossed[node] += 1
            served(*arguments)

        machine._down = down
    received = meeting.publish(publisher + 1, {"t": 25})
    assert sorted(node - 1 for node, _ in received) == subscribers
    assert {node: count for node, count in crossed.items() if is_dominating(node, K)} == dict.fromkeys(
        (node for node in NODES if is_dominating(node, K)), 1
    )
    assert meeting.sent()["Across"] == 7


def test_iv_a_a_second_subscription_of_the_same_sub_partition_stops_where_the_pattern_is_known():
    meeting = Meeting(shg(8, 6))
    meeting.subscribe(0b111 + 1, interest=WARM)
    first = meeting.sent()["Subscribe"]
    meeting.subscribe(0b011000 + 1, interest=WARM)
    assert (first, meeting.sent()["Subscribe"] - first) == (3, 2)
    meeting.subscribe(0b011100 + 1, interest=WARM)
    assert meeting.sent()["Subscribe"] - first == 3, "it meets the path of 011000, and goes no further"


def test_iv_a_a_subscription_on_another_sub_partition_propagates_independently():
    meeting = Meeting(shg(N, K))
    meeting.subscribe(0b00001 + 1, interest=WARM)
    meeting.subscribe(0b00110 + 1, interest=WARM)
    known = [node - 1 for node, machine in meeting.machines.items() if WARM in machine.table]
    assert known == [0b00000, 0b00001, 0b00110, 0b00111]


def test_iv_b_without_a_match_an_event_stays_in_the_event_partition():
    meeting = Meeting(shg(N, K))
    meeting.subscribe(0b00001 + 1, interest=WARM)
    before = meeting.sent()
    assert meeting.publish(0b11000 + 1, {"t": 15}) == []
    assert meeting.sent() - before == {"Across": 7}


def test_iv_as_printed_it_costs_more_and_loses_events():
    """The procedures as they stand, in the same setting: more messages, doubled deliveries, and missed ones."""
    corrected, literal = Meeting(shg(N, K)), Meeting(shg(N, K, "literal"))
    doubled = missed = 0
    for meeting in (corrected, literal):
        for node in range(0, 32, 3):
            meeting.subscribe(node + 1, interest=WARM)
    subscriptions = corrected.sent()["Subscribe"], literal.sent()["Subscribe"]
    for publisher in NODES:
        assert len(corrected.publish(publisher + 1, {"t": 25})) == 11
        received = Counter(node for node, _ in literal.publish(publisher + 1, {"t": 25}))
        doubled += sum(received.values()) - len(received)
        missed += 11 - len(received)
    assert subscriptions[0] < subscriptions[1]
    assert corrected.sent().total() < literal.sent().total()
    assert doubled > 0
    assert missed > 0
