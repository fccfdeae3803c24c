"""PUBLISH from a client and the acknowledgements it gets."""

import pytest

from broker_bench import Bench
from weft.broker.access.api import PUBLISH, RETAIN
from weft.broker.settings import BrokerSettings, Limits
from weft.mqtt.codec.packets import Puback, Pubcomp, Publish, Pubrec, Pubrel
from weft.mqtt.codec.properties import Properties
from weft.mqtt.codec.reasons import Reason


@pytest.fixture
def bench() -> Bench:
    return Bench()


@pytest.fixture(params=[4, 5])
def version(request) -> int:
    return request.param


def watcher(bench: Bench, *filters: str, qos: int = 2, version: int = 4):
    client = bench.client("watcher", version=version)
    client.subscribe(*filters, qos=qos)
    return client


class TestQos:
    def test_0_gets_no_answer(self, bench, version):
        """[MQTT-3.3.4-1], [MQTT-3.3.4-1 (3.1.1)]."""
        assert bench.client(version=version).publish("t").take() == []

    def test_1_gets_puback_with_its_identifier(self, bench, version):
        """[MQTT-4.3.2-4], [MQTT-2.2.1-5], [MQTT-4.3.2-2 (3.1.1)], [MQTT-2.3.1-6 (3.1.1)]."""
        watcher(bench, "t")
        client = bench.client(version=version).send(Publish("t", b"x", 1, packet_id=77))
        assert client.take() == [Puback(77)]

    def test_1_may_be_sent_again_and_is_a_new_message(self, bench, version):
        """[MQTT-4.3.2-5], [MQTT-4.3.2-2 (3.1.1)]: after the PUBACK the identifier is free, whatever DUP says."""
        heard = watcher(bench, "t")
        client = bench.client(version=version)
        client.send(Publish("t", b"x", 1, packet_id=7), Publish("t", b"x", 1, dup=True, packet_id=7))
        assert heard.payloads() == [b"x", b"x"]
        assert client.take() == [Puback(7), Puback(7)]

    def test_2_is_taken_once(self, bench, version):
        """[MQTT-4.3.3-8], [MQTT-4.3.3-10], [MQTT-4.3.3-11], [MQTT-4.3.3-12], [MQTT-3.3.4-1], [MQTT-4.3.3-2 (3.1.1)]."""
        heard = watcher(bench, "t")
        client = bench.client(version=version)
        for dup in (False, True, True):
            client.send(Publish("t", b"x", 2, dup=dup, packet_id=7))
        assert client.take() == [Pubrec(7)] * 3
        assert heard.payloads() == [b"x"]
        client.send(Pubrel(7))
        assert client.take() == [Pubcomp(7)]
        client.send(Publish("t", b"y", 2, packet_id=7))
        assert heard.payloads() == [b"y"]

    def test_2_is_remembered_by_the_session(self, bench):
        """[MQTT-4.1.0-1 (3.1.1)], [MQTT-3.1.2-4 (3.1.1)]: a reconnection between PUBLISH and PUBREL doubles nothing."""
        heard = watcher(bench, "t")
        client = bench.client("p", clean=False)
        client.send(Publish("t", b"x", 2, packet_id=7))
        client.vanish()
        client = bench.client("p", clean=False)
        client.send(Publish("t", b"x", 2, dup=True, packet_id=7), Pubrel(7))
        assert client.take() == [Pubrec(7), Pubcomp(7)]
        assert heard.payloads() == [b"x"]

    def test_a_pubrel_for_nothing_is_answered(self, bench):
        """[MQTT-4.3.3-11]: 0x92 in v5; 3.1.1 has no words for it, and its client must be let go."""
        assert bench.client("a", version=5).send(Pubrel(9)).take() == [Pubcomp(9, Reason.PACKET_IDENTIFIER_NOT_FOUND)]
        assert bench.client("b").send(Pubrel(9)).take() == [Pubcomp(9)]

    def test_answers_come_in_the_order_of_what_they_answer(self, bench, version):
        """§4.6 asks it of clients; we do the same."""
        watcher(bench, "t")
        client = bench.client(version=version)
        client.send(*[Publish("t", b"x", 1 + number % 2, packet_id=number) for number in range(1, 9)])
        assert [packet.packet_id for packet in client.take()] == list(range(1, 9))

    def test_v5_hears_that_nobody_listens(self, bench):
        """§3.4.2.1, §3.5.2.1: No matching subscribers."""
        client = bench.client(version=5).publish("t", qos=1).publish("t", qos=2)
        assert client.take() == [Puback(1, 0x10), Pubrec(2, 0x10)]
        assert bench.count("messages_unheard") == 2

    def test_a_qos_above_the_bound_ends_the_connection(self):
        """[MQTT-3.2.2-11]: QoS not supported."""
        bench = Bench(BrokerSettings(Limits(qos_max=1)))
        client = bench.client(version=5).publish("t", qos=2)
        assert client.take()[0].code == Reason.QOS_NOT_SUPPORTED


