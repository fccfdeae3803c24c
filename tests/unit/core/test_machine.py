"""Effects: their order is a duty, and they are values."""

import msgspec
import pytest

from weft.core.ids import NodeId
from weft.core.machine import Deliver, Event, Message, Outbox, Persist, Record, Send, Trace


class Hello(Message, frozen=True):
    text: str


class Heard(Event, frozen=True):
    text: str


class Noted(Record, frozen=True):
    text: str


def test_effects_come_in_the_order_in_which_they_were_made() -> None:
    out = Outbox()
    out.persist(Noted("a"))
    out.send(NodeId(2), Hello("b"))
    out.trace("c", 1, "why")
    out.deliver(Heard("d"))
    out.send(NodeId(3), Hello("e"))
    assert out.effects == [
        Persist(Noted("a")),
        Send(NodeId(2), Hello("b")),
        Trace("c", 1, "why"),
        Deliver(Heard("d")),
        Send(NodeId(3), Hello("e")),
    ]


def test_an_outbox_starts_empty_and_is_its_own() -> None:
    one, other = Outbox(), Outbox()
    one.send(NodeId(1), Hello("a"))
    assert other.effects == []


def test_messages_and_effects_are_values() -> None:
    message = Hello("a")
    assert message == Hello("a")
    assert len({Send(NodeId(1), message), Send(NodeId(1), Hello("a"))}) == 1
    with pytest.raises(AttributeError):
        message.text = "b"  # type: ignore[misc]


def test_a_message_says_its_type_on_the_wire() -> None:
    assert msgspec.to_builtins(Hello("a")) == {"type": "Hello", "text": "a"}
