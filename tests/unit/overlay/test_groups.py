"""What the group protocols share: the front door, the sequence cache, checks of topics and hops."""

import pytest

from groups_bench import told
from weft.core.errors import Misuse, Violation
from weft.core.ids import NodeId
from weft.core.machine import Message, Outbox
from weft.overlay import groups
from weft.overlay.groups import FrontDoor, Publication, Received, Seen, check_topic, heard_hops, heard_topic
from weft.overlay.local import Local


class Odd(Message, frozen=True):
    pass


class Rude(Message, frozen=True):
    pass


def rude(now: float, source: NodeId, message: Rude, out: Outbox) -> None:
    raise Violation("rude")


def test_what_breaks_the_protocol_is_counted_and_traced_with_its_sender():
    door = FrontDoor(Local(NodeId(1)))
    door._handlers[Rude] = rude
    assert door.takes(Rude())
    assert not door.takes(Odd())
    (trace,) = told(door, 2, Rude()).effects
    assert (trace.kind, trace.subject, trace.detail) == ("violation", 2, "rude")
    (trace,) = told(door, 2, Odd()).effects
    assert trace.kind == "violation.unknown"
    assert door.local.counts == {"violation": 1, "violation.unknown": 1}


def test_timers_go_to_their_handlers_and_set_the_deadline():
    door, fired = FrontDoor(Local(NodeId(1))), []
    door._timers[str] = lambda now, token, out: fired.append((now, token))
    assert door.deadline is None
    door.local.timers.set("tea", 4.0)
    assert door.deadline == 4.0
    door.timeout(4.5, Outbox())
    assert fired == [(4.5, "tea")]


def test_a_publication_is_new_once_and_the_oldest_is_forgotten(monkeypatch):
    monkeypatch.setattr(groups, "SEEN_MAX", 2)
    seen = Seen()
    assert [seen.first(NodeId(1), number) for number in (1, 1, 2, 3, 1)] == [True, False, True, True, True]


@pytest.mark.parametrize("topic", ["", "x" * 65_536, "ü" * 32_768])
def test_a_topic_that_cannot_be_is_refused(topic):
    with pytest.raises(Misuse, match="65535 bytes"):
        check_topic(topic)
    with pytest.raises(Violation):
        heard_topic(topic)
    check_topic("x" * 65_535)
    heard_topic("x" * 65_535)


def test_a_topic_of_a_peer_is_text_and_its_hops_are_bounded():
    with pytest.raises(Violation):
        heard_topic(7)
    heard_topic("a\ud800")
    for hops in (0, groups.HOPS_MAX + 1):
        with pytest.raises(Violation):
            heard_hops(hops)
    heard_hops(0, at_least=0)


def test_a_publication_becomes_what_the_subscriber_hears():
    assert Publication("t", b"x", NodeId(4), 9).received(5, 1) == Received("t", b"x", NodeId(4), 9, 5, 1)
