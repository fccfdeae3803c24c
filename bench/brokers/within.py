"""weft without a kernel: the broker and its driver in this process, sockets that only collect; what Python alone costs.

Here noise is small, so it is what a change is judged by; and where the time goes can be seen.
"""

import cProfile
import multiprocessing
import pstats
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median
from typing import Any

from weft.broker.access.api import Credentials, Denied, Granted, Subject
from weft.broker.broker import Broker
from weft.broker.settings import BrokerSettings
from weft.mqtt.codec.encode import encode
from weft.mqtt.codec.packets import Connect, Publish, Request, Subscribe
from weft.mqtt.session.session import Session, Subscription
from weft.runtime.host import Host
from weft.runtime.origins import Origins
from weft.runtime.tcp import TcpLink

RUNS = 7


class Open:
    """An authority that lets everybody do everything, at no cost."""

    version = 1

    def admit(self, now: float, credentials: Credentials) -> Granted:
        return Granted(None)

    def admitted(self, now: float, credentials: Credentials, verdict: Granted | Denied) -> None: ...

    def stands(self, now: float, subject: Subject) -> bool:
        return True

    def converse(self, now: float, method: str, credentials: Credentials) -> None:
        return None

    def methods(self) -> list[str]:
        return []

    def may(self, subject: Subject, action: str, topic: str, qos: int) -> bool:
        return True


class Socket:
    """A transport whose other side reads everything at once."""

    def __init__(self, link: TcpLink) -> None:
        self.link = link

    def write(self, data: bytes) -> None: ...

    def set_write_buffer_limits(self, high: int, low: int) -> None: ...

    def get_extra_info(self, what: str) -> Any:
        return ("127.0.0.1", 1) if what == "peername" else None

    def close(self) -> None:
        self.link.connection_lost(None)


class Loop:
    """Runs what is due when told; timers never fire."""

    def __init__(self) -> None:
        self.soon: list[Callable[[], None]] = []

    def call_soon(self, callback: Callable[[], None]) -> None:
        self.soon.append(callback)

    def call_later(self, delay: float, callback: Callable[[], None]) -> "Loop":
        return self

    def cancel(self) -> None: ...

    def run(self) -> None:
        while self.soon:
            self.soon.pop()()


class Node:
    """A broker, its driver, and clients that speak bytes."""

    def __init__(self) -> None:
        self.loop: Any = Loop()
        self.host = Host(Broker(BrokerSettings(sys_interval_s=0.0), Open(), 1), self.loop)
        self.origins = Origins("bench", "tcp")

    def client(self, name: str, version: int = 4, filter_: str = "", qos: int = 0) -> TcpLink:
        link = TcpLink(self.host, self.origins)
        socket: Any = Socket(link)
        link.connection_made(socket)
        link.data_received(encode(version, Connect(version, name, True, 0)))
        if filter_:
            link.data_received(encode(version, Subscribe(1, (Request(filter_, qos),))))
        self.loop.run()
        return link


def pairs(qos: int, burst: int, version: int = 4) -> tuple[Callable[[], None], int]:
    """20 publishers with a subscriber each; each sends ``burst`` messages in one piece, and everything is acknowledged."""
    node, count = Node(), 20
    subscribers = [node.client(f"s{i}", version, f"t/{i}", qos) for i in range(count)]
    publishers = [node.client(f"p{i}", version) for i in range(count)]
    spoken = [
        b"".join(
            encode(version, Publish(f"t/{i}", b"%064d" % k, qos, packet_id=k + 1 if qos else 0)) for k in range(burst)
        )
        for i in range(count)
    ]

    def answer(link: TcpLink, first: int, ids: list[int]) -> None:
        link.data_received(b"".join(bytes((first, 2)) + each.to_bytes(2, "big") for each in ids))

    def turn() -> None:
        for link, data in zip(publishers, spoken, strict=True):
            link.data_received(data)
        node.loop.run()
        if qos:
            for link in subscribers:
                ids = list(link.connection.session.outgoing.inflight)
                answer(link, 0x40 if qos == 1 else 0x50, ids)
                if qos == 2:
                    node.loop.run()
                    answer(link, 0x70, ids)
            if qos == 2:
                for link in publishers:
                    answer(link, 0x62, list(range(1, burst + 1)))
            node.loop.run()

    return turn, count * burst


