"""Publishing and flooding in a topic's CAN."""

import pytest

from groups_bench import Meeting, refused, told
from weft.core.errors import Misuse
from weft.core.ids import NodeId
from weft.core.machine import Outbox
from weft.core.rand import Rng
from weft.overlay.can import machine as module
from weft.overlay.can.machine import Can
from weft.overlay.can.messages import Flood
from weft.overlay.groups import Publication


@pytest.mark.parametrize("again", [False, True])
@pytest.mark.parametrize("dims", [1, 2, 4])
def test_everybody_in_the_topic_gets_it_once_and_nobody_else_sees_it(dims, again):
    meeting = Meeting.cans(60, dims, 7, again=again)
    inside = sorted(Rng(dims).sample(range(1, 61), 25))
    meeting.subscribe(*inside)
    for publisher in inside[:8]:
        received = meeting.publish(publisher)
        assert sorted(node for node, _ in received) == inside
        assert {event.relay for _, event in received} == {0}
    assert [node for node, machine in meeting.machines.items() if "t" in machine.members] == inside
    assert set(meeting.counts()) <= {"can.copy"}


def test_who_publishes_joins_the_topic_first_and_its_publications_wait():
    meeting = Meeting.cans(20, 2, 1)
    meeting.subscribe(3, 4)
    assert [node for node, _ in meeting.publish(9)] == [3, 4]
    assert "t" in meeting.machines[NodeId(9)].members
    assert meeting.publish(3)[0][0] == 3, "a publisher that subscribes hears itself"
    meeting.simulation.do(NodeId(9), lambda m, now, out: m.retire(now, "t", out))
    meeting.settle()
    assert "t" not in meeting.machines[NodeId(9)].members
    assert sorted(node for node, _ in meeting.publish(4)) == [3, 4]


def test_publishers_alone_flood_each_other():
    """RELAY §3.2: 'each publisher is forced to continue to flood messages as long as there are other publishers'."""
    meeting = Meeting.cans(20, 2, 1)
    meeting.publish(2)
    meeting.publish(3)
    before = meeting.sent()
    assert meeting.publish(2) == []
    assert (meeting.sent() - before)["Flood"] == 1


def test_what_a_caller_does_wrong_is_said_at_once(monkeypatch):
    node, out = Can(NodeId(1)), Outbox()
    for verb in (node.subscribe, lambda now, topic, out: node.publish(now, topic, b"", out)):
        with pytest.raises(Misuse, match="entered"):
            verb(0.0, "t", out)
    node.enter(0.0, None, out)
    with pytest.raises(Misuse, match="entered already"):
        node.enter(0.0, NodeId(2), out)
    node.subscribe(0.0, "t", out)
    for call, text in (
        (lambda: node.subscribe(0.0, "t", out), "already"),
        (lambda: node.subscribe(0.0, "", out), "bytes"),
        (lambda: node.unsubscribe(0.0, "u", out), "not subscribed"),
        (lambda: node.retire(0.0, "t", out), "only publish"),
        (lambda: node.retire(0.0, "", out), "only publish"),
        (lambda: Can(NodeId(1), 0), "dimensions"),
        (lambda: Can(NodeId(1), 9), "dimensions"),
    ):
        with pytest.raises(Misuse, match=text):
            call()
    monkeypatch.setattr(module, "WAITING_MAX", 1)
    other = Can(NodeId(2))
    other.enter(0.0, None, out)
    other.members["t"] = type(node.members["t"])()
    other.publish(0.0, "t", b"", out)
    with pytest.raises(Misuse, match="wait"):
        other.publish(0.0, "t", b"", out)


def test_bad_floods_are_counted():
    machine = Meeting.cans(8, 2, 3).machines[NodeId(1)]
    machine.subscribe(0.0, "t", Outbox())
    publication = Publication("t", b"x", NodeId(9), 1)
    for message in (
        Flood(publication, (0,), 0, 1),
        Flood(publication, (0, -1), 0, 1),
        Flood(publication, (0, 0), 4, 1),
        Flood(publication, (0, 0), -1, 1),
        Flood(publication, (0, 0), 0, 0),
        Flood(Publication("u", b"x", NodeId(9), 1), (0, 0), 0, 1),
        Flood(Publication("", b"x", NodeId(9), 1), (0, 0), 0, 1),
    ):
        assert refused(machine, 9, message), message


def test_a_copy_is_dropped_and_counted():
    meeting = Meeting.cans(8, 2, 3)
    meeting.subscribe(1)
    machine, flood = meeting.machines[NodeId(1)], Flood(Publication("t", b"x", NodeId(9), 1), (0, 0), 0, 1)
    assert len(told(machine, 9, flood).effects) == 1
    assert told(machine, 9, flood).effects == []
    assert machine.local.counts["can.copy"] == 1
