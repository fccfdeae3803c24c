"""Stock clients against a real broker: every scenario, over every transport and in every version that the client has.

The clients are other people's programs (tests/stock), the broker is a process. Absence is shown by order, not by waiting:
what must not come would have come before a message that was published later.
"""

import itertools
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from broker_process import BrokerProcess, broker, weft
from certificates import Authority
from stock import Link, Message, Refused, Stock, Where, Wish
from stock import with_mqttjs as mqttjs
from stock.with_aiomqtt import Aiomqtt
from stock.with_gmqtt import Gmqtt
from stock.with_mqttjs import Mqttjs
from stock.with_paho import Paho

pytestmark = pytest.mark.live

CONFIG = """
[[listener]]
url = "mqtt://127.0.0.1:0"
[[listener]]
url = "mqtts://127.0.0.1:0"
tls = { cert = "server.pem" }
[[listener]]
url = "ws://127.0.0.1:0"
[[listener]]
url = "wss://127.0.0.1:0"
tls = { cert = "server.pem" }
[[listener]]
url = "mqtt://127.0.0.1:0"
anonymous = false
[access]
password_file = "users.pw"
anonymous = true
throttle = { enabled = false }
"""
TRANSPORTS = ("tcp", "tls", "ws", "wss")
ALL_BYTES = bytes(range(256))
LARGE = 1_000_000  # with its topic and properties below the default packet_bytes_max of 1 MiB
NOT_AUTHORISED = {4, 5, 0x86, 0x87}  # 3.1.1 and 5; some libraries show 3.1.1's codes as those of 5
TAKEN_OVER = 0x8E


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[BrokerProcess, Path]]:
    """A broker with a listener for each transport, and one that wants a password."""
    folder = tmp_path_factory.mktemp("interop")
    authority = Authority(folder)
    authority.sign("localhost", "127.0.0.1", file="server.pem")
    weft("passwd", "--password-stdin", str(folder / "users.pw"), "ann", given="secret\n")
    file = folder / "weft.toml"
    file.write_text(CONFIG)
    with broker(folder, "--config", str(file), "--data-dir", str(folder / "data")) as process:
        yield process, authority.ca
        assert process.end() == 0
        assert "Traceback" not in process.log()


@pytest.fixture(scope="module", params=[Paho, Aiomqtt, Gmqtt, Mqttjs], ids=lambda kind: kind.name)
def stock(request: pytest.FixtureRequest) -> Iterator[Stock]:
    if request.param is Mqttjs and (why := mqttjs.missing()):
        pytest.skip(why)
    library = request.param()
    yield library
    library.close()


class Bench:
    """One test's clients: names of its own on the shared broker, closed at the end."""

    numbers = itertools.count()

    def __init__(self, stock: Stock, process: BrokerProcess, ca: Path, transport: str, version: int) -> None:
        self.stock, self.version = stock, version
        self.root = f"t{next(self.numbers)}"
        self._where = Where(transport, process.ports[TRANSPORTS.index(transport)], ca)
        self._guarded = Where("tcp", process.ports[-1], ca)
        self._links: list[Link] = []

    def connect(self, name: str = "it", guarded: bool = False, **wish: Any) -> Link:
        where = self._guarded if guarded else self._where
        link = self.stock.connect(where, Wish(f"{self.root}-{name}", self.version, **wish))
        self._links.append(link)
        return link

    def reconnect(self, link: Link, name: str, **wish: Any) -> Link:
        self.close(link)
        return self.connect(name, **wish)

    def close(self, link: Link) -> None:
        self._links.remove(link)
        link.close()

    def topic(self, rest: str) -> str:
        return f"{self.root}/{rest}"

    def message(self, rest: str, payload: bytes = b"", **more: Any) -> Message:
        return Message(self.topic(rest), payload, **more)

    def end(self) -> None:
        for link in reversed(self._links):
            link.close()


def payloads(link: Link, count: int) -> list[bytes]:
    return [each.payload for each in link.messages(count)]


def lasting(bench: Bench) -> dict[str, Any]:
    """A session that outlives its connection."""
    return {"clean": False, "expiry_s": 3600 if bench.version == 5 else 0}


# -------------------------------------------------------------------------------------------------------- scenarios


def round_trip(bench: Bench) -> None:
    link = bench.connect()
    for qos in (0, 1, 2):
        assert link.subscribe(bench.topic(f"{qos}"), qos) == qos
        sent = bench.message(f"{qos}", ALL_BYTES * 3, qos=qos)
        link.publish(sent)
        assert replace(link.message(), properties={}) == sent
    link.publish(bench.message("0", b"at most", qos=2))
    assert link.message().qos == 0
    link.publish(bench.message("2", b"", qos=1))
    assert (got := link.message()).qos == 1
    assert got.payload == b""


