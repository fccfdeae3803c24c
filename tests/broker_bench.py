"""A broker without a network, and clients that speak bytes to it: a test reads as a sequence chart.

``Bench`` is the driver: it empties what the broker leaves for one, and keeps the time. ``Client`` sends packets as values and
reads answers as values; what it got since it last looked is in ``got``.
"""

from collections.abc import Callable
from typing import Any

import msgspec

from weft.broker.access.api import Conversation, Credentials, Denied, Granted, Origin, Subject, Work
from weft.broker.broker import Broker
from weft.broker.connection import Connection
from weft.broker.journal import Journal
from weft.broker.settings import BrokerSettings
from weft.core.machine import Record
from weft.mqtt.codec.decode import decode
from weft.mqtt.codec.encode import encode
from weft.mqtt.codec.frames import split
from weft.mqtt.codec.packets import Connack, Connect, Packet, Publish, Request, Subscribe, Will
from weft.mqtt.codec.properties import NONE, Properties
from weft.telemetry.counters import hit

START = 1_000_000.0


class Open:
    """An authority that lets everybody do everything, but for what a test says."""

    version = 1

    def __init__(self) -> None:
        self.verdict: Callable[[Credentials], Granted | Denied | Work] = lambda credentials: Granted(
            credentials.username
        )
        self.conversations: dict[str, Callable[[], Conversation]] = {}
        self.banned: set[str | None] = set()
        self.forbidden: set[tuple[str, str]] = set()
        self.verdicts: list[Granted | Denied] = []

    def admit(self, now: float, credentials: Credentials) -> Granted | Denied | Work:
        return self.verdict(credentials)

    def admitted(self, now: float, credentials: Credentials, verdict: Granted | Denied) -> None:
        self.verdicts.append(verdict)

    def stands(self, now: float, subject: Subject) -> bool:
        return subject.granted.user not in self.banned

    def converse(self, now: float, method: str, credentials: Credentials) -> Conversation | None:
        make = self.conversations.get(method)
        return make() if make else None

    def methods(self) -> list[str]:
        return list(self.conversations)

    def may(self, subject: Subject, action: str, topic: str, qos: int) -> bool:
        return (action, topic) not in self.forbidden


class Bench:
    """The driver. ``commits``: journal batches are durable at once; else a test calls ``commit``. ``system``: with ``$SYS``."""

    def __init__(
        self,
        settings: BrokerSettings | None = None,
        *,
        keeps: bool = False,
        holds: bool = False,
        commits: bool = True,
        seed: int = 1,
        fast: bool = True,
        system: bool = False,
    ) -> None:
        self.now = START
        self.commits = commits
        self.fast = fast
        self.authority = Open()
        self.records: list[Record] = []
        if not system:
            settings = msgspec.structs.replace(settings or BrokerSettings(), sys_interval_s=0.0)
        self.broker = Broker(settings or BrokerSettings(), self.authority, seed, Journal(keeps, holds))
        self.clients: dict[int, Client] = {}

    def client(self, client_id: str = "c", version: int = 4, **options: Any) -> "Client":
        """Connected; the CONNACK has been read."""
        client = self.stranger(version)
        client.connect(client_id, **options)
        answer = client.got.pop(0)
        assert isinstance(answer, Connack), answer
        assert answer.code == 0, answer
        client.connack = answer
        return client

    def stranger(self, version: int = 4, origin: Origin | None = None) -> "Client":
        """A connection that has said nothing yet."""
        connection = self.broker.accept(self.now, origin or Origin("test", "tcp", "127.0.0.1", 1, True))
        assert connection is not None
        client = Client(self, connection, version)
        self.clients[connection.number] = client
        return client

    def tick(self) -> None:
        """What a driver does at the end of a tick, until there is nothing to do."""
        broker = self.broker
        while True:
            batch, records = broker.journal.take()
            self.records += records
            if records and self.commits:
                broker.committed(self.now, batch)
            dirty, broker.dirty[:] = list(broker.dirty), []
            if not dirty and not records:
                return
            for connection in dirty:
                self.clients[connection.number].flush()
                if connection.replays and not connection.out:
                    connection.refill(self.now)

    def commit(self) -> None:
        """The store has everything that was taken."""
        self.broker.committed(self.now, self.broker.journal.batch - 1)
        self.tick()

    def work(self) -> None:
        """Other threads finish what they were given."""
        works, self.broker.works[:] = list(self.broker.works), []
        for connection, run in works:
            connection.verdict(self.now, run())
        self.tick()

    def later(self, seconds: float) -> None:
        """Time passes, and timers fire when they are due."""
        end = self.now + seconds
        while (deadline := self.broker.deadline) is not None and deadline <= end:
            self.now = max(self.now, deadline)
            self.broker.timeout(self.now)
            self.tick()
        self.now = end

    def hits(self, limit: str) -> int:
        return self.broker.counters[hit(limit)]

    def count(self, name: str) -> int:
        return self.broker.counters[f"weft_{name}_total"]


class Client:
    """The other end of one connection. ``stuck``: it does not read."""

    def __init__(self, bench: Bench, connection: Connection, version: int) -> None:
        self.bench = bench
        self.connection = connection
        self.version = version
        self.got: list[Packet] = []
        self.raw = b""
        self.closed = False
        self.stuck = False
        self.connack: Connack | None = None
        self.last_id = 0

    def flush(self) -> None:
        connection = self.connection
        if self.stuck and not connection.closing:
            return
        self.raw += b"".join(connection.out)
        connection.out.clear()
        at = 0
        while (frame := split(self.raw, at)) is not None:
            first, start, at = frame
            self.got.append(decode(self.version, first, self.raw[start:at]))
        self.raw = self.raw[at:]
        self.closed = connection.closing

    def send(self, *packets: Packet) -> "Client":
        return self.speak(b"".join(encode(self.version, packet) for packet in packets))

    def speak(self, data: bytes) -> "Client":
        if not self.bench.fast:
            self.connection.is_plain = False
        self.connection.receive(self.bench.now, data)
        self.bench.tick()
        return self

    def take(self) -> list[Packet]:
        """What has come, and forget it."""
        taken, self.got = self.got, []
        return taken

    def connect(
        self, client_id: str, clean: bool = True, keep_alive_s: int = 0, will: Will | None = None, **properties: Any
    ) -> "Client":
        username, password = properties.pop("username", None), properties.pop("password", None)
        made = Properties(**properties) if properties else NONE
        packet = Connect(self.version, client_id, clean, keep_alive_s, username, password, will, made)
        return self.send(packet)

    def subscribe(self, *filters: str, qos: int = 0, **options: Any) -> list[Packet]:
        """The answer is what came back: SUBACK, and what was retained."""
        self.last_id += 1
        identifier = options.pop("identifier", None)
        properties = Properties(subscription_ids=(identifier,)) if identifier else NONE
        requests = tuple(Request(each, qos, **options) for each in filters)
        self.send(Subscribe(self.last_id, requests, properties))
        return self.take()

    def publish(
        self, topic: str, payload: bytes = b"x", qos: int = 0, retain: bool = False, **properties: Any
    ) -> "Client":
        if qos:
            self.last_id += 1
        made = Properties(**properties) if properties else NONE
        return self.send(Publish(topic, payload, qos, retain, False, self.last_id if qos else 0, made))

    def vanish(self) -> None:
        """The socket is gone, without a word."""
        self.connection.lost(self.bench.now, "reset")
        self.bench.tick()

    def payloads(self) -> list[bytes]:
        """Of the PUBLISHes that have come; all else is forgotten."""
        return [packet.payload for packet in self.take() if isinstance(packet, Publish)]
