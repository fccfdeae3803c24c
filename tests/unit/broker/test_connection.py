"""The front door: framing, order of packets, refusals, what a slow or hostile client meets."""

import pytest

from broker_bench import Bench
from weft.broker.access.api import Origin
from weft.broker.settings import BrokerSettings, Limits
from weft.mqtt.codec.encode import encode
from weft.mqtt.codec.packets import (
    Auth,
    Connack,
    Connect,
    Disconnect,
    Pingreq,
    Pingresp,
    Puback,
    Publish,
    Suback,
    Will,
)
from weft.mqtt.codec.properties import Properties
from weft.mqtt.codec.reasons import Reason

ORIGIN = Origin("test", "tcp", "127.0.0.1", 1, True)
WAITS = Will("w", b"gone", properties=Properties(will_delay_s=30))
HELLO = encode(4, Connect(4, "c"))


@pytest.fixture
def bench() -> Bench:
    return Bench()


@pytest.mark.parametrize("version", [3, 4, 5])
def test_the_first_packet_must_be_a_connect(bench, version):
    """[MQTT-3.1.0-1], [MQTT-3.1.0-1 (3.1.1)]: else the connection is closed, without a word."""
    client = bench.stranger(version).send(Pingreq())
    assert client.closed
    assert client.take() == []
    assert bench.count("protocol_errors") == 1


@pytest.mark.parametrize("begin", [b"GET / HTTP/1.1", b"\x30", b"\x00", b"\x11"])
def test_what_cannot_become_a_connect_is_refused_at_once(bench, begin):
    client = bench.stranger().speak(begin)
    assert client.closed


def test_a_second_connect_is_a_protocol_error(bench):
    """[MQTT-3.1.0-2]."""
    client = bench.client(version=5)
    client.speak(encode(5, Connect(5, "c")))
    assert [packet.code for packet in client.take()] == [Reason.PROTOCOL_ERROR]
    assert client.closed


def test_a_second_connect_closes_311(bench):
    """[MQTT-3.1.0-2 (3.1.1)]."""
    client = bench.client()
    client.speak(HELLO)
    assert client.closed
    assert client.take() == []


@pytest.mark.parametrize("version", [4, 5])
def test_bytes_may_come_one_at_a_time(bench, version):
    client = bench.stranger(version)
    for byte in encode(version, Connect(version, "c")) + encode(version, Pingreq()) * 2:
        client.speak(bytes((byte,)))
    assert [type(packet) for packet in client.take()] == [Connack, Pingresp, Pingresp]


def test_several_packets_may_come_at_once(bench):
    client = bench.stranger().speak(HELLO + encode(4, Pingreq()) * 3)
    assert [type(packet) for packet in client.take()] == [Connack, Pingresp, Pingresp, Pingresp]


def test_pingreq_is_answered(bench):
    """[MQTT-3.12.4-1], [MQTT-3.12.4-1 (3.1.1)]."""
    assert bench.client().send(Pingreq()).take() == [Pingresp()]


@pytest.mark.parametrize("packet", [Connack(False, 0), Suback(1, (0,)), Pingresp()])
def test_what_only_a_server_may_send_closes_at_once(bench, packet):
    client = bench.client(version=5).send(packet)
    assert client.closed
    assert client.take()[0].code in (Reason.PROTOCOL_ERROR, Reason.MALFORMED_PACKET)


def test_a_malformed_packet_ends_v5_with_its_reason(bench):
    """[MQTT-4.13.1-1], [MQTT-4.13.2-1]."""
    client = bench.client(version=5).speak(b"\x36\x05\x00\x01a\x00\x01")
    assert [type(packet) for packet in client.got] == [Disconnect]
    assert client.take()[0].code == Reason.MALFORMED_PACKET
    assert client.closed
    assert bench.count("malformed") == 1


def test_a_malformed_packet_closes_311(bench):
    """[MQTT-4.8.0-1 (3.1.1)]: the connection that broke the protocol is closed."""
    client = bench.client().speak(b"\x36\x05\x00\x01a\x00\x01")
    assert client.closed
    assert client.take() == []


def test_only_the_connection_that_broke_the_rules_suffers(bench):
    good = bench.client("good")
    good.subscribe("t")
    bench.client("bad").speak(b"\xff" * 100)
    bench.client("p").publish("t")
    assert good.payloads() == [b"x"]


def test_a_packet_that_is_too_large_is_refused_before_it_has_come():
    """[MQTT-3.2.2-15]: Packet too large, from its length alone."""
    bench = Bench(BrokerSettings(Limits(packet_bytes_max=1_000)))
    client = bench.client(version=5).speak(b"\x30\xff\xff\x7f")
    assert client.take()[0].code == Reason.PACKET_TOO_LARGE
    assert client.closed
    assert bench.hits("packet_bytes_max") == 1


def test_who_is_not_let_in_yet_may_send_less():
    bench = Bench(BrokerSettings(Limits(packet_bytes_unauthenticated_max=100)))
    client = bench.stranger(4).speak(b"\x10\xff\x7f")
    assert client.closed


