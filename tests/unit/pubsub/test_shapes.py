"""Shapes: exactly the filters that match, and a catalogue that grows and shrinks."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pubsub_bench import NEVER_S, QUIET, Bench
from weft.core.ids import NodeId
from weft.mqtt.topics import matches
from weft.overlay.keys import filter_parts
from weft.pubsub.settings import Settings
from weft.pubsub.shapes import AskShapes, Live, is_wild, projection, reaches

SHAPE = "L/+"
QUICK = Settings(join_after=1, idle_s=NEVER_S, check_s=NEVER_S, check_first_s=NEVER_S, announce_s=5.0, expire_s=16.0)

levels = st.lists(st.sampled_from(["a", "b", "", "é"]), min_size=1, max_size=4)
topics = st.builds(lambda first, parts: first + "/".join(parts), st.sampled_from(["", "", "$"]), levels)


@st.composite
def filters(draw) -> str:
    parts = draw(st.lists(st.sampled_from(["a", "b", "", "é", "+"]), min_size=1, max_size=4))
    if draw(st.booleans()):
        parts[-1] = "#"
    first = "$" if parts[0] not in {"+", "#"} and draw(st.booleans()) else ""
    return first + "/".join(parts)


@given(filters(), topics)
def test_a_projection_is_reached_if_and_only_if_its_filter_matches(pattern, topic):
    """No false positive, none forgotten: what the broker's own matching says."""
    assert reaches(topic, filter_parts(pattern)) == matches(pattern, topic)


@pytest.mark.parametrize(
    ("topic", "shape", "literals"),
    [
        ("a/b/c", "L/+/L", "a\0c"),
        ("a/b", "L/#", "a"),
        ("a", "L/#", "a"),
        ("a", "#", ""),
        ("a/b", "L/L", "a\0b"),
        ("$SYS/x", "$L/+", "$SYS"),
        ("$SYS/x", "#", None),
        ("$SYS/x", "+/L", None),
        ("a/b", "L", None),
        ("a", "L/+/#", None),
    ],
)
def test_projections(topic, shape, literals):
    assert projection(topic, shape) == literals


def knows(bench: Bench) -> list[list[str]]:
    """What each broker takes for live."""
    for engine in bench.engines.values():
        engine.shapes.places(bench.simulation.now, "x")
    return [sorted(engine.shapes.live) for engine in bench.engines.values()]


@pytest.fixture(params=["suzaku", "skipgraph"])
def bench(request) -> Bench:
    return Bench(request.param, 6, QUICK, QUIET)


def test_the_first_filter_of_a_shape_is_told_to_all(bench):
    bench.subscribe(3, topic="a/+")
    assert knows(bench) == [[SHAPE]] * 6


def test_one_publication_reaches_filters_of_all_shapes_and_each_broker_once(bench):
    for number, pattern in ((2, "a/+"), (3, "a/#"), (3, "+/b"), (4, "a/b"), (4, "#"), (5, "b/+"), (6, "a/b/#")):
        bench.subscribe(number, topic=pattern)
    body = bench.publish(1, "a/b", reliable=True)
    bench.wait()
    assert bench.arrived[body] == {2: 1, 3: 1, 4: 1, 6: 1}


def test_a_filter_that_nobody_publishes_for_costs_nothing(bench):
    bench.subscribe(3, topic="b/+")
    bench.publishers(1, topic="a/b")
    publishing = {"Scatter", "Signal", "Seek"}
    assert not publishing & set(bench.cost(lambda: bench.publish(1, "a/b"), 0.5))
    assert bench.engine(1).counts["publish.suspended"] == 1


def test_one_of_a_run_speaks_for_the_shape(bench):
    bench.subscribe(2, 3, 4, 5, topic="a/+")
    before = bench.counts("announced")
    bench.wait(3 * QUICK.announce_s)
    assert bench.counts("announced") == before + 3


def test_when_the_last_filter_of_a_shape_is_gone_it_is_forgotten(bench):
    bench.subscribe(3, topic="a/+")
    bench.subscribe(4, topic="b/+")
    bench.unsubscribe(3, topic="a/+")
    bench.wait(QUICK.expire_s)
    assert knows(bench) == [[SHAPE]] * 6
    bench.unsubscribe(4, topic="b/+")
    bench.wait(QUICK.expire_s + 1.0)
    assert knows(bench) == [[]] * 6


def test_who_comes_later_asks_its_neighbour():
    bench = Bench("suzaku", 3, Settings(announce_s=NEVER_S, expire_s=NEVER_S), QUIET)
    bench.subscribe(3, topic="a/+")
    told = bench.counts("announced")
    bench.add(7)
    bench.wait()
    assert knows(bench) == [[SHAPE]] * 4
    assert bench.counts("announced") == told


def test_hearsay_is_as_old_as_what_it_repeats(bench):
    """A shape that is dead is not kept alive by newcomers who tell each other of it."""
    engine = bench.engine(1)
    bench.do(1, lambda engine, now, out: engine.receive(now, NodeId(2), Live(((SHAPE, 10.0),)), out))
    heard = engine.shapes.live[SHAPE]
    assert heard == bench.simulation.now - 10.0
    cost = bench.cost(lambda: bench.do(1, lambda e, now, out: e.receive(now, NodeId(2), AskShapes(), out)), 1.0)
    assert cost["Live"] == 1
    assert bench.engine(2).shapes.live[SHAPE] == pytest.approx(heard, abs=0.1)


@pytest.mark.parametrize(
    "live",
    [
        (("L/L", 0.0),),
        (("L/#/+", 0.0),),
        (("a/+", 0.0),),
        (("", 0.0),),
        ((SHAPE, -1.0),),
        ((SHAPE, float("nan")),),
        (("+/" * 40_000 + "+", 0.0),),
        ((SHAPE, 0.0),) * (QUICK.shapes_max + 1),
    ],
)
def test_what_is_no_announcement_is_counted(bench, live):
    bench.do(1, lambda engine, now, out: engine.receive(now, NodeId(2), Live(live), out))
    assert bench.engine(1).counts["violation"] == 1
    assert bench.engine(1).shapes.live == {}


def test_shapes_are_bounded():
    bench = Bench("suzaku", 2, Settings(shapes_max=1), QUIET)
    live = (("+", 0.0), ("#", 0.0))
    for each in live:
        bench.do(1, lambda engine, now, out, each=each: engine.receive(now, NodeId(2), Live((each,)), out))
    assert sorted(bench.engine(1).shapes.live) == ["+"]
    assert bench.engine(1).counts["shapes.full"] == 1


def test_what_is_wild():
    assert [is_wild(shape) for shape in ("L", "L/+", "#", "$L/#")] == [False, True, True, True]
