"""RELAY §5.3 claim by claim: strong relay-free segments, the rendezvous point (rp), suspending, resuming, both repairs.

Every test runs on both overlays. What a signal that is not delivered leaves behind is brought about by an older one, late.
"""

import pytest

from pubsub_bench import CALM, QUIET, Bench
from weft.overlay.keys import ALM, EVERYTHING, PUB
from weft.pubsub.boundary import LISTENING, NOBODY, place_of
from weft.pubsub.settings import Settings

CHECKED = Settings(join_after=1, idle_s=CALM.idle_s, check_s=4.0, check_first_s=1.0)
OTHERS = ("a", "z", "s", "t/x")
"""Topics on either side of the one that is looked at."""


@pytest.fixture(params=["suzaku", "skipgraph"])
def overlay(request) -> str:
    return request.param


@pytest.fixture
def bench(overlay) -> Bench:
    return Bench(overlay, 8, quick=QUIET)


@pytest.fixture
def checked(overlay) -> Bench:
    return Bench(overlay, 8, CHECKED, QUIET)


def test_5_3_1_segments_are_contiguous_and_beside_each_other(bench):
    """§5.3.1, figure 6: publishers of a topic are contiguous, so are its subscribers, and so are the two together."""
    for topic in OTHERS:
        bench.publishers(3, 6, topic=topic)
        bench.subscribe(2, 5, topic=topic)
    bench.publishers(1, 4, 7)
    bench.subscribe(2, 6, 8)
    every = sorted(key for engine in bench.engines.values() for key in engine.port.overlay.keys() if key in EVERYTHING)
    both = bench.segment(PUB) + bench.segment(ALM)
    first = every.index(both[0])
    assert every[first : first + len(both)] == both
    assert [key.broker for key in bench.segment(PUB)] == [4, 1, 7]
    assert bench.subscribers() == {2, 6, 8}


def test_5_3_2_a_publication_is_a_range_query_over_the_subscribers(bench):
    """§5.3.2, §4.1: it reaches each subscriber once, no publisher, and nobody who is not in the topic carries it."""
    for topic in OTHERS:
        bench.subscribe(3, 5, topic=topic)
    bench.publishers(1, 4)
    bench.subscribe(2, 6, 7, 8)
    body, crossed = bench.way(4)
    assert bench.arrived[body] == {2: 1, 6: 1, 7: 1, 8: 1}
    assert {node for hop in crossed for node in hop} <= {1, 4, 2, 6, 7, 8}


def test_5_3_3_there_is_one_rp_and_it_stands_beside_the_subscribers(bench):
    """§5.3.3: exactly one publisher is contiguous to SEG_sub, with subscribers and without."""
    bench.publishers(1, 2, 4)
    for subscribed in (False, True):
        if subscribed:
            bench.subscribe(6)
        edges = [key.broker for key in bench.segment() if bench.publisher(key.broker).edge]
        assert edges == [bench.rp()] == [1]


def test_5_3_3_a_publisher_that_comes_between_takes_the_rps_place(bench):
    """§5.3.3: a new publisher between rp and SEG_sub is the rp thereafter."""
    bench.publishers(1)
    bench.subscribe(6)
    bench.publishers(7)
    assert (bench.publisher(1).edge, bench.publisher(7).edge) == (False, True)
    bench.unsubscribe(6)
    assert bench.sends(1, 7) == [False, False]


@pytest.mark.parametrize("orderly", [True, False])
def test_5_3_3_when_the_rp_goes_its_neighbour_takes_over(overlay, orderly):
    """§5.3.3: the neighbour in the direction of SEG_pub takes the position over, also from one that has crashed."""
    bench = Bench(overlay, 8)
    bench.publishers(1, 4, 7)
    bench.subscribe(6)
    if orderly:
        bench.do(7, lambda engine, now, out: engine.stop(now, out))
    else:
        bench.cut(7)
    bench.wait(20.0)
    assert bench.rp() == 1
    assert bench.publisher(1).edge
    bench.unsubscribe(6)
    bench.wait(10.0)
    assert bench.sends(1, 4) == [False, False]


def test_5_3_4_figure_7_a_when_all_subscribers_leave_the_rp_suspends_the_publishers(bench):
    """§5.3.4, figure 7 (a): only the rp notices; one range multicast over SEG_pub suspends the others; then nothing is sent."""
    bench.publishers(1, 2, 4, 7)
    bench.subscribe(3, 8)
    bench.unsubscribe(3)
    assert bench.sends(1, 2, 4, 7) == [True] * 4
    before = bench.counts("signalled")
    bench.unsubscribe(8)
    assert bench.counts("signalled") == before + 1
    assert bench.engine(bench.rp()).counts["signalled"] >= 1
    assert bench.sends(1, 2, 4, 7) == [False] * 4
    assert bench.cost(lambda: [bench.publish(number) for number in (1, 2, 4, 7)]) == {}


def test_5_3_4_figure_7_b_when_a_subscriber_appears_the_rp_resumes_them(bench):
    """§5.3.4, figure 7 (b): the first subscriber resumes all; the second is not worth a signal."""
    bench.publishers(1, 2, 4, 7)
    assert bench.sends(1, 2, 4, 7) == [False] * 4
    before = bench.counts("signalled")
    bench.subscribe(8)
    assert bench.sends(1, 2, 4, 7) == [True] * 4
    assert bench.counts("signalled") == before + 1
    bench.subscribe(3)
    assert bench.counts("signalled") == before + 1
    body = bench.publish(2)
    bench.wait()
    assert bench.arrived[body] == {3: 1, 8: 1}


