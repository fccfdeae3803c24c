"""Shared subscriptions: one member per message, by strategy, and what happens when a member goes."""

from collections import Counter

import pytest

from broker_bench import Bench
from weft.broker.settings import BrokerSettings
from weft.mqtt.codec.packets import Puback, Publish


def group(bench: Bench, count: int, qos: int = 0, version: int = 5, **properties):
    members = [bench.client(f"m{number}", version=version, **properties) for number in range(count)]
    for member in members:
        member.subscribe("$share/g/t/#", qos=qos)
    return members


def spread(strategy: str, publishers: int = 1, topics: int = 1, messages: int = 60) -> list[list[bytes]]:
    bench = Bench(BrokerSettings(share_strategy=strategy))
    members = group(bench, 3)
    sources = [bench.client(f"p{number}") for number in range(publishers)]
    for number in range(messages):
        sources[number % publishers].publish(f"t/{number % topics}", b"%d" % number)
    return [member.payloads() for member in members]


@pytest.mark.parametrize("strategy", ["round-robin", "random", "sticky", "hash-client", "hash-topic", "least-loaded"])
def test_each_message_goes_to_one_member(strategy):
    """§4.8.2."""
    shares = spread(strategy, publishers=5, topics=7)
    assert sorted(int(payload) for share in shares for payload in share) == list(range(60))


def test_round_robin_is_even():
    assert [len(share) for share in spread("round-robin")] == [20, 20, 20]


def test_random_is_not_far_from_even_and_replays():
    first, second = spread("random"), spread("random")
    assert first == second
    assert all(len(share) > 8 for share in first)


def test_sticky_stays():
    assert sorted(len(share) for share in spread("sticky")) == [0, 0, 60]


def test_hash_by_client_keeps_a_publisher_with_a_member():
    shares = spread("hash-client", publishers=6)
    owners = Counter(number % 6 for share in shares for number in {int(payload) % 6 for payload in share})
    assert set(owners.values()) == {1}


def test_hash_by_topic_keeps_a_topic_with_a_member():
    shares = spread("hash-topic", topics=6)
    owners = Counter(number for share in shares for number in {int(payload) % 6 for payload in share})
    assert set(owners.values()) == {1}


def test_least_loaded_spares_who_does_not_acknowledge():
    bench = Bench(BrokerSettings(share_strategy="least-loaded"))
    slow, quick = group(bench, 2, qos=1)
    publisher = bench.client("p")
    heard = Counter()
    for _ in range(20):
        publisher.publish("t/x", qos=1)
        heard["slow"] += len(slow.payloads())
        for packet in quick.take():
            assert isinstance(packet, Publish)
            heard["quick"] += 1
            quick.send(Puback(packet.packet_id))
    assert heard == {"slow": 1, "quick": 19}


def test_groups_and_plain_subscriptions_each_get_their_own():
    """§4.8.2: sharing does not take anything from others."""
    bench = Bench()
    one, other, plain = (bench.client(name, version=5) for name in "abc")
    one.subscribe("$share/g/t")
    other.subscribe("$share/h/t")
    plain.subscribe("t")
    bench.client("p").publish("t")
    assert [len(client.payloads()) for client in (one, other, plain)] == [1, 1, 1]


def test_a_member_that_is_away_gets_nothing_while_another_is_here():
    bench = Bench()
    away, here = group(bench, 2, qos=1, session_expiry_s=1_000)
    away.vanish()
    publisher = bench.client("p")
    for _ in range(6):
        publisher.publish("t/x", qos=1)
    assert len(here.payloads()) == 6


def test_if_all_are_away_one_of_them_keeps_it():
    bench = Bench()
    members = group(bench, 2, qos=1, session_expiry_s=1_000)
    for member in members:
        member.vanish()
    bench.client("p").publish("t/x", qos=1)
    backs = [bench.client(f"m{number}", version=5, clean=False, session_expiry_s=1_000) for number in range(2)]
    assert sum(len(back.payloads()) for back in backs) == 1


def test_what_a_member_had_not_acknowledged_when_its_session_ended_goes_to_another():
    """§4.8.2: QoS 1 is sent to another member; it is never lost."""
    bench = Bench()
    first, second = group(bench, 2, qos=1)
    publisher = bench.client("p")
    for number in range(4):
        publisher.publish("t/x", b"%d" % number, qos=1)
    before = first.payloads() + second.payloads()
    assert sorted(before) == [b"0", b"1", b"2", b"3"]
    first.vanish()
    assert len(second.payloads()) == 2


def test_a_qos_2_message_that_was_begun_is_for_nobody_else_one_that_waits_is():
    """§4.8.2: no other member gets what this one may have; what was never sent is not begun."""
    bench = Bench()
    first = bench.client("m0", version=5, receive_maximum=1)
    first.subscribe("$share/g/t/#", qos=2)
    publisher = bench.client("p")
    publisher.publish("t/x", b"begun", qos=2).publish("t/x", b"waiting", qos=2)
    second = bench.client("m1", version=5)
    second.subscribe("$share/g/t/#", qos=2)
    assert first.payloads() == [b"begun"]
    first.vanish()
    assert second.payloads() == [b"waiting"]


def test_a_member_that_leaves_gets_no_more():
    """A session that ends is no member."""
    bench = Bench()
    first, second = group(bench, 2)
    first.vanish()
    publisher = bench.client("p")
    for _ in range(4):
        publisher.publish("t/x")
    assert len(second.payloads()) == 4


def test_nobody_able_means_nobody_heard():
    bench = Bench()
    (member,) = group(bench, 1, qos=1, session_expiry_s=100)
    member.vanish()
    publisher = bench.client("p", version=5).publish("t/x")
    assert bench.count("messages_unheard") == 1
    publisher.publish("t/x", qos=1)
    assert publisher.take() == [Puback(1)]


@pytest.mark.parametrize("version", [4, 5])
def test_311_may_share_too(version):
    bench = Bench()
    members = group(bench, 2, version=version)
    publisher = bench.client("p")
    for _ in range(4):
        publisher.publish("t/x")
    assert [len(member.payloads()) for member in members] == [2, 2]
