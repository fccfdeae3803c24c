"""Joining and leaving: the zones tile the space, and everybody knows its neighbours."""

import pytest

from groups_bench import Meeting, refused
from weft.core.ids import NodeId
from weft.core.rand import Rng
from weft.overlay.can.geometry import SIDE
from weft.overlay.can.messages import (
    Find,
    Gone,
    Introduced,
    Join,
    Moved,
    Place,
    Vacate,
    Welcome,
    Withdraw,
    Zone,
)
from weft.sim.baselines import can


def whole(meeting: Meeting, name: str) -> None:
    """Check the CAN ``name``."""
    members = {node: m.members[name] for node, m in meeting.machines.items() if name in m.members}
    assert all(member.zone is not None for member in members.values())
    zones = {node: member.zone for node, member in members.items()}
    dims = len(next(iter(zones.values())).low) if zones else 0
    assert not zones or sum(2.0**-zone.depth for zone in zones.values()) == 1.0
    for node, member in members.items():
        member.zone.check(dims)
        around = {other for other in zones if other != node and Place(other, zones[other], 0).sides(member.zone)}
        assert set(member.neighbours) == around
        assert all(place.zone == zones[other] for other, place in member.neighbours.items())


@pytest.mark.parametrize("dims", [1, 2, 3])
@pytest.mark.parametrize("seed", range(3))
def test_joins_and_leaves_one_after_the_other(dims, seed):
    meeting = Meeting.cans(40, dims, seed)
    whole(meeting, "")
    rng, inside = Rng(seed, 5), []
    for step in range(60):
        node = rng.below(40) + 1
        if node in inside:
            meeting.unsubscribe(node)
            inside.remove(node)
        else:
            meeting.subscribe(node)
            inside.append(node)
        whole(meeting, "t")
        if inside:
            assert sorted(n for n, _ in meeting.publish(rng.choice(inside), payload=step)) == sorted(inside)
    for node in inside:
        meeting.unsubscribe(node)
    assert all("t" not in machine.members for machine in meeting.machines.values())
    assert sum(len(machine.upkeep.introducers) for machine in meeting.machines.values()) == 0
    assert set(meeting.counts()) <= {"can.copy", "can.late"}


def test_the_introducer_is_kept_where_the_topics_hash_says_and_moves_with_the_zone():
    meeting = Meeting(can(30, 2, 1))
    meeting.simulation.do(NodeId(1), lambda m, now, out: m.enter(now, None, out))
    meeting.settle()
    for topic in "abcdefgh":
        meeting.subscribe(1, interest=topic)
    for node in range(2, 31):
        meeting.simulation.do(NodeId(node), lambda m, now, out: m.enter(now, NodeId(1), out))
        meeting.settle()
    for machine in meeting.machines.values():
        for topic, introducer in machine.upkeep.introducers.items():
            assert introducer == 1
            assert machine.members[""].zone.holds(machine.upkeep.point(topic))
    assert sum(len(machine.upkeep.introducers) for machine in meeting.machines.values()) == 8
    meeting.subscribe(9, interest="a")
    meeting.unsubscribe(1, interest="a")
    meeting.subscribe(20, interest="a")
    assert [node for node, _ in meeting.publish(9, "a")] == [9, 20]


def test_bad_messages_are_counted():
    meeting = Meeting.cans(12, 2, 3)
    meeting.subscribe(4, 5, 6, 7)
    machine = meeting.machines[NodeId(5)]
    zone = machine.members["t"].zone
    outside = Zone((0, 0), (SIDE, SIDE), 5)
    here = (zone.low[0], zone.low[1])
    for message in (
        Find("", NodeId(9), 1),
        Find("t", NodeId(9), 0),
        Introduced("t", None),
        Introduced("u", NodeId(3)),
        Withdraw("", NodeId(9), None, 1),
        Withdraw("t", NodeId(9), None, 0),
        Join("t", (0,), NodeId(9), 1),
        Join("t", (0, SIDE), NodeId(9), 1),
        Join("t", here, NodeId(9), 0),
        Join("t", here, NodeId(5), 1),
        Join("u", here, NodeId(9), 1),
        Welcome("t", zone, (), {}),
        Welcome("u", zone, (), {}),
        Moved("t", Place(NodeId(9), outside, 0)),
        Moved("t", Place(NodeId(5), zone, 0)),
        Vacate("t", Place(NodeId(9), Zone.whole(2), 0), (), 1),
        Vacate("t", Place(NodeId(9), outside, 0), (), 1),
        Vacate("t", Place(NodeId(9), zone, 0), (Place(NodeId(9), outside, 0),), 1),
        Vacate("t", Place(NodeId(9), zone, 0), (), 1_000),
        Vacate("u", Place(NodeId(9), zone, 0), (), 1),
    ):
        assert refused(machine, 9, message), message
    whole(meeting, "t")


def test_news_of_a_can_that_we_have_left_is_late_and_no_violation():
    meeting = Meeting.cans(5, 2, 3)
    machine = meeting.machines[NodeId(2)]
    assert not refused(machine, 3, Moved("t", Place(NodeId(3), Zone.whole(2), 0)))
    assert not refused(machine, 3, Gone("t", NodeId(3), 0))
    assert machine.local.counts == {"can.late": 1}
