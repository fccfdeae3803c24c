"""The driver's one timer."""

from typing import Any

from broker_bench import Open
from weft.broker.broker import Broker
from weft.broker.settings import BrokerSettings
from weft.runtime import host as hosts
from weft.runtime.host import Host


class Loop:
    """Counts what is asked of it."""

    def __init__(self) -> None:
        self.timers: list[float] = []
        self.cancelled = 0

    def call_later(self, delay: float, callback: Any) -> "Loop":
        self.timers.append(delay)
        return self

    def cancel(self) -> None:
        self.cancelled += 1


class Clocked:
    def __init__(self, deadline: float) -> None:
        self.deadline: float | None = deadline

    def timeout(self, now: float) -> None: ...


def ready(monkeypatch: Any, at: float, deadline: float) -> tuple[Host, Loop, Clocked]:
    monkeypatch.setattr(hosts, "now", lambda: at)
    loop: Any = Loop()
    host = Host(Broker(BrokerSettings(sys_interval_s=0.0), Open(), 1), loop)
    clocked: Any = Clocked(deadline)
    host.clocked.append(clocked)
    host.flush()
    return host, loop, clocked


def test_what_is_overdue_is_not_put_off_by_every_tick(monkeypatch):
    """A busy broker has a tick more often than the least delay of a timer."""
    host, loop, _ = ready(monkeypatch, 1_000.0, 999.0)
    for tick in range(100):
        monkeypatch.setattr(hosts, "now", lambda now=1_000.0 + tick * 0.0001: now)
        host.flush()
    assert len(loop.timers) == 1


def test_a_timer_that_stands_is_left_alone(monkeypatch):
    at = 1_795_126_484.123456
    host, loop, _ = ready(monkeypatch, at, at + 9.876543)
    for tick in range(100):
        monkeypatch.setattr(hosts, "now", lambda now=at + tick * 0.00091: now)
        host.flush()
    assert len(loop.timers) == 1


def test_what_is_due_earlier_moves_the_timer(monkeypatch):
    host, loop, clocked = ready(monkeypatch, 1_000.0, 1_010.0)
    clocked.deadline = 1_002.0
    host.flush()
    assert loop.timers == [10.0, 2.0]
    assert loop.cancelled == 1


def test_what_is_due_later_does_not(monkeypatch):
    host, loop, clocked = ready(monkeypatch, 1_000.0, 1_010.0)
    clocked.deadline = None
    host.flush()
    clocked.deadline = 1_020.0
    host.flush()
    assert loop.timers == [10.0]
