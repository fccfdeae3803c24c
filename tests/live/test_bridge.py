"""Bridges over real sockets: between our broker and mosquitto, both ways, both versions; restarts; loops; two of ours."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from broker_bench import Open
from driving import Driven, driving, run
from mosquitto_bench import Mosquitto, needs_mosquitto
from talking import talking
from weft.broker.bridge.settings import BridgeSettings, Topic, check_all
from weft.broker.broker import Broker
from weft.broker.settings import BrokerSettings
from weft.core.errors import Misuse
from weft.mqtt.client.events import Message
from weft.node.config import Listener
from weft.runtime.bridge import Bridges

pytestmark = pytest.mark.live
LOOPBACK = Listener("mqtt://127.0.0.1:0")
VERSIONS = pytest.mark.parametrize("version", ["5", "3.1.1"])
DELAYS = {"retry_first_s": 0.05, "retry_max_s": 0.2, "linger_s": 0.1}


class Bridged:
    """One of our brokers with its bridges."""

    def __init__(self, driven: Driven, broker: Broker, bridges: Bridges) -> None:
        self.driven = driven
        self.broker = broker
        self.bridges = bridges
        self.url = f"mqtt://127.0.0.1:{driven.ports[0]}"

    async def up(self) -> None:
        await self.driven.until(lambda: all(each.machine.is_relaying for each in self.bridges.all))

    async def asked(self, *filters: str) -> None:
        """Until the bridge is subscribed to exactly these at far, and far has said so."""
        (bridging,) = self.bridges.all
        machine = bridging.machine
        await self.driven.until(
            lambda: machine.far is not None and sorted(machine._has) == sorted(filters) and not machine.far.is_asking
        )


@asynccontextmanager
async def bridged(*settings: BridgeSettings, broker_id: str = "ours") -> AsyncIterator[Bridged]:
    broker = Broker(BrokerSettings(), Open(), 1)
    async with driving(broker, LOOPBACK) as driven:
        bridges = Bridges(list(settings), broker_id, broker, driven.host, driven.tasks, Path.read_bytes)
        bridges.start()
        yield Bridged(driven, broker, bridges)
        bridges.stop()


def settings(port: int, *topics: Topic, **options: object) -> BridgeSettings:
    return BridgeSettings("b", f"mqtt://127.0.0.1:{port}", list(topics), **{**DELAYS, **options})  # type: ignore[arg-type]


@needs_mosquitto
@VERSIONS
def test_messages_cross_to_mosquitto_and_back(tmp_path: Path, version: str) -> None:
    async def scene(port: int) -> None:
        topics = (Topic("up/#", "out", 2, "here/", "there/"), Topic("down/#", "in", 2))
        async with (
            bridged(settings(port, *topics, version=version)) as ours,
            talking(f"mqtt://127.0.0.1:{port}") as theirs,
            talking(ours.url) as mine,
        ):
            await ours.up()
            await ours.asked()
            await mine.subscribe("down/+", qos=2)
            await ours.asked("down/+")
            await theirs.subscribe("there/#", qos=2)
            for qos in (0, 1, 2):
                await mine.publish("here/up/1", b"up %d" % qos, qos)
                await theirs.publish("down/1", b"down %d" % qos, qos)
            await theirs.heard(Message, 3)
            await mine.heard(Message, 3)
            assert sorted(theirs.payloads) == [b"up 0", b"up 1", b"up 2"]
            assert sorted(mine.payloads) == [b"down 0", b"down 1", b"down 2"]

    with Mosquitto(tmp_path) as mosquitto:
        run(scene(mosquitto.port))


@needs_mosquitto
@VERSIONS
def test_a_bridge_both_ways_sends_nothing_back(tmp_path: Path, version: str) -> None:
    async def scene(port: int) -> None:
        async with (
            bridged(settings(port, Topic("#", "both", 1), version=version, demand="always")) as ours,
            talking(f"mqtt://127.0.0.1:{port}") as theirs,
            talking(ours.url) as mine,
        ):
            await ours.up()
            await ours.asked("#")
            await mine.subscribe("#", qos=1)
            await theirs.subscribe("#", qos=1)
            for number in range(5):
                await mine.publish("a", b"mine %d" % number, 1)
                await theirs.publish("b", b"theirs %d" % number, 1)
            await mine.publish("a", b"end", 1)
            await theirs.publish("b", b"end", 1)
            await mine.heard(Message, 12)
            await theirs.heard(Message, 12)
            for talker in (mine, theirs):
                assert sorted(talker.payloads) == sorted(
                    [b"end", b"end", *(b"%s %d" % (who, n) for who in (b"mine", b"theirs") for n in range(5))]
                )

    with Mosquitto(tmp_path) as mosquitto:
        run(scene(mosquitto.port))


@needs_mosquitto
@VERSIONS
def test_when_mosquitto_restarts_nothing_of_qos_1_is_lost(tmp_path: Path, version: str) -> None:
    async def scene(mosquitto: Mosquitto) -> None:
        url = f"mqtt://127.0.0.1:{mosquitto.port}"
        topics = (Topic("up/#", "out", 1), Topic("down/#", "in", 1))
        async with bridged(settings(mosquitto.port, *topics, version=version)) as ours, talking(ours.url) as mine:
            await mine.subscribe("down/#", qos=1)
            await ours.asked("down/#")
            async with talking(url, 4, client_id="keeps", clean=False) as theirs:
                await theirs.subscribe("up/#", qos=1)
            loop = asyncio.get_running_loop()
            for number in range(300):
                mine.say("up/1", b"%d" % number, 1)
                if number == 100:
                    await loop.run_in_executor(None, mosquitto.stop)
                if number == 200:
                    await loop.run_in_executor(None, mosquitto.start)
            await ours.up()
            async with talking(url, 4, client_id="keeps", clean=False) as theirs:
                await theirs.subscribe("up/#", qos=1)
                await ours.driven.until(lambda: len(set(theirs.payloads)) == 300)
                await theirs.publish("down/1", b"still there", 1)
                await mine.heard(Message)
                assert mine.payloads == [b"still there"]

    lines = ("persistence true", f"persistence_location {tmp_path}/", "max_queued_messages 0", "user root")
    with Mosquitto(tmp_path, *lines) as mosquitto:
        run(scene(mosquitto))


@needs_mosquitto
def test_mosquitto_says_who_does_not_listen(tmp_path: Path) -> None:
    """0x10 in PUBACK: QoS 0 stays here until it is time to try again."""

    async def scene(port: int) -> None:
        async with bridged(settings(port, Topic("#", "out"), probe_s=3600)) as ours, talking(ours.url) as mine:
            await ours.up()
            count = ours.broker.counters
            await mine.publish("quiet", b"0")
            (bridging,) = ours.bridges.all
            await ours.driven.until(lambda: bridging.machine._hearing.is_heard(0, "quiet") is False)
            for number in range(5):
                await mine.publish("quiet", b"%d" % number)
            await ours.driven.until(lambda: count["weft_bridge_suspended_total"] == 5)
            assert count["weft_bridge_out_total"] == 1

    with Mosquitto(tmp_path) as mosquitto:
        run(scene(mosquitto.port))


def test_two_of_our_brokers_and_a_bridge_each_way_do_not_loop() -> None:
    async def scene() -> None:
        topic = Topic("#", "both", 1)
        async with bridged(broker_id="b") as second:
            port = second.driven.ports[0]
            async with bridged(settings(port, topic, demand="always"), broker_id="a") as first:
                back = BridgeSettings("back", first.url, [topic], demand="always")
                bridges = Bridges([back], "b", second.broker, second.driven.host, second.driven.tasks, Path.read_bytes)
                bridges.start()
                await second.driven.until(lambda: bridges.all[0].machine.is_relaying)
                await first.up()
                async with talking(first.url) as mine, talking(second.url) as theirs:
                    await theirs.subscribe("#", qos=1)
                    await mine.publish("a", b"once", 1)
                    await theirs.heard(Message)
                    loops = (first.broker.counters, second.broker.counters)
                    await first.driven.until(lambda: sum(each["weft_bridge_loops_total"] for each in loops) >= 2)
                    await mine.publish("end", b"end", 1)
                    await first.driven.until(lambda: b"end" in theirs.payloads)
                    assert theirs.payloads.count(b"once") <= 2
                bridges.stop()

    run(scene())


def test_a_broker_that_is_not_there_is_tried_again() -> None:
    async def scene() -> None:
        async with bridged() as second:
            port = second.driven.ports[0]
        async with bridged(settings(port, Topic("#", "out", 1))) as ours:
            await ours.driven.until(lambda: ours.broker.counters["weft_bridge_out_total"] == 0)
            (bridging,) = ours.bridges.all
            assert not bridging.machine.is_relaying

    run(scene())


@pytest.mark.parametrize(
    ("broken", "said"),
    [
        ([BridgeSettings("a", "mqtt://x", [Topic("#")]), BridgeSettings("a", "mqtt://y", [Topic("#")])], "two bridges"),
        ([BridgeSettings("a b", "mqtt://x", [Topic("#")])], "a name is"),
        ([BridgeSettings("a", "http://x", [Topic("#")])], "no URL of a broker"),
        ([BridgeSettings("a", "mqtt://x", [])], "1 to 1000 topics"),
        ([BridgeSettings("a", "mqtt://x", [Topic("a#")])], "'#' that is not"),
        ([BridgeSettings("a", "mqtt://x", [Topic("a", local_prefix="b")])], "end it with a slash"),
        ([BridgeSettings("a", "mqtt://x", [Topic("$share/g/a")])], "shared subscriptions do not cross"),
        ([BridgeSettings("a", "mqtt://x", [Topic("a/#"), Topic("a/+", "both")])], "overlap in the direction out"),
    ],
)
def test_what_cannot_be_is_said_before_anything_runs(broken: list[BridgeSettings], said: str) -> None:
    with pytest.raises(Misuse, match=said):
        check_all(broken)