def in_order(bench: Bench) -> None:
    one, other = bench.connect("one"), bench.connect("other")
    one.subscribe(bench.topic("#"), 2)
    for number in range(40):
        other.publish(bench.message("é/漢", b"%d" % number, qos=1 + number % 2))
    for number in range(40, 50):  # one after the other, or the client's own Nagle algorithm adds 40 ms to each of them
        other.publish(bench.message("é/漢", b"%d" % number))
    got = [(each.qos, int(each.payload)) for each in one.messages(50)]
    # across QoS a library may hand out a message of QoS 2 only when its handshake is over
    for qos, sent in ((1, range(0, 40, 2)), (2, range(1, 40, 2)), (0, range(40, 50))):
        assert [number for its, number in got if its == qos] == list(sent)


def wildcards(bench: Bench) -> None:
    link, other = bench.connect(), bench.connect("other")
    for filter_ in ("+/b", "x/#", "end"):
        link.subscribe(bench.topic(filter_), 1)
    for rest in ("a/b", "a/b/c", "x", "b", "x/y/z", "/b", "x/b", "end"):
        other.publish(bench.message(rest, rest.encode(), qos=1))
    got = []
    while (message := link.message()).payload != b"end":
        got.append(message.payload)
    # x/b is matched twice: once or twice is right in 3.1.1 and 5 alike
    assert [*dict.fromkeys(got)] == [b"a/b", b"x", b"x/y/z", b"/b", b"x/b"]


def unsubscribing(bench: Bench) -> None:
    link = bench.connect()
    for rest in ("a", "b"):
        link.subscribe(bench.topic(rest), 1)
    link.unsubscribe(bench.topic("a"))
    for rest in ("a", "b"):
        link.publish(bench.message(rest, rest.encode(), qos=1))
    assert link.message().payload == b"b"


def retained(bench: Bench) -> None:
    one = bench.connect("one")
    for rest in ("a", "b"):
        one.publish(bench.message(rest, rest.encode(), qos=1, retain=True))
    one.publish(bench.message("a", b"", qos=1, retain=True))
    other = bench.connect("other")
    other.subscribe(bench.topic("#"), 1)
    assert replace(other.message(), properties={}) == bench.message("b", b"b", qos=1, retain=True)
    one.publish(bench.message("b", b"", qos=1, retain=True))
    assert replace(other.message(), properties={}) == bench.message("b", b"", qos=1)


def will_of_a_lost_client(bench: Bench) -> None:
    watcher = bench.connect("watcher")
    watcher.subscribe(bench.topic("will"), 1)
    more = {"user": [("left", "suddenly")], "will_delay_interval": 0} if bench.version == 5 else {}
    will = bench.message("will", b"gone", qos=1, retain=True, properties=more)
    leaving = bench.connect("leaving", will=will)
    bench.close(leaving)
    watcher.publish(bench.message("will", b"nothing after an orderly end", qos=1))
    assert watcher.message().payload == b"nothing after an orderly end"
    bench.connect("lost", will=will).sever()
    got = watcher.message()
    assert (got.payload, got.qos, got.retain) == (b"gone", 1, False)
    if bench.version == 5:
        assert [tuple(pair) for pair in got.properties["user"]] == [("left", "suddenly")]


def session_and_offline_queue(bench: Bench) -> None:
    away = bench.connect("away", **lasting(bench))
    assert not away.session_was_present()
    away.subscribe(bench.topic("q/#"), 2)
    bench.close(away)
    other = bench.connect("other")
    sent = [bench.message(f"q/{number}", ALL_BYTES, qos=1 + number % 2) for number in range(10)]
    for message in sent:
        other.publish(message)
    back = bench.connect("away", **lasting(bench))
    assert back.session_was_present() or bench.version == 3  # 3.1 has no such flag
    got = [replace(each, properties={}) for each in back.messages(10)]
    for qos in (1, 2):  # §4.6 orders within a QoS
        assert [each for each in got if each.qos == qos] == [each for each in sent if each.qos == qos]
    back = bench.reconnect(back, "away", clean=True)
    assert not back.session_was_present()
    other.publish(bench.message("q/x", b"to nobody", qos=1))
    back.subscribe(bench.topic("#"), 1)
    other.publish(bench.message("q/y", b"to it", qos=1))
    assert back.message().payload == b"to it"


def shared_subscription(bench: Bench) -> None:
    members = [bench.connect(f"member{number}") for number in range(2)]
    for member in members:
        assert member.subscribe(f"$share/g/{bench.topic('#')}", 1) == 1
    publisher = bench.connect("publisher")
    for number in range(10):
        publisher.publish(bench.message("a", b"%d" % number, qos=1))
    got = [payloads(member, 5) for member in members]  # round-robin is the default
    assert sorted(got[0] + got[1]) == sorted(b"%d" % number for number in range(10))


