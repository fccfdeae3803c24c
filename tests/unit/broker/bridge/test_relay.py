"""A bridge between two brokers: what crosses, what does not, and that nothing is lost or doubled when the wire is cut."""

import pytest

from bridge_bench import Wired, acknowledge
from broker_bench import Bench
from weft.broker.bridge.settings import Topic
from weft.broker.settings import BrokerSettings, Limits
from weft.mqtt.codec.packets import Connack, Publish
from weft.mqtt.codec.properties import Properties
from weft.mqtt.codec.reasons import Reason

VERSIONS = [pytest.param("5", id="v5"), pytest.param("3.1.1", id="v3.1.1")]


def filters_at(wired: Wired) -> list[str]:
    """What the bridge is subscribed to at far."""
    settings = wired.bridge.settings
    sessions = wired.far_bench.broker.sessions.by_client
    client_id = settings.client_id or f"weft-{wired.bridge.broker_id}-{settings.name}"
    return sorted(sessions[client_id].subscriptions) if client_id in sessions else []


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("qos", [0, 1, 2])
def test_a_message_goes_out_under_its_other_name(version, qos):
    """[MQTT-7.0.0-1 (3.1.1)]: a broker that is a client, too."""
    near, far = Bench(), Bench()
    wired = Wired(
        near, far, Topic("t/#", qos=2, local_prefix="here/", remote_prefix="there/"), version=version, demand="always"
    )
    wired.dial()
    listener = far.client("listener", 5)
    listener.subscribe("#", qos=2)
    near.client("speaker", 5).publish("here/t/1", b"hello", qos=qos, user=(("a", "b"),))
    wired.run()
    (heard,) = acknowledge(listener)
    assert (heard.topic, heard.payload, heard.qos) == ("there/t/1", b"hello", qos)
    expected = (("a", "b"), ("weft-hop", wired.bridge.broker_id)) if version == "5" else ()
    assert heard.properties.user == expected


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("qos", [0, 1, 2])
def test_a_message_comes_in_for_whoever_listens(version, qos):
    near, far = Bench(), Bench()
    topic = Topic("t/#", "in", 2, "here/", "there/")
    wired = Wired(near, far, topic, version=version)
    wired.dial()
    assert filters_at(wired) == []
    listener = near.client("listener", 5)
    listener.subscribe("here/t/+", qos=2)
    wired.later(0.1)
    assert filters_at(wired) == ["there/t/+"]
    speaker = far.client("speaker", 5)
    speaker.publish("there/t/1", b"hello", qos=qos)
    speaker.publish("there/t/1/2", b"not asked for", qos=qos)
    acknowledge(speaker)
    wired.run()
    assert [(m.topic, m.payload, m.qos) for m in acknowledge(listener)] == [("here/t/1", b"hello", qos)]
    assert near.count("bridge_in") == 1


def test_a_subscription_outlives_the_last_subscriber_by_the_linger():
    near, far = Bench(), Bench()
    wired = Wired(near, far, Topic("t/#", "in"), linger_s=60.0)
    wired.dial()
    listener = near.client("listener")
    listener.subscribe("t/1")
    wired.later(1)
    listener.vanish()
    wired.later(59)
    assert filters_at(wired) == ["t/1"]
    wired.later(2)
    assert filters_at(wired) == []


def test_always_subscribes_without_anybody():
    near, far = Bench(), Bench()
    wired = Wired(near, far, Topic("t/#", "in"), demand="always")
    wired.dial()
    assert filters_at(wired) == ["t/#"]


def test_what_was_subscribed_to_before_the_bridge_came_is_demand():
    near, far = Bench(), Bench()
    near.client("listener").subscribe("$share/g/t/1", "t/2", "u")
    wired = Wired(near, far, Topic("t/#", "in"))
    wired.dial()
    assert filters_at(wired) == ["t/1", "t/2"]


