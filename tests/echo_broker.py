"""A broker for tests of the driver: what comes in goes out again, or what the test says; no MQTT.

It has the shape that ``weft.runtime.seam`` describes and records what the driver did.
"""

from collections.abc import Callable
from typing import Any

from weft.broker.access.api import Origin
from weft.broker.journal import Journal
from weft.broker.notices import Notices
from weft.broker.settings import BrokerSettings, Limits
from weft.telemetry.counters import Counters


class EchoConnection:
    """``b"close"`` ends it, ``b"check"`` starts a work, ``b"big N"`` answers with N bytes; all else comes back."""

    def __init__(self, broker: "EchoBroker", origin: Origin) -> None:
        self.broker = broker
        self.origin = origin
        self.out: list[bytes] = []
        self.closing = False
        self.reading = True
        self.received = b""
        self.why: str | None = None
        self.verdicts: list[Any] = []
        self.trims: list[int] = []
        self.replays: list[bytes] | None = None

    def say(self, data: bytes) -> None:
        if not self.out:
            self.broker.dirty.append(self)
        self.out.append(data)

    def refill(self, now: float) -> None:
        """The next of what is being replayed."""
        assert self.replays
        self.say(self.replays.pop(0))

    def close(self) -> None:
        self.closing = True
        self.broker.dirty.append(self)

    def read(self, reading: bool) -> None:
        self.reading = reading
        self.broker.dirty.append(self)

    def receive(self, now: float, data: bytes) -> None:
        self.received += data
        self.broker.counters["weft_messages_received_total"] += 1
        if data == b"close":
            self.say(b"bye")
            self.close()
        elif data == b"check":
            self.broker.works.append((self, self.broker.work))
        elif data.startswith(b"big "):
            self.say(b"x" * int(data[4:]))
        elif data == b"bug":
            raise ZeroDivisionError
        else:
            self.say(data)

    def lost(self, now: float, why: str) -> None:
        self.why = why
        self.broker.lost.append(self)

    def verdict(self, now: float, result: Any) -> None:
        self.verdicts.append(result)
        self.say(b"verdict")

    def trim(self, now: float, bytes_max: int) -> None:
        self.trims.append(sum(map(len, self.out)))
        while sum(map(len, self.out)) > bytes_max:
            self.out.pop(0)


class EchoBroker:
    """``refuse``: accept nobody. ``timeouts``: when ``timeout`` was called; ``pressed``: what ``press`` was told."""

    def __init__(self, **limits: Any) -> None:
        self.settings = BrokerSettings(limits=Limits(**limits))
        self.counters = Counters()
        self.notices = Notices()
        self.journal = Journal(keeps=True)
        self.dirty: list[EchoConnection] = []
        self.works: list[tuple[EchoConnection, Callable[[], Any]]] = []
        self.work: Callable[[], Any] = lambda: "granted"
        self.deadline: float | None = None
        self.refuse = False
        self.connections: list[EchoConnection] = []
        self.lost: list[EchoConnection] = []
        self.timeouts: list[float] = []
        self.pressed: list[bool] = []
        self.durable: list[int] = []

    def accept(self, now: float, origin: Origin) -> EchoConnection | None:
        if self.refuse:
            return None
        self.connections.append(EchoConnection(self, origin))
        return self.connections[-1]

    def timeout(self, now: float) -> None:
        self.timeouts.append(now)
        self.deadline = None

    def committed(self, now: float, batch: int) -> None:
        self.durable.append(batch)

    def begin_drain(self, now: float) -> None:
        for connection in self.connections:
            if connection not in self.lost:
                connection.say(b"drained")
                connection.close()

    def press(self, now: float, is_high: bool) -> None:
        self.pressed.append(is_high)