def test_silence_before_connect_ends(bench):
    client = bench.stranger()
    bench.later(9.9)
    assert not client.closed
    bench.later(0.2)
    assert client.closed


def test_an_unknown_version_is_told_so_in_words_that_all_know(bench):
    """[MQTT-3.1.2-2], [MQTT-3.1.2-2 (3.1.1)]: CONNACK with return code 1, then the end."""
    hello = bytearray(HELLO)
    hello[8] = 9
    client = bench.stranger().speak(bytes(hello))
    assert client.take() == [Connack(False, 1)]
    assert client.closed


def test_a_connect_that_cannot_be_read_is_answered_in_its_version(bench):
    """§4.13.1: a CONNACK with a reason code of 0x80 or more may say why."""
    hello = bytearray(encode(5, Connect(5, "c")))
    hello[9] |= 1  # the reserved flag [MQTT-3.1.2-3]
    client = bench.stranger(5).speak(bytes(hello))
    assert client.take()[0].code == Reason.MALFORMED_PACKET
    assert client.closed


def test_after_the_end_nothing_more_is_heard(bench):
    watcher = bench.client("w")
    watcher.subscribe("t")
    client = bench.client()
    client.send(Disconnect(), Publish("t", b"late"))
    assert watcher.payloads() == []
    client.speak(encode(4, Publish("t", b"later")))
    assert watcher.payloads() == []


def test_disconnect_ends_without_a_word(bench):
    """§3.14.4: the server closes if the client has not."""
    client = bench.client(version=5).send(Disconnect())
    assert client.closed
    assert client.take() == []


def test_a_session_that_ends_with_its_connection_cannot_be_prolonged(bench):
    """§3.14.2.2.2: Protocol Error."""
    client = bench.client(version=5).send(Disconnect(0, Properties(session_expiry_s=10)))
    assert client.take()[0].code == Reason.PROTOCOL_ERROR


def test_disconnect_may_shorten_a_session(bench):
    bench.client(version=5, session_expiry_s=100).send(Disconnect(0, Properties(session_expiry_s=5)))
    bench.later(4.9)
    assert "c" in bench.broker.sessions.by_client
    bench.later(0.2)
    assert "c" not in bench.broker.sessions.by_client


def test_reasons_are_explained_unless_the_client_does_not_want_that(bench):
    """[MQTT-3.1.2-29]."""
    wordy = bench.client("a", version=5).speak(b"\xf1\x00")
    terse = bench.client("b", version=5, request_problem_information=0).speak(b"\xf1\x00")
    assert wordy.take()[0].properties.reason_string
    assert terse.take()[0].properties.reason_string is None


def test_an_explanation_never_exceeds_what_the_client_can_take(bench):
    """[MQTT-3.14.2-3], [MQTT-3.2.2-19]: the reason string is left out."""
    client = bench.client(version=5, maximum_packet_bytes=40).speak(b"\xf1\x00")
    assert client.take()[0].properties.reason_string is None


def test_auth_without_a_method_is_a_protocol_error(bench):
    """[MQTT-4.12.0-7] and §4.12: AUTH belongs to those who began with a method."""
    client = bench.client(version=5).send(Auth(Reason.RE_AUTHENTICATE, Properties(authentication_method="X")))
    assert client.take()[0].code == Reason.PROTOCOL_ERROR


class TestSlowConsumers:
    def test_the_oldest_qos_0_messages_are_dropped(self, bench):
        slow, publisher = bench.client("slow"), bench.client("p")
        slow.subscribe("t")
        slow.stuck = True
        for number in range(10):
            publisher.publish("t", b"%d" % number)
        slow.connection.trim(bench.now, 3 * 6)
        slow.stuck = False
        slow.flush()
        assert slow.payloads() == [b"7", b"8", b"9"]
        assert bench.count("messages_dropped_slow") == 7

    def test_a_run_of_messages_is_counted_message_by_message(self, bench):
        slow, publisher = bench.client("slow"), bench.client("p")
        slow.subscribe("t")
        slow.stuck = True
        publisher.send(*[Publish("t", b"x")] * 50)
        slow.connection.trim(bench.now, 0)
        assert bench.count("messages_dropped_slow") == 50

    def test_what_is_not_qos_0_is_never_dropped_but_ends_the_connection(self, bench):
        slow, publisher = bench.client("slow"), bench.client("p")
        slow.subscribe("t", qos=1)
        slow.stuck = True
        for _ in range(10):
            publisher.publish("t", b"x" * 100, qos=1)
        slow.connection.trim(bench.now, 500)
        assert slow.connection.closing
        assert bench.count("slow_consumers") == 1

    def test_it_may_be_disconnected_instead(self):
        bench = Bench(BrokerSettings(slow_consumer="disconnect"))
        slow, publisher = bench.client("slow"), bench.client("p")
        slow.subscribe("t")
        slow.stuck = True
        publisher.publish("t", b"x" * 100)
        slow.connection.trim(bench.now, 50)
        assert slow.connection.closing

    def test_its_will_is_said(self):
        bench = Bench(BrokerSettings(slow_consumer="disconnect"))
        slow, publisher = bench.client("slow", will=Will("w", b"gone")), bench.client("p")
        slow.subscribe("t")
        publisher.subscribe("w")
        slow.stuck = True
        publisher.publish("t", b"x" * 100)
        slow.connection.trim(bench.now, 50)
        bench.tick()
        assert publisher.payloads() == [b"gone"]


