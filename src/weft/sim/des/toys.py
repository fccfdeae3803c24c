"""Machines without a protocol: to measure a driver, and to test one.

Relay   hands each message on to the same neighbour: the least a machine can do (``bench/des.py``)
Flood   tells all its neighbours what it hears for the first time
Ticker  sends a Beat at a fixed interval, echoes those of others, and keeps the number of its last one on disk
"""

from collections.abc import Sequence

from weft.core.ids import NodeId
from weft.core.machine import Event, Machine, Message, Outbox, Record


class Token(Message, frozen=True, gc=False):
    number: int


class Beat(Message, frozen=True, gc=False):
    number: int


class Echo(Message, frozen=True, gc=False):
    number: int


class Heard(Event, frozen=True, gc=False):
    source: NodeId
    number: int


class Counted(Record, frozen=True, gc=False):
    number: int


class Relay:
    """``neighbour`` gets every Token, unchanged."""

    __slots__ = ("deadline", "neighbour")

    def __init__(self, neighbour: NodeId) -> None:
        self.neighbour = neighbour
        self.deadline: float | None = None

    def receive(self, now: float, source: NodeId, message: Message, out: Outbox) -> None:
        out.send(self.neighbour, message)

    def timeout(self, now: float, out: Outbox) -> None:
        raise AssertionError("a Relay has no timer")


class Flood:
    """Each Token is delivered once, and handed to every neighbour but the one it came from."""

    def __init__(self, neighbours: Sequence[NodeId]) -> None:
        self.neighbours = neighbours
        self.deadline: float | None = None
        self._seen: set[int] = set()

    def receive(self, now: float, source: NodeId, message: Message, out: Outbox) -> None:
        assert isinstance(message, Token)
        if message.number in self._seen:
            out.trace("repeat", message.number, source)
            return
        self._seen.add(message.number)
        out.deliver(Heard(source, message.number))
        for neighbour in self.neighbours:
            if neighbour != source:
                out.send(neighbour, message)

    def timeout(self, now: float, out: Outbox) -> None:
        raise AssertionError("a Flood has no timer")


class Ticker:
    """A Beat to ``peer`` each ``interval_s``, ``beats`` of them; ``times`` says when, by its own clock."""

    def __init__(self, peer: NodeId, interval_s: float, beats: int, last: int = 0) -> None:
        self.peer = peer
        self.interval_s = interval_s
        self.beats = beats
        self.last = last
        self.deadline: float | None = None
        self.times: list[float] = []

    def start(self, now: float) -> None:
        self.deadline = now + self.interval_s

    def receive(self, now: float, source: NodeId, message: Message, out: Outbox) -> None:
        if isinstance(message, Beat):
            out.send(source, Echo(message.number))
        elif isinstance(message, Echo):
            out.deliver(Heard(source, message.number))

    def timeout(self, now: float, out: Outbox) -> None:
        assert self.deadline is not None, "a timeout that nobody wanted"
        assert now >= self.deadline, "a timeout before its time"
        self.times.append(now)
        self.last += 1
        out.persist(Counted(self.last))
        out.send(self.peer, Beat(self.last))
        self.deadline = self.deadline + self.interval_s if self.last < self.beats else None


def start(machine: Machine, now: float, out: Outbox) -> None:
    """The command that sets a Ticker going."""
    assert isinstance(machine, Ticker)
    machine.start(now)