def test_retained_messages_cross_both_ways():
    near, far = Bench(), Bench()
    far.client("a").publish("in/1", b"kept", retain=True)
    near.client("a").publish("out/1", b"kept", retain=True)
    wired = Wired(near, far, Topic("in/#", "in"), Topic("out/#"))
    wired.dial()
    listener = near.client("listener")
    listener.subscribe("in/#")
    wired.later(1)
    assert listener.payloads() == [b"kept"]
    assert near.broker.retained.get(near.now, "in/1") is not None
    assert far.broker.retained.get(far.now, "out/1") is not None


@pytest.mark.parametrize("version", VERSIONS)
def test_what_came_from_a_bridge_does_not_go_back(version):
    near, far = Bench(), Bench()
    wired = Wired(near, far, Topic("#", "both", 2), version=version, demand="always")
    wired.dial()
    here, there = near.client("here"), far.client("there")
    here.subscribe("#")
    there.subscribe("#")
    here.publish("a", b"1")
    wired.run()
    there.publish("b", b"2")
    wired.run()
    assert here.payloads() == [b"1", b"2"]
    assert there.payloads() == [b"1", b"2"]


@pytest.mark.parametrize("qos", [0, 1])
def test_two_brokers_that_bridge_each_other_do_not_send_messages_round_and_round(qos):
    near, far = Bench(), Bench()
    one = Wired(near, far, Topic("#", "both", 1), demand="always", name="one")
    two = Wired(far, near, Topic("#", "both", 1), demand="always", name="two")
    one.dial()
    two.dial()
    listener = far.client("listener")
    listener.subscribe("#")
    near.client("speaker").publish("a", b"1", qos=qos)
    for _ in range(100):
        if not one.step() and not two.step():
            break
    else:
        pytest.fail("messages go round and round")
    assert 1 <= len(listener.payloads()) <= 2
    assert near.count("bridge_loops") + far.count("bridge_loops") > 0


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("qos", [1, 2])
@pytest.mark.parametrize("cut_after", range(40))
def test_wherever_the_wire_is_cut_nothing_is_lost(version, qos, cut_after):
    """QoS 1: at least once, and doubles carry DUP. QoS 2: exactly once, though the bridge remembers nothing."""
    near, far = Bench(keeps=True), Bench(keeps=True)
    wired = Wired(near, far, Topic("out/#", "out", 2), Topic("in/#", "in", 2), version=version)
    here, there = near.client("here", 5), far.client("there", 5)
    here.subscribe("in/#", qos=2)
    there.subscribe("out/#", qos=2)
    wired.dial()
    wired.later(1)
    wired.budget = cut_after
    for number in range(3):
        here.publish(f"out/{number}", b"%d" % number, qos=qos)
        there.publish(f"in/{number}", b"%d" % number, qos=qos)
        here.got = [packet for packet in here.got if isinstance(packet, Publish)]
        there.got = [packet for packet in there.got if isinstance(packet, Publish)]
    for client in (here, there):
        released = acknowledge(client)
        client.bench.kept = released  # type: ignore[attr-defined]
    # QoS 2 of the speakers themselves: their PUBREL.
    wired.run()
    wired.budget = None
    wired.cut()
    wired.dial()
    wired.later(1)
    for client, bench in ((here, near), (there, far)):
        heard = [m.payload for m in bench.kept + acknowledge(client)]  # type: ignore[attr-defined]
        wired.run()
        if qos == 2:
            assert sorted(heard) == [b"0", b"1", b"2"]
        assert set(heard) == {b"0", b"1", b"2"}


def test_at_qos_0_a_topic_that_nobody_hears_is_left_alone_until_it_is_tried_again():
    near, far = Bench(), Bench()
    wired = Wired(near, far, Topic("#", "out"), probe_s=10.0)
    wired.dial()
    speaker = near.client("speaker")
    for _ in range(5):
        speaker.publish("a", b"unheard")
        wired.run()
    assert near.count("bridge_out") == 1  # the one that asked
    assert near.count("bridge_suspended") == 4
    listener = far.client("listener")
    listener.subscribe("a")
    wired.later(11)
    for _ in range(3):
        speaker.publish("a", b"heard")
        wired.run()
    assert listener.payloads() == [b"heard"] * 3


