"""SUBSCRIBE and UNSUBSCRIBE: each filter judged by itself, retained messages, the answers."""

import pytest

from broker_bench import Bench
from weft.broker.access.api import SHARE, SUBSCRIBE
from weft.broker.settings import BrokerSettings, Limits
from weft.mqtt.codec.packets import Publish, Request, Suback, Subscribe, Unsuback, Unsubscribe
from weft.mqtt.codec.properties import Properties
from weft.mqtt.codec.reasons import Reason


@pytest.fixture
def bench() -> Bench:
    return Bench()


@pytest.fixture(params=[4, 5])
def version(request) -> int:
    return request.param


class TestAnswers:
    def test_suback_has_the_identifier_and_a_code_for_each_filter_in_order(self, bench, version):
        """[MQTT-3.8.4-1], [MQTT-3.8.4-2], [MQTT-3.8.4-6], [MQTT-3.9.3-1], [MQTT-2.2.1-6], [MQTT-3.8.4-1 (3.1.1)],
        [MQTT-3.8.4-2 (3.1.1)], [MQTT-3.8.4-5 (3.1.1)], [MQTT-3.9.3-1 (3.1.1)], [MQTT-2.3.1-7 (3.1.1)].
        """
        client = bench.client(version=version)
        client.send(Subscribe(77, (Request("a", 2), Request("b", 0), Request("c/#", 1))))
        assert client.take() == [Suback(77, (2, 0, 1))]

    def test_a_refused_filter_does_not_touch_its_neighbours(self, bench):
        """[MQTT-3.8.4-5], [MQTT-3.9.3-2], [MQTT-3.8.4-4 (3.1.1)], [MQTT-3.9.3-2 (3.1.1)]: as if each had come alone."""
        bench.authority.forbidden = {(SUBSCRIBE, "no")}
        five, four = bench.client("five", version=5), bench.client("four")
        requests = (Request("yes", 1), Request("no", 1), Request("also", 1))
        assert five.send(Subscribe(1, requests)).take() == [Suback(1, (1, Reason.NOT_AUTHORIZED, 1))]
        assert four.send(Subscribe(1, requests)).take() == [Suback(1, (1, 0x80, 1))]
        bench.client("p").publish("yes").publish("no").publish("also")
        assert len(five.payloads()) == len(four.payloads()) == 2

    def test_no_more_than_the_servers_qos_is_granted(self, version):
        """[MQTT-3.8.4-7], [MQTT-3.2.2-10], [MQTT-3.8.4-5 (3.1.1)]."""
        bench = Bench(BrokerSettings(Limits(qos_max=1)))
        assert bench.client(version=version).subscribe("t", qos=2) == [Suback(1, (1,))]

    @pytest.mark.parametrize(
        ("settings", "pattern", "reason"),
        [
            (BrokerSettings(wildcards=False), "a/+", Reason.WILDCARD_SUBSCRIPTIONS_NOT_SUPPORTED),
            (BrokerSettings(wildcards=False), "#", Reason.WILDCARD_SUBSCRIPTIONS_NOT_SUPPORTED),
            (BrokerSettings(shared=False), "$share/g/a", Reason.SHARED_SUBSCRIPTIONS_NOT_SUPPORTED),
            (BrokerSettings(Limits(topic_levels_max=2)), "a/b/c", Reason.TOPIC_FILTER_INVALID),
            (BrokerSettings(Limits(subscriptions_max=1)), "second", Reason.QUOTA_EXCEEDED),
            (BrokerSettings(Limits(subscriptions_total_max=1)), "second", Reason.QUOTA_EXCEEDED),
        ],
    )
    def test_what_is_not_offered_is_refused_with_its_reason(self, settings, pattern, reason):
        client = Bench(settings).client(version=5)
        client.subscribe("first")
        assert client.subscribe(pattern) == [Suback(2, (reason,))]

    def test_a_subscription_that_exists_may_change_when_no_new_one_may_come(self):
        client = Bench(BrokerSettings(Limits(subscriptions_max=1))).client(version=5)
        client.subscribe("first", qos=0)
        assert client.subscribe("first", qos=1) == [Suback(2, (1,))]

    def test_sharing_is_a_right_of_its_own(self, bench):
        bench.authority.forbidden = {(SHARE, "t")}
        client = bench.client(version=5)
        assert client.subscribe("t", "$share/g/t") == [Suback(1, (0, Reason.NOT_AUTHORIZED))]