def shared(burst: int) -> tuple[Callable[[], None], int]:
    node = Node()
    for number in range(10):
        node.client(f"s{number}", 4, "$share/group/t")
    publisher = node.client("p")
    data = b"".join(encode(4, Publish("t", b"%064d" % k)) for k in range(burst))

    def turn() -> None:
        publisher.data_received(data)
        node.loop.run()

    return turn, burst


def connects() -> tuple[Callable[[], None], int]:
    node = Node()

    def turn() -> None:
        for number in range(20):
            node.client(f"c{number}").data_received(b"\xe0\x00")
            node.loop.run()

    return turn, 20


CASES: dict[str, Callable[[], tuple[Callable[[], None], int]]] = {
    "QoS 0, one in a read": lambda: pairs(0, 1),
    "QoS 0, 20 in a read": lambda: pairs(0, 20),
    "QoS 0, 20 in a read, MQTT 5": lambda: pairs(0, 20, 5),
    "QoS 1, one in a read": lambda: pairs(1, 1),
    "QoS 1, 20 in a read": lambda: pairs(1, 20),
    "QoS 2, one in a read": lambda: pairs(2, 1),
    "QoS 2, 20 in a read": lambda: pairs(2, 20),
    "shared, 200 in a read": lambda: shared(200),
    "connect and disconnect": connects,
}


def python_ns() -> dict[str, float]:
    """Per message (or connection), the best of several: what is above that is noise."""
    found = {}
    for name, make in CASES.items():
        turn, messages = make()
        turns = max(1, 4_000 // messages)
        best = float("inf")
        for _ in range(RUNS):
            begun = time.process_time_ns()
            for _ in range(turns):
                turn()
            best = min(best, (time.process_time_ns() - begun) / turns / messages)
        found[name] = best
    return found


def profile(name: str, lines: int = 12) -> list[tuple[str, float, float]]:
    """Functions of a case by their own time: name, calls per message, part of the whole. Profiling makes calls dearer."""
    turn, messages = CASES[name]()
    turn()
    watched = cProfile.Profile()
    watched.enable()
    for _ in range(100):
        turn()
    watched.disable()
    stats: Any = pstats.Stats(watched)
    rows = [
        (_place(where), row[1] / messages / 100, row[2] / stats.total_tt)
        for where, row in stats.stats.items()
        if not where[0].startswith(str(Path(__file__).parent))
    ]
    return sorted(rows, key=lambda row: -row[2])[:lines]


def _place(where: tuple[str, int, str]) -> str:
    file, _, function = where
    if file == "~":
        return function.strip("<>").removeprefix("built-in method ").replace("builtins.", "")
    return f"{file.rpartition('weft/')[2]}: {function}"


def subscriptions(count: int) -> dict[str, float]:
    """``count`` of them, 100 to a session, in a process of its own: memory of each, and the time of a match from nothing."""
    context = multiprocessing.get_context("spawn")
    with context.Pool(1) as pool:
        return pool.apply(_subscriptions, (count,))


def _subscriptions(count: int) -> dict[str, float]:
    broker = Broker(BrokerSettings(), Open(), 1)
    before, begun = _rss(), time.process_time()
    for number in range(count // 100):
        session = Session(f"client-{number:06}", 100)
        for line in range(100):
            filter_ = f"site/{number}/line/{line}/state"
            if line % 10 == 0:
                filter_ = f"site/{number}/+/{line}/#" if line else f"site/{number}/#"
            subscription = Subscription(filter_, filter_, filter_, 1)
            session.subscriptions[filter_] = subscription
            broker.routes.subscribe(session, subscription)
    added = time.process_time() - begun
    kept = _rss() - before
    topics = [f"site/{number * 7 % (count // 100)}/line/{number % 100}/state" for number in range(20_000)]
    taken = []
    for topic in topics:
        start = time.perf_counter_ns()
        broker.routes.to(topic)
        taken.append(time.perf_counter_ns() - start)
    taken.sort()
    return {
        "bytes": kept / count,
        "add_us": added / count * 1e6,
        "match_us": median(taken) / 1e3,
        "match_p99_us": taken[int(len(taken) * 0.99)] / 1e3,
    }


def _rss() -> int:
    return int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1]) * 4096
