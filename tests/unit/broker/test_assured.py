"""QoS 1 and 2 the quick way, where a sequence says more than the comparison with the slow way."""

from broker_bench import Bench
from weft.broker.assured import RUN_MAX
from weft.broker.settings import BrokerSettings, Limits
from weft.mqtt.codec.encode import ack
from weft.mqtt.codec.packets import Puback, Pubcomp, Publish, Pubrec, Pubrel


def run(count: int, qos: int, first: int = 1) -> list[Publish]:
    return [Publish("t", b"%06d" % number, qos, packet_id=number) for number in range(first, first + count)]


def test_qos_2_is_four_packets_each_way_and_leaves_nothing():
    """[MQTT-4.3.3-4], [MQTT-4.3.3-11]."""
    bench = Bench()
    subscriber, publisher = bench.client("s"), bench.client("p")
    subscriber.subscribe("t", qos=2)
    publisher.send(*run(3, 2))
    assert publisher.take() == [Pubrec(number) for number in (1, 2, 3)]
    sent = subscriber.take()
    assert [packet.payload for packet in sent] == [b"%06d" % number for number in (1, 2, 3)]
    numbers = [packet.packet_id for packet in sent]
    subscriber.send(*(Pubrec(number) for number in numbers))
    assert subscriber.take() == [Pubrel(number) for number in numbers]
    subscriber.send(*(Pubcomp(number) for number in numbers))
    publisher.send(*(Pubrel(number) for number in (1, 2, 3)))
    assert publisher.take() == [Pubcomp(number) for number in (1, 2, 3)]
    assert not subscriber.connection.session.outgoing.inflight
    assert not publisher.connection.session.incoming


def test_a_double_of_qos_2_is_answered_and_not_delivered_again():
    """[MQTT-4.3.3-10]."""
    bench = Bench()
    subscriber, publisher = bench.client("s"), bench.client("p")
    subscriber.subscribe("t", qos=0)
    publisher.send(*run(2, 2), *run(2, 2))
    assert publisher.take() == [Pubrec(1), Pubrec(2), Pubrec(1), Pubrec(2)]
    assert len(subscriber.payloads()) == 2


def test_pubrec_for_what_was_released_is_answered_once_more_and_ends_nothing():
    bench = Bench()
    subscriber, publisher = bench.client("s"), bench.client("p")
    subscriber.subscribe("t", qos=2)
    publisher.send(*run(1, 2))
    subscriber.take()
    subscriber.send(Pubrec(1)).send(Pubrec(1))
    assert subscriber.take() == [Pubrel(1), Pubrel(1)]
    subscriber.send(Puback(1))  # not what this delivery waits for
    assert list(subscriber.connection.session.outgoing.inflight) == [1]
    subscriber.send(Pubcomp(1))
    assert not subscriber.connection.session.outgoing.inflight


def test_a_run_past_the_window_waits_and_goes_on_in_order():
    bench = Bench(BrokerSettings(Limits(inflight_max=4)))
    subscriber, publisher = bench.client("s"), bench.client("p")
    subscriber.subscribe("t", qos=1)
    publisher.send(*run(10, 1))
    assert publisher.take() == [Puback(number) for number in range(1, 11)]
    got = []
    while sent := subscriber.take():
        assert len(sent) <= 4
        got += [packet.payload for packet in sent]
        subscriber.speak(b"".join(ack(0x40, packet.packet_id) for packet in sent))
    assert got == [b"%06d" % number for number in range(1, 11)]


def test_a_long_run_is_taken_in_parts():
    bench = Bench(BrokerSettings(Limits(inflight_max=65_535)))
    subscriber, publisher = bench.client("s"), bench.client("p")
    subscriber.subscribe("t", qos=1)
    publisher.send(*run(3 * RUN_MAX + 1, 1))
    assert len(publisher.take()) == len(subscriber.payloads()) == 3 * RUN_MAX + 1


def test_what_came_before_a_refused_packet_counts():
    bench = Bench()
    subscriber, publisher = bench.client("s"), bench.client("p")
    subscriber.subscribe("t", qos=1)
    before = bench.count("messages_received")
    publisher.speak(bytes.fromhex("30030001743205000174000a3205000174000b3605000174000b"))  # the last has QoS 3
    assert publisher.closed
    assert bench.count("messages_received") - before == 3
    assert len(subscriber.payloads()) == 3


def test_no_run_of_qos_2_where_the_configuration_forbids_it():
    """[MQTT-3.2.2-11]."""
    bench = Bench(BrokerSettings(Limits(qos_max=1)))
    publisher = bench.client("p", version=5)
    publisher.speak(bytes.fromhex("3406000174000a00"))
    assert publisher.closed


def test_pubcomp_stays_behind_what_waits_for_the_store():
    bench = Bench(keeps=True, holds=True, commits=False)
    durable = bench.stranger()
    durable.connect("s", clean=False)
    bench.commit()
    durable.subscribe("d", qos=1)
    bench.commit()
    publisher = bench.client("p")
    publisher.send(*run(1, 2))
    assert publisher.take() == [Pubrec(1)]
    publisher.send(Publish("d", b"x", 1, packet_id=2))
    publisher.send(Pubrel(1))
    assert publisher.take() == []
    bench.commit()
    assert publisher.take() == [Puback(2), Pubcomp(1)]