class TestReplacing:
    def test_the_same_filter_again_replaces_the_first(self, bench, version):
        """[MQTT-3.8.4-3], [MQTT-3.8.4-3 (3.1.1)]: one subscription, with the options of the last."""
        client = bench.client(version=version)
        client.subscribe("t", qos=0)
        client.subscribe("t", qos=1)
        bench.client("p").publish("t", qos=1)
        assert [packet.qos for packet in client.take()] == [1]
        assert bench.broker.routes.subscriptions == 1

    def test_its_identifier_too(self, bench):
        client = bench.client(version=5)
        client.subscribe("t", identifier=1)
        client.subscribe("t", identifier=2)
        bench.client("p").publish("t")
        assert [packet.properties.subscription_ids for packet in client.take()] == [(2,)]


class TestOverlapping:
    def test_one_copy_at_the_highest_qos_with_all_identifiers(self, bench):
        """[MQTT-3.3.4-2], [MQTT-3.3.4-3], [MQTT-3.3.4-4], [MQTT-3.3.5-1 (3.1.1)]."""
        client = bench.client(version=5)
        client.subscribe("a/+", qos=0, identifier=1)
        client.subscribe("a/#", qos=1, identifier=2)
        client.subscribe("a/b", qos=0)
        bench.client("p").publish("a/b", qos=2)
        (message,) = client.take()
        assert message.qos == 1
        assert sorted(message.properties.subscription_ids) == [1, 2]

    def test_a_client_never_names_an_identifier_when_it_publishes(self, bench):
        """[MQTT-3.3.4-6]: Protocol Error."""
        client = bench.client(version=5).publish("t", subscription_ids=(1,))
        assert client.closed


class TestNoLocal:
    def test_ones_own_messages_do_not_come_back(self, bench):
        """[MQTT-3.8.3-3]."""
        client, other = bench.client("c", version=5), bench.client("o", version=5)
        client.subscribe("t", no_local=True)
        client.publish("t", b"mine")
        other.publish("t", b"theirs")
        assert client.payloads() == [b"theirs"]

    def test_on_a_shared_subscription_it_is_a_protocol_error(self, bench):
        """[MQTT-3.8.3-4]."""
        client = bench.client(version=5)
        client.send(Subscribe(1, (Request("$share/g/t", no_local=True),)))
        assert client.take()[0].code == Reason.PROTOCOL_ERROR


class TestRetained:
    def fill(self, bench):
        bench.client("p").publish("a/1", b"one", qos=1, retain=True).publish("a/2", b"two", retain=True)

    def test_a_new_subscription_gets_what_its_topics_retain(self, bench, version):
        """[MQTT-3.3.1-5], [MQTT-3.3.1-9], [MQTT-3.3.1-5 (3.1.1)], [MQTT-3.3.1-6 (3.1.1)], [MQTT-3.3.1-8 (3.1.1)]."""
        self.fill(bench)
        answers = bench.client(version=version).subscribe("a/+", qos=1)
        messages = sorted(packet.topic for packet in answers if isinstance(packet, Publish))
        assert messages == ["a/1", "a/2"]
        assert all(packet.retain for packet in answers if isinstance(packet, Publish))
        assert {packet.topic: packet.qos for packet in answers if isinstance(packet, Publish)} == {"a/1": 1, "a/2": 0}

    def test_again_when_it_is_replaced(self, bench, version):
        """[MQTT-3.8.4-4], [MQTT-3.8.4-3 (3.1.1)]."""
        self.fill(bench)
        client = bench.client(version=version)
        client.subscribe("a/1")
        assert [type(packet) for packet in client.subscribe("a/1")] == [Suback, Publish]

    def test_retain_handling_1_only_when_it_is_new(self, bench):
        """[MQTT-3.3.1-10]."""
        self.fill(bench)
        client = bench.client(version=5)
        assert len(client.subscribe("a/1", retain_handling=1)) == 2
        assert len(client.subscribe("a/1", retain_handling=1)) == 1

    def test_retain_handling_2_never(self, bench):
        """[MQTT-3.3.1-11]."""
        self.fill(bench)
        assert len(bench.client(version=5).subscribe("a/#", retain_handling=2)) == 1

    def test_not_for_shared_subscriptions(self, bench):
        """§4.8.2."""
        self.fill(bench)
        assert len(bench.client(version=5).subscribe("$share/g/a/#")) == 1

    def test_with_the_subscriptions_identifier(self, bench):
        """[MQTT-3.3.4-3]."""
        self.fill(bench)
        answers = bench.client(version=5).subscribe("a/1", identifier=9)
        assert answers[1].properties.subscription_ids == (9,)

    def test_not_ones_own_with_no_local(self, bench):
        client = bench.client("c", version=5).publish("t", retain=True)
        assert len(client.subscribe("t", no_local=True)) == 1


