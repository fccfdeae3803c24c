"""Plugins where they are asked: a broker with one, and clients that speak packets to it."""

import pytest

from broker_bench import Bench
from weft.broker.access.authority import build
from weft.broker.access.settings import AccessSettings
from weft.broker.hooks import Plugin, Plugins
from weft.mqtt.codec.packets import Puback, Publish, Pubrec, Request, Suback, Subscribe, Unsubscribe
from weft.mqtt.codec.reasons import Reason
from weft.mqtt.publication import Publication


class Probe(Plugin):
    """Says in ``calls`` what it saw, and answers ``answer`` where something is to be answered."""

    def __init__(self, settings) -> None:
        super().__init__(settings)
        self.calls = []
        self.answer = lambda given: given

    def on_connected(self, now, subject):
        self.calls.append(("connected", subject.client_id))
        self.outbox.append(Publication("presence", subject.client_id.encode()))

    def on_disconnected(self, now, subject):
        self.calls.append(("disconnected", subject.client_id))

    def on_publish(self, now, subject, publication):
        self.calls.append(("publish", subject.client_id, publication.topic))
        return self.answer(publication)

    def on_subscribe(self, now, subject, request):
        self.calls.append(("subscribe", request.filter))
        return self.answer(request)

    def on_unsubscribe(self, now, subject, filter_):
        self.calls.append(("unsubscribe", filter_))


@pytest.fixture
def probe() -> Probe:
    return Probe({})


@pytest.fixture
def bench(probe) -> Bench:
    bench = Bench()
    bench.broker.plugins = Plugins([(probe, "refuse")])
    bench.broker.plugins.bind(bench.broker.counters, bench.broker.notices, lambda: None)
    return bench


def test_it_hears_who_comes_and_goes_and_what_they_do(bench, probe):
    client = bench.client("c", version=5)
    client.subscribe("a/#")
    client.send(Publish("a/b", b"x"))
    client.send(Unsubscribe(3, ("a/#", "never/subscribed")))
    client.vanish()
    assert probe.calls == [
        ("connected", "c"), ("subscribe", "a/#"), ("publish", "c", "a/b"), ("unsubscribe", "a/#"), ("disconnected", "c"),
    ]  # fmt: skip


def test_what_it_says_is_published(bench):
    watcher = bench.client("watcher")
    watcher.subscribe("presence")
    bench.client("late")
    assert watcher.payloads() == [b"late"]


@pytest.mark.parametrize("qos", [0, 1, 2])
def test_it_changes_messages_at_every_qos(bench, probe, qos):
    """The hot path leaves every message to the slow one when somebody wants to see them."""
    heard = bench.client("watcher", version=5)
    heard.subscribe("#", qos=2)
    probe.answer = lambda given: Publication("changed", given.payload + b"!", given.qos)
    publisher = bench.client("p", version=5)
    heard.take()
    publisher.send(*(Publish("a/b", b"x", qos, packet_id=number if qos else 0) for number in (1, 2)))
    assert [(packet.topic, packet.payload) for packet in heard.take()] == [("changed", b"x!")] * 2


def test_it_drops_messages_in_silence_or_refuses_them_with_a_reason(bench, probe):
    heard = bench.client("watcher")
    heard.subscribe("a", qos=2)
    client = bench.client("p", version=5)
    probe.answer = lambda given: None
    assert client.send(Publish("a", b"x", 1, packet_id=1)).take() == [Puback(1)]
    probe.answer = lambda given: Reason.QUOTA_EXCEEDED
    assert client.send(Publish("a", b"x", 1, packet_id=2)).take() == [Puback(2, Reason.QUOTA_EXCEEDED)]
    assert client.send(Publish("a", b"x", 2, packet_id=3)).take() == [Pubrec(3, Reason.QUOTA_EXCEEDED)]
    assert heard.take() == []
    assert bench.count("messages_dropped_plugin") == 1
    assert bench.count("messages_refused") == 2


def test_it_changes_or_refuses_subscriptions(bench, probe):
    client = bench.client("c", version=5)
    probe.answer = lambda given: Request(given.filter, 0)
    assert client.send(Subscribe(1, (Request("a", 2),))).take() == [Suback(1, (0,))]
    probe.answer = lambda given: Reason.NOT_AUTHORIZED
    assert client.send(Subscribe(2, (Request("b", 2),))).take() == [Suback(2, (Reason.NOT_AUTHORIZED,))]
    assert list(bench.broker.sessions.by_client["c"].subscriptions) == ["a"]


def test_one_that_raises_hurts_nobody_but_its_messages(bench, probe):
    def fail(given):
        raise RuntimeError

    client = bench.client("c", version=5)
    probe.answer = fail
    assert client.send(Publish("a", b"x", 1, packet_id=1)).take() == [Puback(1, Reason.IMPLEMENTATION_SPECIFIC_ERROR)]
    assert not client.connection.closing
    assert bench.count("plugin_errors") == 1


def test_its_change_of_mind_voids_what_connections_have_cached():
    class Gate(Plugin):
        is_open = True

        def may(self, subject, action, topic, qos):
            return None if self.is_open else False

    bench, gate = Bench(), Gate({})
    access = build(AccessSettings(default="allow"), lambda path: b"", bytes, Plugins([(gate, "refuse")]))
    bench.broker.authority = access
    access.bind(bench.broker.counters, bench.broker.notices)
    client = bench.client("c")
    client.subscribe("a")
    client.send(Publish("a", b"1"), Publish("a", b"2"))
    assert client.payloads() == [b"1", b"2"]
    gate.is_open = False
    gate.changed()
    client.send(Publish("a", b"3"))
    assert client.payloads() == []
    assert bench.count("acl_denied") > 0  # the quick way asks, and then the slow one
