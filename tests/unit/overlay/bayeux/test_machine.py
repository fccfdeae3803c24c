"""Joins to the root, trees down the forward path."""

import pytest

from groups_bench import Meeting, refused, told, vectors
from weft.core.ids import NodeId
from weft.core.rand import Rng
from weft.overlay.bayeux.geometry import hops, ways
from weft.overlay.bayeux.messages import Join, Leave, Prune, Tree
from weft.overlay.groups import Publication
from weft.overlay.rendezvous.geometry import shared
from weft.overlay.rendezvous.messages import Data
from weft.sim.baselines import rings


def root_of(meeting: Meeting) -> NodeId:
    (root,) = [node for node, machine in meeting.machines.items() if machine.owned]
    return root


def table_of(meeting: Meeting) -> dict[NodeId, dict[NodeId, None]]:
    return {
        node: dict.fromkeys(machine.branches["t"].targets())
        for node, machine in meeting.machines.items()
        if "t" in machine.branches and machine.branches["t"].members
    }


@pytest.mark.parametrize("seed", range(20))
def test_whoever_joins_and_leaves_the_tables_are_the_ways_to_the_members(seed):
    rng, nodes = Rng(seed), 2 + seed * 5
    ids, levels = vectors(nodes, seed), rings(vectors(nodes, seed))
    meeting = Meeting.trees("bayeux", nodes, seed)
    chosen = rng.sample(range(1, nodes + 1), min(nodes, 12))

    def onward(at: NodeId, member: NodeId) -> NodeId:
        return NodeId(levels[at - 1][shared(ids[at - 1], ids[member - 1], 48)] + 1)

    for count, node in enumerate(chosen, 1):
        meeting.subscribe(node)
        wanted = ways(map(NodeId, chosen[:count]), root_of(meeting), onward)
        assert table_of(meeting) == wanted
        before = meeting.sent()
        received = meeting.publish(root_of(meeting))
        assert meeting.sent() - before == ({"Data": edges} if (edges := sum(map(len, wanted.values()))) else {})
        assert {node: event.hops for node, event in received} == {
            node: hops(root_of(meeting), wanted)[NodeId(node)] for node in chosen[:count]
        }
    for node in chosen:
        meeting.unsubscribe(node)
    assert [node for node, machine in meeting.machines.items() if machine.branches] == []
    assert set(meeting.counts()) <= {"bayeux.copy"}


def test_every_join_reaches_the_root_and_is_answered():
    meeting = Meeting.trees("bayeux", 100, seed=3)
    meeting.subscribe(1)
    root = root_of(meeting)
    for node in range(10, 30):
        if node != root:
            before = meeting.sent()
            meeting.subscribe(node)
            cost = meeting.sent() - before
            assert cost["Join"] > 0
            assert cost["Tree"] > 0


def test_a_copy_is_dropped_and_counted():
    machine = Meeting.trees("bayeux", 30, seed=1).machines[NodeId(7)]
    machine.subscribed.add("t")
    told(machine, 9, Tree("t", NodeId(7), machine.route.identity, 1, None))
    data = Data(Publication("t", b"x", NodeId(3), 1), 2, 1)
    assert len(told(machine, 9, data).effects) == 1
    assert told(machine, 9, data).effects == []
    assert machine.local.counts == {"bayeux.copy": 1}


def test_bad_messages_are_counted():
    machine = Meeting.trees("bayeux", 30, seed=1).machines[NodeId(7)]
    for message in (
        Join("", NodeId(9), 0, 1, None),
        Join("t", NodeId(9), 1 << 48, 1, None),
        Join("t", NodeId(9), 0, 0, None),
        Tree("t", NodeId(9), -1, 1, None),
        Tree("t", NodeId(9), machine.route.identity, 1, None),
        Leave("", NodeId(9), 1, None),
        Prune("t", NodeId(9), 1),
        Prune("t", NodeId(9), -1),
    ):
        assert refused(machine, 9, message), message
    assert machine.branches == {}


def test_a_prune_from_elsewhere_is_counted():
    machine = Meeting.trees("bayeux", 30, seed=1).machines[NodeId(7)]
    told(machine, 9, Tree("t", NodeId(7), machine.route.identity, 1, None))
    assert refused(machine, 8, Prune("t", NodeId(7), 1))
    told(machine, 9, Prune("t", NodeId(7), 1))
    assert machine.branches == {}