class TestForwarding:
    def test_payload_and_properties_arrive_unaltered_and_in_order(self, bench):
        """[MQTT-3.3.2-4], [MQTT-3.3.2-15], [MQTT-3.3.2-16], [MQTT-3.3.2-17], [MQTT-3.3.2-18], [MQTT-3.3.2-20]."""
        heard = watcher(bench, "t", version=5)
        said = Properties(
            payload_format=1,
            content_type="text/plain",
            response_topic="answer/here",
            correlation_data=b"\x00\xff",
            user=(("b", "1"), ("a", "2"), ("b", "1")),
        )
        bench.client("p", version=5).send(Publish("t", "ü".encode(), 1, packet_id=3, properties=said))
        (message,) = heard.take()
        assert message.properties == said
        assert message.payload == "ü".encode()

    def test_who_knows_no_properties_gets_the_message_without(self, bench):
        heard = watcher(bench, "t", version=4)
        bench.client("p", version=5).publish("t", b"m", user=(("k", "v"),))
        assert heard.take() == [Publish("t", b"m")]

    def test_the_dup_flag_is_not_handed_on(self, bench):
        """[MQTT-3.3.1-3], [MQTT-3.3.1-3 (3.1.1)]."""
        heard = watcher(bench, "t")
        bench.client("p").send(Publish("t", b"x", 1, dup=True, packet_id=4))
        assert [message.dup for message in heard.take()] == [False]

    def test_the_retain_flag_is_not_handed_on_unless_asked_for(self, bench):
        """[MQTT-3.3.1-12], [MQTT-3.3.1-13], [MQTT-3.3.1-9 (3.1.1)]."""
        plain, asking = bench.client("a", version=5), bench.client("b", version=5)
        plain.subscribe("t")
        asking.subscribe("t", retain_as_published=True)
        bench.client("p").publish("t", retain=True).publish("t")
        assert [message.retain for message in plain.take()] == [False, False]
        assert [message.retain for message in asking.take()] == [True, False]

    def test_the_topic_arrives_as_it_was_said(self, bench):
        """[MQTT-4.7.3-4], [MQTT-4.7.3-4 (3.1.1)], [MQTT-1.5.4-3], [MQTT-1.5.3-3 (3.1.1)]: nothing is normalised away."""
        heard = watcher(bench, "#")
        names = ["/", "a//b", "A/a", "\ufeffx", "e\u0301", "\u00e9", " a "]
        for name in names:
            bench.client("p").publish(name)
        assert [message.topic for message in heard.take()] == names

    def test_an_expiring_message_carries_what_is_left_of_its_time(self, bench):
        """[MQTT-3.3.2-6]."""
        client = bench.client("w", version=5, session_expiry_s=1_000)
        client.subscribe("t", qos=1)
        client.vanish()
        bench.client("p", version=5).publish("t", qos=1, message_expiry_s=100)
        bench.later(30)
        back = bench.client("w", version=5, session_expiry_s=1_000, clean=False)
        assert [message.properties.message_expiry_s for message in back.take()] == [70]

    def test_an_expired_message_is_not_begun(self, bench):
        """[MQTT-3.3.2-5]."""
        client = bench.client("w", version=5, session_expiry_s=1_000)
        client.subscribe("t", qos=1)
        client.vanish()
        bench.client("p", version=5).publish("t", b"old", qos=1, message_expiry_s=10).publish("t", b"new", qos=1)
        bench.later(11)
        back = bench.client("w", version=5, session_expiry_s=1_000, clean=False)
        assert back.payloads() == [b"new"]
        assert bench.count("messages_expired") == 1

    def test_the_broker_may_bound_the_expiry(self):
        bench = Bench(BrokerSettings(Limits(message_expiry_max_s=5.0)))
        heard = watcher(bench, "t", version=5)
        bench.client("p", version=5).publish("t").publish("t", message_expiry_s=3)
        assert [message.properties.message_expiry_s for message in heard.take()] == [5, 3]


