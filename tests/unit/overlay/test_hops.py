"""A hop is acknowledged, sent again, and in the end given up aloud; however often it arrives, its body is handled once."""

from typing import Any

import pytest

from weft.core.errors import Violation
from weft.core.ids import NodeId
from weft.core.limits import PENDING_MAX
from weft.core.machine import Message, Outbox, Send
from weft.overlay import hops as hops_module
from weft.overlay.contacts import Contacts
from weft.overlay.hops import REMEMBERED_MAX, Hop, HopAck, Hops
from weft.overlay.local import Local
from weft.overlay.settings import Settings

A, B, C = NodeId(1), NodeId(2), NodeId(3)
SETTINGS = Settings(hop_timeout_s=1.0, hop_tries=3, shun_s=10.0)


class Body(Message, frozen=True):
    text: str


class Other(Message, frozen=True):
    text: str


class Side:
    """Broker A's hops; what it handled, and what it gave up."""

    def __init__(self, node: NodeId = A) -> None:
        self.local = Local(node)
        self.contacts = Contacts(node)
        self.handled: list[tuple[NodeId, Message]] = []
        self.lost: list[tuple[float, NodeId, Message]] = []
        self.hops = Hops(self.local, self.contacts, SETTINGS, self._dispatch)
        self.hops.lost[Body] = self._lost

    def _dispatch(self, now: float, source: NodeId, message: Message, out: Outbox) -> None:
        self.handled.append((source, message))

    def _lost(self, now: float, to: NodeId, message: Any, out: Outbox) -> None:
        self.lost.append((now, to, message))

    def send(self, now: float, to: NodeId, body: Message) -> list[Send]:
        out = Outbox()
        self.hops.send(now, to, body, out)
        return [effect for effect in out.effects if isinstance(effect, Send)]

    def receive(self, source: NodeId, message: Message, now: float = 0.0) -> list[Send]:
        out = Outbox()
        self.hops.handlers[type(message)](now, source, message, out)
        return [effect for effect in out.effects if isinstance(effect, Send)]

    def pass_time(self, until: float) -> list[tuple[float, Send]]:
        sent = []
        while (at := self.local.timers.deadline) is not None and at <= until:
            out = Outbox()
            for token in self.local.timers.due(at):
                self.hops.timers[type(token)](at, token, out)
            sent += [(at, effect) for effect in out.effects if isinstance(effect, Send)]
        return sent


def test_a_body_travels_wrapped_and_is_acknowledged_before_it_is_handled():
    a, b = Side(A), Side(B)
    (send,) = a.send(0.0, B, Body("x"))
    assert send.to == B
    assert isinstance(send.message, Hop)
    (ack,) = b.receive(A, send.message)
    assert ack == Send(A, HopAck(send.message.number))
    assert b.handled == [(A, Body("x"))]
    assert a.receive(B, ack.message) == []
    assert a.pass_time(99.0) == []
    assert a.lost == []


def test_without_an_acknowledgement_it_is_sent_again_and_then_given_up():
    a = Side()
    (send,) = a.send(0.0, B, Body("x"))
    assert a.pass_time(99.0) == [(1.0, send), (2.0, send)], "three tries in all, the same number each time"
    assert a.lost == [(3.0, B, Body("x"))]
    assert a.contacts.is_shunned(B, 12.9)
    assert not a.contacts.is_shunned(B, 13.0)
    assert a.local.counts["hops.lost"] == 1
    assert a.pass_time(999.0) == []


def test_a_late_acknowledgement_stops_the_repeats():
    a = Side()
    (send,) = a.send(0.0, B, Body("x"))
    assert len(a.pass_time(1.5)) == 1
    a.receive(B, HopAck(send.message.number))
    assert a.pass_time(99.0) == []
    assert a.lost == []


def test_an_acknowledgement_after_the_end_changes_nothing():
    a = Side()
    (send,) = a.send(0.0, B, Body("x"))
    a.pass_time(99.0)
    assert a.receive(B, HopAck(send.message.number)) == []
    assert len(a.lost) == 1


def test_somebody_elses_acknowledgement_does_not_count():
    a = Side()
    (send,) = a.send(0.0, B, Body("x"))
    a.receive(C, HopAck(send.message.number))
    assert len(a.pass_time(1.0)) == 1


def test_a_type_nobody_asked_about_is_given_up_quietly():
    a = Side()
    a.send(0.0, B, Other("x"))
    a.pass_time(99.0)
    assert a.lost == []
    assert a.contacts.is_shunned(B, 4.0)


def test_a_repeat_is_acknowledged_and_not_handled():
    b = Side(B)
    for _ in range(3):
        assert b.receive(A, Hop(7, Body("x"))) == [Send(A, HopAck(7))]
    assert b.handled == [(A, Body("x"))]
    assert b.local.counts["hops.repeat"] == 2


def test_numbers_of_different_senders_are_different():
    b = Side(B)
    b.receive(A, Hop(7, Body("x")))
    b.receive(C, Hop(7, Body("y")))
    assert b.handled == [(A, Body("x")), (C, Body("y"))]


def test_each_hop_has_a_number_of_its_own():
    a = Side()
    numbers = [a.send(0.0, B, Body("x"))[0].message.number for _ in range(5)]
    assert len(set(numbers)) == 5


def test_the_memory_of_repeats_is_bounded():
    b = Side(B)
    for number in range(REMEMBERED_MAX + 1):
        b.receive(A, Hop(number, Body("x")))
    assert len(b.hops._seen) == REMEMBERED_MAX
    b.receive(A, Hop(0, Body("x")))
    assert len(b.handled) == REMEMBERED_MAX + 2, "the oldest number is forgotten"
    b.receive(A, Hop(REMEMBERED_MAX, Body("x")))
    assert len(b.handled) == REMEMBERED_MAX + 2


def test_what_is_under_way_is_bounded_and_refused_aloud(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(hops_module, "PENDING_MAX", 3)
    a = Side()
    for _ in range(3):
        assert len(a.send(0.0, B, Body("x"))) == 1
    assert a.send(0.5, B, Body("y")) == []
    assert a.lost == [(0.5, B, Body("y"))]
    assert a.local.counts["hops.refused"] == 1
    assert not a.contacts.is_shunned(B, 0.5), "it is not B's fault"
    assert PENDING_MAX > 1_000


def test_a_wrapper_in_a_wrapper_violates_before_it_is_opened():
    """However deep it is: what is inside is not looked at, nor is it acknowledged."""
    a = Side()
    nested: Message = Body("x")
    for number in range(5_000):
        nested = Hop(number, nested)
    with pytest.raises(Violation, match="wrapper in a wrapper"):
        a.receive(B, nested)
    assert a.handled == []