def test_5_3_4_the_rp_is_told_by_the_ring_and_asks_nobody(bench):
    """§5.3.4: passively, by the update of its table; with one publisher there is nobody to tell either."""
    bench.publishers(1)
    cost = bench.cost(lambda: bench.subscribe(8)) + bench.cost(lambda: bench.unsubscribe(8))
    assert not {"Signal", "Compare", "Compared", "Report", "Scatter"} & set(cost)
    assert bench.sends(1) == [False]


def test_5_3_5_figure_8_a_first_publisher_decides_for_itself(bench):
    """§5.3.5: whoever is the only publisher is the rp, and knows after its insertion."""
    bench.subscribe(5)
    assert "Compare" not in bench.cost(lambda: bench.publishers(2))
    assert "Compare" not in bench.cost(lambda: bench.publishers(2, topic="nobody"))
    assert bench.publisher(2).answer == LISTENING
    assert bench.publisher(2, "nobody").answer == NOBODY


@pytest.mark.parametrize("listening", [False, True])
def test_5_3_5_figure_8_the_status_is_piggy_backed_on_the_newcomers_insertion(bench, listening):
    """§5.3.5: right of a publisher, the newcomer hears it with the answer to its own insertion: no message more."""
    bench.publishers(2, 7)
    if listening:
        bench.subscribe(5)
    cost = bench.cost(lambda: bench.publishers(4))
    assert [key.broker for key in bench.segment()] == [2, 4, 7]
    assert not bench.publisher(4).edge
    assert bench.sends(4) == [listening]
    assert not {"Compare", "Compared", "Report"} & set(cost)


def test_5_3_5_at_the_left_end_the_newcomer_asks_its_right_neighbour(bench):
    """§5.3.5: the answer to its insertion came from another topic's node; its right neighbour is one message away."""
    bench.publishers(7)
    cost = bench.cost(lambda: bench.publishers(2))
    assert (cost["Compare"], cost["Compared"]) == (1, 1)
    assert bench.sends(2) == [False]


def test_5_3_5_footnote_2_who_publishes_and_subscribes_is_only_a_subscriber(bench):
    """§5.3.5, footnote 2: it has one node, in SEG_sub, publishes towards SEG_sub, and is never suspended."""
    bench.publishers(1, 2)
    bench.subscribe(1)
    assert bench.segment() == [key for key in bench.segment() if key.broker == 2]
    assert bench.subscribers() == {1}
    assert bench.sends(2) == [True]
    assert bench.cost(lambda: bench.publish(1)) == {}, "it is the only subscriber itself"
    bench.subscribe(6)
    body = bench.publish(1)
    bench.wait()
    assert bench.arrived[body] == {6: 1}
    assert place_of(bench.segment()[0]) not in bench.engine(1).publishers.topics


def test_5_3_6_i_the_rp_suspends_a_publisher_that_it_meets(bench):
    """§5.3.6 (i): a publication that nobody wants is certain to meet the rp, which tells its source, and it alone."""
    bench.publishers(1, 2, 4)
    bench.mislead(LISTENING, 2, 4)
    cost = bench.cost(lambda: bench.publish(2))
    assert cost["Signal"] == 1
    assert bench.sends(1, 2, 4) == [False, False, True]
    assert bench.cost(lambda: bench.publish(2)) == {}


def test_5_3_6_ii_who_is_suspended_compares_and_the_rp_resumes_the_segment(checked):
    """§5.3.6 (ii): neighbours that differ are reported to the rp, whose signal resumes everybody."""
    checked.publishers(1, 2, 4)
    assert [key.broker for key in checked.segment()] == [2, 4, 1]
    checked.subscribe(8)
    cost = checked.cost(lambda: None, 10.0)
    assert "Compare" not in cost, "who is not suspended does not ask"
    checked.mislead(NOBODY, 2, 4)
    assert checked.sends(1, 2, 4) == [True, False, False]
    checked.wait(10.0)
    assert checked.counts("repaired.ii") >= 1
    assert checked.sends(1, 2, 4) == [True, True, True]


def test_5_3_6_a_check_is_two_messages_and_the_rp_sends_none(checked):
    """§5.3.6: a dedicated message and its answer, for each suspended publisher but the rp."""
    checked.publishers(1, 2, 4)
    checked.wait(10.0)
    cost = checked.cost(lambda: None, 40.0)
    assert set(cost) == {"Compare", "Compared"}
    assert cost["Compare"] == cost["Compared"]
    assert 2 * 40 / (1.25 * 4.0) - 2 <= cost["Compare"] <= 2 * 40 / (0.75 * 4.0) + 2


def test_6_1_without_subscribers_publishers_send_nothing(bench):
    """§6.1: the proposed method sends 0 messages when there are no subscribers."""
    bench.publishers(*range(1, 9))
    assert bench.cost(lambda: [bench.publish(number) for number in range(1, 9) for _ in range(5)], 30.0) == {}
