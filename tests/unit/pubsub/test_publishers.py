"""A publisher comes in when it repeats itself and leaves when it is silent; what peers tell it is checked."""

import pytest

from pubsub_bench import CALM, QUIET, Bench
from weft.core.ids import NodeId
from weft.overlay.keys import ALM, OFM, PUB, share, topic_key
from weft.pubsub.boundary import LISTENING, NOBODY
from weft.pubsub.messages import Compare, Compared, Report, Signal
from weft.pubsub.settings import Settings

PLACE = ("L", "t")


def bench(count: int = 6, **settings) -> Bench:
    rest = {"idle_s": CALM.idle_s, "check_s": CALM.check_s, "check_first_s": CALM.check_first_s}
    return Bench("suzaku", count, Settings(**{**rest, **settings}), QUIET)


def test_the_first_publication_is_sent_from_outside_at_once():
    it = bench(join_after=2)
    it.subscribe(2, 5)
    body = it.publish(3)
    assert it.segment() == []
    it.wait(0.5)
    assert it.arrived[body] == {2: 1, 5: 1}
    it.wait()
    assert it.segment() == []


def test_who_repeats_itself_joins_and_no_publication_waits_for_that():
    it = bench(join_after=2)
    it.subscribe(2)
    bodies = [it.publish(3) for _ in range(4)]
    it.wait()
    assert [it.arrived[body] for body in bodies] == [{2: 1}] * 4
    assert [key.broker for key in it.segment()] == [3]


def test_who_is_silent_leaves():
    it = bench(join_after=1, idle_s=20.0)
    it.publishers(3)
    it.wait(12.0)
    it.publish(3)
    it.wait(12.0)
    assert [key.broker for key in it.segment()] == [3], "it was not silent for long enough"
    it.wait(12.0)
    assert it.segment() == []
    assert it.engine(3).publishers.topics == {}


def test_who_never_joined_is_forgotten():
    it = bench(join_after=2, idle_s=20.0)
    it.publish(3)
    assert PLACE in it.engine(3).publishers.topics
    it.wait(25.0)
    assert it.engine(3).publishers.topics == {}


def test_past_the_bound_publications_go_from_outside():
    it = bench(join_after=1, publishers_max=1)
    it.subscribe(2)
    it.publishers(3, topic="other")
    for _ in range(3):
        body = it.publish(3)
        it.wait()
        assert it.arrived[body] == {2: 1}
    assert it.segment() == []
    assert it.engine(3).counts["publishers.full"] == 3


def test_a_broker_that_is_full_publishes_from_outside():
    it = bench(join_after=1, subscriptions_max=2)
    it.subscribe(2)
    it.subscribe(3, topic="other")
    bodies = [it.publish(3) for _ in range(3)]
    it.wait()
    assert [it.arrived[body] for body in bodies] == [{2: 1}] * 3
    assert it.segment() == []


def test_one_from_outside_that_nobody_wants_is_not_answered():
    it = bench(join_after=2)
    for _ in range(2):
        it.publish(1)
    it.wait()
    assert "Signal" not in it.cost(lambda: it.publish(4))


def test_who_unsubscribes_and_goes_on_publishing_becomes_a_publisher():
    it = bench(join_after=1)
    it.subscribe(3)
    it.publish(3)
    it.wait()
    assert it.segment() == []
    it.unsubscribe(3)
    it.publishers(3)
    assert it.sends(3) == [False]


@pytest.mark.parametrize("segment", [OFM, share("g")])
def test_other_segments_cost_the_overlay_nothing_but_are_somebody(segment):
    it = bench(join_after=1)
    it.publishers(1, 2)
    it.do(4, lambda engine, now, out: engine.subscribe(now, "t", out, segment))
    it.wait()
    assert [it.publisher(number).answer for number in (1, 2)] == [segment.order] * 2
    assert it.cost(lambda: it.publish(1)) == {}
    it.subscribe(5)
    assert it.sends(1, 2) == [True, True]


def test_at_the_edge_signals_are_not_believed():
    it = bench(join_after=1)
    it.publishers(1, 2)
    it.mislead(LISTENING, it.rp())
    assert it.sends(it.rp()) == [False]


def test_many_reports_of_one_difference_are_answered_once():
    it = bench(join_after=1, check_first_s=5.0)
    it.publishers(1, 2, 4)
    it.wait(30.0)
    before = it.counts("signalled")
    for source in (2, 4):
        it.do(it.rp(), lambda engine, now, out, s=source: engine.receive(now, NodeId(s), Report(PLACE), out))
    assert it.counts("signalled") == before + 1
    assert it.counts("report.doubled") == 1
    it.do(2, lambda engine, now, out: engine.receive(now, NodeId(4), Report(PLACE), out))
    assert it.counts("report.astray") == 1


@pytest.mark.parametrize(
    "message",
    [
        Signal(PLACE, 7),
        Signal(("L", "x" * 70_000), 1),
        Report(("L", "x" * 70_000)),
        Compared(topic_key("t", PUB, NodeId(2)), -1),
        Compare(topic_key("t", PUB, NodeId(3)), topic_key("t", PUB, NodeId(2))),
        Compare(topic_key("t", PUB, NodeId(1)), topic_key("u", PUB, NodeId(2))),
    ],
)
def test_what_breaks_the_protocol_is_counted(message):
    it = bench(join_after=1)
    it.publishers(2)
    it.do(2, lambda engine, now, out: engine.receive(now, NodeId(1), message, out))
    assert it.engine(2).counts["violation"] == 1


def test_an_answer_from_another_than_the_neighbour_changes_nothing():
    it = bench(join_after=1)
    it.publishers(1, 2, 4)
    key = it.segment()[0]
    compared = Compared(key, LISTENING)
    it.do(key.broker, lambda engine, now, out: engine.receive(now, NodeId(5), compared, out))
    assert it.engine(key.broker).counts["compared.late"] == 1
    assert it.publisher(key.broker).answer == NOBODY


def test_a_question_about_a_node_that_is_not_ours_is_not_answered():
    it = bench(join_after=1)
    ask = Compare(topic_key("t", PUB, NodeId(1)), topic_key("t", PUB, NodeId(2)))
    assert it.cost(lambda: it.do(2, lambda engine, now, out: engine.receive(now, NodeId(1), ask, out))) == {}
    assert it.segment(ALM) == []
