"""RELAY §3.1 and §6 about Scribe and Bayeux: how the trees come to be, and what is wrong with them."""

from statistics import fmean

import pytest

from groups_bench import TREES, Meeting
from weft.core.ids import NodeId
from weft.core.rand import Rng


def parents(meeting: Meeting) -> dict[int, int]:
    return {
        node: machine.branches["t"].parent
        for node, machine in meeting.machines.items()
        if "t" in machine.branches and machine.branches["t"].parent is not None
    }


def test_3_1_in_scribe_a_join_goes_on_only_if_who_receives_it_was_no_forwarder():
    meeting = Meeting.trees("scribe", 300, seed=1)
    meeting.subscribe(*range(1, 40))
    before, forwarders = meeting.sent()["Join"], set(parents(meeting))
    newcomer = next(node for node in range(100, 300) if node not in forwarders)
    meeting.subscribe(newcomer)
    made = set(parents(meeting)) - forwarders
    assert meeting.sent()["Join"] - before == len(made), (
        "one to the first forwarder, and one from each new one before it"
    )
    assert newcomer in made


def test_3_1_in_bayeux_a_join_goes_to_the_root_and_who_hands_it_on_registers_nothing():
    meeting = Meeting.trees("bayeux", 300, seed=1)
    meeting.subscribe(*range(1, 40))
    tables = {node: dict(m.branches["t"].members) for node, m in meeting.machines.items() if "t" in m.branches}
    meeting.subscribe(200)
    way = [node for node, m in meeting.machines.items() if "t" in m.branches and 200 in m.branches["t"].members]
    assert meeting.sent()["Tree"] == sum(map(len, tables.values())) + len(way), "one Tree for each registration"
    assert any("t" in meeting.machines[node].owned for node in way)


@pytest.mark.parametrize("kind", list(TREES))
def test_3_2_publishers_cannot_notice_that_nobody_subscribes(kind):
    """§6.1, figure 9: 'messages are forwarded even if the number of subscribers is 0'."""
    meeting = Meeting.trees(kind, 200, seed=2)
    meeting.publish(5)
    for _ in range(3):
        before = meeting.sent()
        meeting.publish(5)
        assert (meeting.sent() - before).total() == 1


@pytest.mark.parametrize("kind", list(TREES))
def test_3_2_the_path_is_as_long_for_few_subscribers_as_for_many(kind):
    """§6.2, figure 10 (b): it depends on N alone."""
    few, many = [], []
    for seed in range(12):
        for count, lengths in ((3, few), (100, many)):
            meeting = Meeting.trees(kind, 500, seed)
            meeting.subscribe(*Rng(seed, 3).sample(range(1, 501), count))
            lengths += [event.hops for _, event in meeting.publish(500)]
    assert abs(fmean(few) - fmean(many)) < 1.5


def test_6_2_scribes_paths_grow_by_one_hop_when_the_nodes_double():
    """16 hops at 100,000 nodes: log2 N, as each digit takes one step to the right on average."""
    means = []
    for nodes in (64, 256, 1024):
        lengths = []
        for seed in range(8):
            meeting = Meeting.trees("scribe", nodes, seed)
            meeting.subscribe(*Rng(seed, 3).sample(range(1, nodes + 1), 40))
            meeting.publish(1)
            lengths += [event.hops - event.relay for _, event in meeting.publish(1)]
        means.append(fmean(lengths))
    assert means[1] - means[0] == pytest.approx(2.0, abs=0.8)
    assert means[2] - means[1] == pytest.approx(2.0, abs=0.8)


def test_5_4_forwarders_store_what_others_subscribe():
    """'the joining of a subscriber forces intermediate nodes to take responsibility of the storage cost'."""
    meeting = Meeting.trees("scribe", 300, seed=3)
    meeting.subscribe(1, 2)
    burdened = [n for n, m in meeting.machines.items() if m.branches and not m.subscribed and not m.owned]
    assert burdened
    assert NodeId(1) not in burdened


def test_6_1_publisher_to_root_is_one_message_and_is_told_apart():
    meeting = Meeting.trees("scribe", 300, seed=4)
    meeting.subscribe(*range(1, 20))
    sought = meeting.publish(250)
    cached = meeting.publish(250)
    assert {event.relay for _, event in cached} == {1}
    assert {event.relay for _, event in sought} != {1}
    assert [(n, e.hops - e.relay) for n, e in sought] == [(n, e.hops - e.relay) for n, e in cached]
