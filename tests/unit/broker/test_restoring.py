"""After a restart everything that was promised is there: played with the records that the broker left, whole or cut off."""

from typing import Any

from broker_bench import START, Bench, Client
from kept import Model
from weft.broker.settings import BrokerSettings, Limits
from weft.mqtt.codec.packets import Pubcomp, Publish, Pubrec, Pubrel, Will
from weft.mqtt.codec.properties import Properties


def model_of(bench: Bench) -> Model:
    """What a store has that was told everything."""
    model = Model()
    for record in bench.records:
        model.apply(record)
    return model


def restarted(bench: Bench) -> Bench:
    """A new broker with what the old one's store had."""
    again = Bench(bench.broker.settings, keeps=True, holds=True)
    again.now = bench.now
    again.records = list(bench.records)
    again.broker.restore(again.now, model_of(bench).kept())
    return again


def fresh(**limits: Any) -> Bench:
    return Bench(BrokerSettings(Limits(**limits)), keeps=True, holds=True)


def back(bench: Bench, name: str = "s", expiry_s: int = 1_000) -> Client:
    return bench.client(name, 5, clean=False, session_expiry_s=expiry_s)


def test_a_session_its_subscriptions_and_its_queue():
    """[MQTT-3.1.2-23], [MQTT-4.1.0-1 (3.1.1)]: state that outlives the broker."""
    bench = fresh()
    client = back(bench)
    client.subscribe("t", qos=1, identifier=5)
    client.subscribe("$share/g/u", qos=1)
    client.vanish()
    bench.client("p", version=5).publish("t", b"1", qos=1, user=(("k", "v"),)).publish("u", b"2", qos=1)
    bench = restarted(bench)
    client = back(bench)
    assert client.connack is not None
    assert client.connack.session_present
    one, two = client.take()
    assert (one.payload, one.properties) == (b"1", Properties(subscription_ids=(5,), user=(("k", "v"),)))
    assert two.payload == b"2"
    bench.client("p").publish("t", b"3", qos=1).publish("u", b"4", qos=1)
    assert client.payloads() == [b"3", b"4"]


def test_what_was_sent_keeps_its_identifier_and_what_was_released_is_released():
    """[MQTT-4.4.0-1]."""
    bench = fresh()
    client = back(bench)
    client.subscribe("t", qos=2)
    publisher = bench.client("p")
    for number in range(3):
        publisher.publish("t", b"%d" % number, qos=2)
    sent = client.take()
    client.send(Pubrec(sent[0].packet_id))
    bench = restarted(bench)
    again = back(bench).take()
    assert again[0] == Pubrel(sent[0].packet_id)
    assert [(packet.packet_id, packet.payload, packet.dup) for packet in again[1:]] == [
        (packet.packet_id, packet.payload, True) for packet in sent[1:]
    ]


def test_a_new_message_never_gets_an_identifier_that_is_in_use():
    """[MQTT-2.2.1-4]."""
    bench = fresh()
    client = back(bench)
    client.subscribe("t", qos=1)
    bench.client("p").publish("t", qos=1).publish("t", qos=1)
    used = {packet.packet_id for packet in client.take()}
    bench = restarted(bench)
    client = back(bench)
    client.take()
    bench.client("p").publish("t", b"new", qos=1)
    (message,) = client.take()
    assert message.packet_id not in used


def test_a_qos_2_message_taken_before_is_not_taken_again():
    """[MQTT-4.3.3-10]."""
    bench = fresh()
    publisher = back(bench, "p")
    publisher.send(Publish("t", b"x", 2, packet_id=9))
    bench = restarted(bench)
    heard = bench.client("w")
    heard.subscribe("t", qos=2)
    publisher = back(bench, "p").send(Publish("t", b"x", 2, dup=True, packet_id=9), Pubrel(9))
    assert publisher.take() == [Pubrec(9), Pubcomp(9)]
    assert heard.payloads() == []


def test_retained_messages():
    bench = fresh()
    publisher = bench.client("p", version=5)
    publisher.publish("a", b"1", retain=True).publish("b", b"2", retain=True, message_expiry_s=10)
    publisher.publish("a", b"3", retain=True).publish("c", b"4", retain=True).publish("c", b"", retain=True)
    bench = restarted(bench)
    assert bench.broker.retained.count == 2
    bench.later(11)
    answers = bench.client("w").subscribe("#")
    assert [(packet.topic, packet.payload) for packet in answers[1:]] == [("a", b"3")]
    bench = restarted(bench)
    assert bench.broker.retained.count == 1


def test_a_session_that_was_here_is_away_since_the_restart():
    bench = fresh()
    back(bench, expiry_s=100)
    bench.later(1_000)
    bench = restarted(bench)
    bench.later(99)
    assert "s" in bench.broker.sessions.by_client
    bench.later(2)
    assert "s" not in bench.broker.sessions.by_client
    assert model_of(bench).sessions == {}


def test_a_session_that_was_away_ends_when_it_would_have():
    bench = fresh()
    back(bench, expiry_s=100).vanish()
    bench.later(60)
    bench = restarted(bench)
    bench.later(41)
    assert "s" not in bench.broker.sessions.by_client


def test_a_will_of_somebody_who_was_here_is_said_unless_its_client_comes_back():
    """[MQTT-3.1.2-8], [MQTT-3.1.3-9]: a broker that dies is a connection that was lost."""
    bench = fresh()
    will = Will("w", b"gone", 1, properties=Properties(will_delay_s=30))
    for name in ("lost", "found"):
        bench.client(name, 5, clean=False, session_expiry_s=1_000, will=will)
    bench = restarted(bench)
    heard = bench.client("watcher")
    heard.subscribe("w")
    back(bench, "found")
    bench.later(31)
    assert heard.payloads() == [b"gone"]
    bench = restarted(bench)
    bench.later(1_000)
    assert bench.count("wills_published") == 0


def test_a_message_that_nobody_names_is_let_go():
    """A crash between two batches may leave one."""
    bench = fresh()
    client = back(bench)
    client.subscribe("t", qos=1)
    bench.client("p").publish("t", qos=1)
    kept = model_of(bench).kept()
    kept.sessions[0].queue.clear()
    again = fresh()
    again.broker.restore(START, kept)
    again.tick()
    assert [type(record).__name__ for record in again.records] == ["MessageGone"]