class TestUnsubscribing:
    def test_unsuback_says_for_each_whether_there_was_one(self, bench):
        """[MQTT-3.10.4-4], [MQTT-3.10.4-5], [MQTT-3.10.4-6], [MQTT-3.11.3-1], [MQTT-3.11.3-2], [MQTT-2.2.1-6]."""
        client = bench.client(version=5)
        client.subscribe("a", "b")
        client.send(Unsubscribe(9, ("b", "c", "a/#")))
        assert client.take() == [Unsuback(9, (0, 0x11, 0x11))]

    def test_311_is_answered_whatever_there_was(self, bench):
        """[MQTT-3.10.4-4 (3.1.1)], [MQTT-3.10.4-5 (3.1.1)], [MQTT-2.3.1-7 (3.1.1)]."""
        assert bench.client().send(Unsubscribe(9, ("never",))).take() == [Unsuback(9)]

    def test_several_filters_get_one_answer(self, bench, version):
        """[MQTT-3.10.4-6], [MQTT-3.10.4-6 (3.1.1)]."""
        client = bench.client(version=version)
        client.subscribe("a", "b", "c")
        client.send(Unsubscribe(9, ("a", "b")))
        assert client.take() == [Unsuback(9, (0, 0) if version == 5 else ())]
        bench.client("p").publish("a").publish("b").publish("c", b"left")
        assert client.payloads() == [b"left"]

    def test_nothing_new_comes_and_what_was_begun_is_completed(self, bench, version):
        """[MQTT-3.10.4-2], [MQTT-3.10.4-3], [MQTT-3.10.4-2 (3.1.1)], [MQTT-3.10.4-3 (3.1.1)]."""
        client = bench.client(version=version)
        client.subscribe("t", qos=1)
        publisher = bench.client("p")
        publisher.publish("t", b"begun", qos=1)
        client.send(Unsubscribe(9, ("t",)))
        publisher.publish("t", b"late", qos=1)
        assert client.payloads() == [b"begun"]
        session = client.connection.session
        assert session is not None
        assert len(session.outgoing.inflight) == 1

    def test_filters_are_compared_character_by_character(self, bench):
        """[MQTT-3.10.4-1], [MQTT-3.10.4-1 (3.1.1)]: "+" is no subscription to "a"."""
        client = bench.client(version=5)
        client.subscribe("a", "+", "A")
        client.send(Unsubscribe(9, ("+",)))
        bench.client("p").publish("a")
        assert [type(packet) for packet in client.take()] == [Unsuback, Publish]

    def test_a_shared_one_is_its_own(self, bench):
        client = bench.client(version=5)
        client.subscribe("t", "$share/g/t")
        client.send(Unsubscribe(9, ("$share/g/t",)))
        assert client.take() == [Unsuback(9, (0,))]
        assert bench.broker.routes.groups() == []
        bench.client("p").publish("t")
        assert len(client.payloads()) == 1


def test_system_topics_need_to_be_asked_for_by_name(bench):
    """[MQTT-4.7.2-1], [MQTT-4.7.2-1 (3.1.1)]."""
    from weft.mqtt.publication import Publication

    all_of_it, system = bench.client("a"), bench.client("b")
    all_of_it.subscribe("#", "+/broker")
    system.subscribe("$SYS/#")
    bench.broker.publish(bench.now, Publication("$SYS/broker", b"x"))
    bench.tick()
    assert all_of_it.payloads() == []
    assert system.payloads() == [b"x"]


def test_a_subscription_identifier_of_properties_is_that_of_all_its_filters(bench):
    """§3.8.2.1.2."""
    client = bench.client(version=5)
    client.send(Subscribe(1, (Request("a"), Request("b")), Properties(subscription_ids=(4,))))
    client.take()
    bench.client("p").publish("a").publish("b")
    assert [packet.properties.subscription_ids for packet in client.take()] == [(4,), (4,)]