def large_payload(bench: Bench) -> None:
    link = bench.connect()
    payload = ALL_BYTES * (LARGE // 256)
    for qos in (0, 2):
        link.subscribe(bench.topic("large"), qos)
        link.publish(bench.message("large", payload, qos=qos))
        assert link.message().payload == payload


def credentials(bench: Bench) -> None:
    for user, password in (("ann", "guess"), ("nobody", "secret"), (None, None)):
        with pytest.raises(Refused) as refused:
            bench.connect("guest", guarded=True, user=user, password=password)
        assert refused.value.code in NOT_AUTHORISED
    link = bench.connect("guest", guarded=True, user="ann", password="secret")
    assert link.subscribe(bench.topic("a"), 1) == 1


def taken_over(bench: Bench) -> None:
    first = bench.connect("same")
    first.subscribe(bench.topic("a"), 1)
    second = bench.connect("same")
    assert first.lost() in {None, TAKEN_OVER}
    second.subscribe(bench.topic("a"), 1)
    second.publish(bench.message("a", b"alive", qos=1))
    assert second.message().payload == b"alive"


def comes_back_by_itself(bench: Bench) -> None:
    link = bench.connect(again=True, **lasting(bench))
    assert not link.session_was_present()
    link.subscribe(bench.topic("a"), 1)
    link.sever()
    link.lost()
    bench.connect("other").publish(bench.message("a", b"meanwhile", qos=1))
    assert link.session_was_present() or bench.version == 3
    assert link.message().payload == b"meanwhile"
    link.publish(bench.message("a", b"again", qos=1))
    assert link.message().payload == b"again"


def properties(bench: Bench) -> None:
    link = bench.connect()
    link.subscribe(bench.topic("a"), 1)
    sent = {
        "user": [("a", "1"), ("a", "2"), ("b", "é漢")],
        "response_topic": bench.topic("answer"),
        "correlation_data": b"\x00\xff",
        "content_type": "text/plain",
        "payload_format_indicator": 1,
    }
    link.publish(bench.message("a", b"x", qos=1, properties=sent))
    got = link.message().properties
    got["user"] = [tuple(pair) for pair in got["user"]]
    assert got == sent


def expiry(bench: Bench) -> None:
    link = bench.connect()
    link.subscribe(bench.topic("a"), 1)
    link.publish(bench.message("a", b"x", qos=1, retain=True, properties={"message_expiry_interval": 1000}))
    assert 900 < link.message().properties["message_expiry_interval"] <= 1000
    late = bench.connect("late")
    late.subscribe(bench.topic("a"), 1)
    assert 900 < late.message().properties["message_expiry_interval"] <= 1000


def subscription_identifiers(bench: Bench) -> None:
    link = bench.connect()
    link.subscribe(bench.topic("a"), 1, identifier=7)
    link.subscribe(bench.topic("b"), 1, identifier=268_435_455)
    for rest in ("b", "a"):
        link.publish(bench.message(rest, qos=1))
    assert [each.properties["ids"] for each in link.messages(2)] == [[268_435_455], [7]]


def topic_alias(bench: Bench) -> None:
    link = bench.connect()
    link.subscribe(bench.topic("a"), 1)
    link.publish(bench.message("a", b"1", properties={"topic_alias": 3}))
    link.publish(Message("", b"2", properties={"topic_alias": 3}))
    assert [(each.topic, each.payload) for each in link.messages(2)] == [
        (bench.topic("a"), b"1"), (bench.topic("a"), b"2")
    ]  # fmt: skip


def receive_maximum(bench: Bench) -> None:
    link = bench.connect(receive_maximum=2)
    link.subscribe(bench.topic("#"), 1)
    other = bench.connect("other")
    for number in range(8):
        other.publish(bench.message("a", b"%d" % number, qos=1))
    waiting = getattr(link, "waiting", None)
    if waiting is None:  # this library acknowledges by itself
        assert payloads(link, 8) == [b"%d" % number for number in range(8)]
        return
    got = payloads(link, 2)
    link.subscribe(bench.topic("another"), 1)  # a third would have come before the answer
    assert link.arrived.empty()
    for number in range(2, 8):
        waiting.get(timeout=1)()
        got += payloads(link, 1)
        assert got[-1] == b"%d" % number


def no_local(bench: Bench) -> None:
    link = bench.connect()
    link.subscribe(bench.topic("#"), 1, no_local=True)
    link.publish(bench.message("a", b"mine", qos=1))
    bench.connect("other").publish(bench.message("a", b"theirs", qos=1))
    assert link.message().payload == b"theirs"


Scenario = Callable[[Bench], None]
ANY: tuple[Scenario, ...] = (
    round_trip, in_order, wildcards, unsubscribing, retained, will_of_a_lost_client, session_and_offline_queue,
    shared_subscription, large_payload, credentials, taken_over, comes_back_by_itself,
)  # fmt: skip
FIVE: tuple[Scenario, ...] = (
    properties, expiry, subscription_identifiers, topic_alias, receive_maximum, no_local,
)  # fmt: skip


@pytest.mark.parametrize("scenario", [*ANY, *FIVE], ids=lambda scenario: scenario.__name__)
def test_a_stock_client(served: tuple[BrokerProcess, Path], stock: Stock, scenario: Scenario) -> None:
    """In each version, over each transport."""
    if why := stock.lacks.get(scenario.__name__):
        pytest.skip(why)
    process, ca = served
    for transport in stock.transports:
        for version in stock.versions:
            if version < 5 and scenario in FIVE:
                continue
            bench = Bench(stock, process, ca, transport, version)
            try:
                scenario(bench)
            except BaseException as error:
                error.add_note(f"{stock.name}, version {version}, over {transport}")
                raise
            finally:
                bench.end()