class TestAliases:
    def test_an_alias_stands_for_its_topic_on_this_connection(self, bench):
        """[MQTT-3.3.2-12], [MQTT-3.3.2-7]: and never reaches a subscriber."""
        heard = watcher(bench, "#", version=5)
        client = bench.client("p", version=5)
        client.publish("long/name", b"1", topic_alias=3).publish("", b"2", topic_alias=3)
        client.publish("other", b"3", topic_alias=3).publish("", b"4", topic_alias=3)
        messages = heard.take()
        assert [message.topic for message in messages] == ["long/name", "long/name", "other", "other"]
        assert {message.properties.topic_alias for message in messages} == {None}

    def test_an_alias_ends_with_the_connection(self, bench):
        """[MQTT-3.3.2-7]."""
        client = bench.client("p", version=5, session_expiry_s=60)
        client.publish("t", topic_alias=1)
        client.vanish()
        client = bench.client("p", version=5, session_expiry_s=60).publish("", topic_alias=1)
        assert client.take()[0].code == Reason.PROTOCOL_ERROR

    def test_an_alias_above_the_bound_ends_the_connection(self):
        """[MQTT-3.3.2-9], [MQTT-3.2.2-17]."""
        bench = Bench(BrokerSettings(Limits(topic_aliases_max=2)))
        client = bench.client(version=5).publish("t", topic_alias=2)
        assert not client.closed
        client.publish("t", topic_alias=3)
        assert client.take()[0].code == Reason.TOPIC_ALIAS_INVALID


class TestRights:
    def test_v5_is_told(self, bench):
        bench.authority.forbidden = {(PUBLISH, "no")}
        heard = watcher(bench, "#")
        client = bench.client("p", version=5).publish("no").publish("no", qos=1).publish("no", qos=2)
        assert client.take() == [Puback(1, Reason.NOT_AUTHORIZED), Pubrec(2, Reason.NOT_AUTHORIZED)]
        assert heard.payloads() == []
        assert bench.count("messages_refused") == 3

    def test_311_is_acknowledged_and_not_heard(self, bench):
        """[MQTT-3.3.5-2 (3.1.1)]: a positive acknowledgement, or the end of the connection."""
        bench.authority.forbidden = {(PUBLISH, "no")}
        heard = watcher(bench, "#")
        client = bench.client("p").publish("no", qos=1).publish("no", qos=2)
        assert client.take() == [Puback(1), Pubrec(2)]
        client.send(Pubrel(2))
        assert client.take() == [Pubcomp(2)]
        assert heard.payloads() == []

    def test_a_refused_qos_2_identifier_is_free_again(self, bench):
        """[MQTT-4.3.3-9]."""
        bench.authority.forbidden = {(PUBLISH, "no")}
        heard = watcher(bench, "#")
        client = bench.client("p", version=5)
        client.send(Publish("no", b"x", 2, packet_id=5), Publish("yes", b"y", 2, packet_id=5))
        assert client.take() == [Pubrec(5, Reason.NOT_AUTHORIZED), Pubrec(5)]
        assert heard.payloads() == [b"y"]

    def test_retaining_is_a_right_of_its_own(self, bench):
        bench.authority.forbidden = {(RETAIN, "t")}
        client = bench.client("p", version=5).publish("t", qos=1, retain=True)
        assert client.take() == [Puback(1, Reason.NOT_AUTHORIZED)]
        assert bench.broker.retained.count == 0

    def test_what_a_client_learnt_is_void_when_the_rules_change(self, bench):
        heard = watcher(bench, "t")
        client = bench.client("p").publish("t").publish("t")
        bench.authority.forbidden = {(PUBLISH, "t")}
        bench.authority.version += 1
        client.publish("t")
        assert heard.payloads() == [b"x"] * 2

    def test_nobody_speaks_for_the_broker(self, bench):
        heard = watcher(bench, "$SYS/#")
        client = bench.client("p", version=5).publish("$SYS/broker/uptime", qos=1)
        assert client.take() == [Puback(1, Reason.NOT_AUTHORIZED)]
        assert heard.payloads() == []

    def test_a_topic_of_too_many_levels_is_refused(self):
        bench = Bench(BrokerSettings(Limits(topic_levels_max=3)))
        client = bench.client("p", version=5).publish("a/b/c/d", qos=1).publish("a/b/c", qos=1)
        assert client.take() == [Puback(1, Reason.TOPIC_NAME_INVALID), Puback(2, 0x10)]


def test_retaining_where_nothing_is_retained_ends_the_connection():
    """[MQTT-3.2.2-14]."""
    client = Bench(BrokerSettings(retain=False)).client(version=5).publish("t", retain=True)
    assert client.take()[0].code == Reason.RETAIN_NOT_SUPPORTED
