"""The front door: verbs, what arrives, and what is not believed."""

import pytest

from fake_overlay import FakeOverlay
from pubsub_bench import QUIET, Bench
from weft.core.errors import Misuse
from weft.core.ids import NodeId
from weft.core.machine import Deliver, Outbox
from weft.overlay.api import Joined, Received
from weft.overlay.keys import ALM, PUB, topic_key
from weft.pubsub.engine import Arrived, Engine
from weft.pubsub.messages import Publication, Signal
from weft.pubsub.settings import Settings

US, PEER = NodeId(5), NodeId(6)


class Stand:
    """An engine whose home and whose subscription to ``a`` are in."""

    def __init__(self) -> None:
        self.overlay, self.out = FakeOverlay(), Outbox()
        self.engine = Engine(US, self.overlay)
        self.key = topic_key("a", ALM, US)
        self.engine.start(0.0, (), self.out)
        self.hear(Joined(self.engine.nodes.home, b""))
        self.engine.subscribe(0.0, "a", self.out)
        self.hear(Joined(self.key, b""))

    def hear(self, *events) -> None:
        self.overlay.says = list(events)
        self.engine.port.timeout(0.0, self.out)

    def arrived(self) -> list:
        return [effect.event for effect in self.out.effects if isinstance(effect, Deliver)]


def received(payload, key, origin=PEER, token=None) -> Received:
    return Received(token, key, payload, origin, 2)


def test_a_publication_arrives():
    stand = Stand()
    stand.hear(received(Publication("a", b"x", True, 1), stand.key))
    assert stand.arrived() == [Arrived("a", b"x", PEER, 2)]


def test_our_own_does_not_come_back():
    stand = Stand()
    stand.hear(received(Publication("a", b"x", True, 1), stand.key, US))
    assert stand.arrived() == []
    assert stand.engine.counts["violation"] == 0


def test_who_wants_an_answer_gets_none_but_is_not_left_waiting():
    stand = Stand()
    stand.hear(received(Publication("a", b"x", True, 1), stand.key, token=9))
    assert ("reply", 9, None) in stand.overlay.calls


def test_after_the_last_unsubscribe_nothing_arrives():
    stand = Stand()
    stand.engine.unsubscribe(0.0, "a", stand.out)
    stand.hear(received(Publication("a", b"x", True, 1), stand.key))
    assert stand.arrived() == []


@pytest.mark.parametrize(
    "event",
    [
        received(Publication("b", b"x", True, 1), topic_key("a", ALM, US)),
        received("hello", topic_key("a", ALM, US)),
        received(Signal(("L", "a"), 1), topic_key("a", ALM, US)),
        received(Signal(("L", "b"), 1), topic_key("a", PUB, US)),
        received(Signal(("L", "a"), 9), topic_key("a", PUB, US)),
        received(Publication("a", b"x", True, 1), topic_key("a", PUB, US)),
    ],
)
def test_what_does_not_belong_there_is_counted_and_goes_no_further(event):
    stand = Stand()
    stand.hear(event)
    assert stand.arrived() == []
    assert stand.engine.counts["violation"] == 1


def test_before_it_is_in_the_overlay_it_reaches_nobody():
    engine = Engine(US, FakeOverlay())
    assert not engine.publish(0.0, "a", b"x", Outbox())
    assert engine.counts["publish.alone"] == 1


@pytest.mark.parametrize("topic", ["a/+", "#", "a/#"])
def test_a_filter_is_no_topic(topic):
    stand = Stand()
    with pytest.raises(Misuse, match="wildcards"):
        stand.engine.publish(0.0, topic, b"", stand.out)


def test_what_several_filters_match_arrives_once():
    stand = Stand()
    stand.engine.subscribe(0.0, "+", stand.out)
    wild = topic_key("+", ALM, US)
    stand.hear(Joined(wild, b""))
    for number in (1, 2):
        for key in (stand.key, wild):
            stand.hear(received(Publication("a", b"x", True, number), key))
    assert len(stand.arrived()) == 2


def test_a_filter_with_wildcards_has_its_two_nodes_or_none():
    full = Engine(US, FakeOverlay(), settings=Settings(subscriptions_max=2))
    out = Outbox()
    full.start(0.0, (), out)
    with pytest.raises(Misuse, match="more than 2"):
        full.subscribe(0.0, "+", out)
    assert full.nodes.held == [full.nodes.home]
    full.subscribe(0.0, "a", out)


def test_nobody_subscribes_to_the_publishers():
    stand = Stand()
    with pytest.raises(Misuse, match="pub segment"):
        stand.engine.subscribe(0.0, "a", stand.out, PUB)


def test_the_deadline_is_the_nearer_of_both():
    stand = Stand()
    engine, overlay = stand.engine, stand.overlay
    assert engine.deadline is None
    overlay.deadline = 3.0
    assert engine.deadline == 3.0
    engine.publish(0.0, "other", b"", stand.out)
    assert engine.deadline == 3.0
    overlay.deadline = None
    assert engine.deadline == Settings().idle_s
    engine.timeout(Settings().idle_s, stand.out)
    assert engine.deadline is None


@pytest.mark.parametrize("overlay", ["suzaku", "skipgraph"])
@pytest.mark.parametrize("publisher", [1, 5, 8])
def test_a_publication_crosses_to_each_other_cluster_once(overlay, publisher):
    """Cluster-first: with k clusters that hold subscribers, k − 1 messages between clusters, from a member of one."""
    bench = Bench(overlay, 12, quick=QUIET, clusters=4)
    bench.publishers(publisher)
    bench.subscribe(*(number for number in range(1, 13) if number % 4 != 2))
    body, sent = bench.way(publisher)
    assert bench.arrived[body] == {number: 1 for number in range(1, 13) if number % 4 != 2 and number != publisher}
    assert sum(source % 4 != to % 4 for source, to in sent) == 3 - 1
    assert len(sent) == 9 - 1


def test_a_broker_that_stops_is_out():
    bench = Bench("suzaku", 4, quick=QUIET)
    bench.subscribe(2)
    bench.publishers(3)
    for number in (2, 3):
        bench.do(number, lambda engine, now, out: engine.stop(now, out))
    bench.wait()
    assert [bench.engine(number).is_out for number in (1, 2, 3, 4)] == [False, True, True, False]
    assert bench.segment() == bench.segment(ALM) == []
