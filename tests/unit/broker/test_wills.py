"""Wills: said when a client goes without a word, when their delay has passed, once."""

import pytest

from broker_bench import Bench
from weft.mqtt.codec.packets import Connect, Disconnect, Publish, Will
from weft.mqtt.codec.properties import Properties
from weft.mqtt.codec.reasons import Reason


@pytest.fixture
def bench() -> Bench:
    return Bench()


@pytest.fixture
def watcher(bench):
    client = bench.client("watcher", version=5)
    client.subscribe("w", qos=2)
    return client


def delayed(seconds: int) -> Will:
    return Will("w", b"gone", 1, properties=Properties(will_delay_s=seconds))


@pytest.mark.parametrize("version", [3, 4, 5])
def test_said_when_the_connection_is_lost(bench, watcher, version):
    """[MQTT-3.1.2-7], [MQTT-3.1.2-8], [MQTT-3.1.2-8 (3.1.1)]: with its QoS."""
    bench.client(version=version, will=Will("w", b"gone", 1)).vanish()
    assert [(packet.payload, packet.qos) for packet in watcher.take()] == [(b"gone", 1)]
    assert bench.count("wills_published") == 1


def test_said_when_the_client_is_silent_for_too_long(bench, watcher):
    """§3.1.2.5."""
    bench.client(will=Will("w", b"gone"), keep_alive_s=10)
    bench.later(20)
    assert watcher.payloads() == [b"gone"]


def test_said_when_the_client_breaks_the_protocol(bench, watcher):
    """§3.1.2.5."""
    bench.client(will=Will("w", b"gone")).speak(b"\xf1\x00")
    assert watcher.payloads() == [b"gone"]


@pytest.mark.parametrize("version", [4, 5])
def test_not_said_when_the_client_leaves_well(bench, watcher, version):
    """[MQTT-3.1.2-10], [MQTT-3.14.4-3], [MQTT-3.1.2-10 (3.1.1)], [MQTT-3.14.4-3 (3.1.1)]."""
    bench.client(version=version, will=Will("w", b"gone")).send(Disconnect())
    assert watcher.payloads() == []


def test_said_when_the_client_leaves_and_wants_it_said(bench, watcher):
    """§3.14.2.1: Disconnect with Will Message."""
    bench.client(version=5, will=Will("w", b"gone")).send(Disconnect(Reason.DISCONNECT_WITH_WILL))
    assert watcher.payloads() == [b"gone"]


def test_the_delay_is_waited_for(bench, watcher):
    """[MQTT-3.1.2-8], [MQTT-3.1.2-10]: and then it is said once."""
    bench.client(version=5, will=delayed(10), session_expiry_s=100).vanish()
    bench.later(9.9)
    assert watcher.payloads() == []
    bench.later(0.2)
    assert watcher.payloads() == [b"gone"]
    bench.later(200)
    assert watcher.payloads() == []


def test_or_the_end_of_the_session_if_that_is_first(bench, watcher):
    """[MQTT-3.1.2-8]."""
    bench.client(version=5, will=delayed(100), session_expiry_s=10).vanish()
    bench.later(10.1)
    assert watcher.payloads() == [b"gone"]


def test_a_clean_start_ends_the_session_and_says_it(bench, watcher):
    bench.client("c", version=5, will=delayed(100), session_expiry_s=1_000).vanish()
    bench.client("c", version=5, clean=True)
    assert watcher.payloads() == [b"gone"]


def test_not_said_if_the_client_is_back_before(bench, watcher):
    """[MQTT-3.1.3-9]."""
    bench.client("c", version=5, will=delayed(10), session_expiry_s=100).vanish()
    bench.later(5)
    bench.client("c", version=5, clean=False, session_expiry_s=100)
    bench.later(50)
    assert watcher.payloads() == []


def test_a_takeover_says_a_will_without_delay(bench, watcher):
    """§3.1.4: the first connection was closed without a DISCONNECT of its client."""
    bench.client("c", version=5, will=Will("w", b"gone"), session_expiry_s=100)
    bench.client("c", version=5, clean=False, session_expiry_s=100)
    assert watcher.payloads() == [b"gone"]


def test_a_takeover_does_not_say_a_will_with_one(bench, watcher):
    bench.client("c", version=5, will=delayed(10), session_expiry_s=100)
    bench.client("c", version=5, clean=False, session_expiry_s=100)
    bench.later(50)
    assert watcher.payloads() == []


@pytest.mark.parametrize("version", [4, 5])
def test_it_is_retained_if_it_says_so(bench, version):
    """[MQTT-3.1.2-14], [MQTT-3.1.2-15], [MQTT-3.1.2-16 (3.1.1)], [MQTT-3.1.2-17 (3.1.1)]."""
    bench.client("a", version=version, will=Will("kept", b"1", 0, True)).vanish()
    bench.client("b", version=version, will=Will("not", b"2", 0, False)).vanish()
    answers = bench.client("late").subscribe("#")
    assert [packet.topic for packet in answers if isinstance(packet, Publish)] == ["kept"]


def test_its_properties_arrive(bench, watcher):
    """[MQTT-3.1.3-10]: user properties in their order; the expiry counts from when it is said."""
    said = Properties(will_delay_s=5, message_expiry_s=60, user=(("b", "1"), ("a", "2")), content_type="text/plain")
    bench.client(version=5, will=Will("w", b"gone", 0, False, said), session_expiry_s=100).vanish()
    bench.later(6)
    (message,) = watcher.take()
    assert message.properties == Properties(
        message_expiry_s=60, user=(("b", "1"), ("a", "2")), content_type="text/plain"
    )


def test_an_empty_will_is_a_will(bench, watcher):
    """§3.1.3.3 of 3.1.1: a zero-length message."""
    bench.stranger().send(Connect(4, "c", will=Will("w", b""))).vanish()
    assert watcher.payloads() == [b""]
