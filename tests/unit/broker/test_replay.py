"""Retained messages of a wide filter: in slices, as fast as the client takes them."""

import pytest

from broker_bench import Bench, Client
from weft.broker.replay import SLICE_MESSAGES
from weft.broker.settings import BrokerSettings, Limits
from weft.mqtt.codec.packets import Puback, Publish, Unsubscribe

MANY = 3 * SLICE_MESSAGES + 7


def full(count: int = MANY, **limits: int) -> Bench:
    bench = Bench(BrokerSettings(Limits(**limits)))
    publisher = bench.client("p")
    for number in range(count):
        publisher.publish(f"t/{number}", b"%d" % number, qos=1, retain=True)
    return bench


def test_all_of_them_arrive():
    client = full().client("c")
    assert sorted(int(packet.payload) for packet in client.subscribe("t/#") if isinstance(packet, Publish)) == list(
        range(MANY)
    )


def test_a_client_that_does_not_read_gets_one_slice():
    bench = full()
    client = bench.client("c")
    client.stuck = True
    client.subscribe("t/#")
    assert len(client.connection.out) <= SLICE_MESSAGES + 1
    client.stuck = False
    client.flush()
    while client.connection.replays:
        client.connection.refill(bench.now)
        bench.tick()
    assert len(client.payloads()) == MANY


def test_at_qos_1_the_window_is_the_pace():
    bench = full(inflight_max=10, queue_messages_max=20)
    client = bench.client("c")
    heard = {packet.payload for packet in client.subscribe("t/#", qos=1) if isinstance(packet, Publish)}
    session = client.connection.session
    assert session is not None
    bench.tick()
    while session.outgoing.inflight:
        client.send(*[Puback(packet_id) for packet_id in list(session.outgoing.inflight)])
        heard.update(client.payloads())
    assert len(heard) == MANY
    assert bench.count("messages_dropped_queue") == 0


def test_what_is_published_meanwhile_is_not_followed_by_something_older():
    bench = full()
    client = bench.client("c")
    client.stuck = True
    client.subscribe("t/#")
    publisher = bench.client("p2")
    for number in range(MANY):
        publisher.publish(f"t/{number}", b"new", retain=True)
    client.stuck = False
    client.flush()
    while client.connection.replays:
        client.connection.refill(bench.now)
        bench.tick()
    last = {packet.topic: packet.payload for packet in client.take() if isinstance(packet, Publish)}
    assert set(last.values()) == {b"new"}
    assert len(last) == MANY


@pytest.mark.parametrize("end", ["unsubscribe", "vanish"])
def test_it_ends_with_its_subscription(end):
    bench = full()
    client: Client = bench.client("c")
    client.stuck = True
    client.subscribe("t/#")
    if end == "unsubscribe":
        client.send(Unsubscribe(9, ("t/#",)))
    else:
        client.vanish()
    client.stuck = False
    client.flush()
    before = len(client.payloads())
    if client.connection.replays:
        client.connection.refill(bench.now)
        bench.tick()
    assert before <= SLICE_MESSAGES
    assert client.payloads() == []
