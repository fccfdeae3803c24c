"""Publishing through a root, on both trees."""

import pytest

from groups_bench import TREES, Meeting, refused, told
from weft.core.errors import Misuse
from weft.core.ids import NodeId
from weft.overlay.groups import Publication
from weft.overlay.rendezvous import machine as module
from weft.overlay.rendezvous.messages import Data, Post, Rooted
from weft.sim.baselines import hypercube, over


@pytest.fixture(params=list(TREES))
def kind(request) -> str:
    return request.param


def post(topic: str = "t", hops: int = 1) -> Post:
    return Post(Publication(topic, b"x", NodeId(9), 1), hops, False, None)


def test_the_first_publication_seeks_the_root_and_the_second_takes_one_message(kind):
    meeting = Meeting.trees(kind, 60, seed=3)
    (root,) = {node for node in meeting.machines if meeting.publish(int(node), "t") or meeting.machines[node].owned}
    publisher = next(node for node in meeting.machines if node != root)
    before = meeting.sent()
    meeting.publish(publisher)
    assert meeting.sent() - before == {"Post": 1}, "to the root, although nobody subscribes"
    assert meeting.machines[publisher].roots == {"t": root}
    before = meeting.sent()
    meeting.publish(root)
    assert meeting.sent() == before, "the root needs none"


def test_who_is_taken_for_the_root_and_is_not_hands_it_on_and_the_publisher_learns_better(kind):
    meeting = Meeting.trees(kind, 40, seed=1)
    meeting.subscribe(5, 9)
    meeting.publish(20)
    root = meeting.machines[NodeId(20)].roots["t"]
    meeting.machines[NodeId(20)].roots["t"] = NodeId(next(n for n in meeting.machines if n not in (root, 20)))
    assert sorted(node for node, _ in meeting.publish(20)) == [5, 9]
    assert meeting.machines[NodeId(20)].roots["t"] == root


def test_it_runs_over_a_hypercube_too(kind):
    meeting = Meeting(over(hypercube(6), TREES[kind]))
    meeting.subscribe(1, 7, 33, 64, 50)
    received = meeting.publish(12)
    assert sorted(node for node, _ in received) == [1, 7, 33, 50, 64]
    assert all(event.hops - event.relay <= 6 for _, event in received)
    assert meeting.counts() == {}


def test_several_topics_do_not_meet(kind):
    meeting = Meeting.trees(kind, 40, seed=2)
    meeting.subscribe(3, 4, interest="a")
    meeting.subscribe(4, 5, interest="b")
    assert sorted(node for node, _ in meeting.publish(1, "a")) == [3, 4]
    assert sorted(node for node, _ in meeting.publish(1, "b")) == [4, 5]
    assert meeting.publish(1, "c") == []


def test_what_a_caller_does_wrong_is_said_at_once(kind):
    machine = Meeting.trees(kind, 3).machines[NodeId(1)]
    out = told(machine, 1, post())
    for wrong in ("", "x" * 70_000):
        for verb in (machine.subscribe, lambda now, topic, out: machine.publish(now, topic, b"", out)):
            with pytest.raises(Misuse, match="bytes"):
                verb(0.0, wrong, out)
    with pytest.raises(Misuse, match="not subscribed"):
        machine.unsubscribe(0.0, "u", out)
    machine.subscribe(0.0, "u", out)
    with pytest.raises(Misuse, match="already"):
        machine.subscribe(0.0, "u", out)


def test_what_a_peer_does_wrong_is_counted(kind):
    machine = Meeting.trees(kind, 30).machines[NodeId(1)]
    publication = Publication("t", b"x", NodeId(9), 1)
    for message in (
        post(""),
        post(hops=0),
        post(hops=1 << 20),
        Rooted("t"),
        Data(publication, 1, 0),
        Data(publication, 0, 0),
        Data(publication, 1, -1),
    ):
        assert refused(machine, 9, message), message


def test_roots_that_a_publisher_remembers_are_bounded(kind, monkeypatch):
    monkeypatch.setattr(module, "ROOTS_MAX", 2)
    meeting = Meeting.trees(kind, 30)
    for topic in "abcd":
        meeting.publish(1, topic)
    assert list(meeting.machines[NodeId(1)].roots) == ["c", "d"]