def test_at_qos_1_nothing_is_held_back_unless_it_was_asked_for():
    for demand, crossed in (("auto", 5), ("ack", 1), ("always", 5)):
        near, far = Bench(), Bench()
        wired = Wired(near, far, Topic("#", "out"), demand=demand)
        wired.dial()
        speaker = near.client("speaker")
        for _ in range(5):
            speaker.publish("a", b"unheard", qos=1)
            wired.run()
        assert near.count("bridge_out") == crossed, demand
        session = near.broker.sessions.by_client["$bridge/b"]
        assert session.outgoing.unacknowledged() == [], demand


def test_while_far_is_away_our_session_keeps_what_is_for_it():
    near, far = Bench(), Bench()
    wired = Wired(near, far, Topic("#", "out"))
    wired.dial()
    wired.cut()
    speaker = near.client("speaker")
    for number in range(5):
        speaker.publish("a", b"%d" % number, qos=1)
    listener = far.client("listener")
    listener.subscribe("#", qos=1)
    wired.dial()
    assert [m.payload for m in acknowledge(listener)] == [b"0", b"1", b"2", b"3", b"4"]


def test_a_message_that_is_too_large_for_far_is_counted_and_does_not_block():
    near, far = Bench(), Bench(BrokerSettings(limits=Limits(packet_bytes_max=1000)))
    wired = Wired(near, far, Topic("#", "out"))
    wired.dial()
    listener = far.client("listener")
    listener.subscribe("#", qos=1)
    speaker = near.client("speaker")
    speaker.publish("a", bytes(2000), qos=1)
    speaker.publish("a", b"small", qos=1)
    wired.run()
    assert [m.payload for m in acknowledge(listener)] == [b"small"]
    assert near.count("bridge_oversize") == 1


def test_a_lower_maximum_qos_of_far_is_obeyed():
    near, far = Bench(), Bench(BrokerSettings(limits=Limits(qos_max=1)))
    wired = Wired(near, far, Topic("#", "out", 2))
    wired.dial()
    listener = far.client("listener")
    listener.subscribe("#", qos=1)
    near.client("speaker", 5).publish("a", b"x", qos=2)
    wired.run()
    assert [m.qos for m in acknowledge(listener)] == [1]
    assert not wired.bridge.is_over


def test_a_new_session_of_ours_does_not_reuse_identifiers_that_far_remembers():
    """[MQTT-3.2.2-4]: without session state, the session at far must not go on either."""
    near, far = Bench(), Bench()
    Wired(near, far, Topic("#", "out", 2), client_id="x").dial()
    fresh = Bench()
    wired = Wired(fresh, far, Topic("#", "out", 2), client_id="x")
    wired.dial()
    assert not wired.bridge.is_relaying
    wired.dial()
    assert wired.bridge.is_relaying


def test_nobody_from_outside_takes_the_name_of_a_bridge():
    near = Bench()
    stranger = near.stranger(5)
    stranger.connect("$bridge/b")
    assert stranger.got[0] == Connack(False, Reason.CLIENT_IDENTIFIER_NOT_VALID, stranger.got[0].properties)
    assert stranger.closed


def test_topics_that_are_no_longer_configured_are_unsubscribed():
    near, far = Bench(), Bench()
    one = Wired(near, far, Topic("a", "out"), Topic("b", "out"))
    one.dial()
    one.cut()
    Wired(near, far, Topic("a", "out")).dial()
    assert list(near.broker.sessions.by_client["$bridge/b"].subscriptions) == ["a"]


def test_a_message_with_our_own_hop_is_a_loop():
    near, far = Bench(), Bench()
    wired = Wired(near, far, Topic("#", "in"), demand="always")
    wired.dial()
    listener = near.client("listener")
    listener.subscribe("#")
    far.client("speaker", 5).send(
        Publish("a", b"x", properties=Properties(user=(("weft-hop", wired.bridge.broker_id),)))
    )
    wired.run()
    assert listener.payloads() == []
    assert near.count("bridge_loops") == 1
