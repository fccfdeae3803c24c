"""Joins, leaves, the surplus of a ring, on converged rings and on a live Skip Graph."""

import pytest

from groups_bench import Meeting, refused, told, vectors
from weft.core.ids import NodeId
from weft.core.machine import Send
from weft.core.rand import Rng
from weft.overlay.rendezvous.geometry import identity, shared
from weft.overlay.rendezvous.messages import Walk
from weft.overlay.scribe import machine as module
from weft.overlay.scribe.geometry import tree
from weft.overlay.scribe.messages import Beat, Join, Leave
from weft.sim.baselines import rings


def root_of(meeting: Meeting) -> NodeId:
    (root,) = [node for node, machine in meeting.machines.items() if machine.owned]
    return root


def static(meeting: Meeting, nodes: int, seed: int) -> dict[NodeId, NodeId]:
    """The tree that the subscribers should have."""
    ids, levels, target = vectors(nodes, seed), rings(vectors(nodes, seed)), identity("t", 48)
    return tree(
        [node for node, machine in meeting.machines.items() if "t" in machine.subscribed],
        root_of(meeting),
        lambda node: NodeId(levels[node - 1][shared(ids[node - 1], target, 48)] + 1),
    )


def grown(meeting: Meeting) -> dict[NodeId, NodeId]:
    """The tree that they have; what children say must agree with what parents say."""
    parents = {
        node: machine.branches["t"].parent
        for node, machine in meeting.machines.items()
        if "t" in machine.branches and "t" not in machine.owned
    }
    held = {
        child: node
        for node, machine in meeting.machines.items()
        if "t" in machine.branches
        for child in machine.branches["t"].children
    }
    assert held == parents
    return parents


@pytest.mark.parametrize("seed", range(25))
def test_whoever_joins_and_leaves_the_tree_is_the_union_of_the_ways_to_the_root(seed):
    rng, nodes = Rng(seed), 2 + seed * 5
    meeting = Meeting.trees("scribe", nodes, seed)
    chosen = rng.sample(range(1, nodes + 1), min(nodes, 12))
    for node in chosen:
        meeting.subscribe(node)
        assert grown(meeting) == static(meeting, nodes, seed)
    for node in chosen:
        assert sorted(n for n, _ in meeting.publish(rng.below(nodes) + 1)) == sorted(
            n for n, machine in meeting.machines.items() if machine.subscribed
        )
        meeting.unsubscribe(node)
        assert grown(meeting) == static(meeting, nodes, seed)
    assert [node for node, machine in meeting.machines.items() if machine.branches] == [root_of(meeting)]
    assert meeting.counts() == {}


def test_a_join_stops_at_the_first_forwarder():
    meeting = Meeting.trees("scribe", 200, seed=4)
    meeting.subscribe(1, 2, 3)
    for node in range(10, 60):
        grown_before, joins = grown(meeting), meeting.sent()["Join"]
        meeting.subscribe(node)
        assert meeting.sent()["Join"] - joins == len(grown(meeting)) - len(grown_before)


def test_the_surplus_of_a_ring_that_wraps_leaves_again():
    leaves = 0
    for seed in range(40):
        meeting = Meeting.trees("scribe", 50, seed)
        meeting.subscribe(seed + 1)
        leaves += meeting.sent()["Leave"]
        assert grown(meeting) == static(meeting, 50, seed)
    assert leaves > 0


def test_a_forwarder_subscribes_and_unsubscribes_without_a_message():
    meeting = Meeting.trees("scribe", 200, seed=4)
    meeting.subscribe(1)
    forwarder = next(parent for parent in grown(meeting).values() if parent != root_of(meeting))
    before = meeting.sent()
    meeting.subscribe(forwarder)
    assert sorted(node for node, _ in meeting.publish(root_of(meeting))) == sorted([1, forwarder])
    meeting.unsubscribe(forwarder)
    assert set(meeting.sent() - before) == {"Data"}


def test_joins_all_at_once_make_the_same_tree():
    one, other = Meeting.trees("scribe", 150, seed=6), Meeting.trees("scribe", 150, seed=6)
    other.subscribe(77)
    one.subscribe(77)
    one.subscribe(*range(1, 60))
    other.subscribe(*range(1, 60), settle=False)
    assert grown(one) == grown(other)


def test_bad_messages_are_counted():
    machine = Meeting.trees("scribe", 30, seed=1).machines[NodeId(7)]
    for message in (
        Join("", 1, None),
        Join("t", 0, None),
        Join("t", 1, Walk(47, NodeId(1), NodeId(1), 0)),
        Leave("t"),
        Leave(""),
        Beat("t"),
        Beat(""),
    ):
        assert refused(machine, 9, message), message
    assert "t" not in machine.owned


def test_a_leave_of_somebody_elses_child_is_counted():
    machine = Meeting.trees("scribe", 30, seed=1).machines[NodeId(7)]
    told(machine, 9, Join("t", 1, None))
    assert refused(machine, 8, Leave("t"))
    assert [type(e) for e in told(machine, 9, Leave("t")).effects] in ([], [Send])


def test_children_are_bounded(monkeypatch):
    monkeypatch.setattr(module, "CHILDREN_MAX", 2)
    machine = Meeting.trees("scribe", 30, seed=1).machines[NodeId(7)]
    for child in (1, 2, 2):
        told(machine, child, Join("t", 1, None))
    assert refused(machine, 3, Join("t", 1, None))
