"""Subscriptions up, events up, across and down; both variants; what must be refused."""

from collections import Counter

import pytest

from groups_bench import Meeting, refused, told
from weft.core.errors import Misuse
from weft.core.ids import NodeId
from weft.core.machine import Outbox
from weft.core.rand import Rng
from weft.overlay.groups import Publication
from weft.overlay.shg.machine import Shg
from weft.overlay.shg.messages import Across, Down, Subscribe, Unsubscribe, Up
from weft.overlay.shg.patterns import Pattern, Predicate, matches, pattern
from weft.sim.baselines import shg

PATTERNS = [pattern(Predicate("t", ">", bound)) for bound in (10, 20, 30)] + [pattern(Predicate("room", "=", "a"))]
WARM = PATTERNS[1]


def wanting(meeting: Meeting, attributes) -> list[int]:
    return sorted(
        node
        for node, machine in meeting.machines.items()
        if any(matches(wanted, attributes) for wanted in machine.table.own)
    )


@pytest.mark.parametrize(("n", "k"), [(2, 1), (3, 2), (4, 2), (5, 3), (6, 3), (7, 4), (6, 5)])
def test_each_event_reaches_each_who_wants_it_once_and_nobody_else(n, k):
    rng, meeting = Rng(n * 10 + k), Meeting(shg(n, k))
    held: list[tuple[int, Pattern]] = []
    for step in range(60):
        node, wanted = rng.below(1 << n) + 1, rng.choice(PATTERNS)
        if (node, wanted) in held:
            meeting.unsubscribe(node, interest=wanted)
            held.remove((node, wanted))
        else:
            meeting.subscribe(node, interest=wanted)
            held.append((node, wanted))
        event = {"t": rng.below(40), "room": rng.choice("ab")}
        before = meeting.sent()
        received = meeting.publish(rng.below(1 << n) + 1, event, step)
        assert sorted(node for node, _ in received) == wanting(meeting, event)
        assert (meeting.sent() - before)["Across"] == (1 << n - k + 1) - 1
    for node, wanted in held:
        meeting.unsubscribe(node, interest=wanted)
    assert [node for node, machine in meeting.machines.items() if len(machine.table)] == []
    assert meeting.counts() == {}


def test_a_subscription_stops_where_the_pattern_is_known():
    meeting = Meeting(shg(8, 7))
    meeting.subscribe(0b0111 + 1, interest=WARM)
    assert meeting.sent() == {"Subscribe": 3}
    meeting.subscribe(0b0110 + 1, interest=WARM)
    assert meeting.sent() == {"Subscribe": 3}, "it is on the installed path"
    meeting.subscribe(0b1011 + 1, interest=WARM)
    assert meeting.sent() == {"Subscribe": 6}, "1010, 1000, and it is known at 0000"
    meeting.subscribe(0b1001 + 1, interest=WARM)
    assert meeting.sent() == {"Subscribe": 7}, "and at 1000"
    meeting.subscribe(0b0011 + 1, interest=PATTERNS[2])
    assert meeting.sent() == {"Subscribe": 9}, "another pattern goes all the way"


def test_the_length_of_a_way_and_of_its_part_to_the_dominating_node():
    meeting = Meeting(shg(5, 3))
    meeting.subscribe(0b11001 + 1, interest=WARM)
    ((_, event),) = meeting.publish(0b00110 + 1, {"t": 25})
    assert (event.relay, event.hops) == (1, 1 + 3 + 1), "up to 00111; across the layers and both high bits; down"
    ((_, event),) = meeting.publish(0b11001 + 1, {"t": 25})
    assert (event.relay, event.hops) == (1, 2)


def test_as_printed_subscriptions_go_to_the_bare_node_each_time_and_events_are_served_twice_or_never():
    meeting = Meeting(shg(5, 3, "literal"))
    meeting.subscribe(0b01111 + 1, interest=WARM)
    meeting.subscribe(0b01011 + 1, interest=WARM)
    assert meeting.sent() == {"Subscribe": 5}
    meeting.subscribe(0b10001 + 1, interest=WARM)
    received = Counter(node for node, _ in meeting.publish(0b01000 + 1, {"t": 25}))
    assert received == {0b01011 + 1: 3, 0b01111 + 1: 4}, "thrice from 01000, and 01111 as the twin; never at 10000"
    received = Counter(node for node, _ in meeting.publish(0b00000 + 1, {"t": 25}))
    assert set(received) == {0b01011 + 1, 0b01111 + 1, 0b10001 + 1}
    meeting.unsubscribe(0b01111 + 1, interest=WARM)
    meeting.unsubscribe(0b01011 + 1, interest=WARM)
    meeting.unsubscribe(0b10001 + 1, interest=WARM)
    assert [node for node, machine in meeting.machines.items() if len(machine.table)] == []


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        ((0, 3, 3), "low bits"),
        ((0, 3, 0), "low bits"),
        ((0, 60, 3), "low bits"),
        ((8, 3, 2), "no corner"),
        ((-1, 3, 2), "no corner"),
        ((0, 3, 2, "improved"), "known: corrected, literal"),
    ],
)
def test_a_node_that_cannot_be_is_refused(arguments, text):
    with pytest.raises(Misuse, match=text):
        Shg(*arguments)


def test_what_a_caller_does_wrong_is_said_at_once():
    node, out = Shg(0, 5, 3), Outbox()
    node.subscribe(0.0, WARM, out)
    with pytest.raises(Misuse, match="already"):
        node.subscribe(0.0, WARM, out)
    with pytest.raises(Misuse, match="not subscribed"):
        node.unsubscribe(0.0, PATTERNS[0], out)
    with pytest.raises(Misuse, match="attribute"):
        node.publish(0.0, {"a": None}, b"", out)


def event(about=None) -> Publication:
    return Publication({"t": 25} if about is None else about, b"x", NodeId(2), 1)


@pytest.mark.parametrize("variant", ["corrected", "literal"])
def test_what_a_peer_does_wrong_is_counted(variant):
    node = Shg(0b00001, 5, 3, variant)
    wrong = [
        (2, Subscribe(WARM)),
        (1, Subscribe(WARM)),
        (99, Subscribe(WARM)),
        (0, Up(event(), 1)),
        (4 + 1, Up(event(), 1)),
        (4, Unsubscribe(WARM)),
        (4, Subscribe(Pattern((Predicate("t", "~", 1),)))),
        (3, Down(event(), 1, 0)),
        (1, Down(event(), 0, 0)),
        (1, Down(event(7), 1, 0)),
        (1, Across(event(), 0, 1, 0)),
    ]
    for source, message in wrong:
        if variant == "corrected" and source == 4:
            continue  # 00011 belongs to the other dominating node there
        assert refused(node, source, message), (source, message)


def test_an_event_across_comes_from_the_event_partition_along_its_dimension():
    node = Shg(0b00000, 5, 3)
    for source, dimension in ((0b00001, 0), (0b01000, 1), (0b01000, -1), (0b11000, 0), (0, 0), (77, 0)):
        assert refused(node, source + 1, Across(event(), dimension, 1, 0))
    assert refused(Shg(0b00000, 5, 3, "literal"), 0b10000 + 1, Across(event(), 1, 1, 0)), "nobody hands on there"
    assert len(told(node, 0b10000 + 1, Across(event(), 1, 1, 0)).effects) == 1
    assert len(told(node, 0b00111 + 1, Across(event(), 2, 1, 0)).effects) == 2