class TestQuota:
    def test_too_many_messages_pause_reading_and_lose_nothing(self):
        bench = Bench(BrokerSettings(Limits(messages_per_second_max=10)))
        watcher = bench.client("w")
        watcher.subscribe("t")
        client = bench.client("p")
        client.send(*[Publish("t", b"x")] * 30)
        assert not client.connection.reading
        assert len(watcher.payloads()) == 30
        bench.later(1.9)
        assert not client.connection.reading
        bench.later(0.2)
        assert client.connection.reading

    def test_who_keeps_to_it_is_never_paused(self):
        bench = Bench(BrokerSettings(Limits(messages_per_second_max=10, bytes_per_second_max=1_000)))
        client = bench.client("p")
        for _ in range(50):
            client.publish("t")
            bench.later(0.1)
            assert client.connection.reading

    def test_bytes_count_too(self):
        bench = Bench(BrokerSettings(Limits(bytes_per_second_max=1_000)))
        client = bench.client("p")
        client.publish("t", b"x" * 3_000)
        assert not client.connection.reading


class TestPressure:
    def test_publishers_are_not_read_from_while_too_much_is_unwritten(self, bench):
        publisher, idle = bench.client("p"), bench.client("idle")
        bench.later(10)
        publisher.publish("t")
        bench.broker.press(bench.now, True)
        assert not publisher.connection.reading
        assert idle.connection.reading
        bench.broker.press(bench.now, False)
        assert publisher.connection.reading


class TestShutDown:
    def test_v5_is_told_and_everybody_is_closed(self, bench):
        """[MQTT-3.14.4-2], [MQTT-4.13.2-1]: Server shutting down."""
        five, four = bench.client("five", version=5), bench.client("four")
        bench.broker.begin_drain(bench.now)
        bench.tick()
        assert [packet.code for packet in five.take()] == [Reason.SERVER_SHUTTING_DOWN]
        assert five.closed
        assert four.closed
        assert four.take() == []

    def test_nobody_new_is_let_in(self, bench):
        bench.broker.begin_drain(bench.now)
        assert bench.broker.accept(bench.now, ORIGIN) is None

    def test_wills_are_said_while_there_is_somebody_to_hear_them(self, bench):
        """[MQTT-3.1.2-8]: the client did not leave; its will cannot wait for a restart that forgets it."""
        bench.client("waits", will=WAITS, version=5, session_expiry_s=60).vanish()
        bench.client("here", will=WAITS, version=5, session_expiry_s=60)
        watcher = bench.client("watcher")
        watcher.subscribe("w")
        bench.broker.begin_drain(bench.now)
        bench.tick()
        assert watcher.payloads() == [b"gone", b"gone"]

    def test_a_will_in_the_store_waits_for_the_restart(self):
        bench = Bench(keeps=True)
        bench.client("here", will=WAITS, version=5, session_expiry_s=60)
        watcher = bench.client("watcher")
        watcher.subscribe("w")
        bench.broker.begin_drain(bench.now)
        bench.tick()
        assert watcher.payloads() == []


def test_the_same_complaint_is_logged_once_a_minute(bench):
    for _ in range(5):
        bench.client("c", version=5).speak(b"\xf1\x00")
    bench.later(61)
    bench.client("c", version=5).speak(b"\xf1\x00")
    said = [notice for notice in bench.broker.notices.take() if notice.event == "client disconnected"]
    assert [notice.fields.get("left_out") for notice in said] == [None, 4]
    assert bench.count("malformed") == 6


def test_unacknowledged_publishes_of_a_v5_client_are_bounded_by_its_receive_maximum():
    """[MQTT-3.3.4-7]: Receive Maximum exceeded."""
    bench = Bench(BrokerSettings(Limits(receive_maximum=3)))
    client = bench.client(version=5)
    assert client.connack is not None
    assert client.connack.properties.receive_maximum == 3
    for _ in range(3):
        client.publish("t", qos=2)
    assert not client.closed
    client.publish("t", qos=2)
    assert client.take()[-1].code == Reason.RECEIVE_MAXIMUM_EXCEEDED


def test_acknowledged_publishes_do_not_count_towards_it():
    bench = Bench(BrokerSettings(Limits(receive_maximum=3)))
    client = bench.client(version=5)
    for _ in range(20):
        client.publish("t", qos=1)
    assert not client.closed
    assert len([packet for packet in client.take() if isinstance(packet, Puback)]) == 20
