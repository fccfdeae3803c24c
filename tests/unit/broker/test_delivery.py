"""From publications to sessions: windows, queues, acknowledgements, sending again."""

import pytest

from broker_bench import Bench, Client
from weft.broker.settings import BrokerSettings, Limits
from weft.mqtt.codec.packets import Puback, Pubcomp, Publish, Pubrec, Pubrel
from weft.mqtt.codec.reasons import Reason


@pytest.fixture
def bench() -> Bench:
    return Bench()


@pytest.fixture(params=[4, 5])
def version(request) -> int:
    return request.param


def kept(bench: Bench, name: str = "s", version: int = 4, **properties) -> Client:
    """A client whose session outlives its connection; DISCONNECT is not needed to get it back."""
    if version == 5:
        return bench.client(name, 5, clean=False, session_expiry_s=1_000, **properties)
    return bench.client(name, clean=False)


def ids(client: Client) -> list[int]:
    return [packet.packet_id for packet in client.take() if isinstance(packet, Publish)]


class TestQos:
    @pytest.mark.parametrize("granted", [0, 1, 2])
    @pytest.mark.parametrize("published", [0, 1, 2])
    def test_the_lower_of_the_two_is_used(self, bench, published, granted):
        """[MQTT-3.8.4-8], [MQTT-3.8.4-6 (3.1.1)]."""
        client = bench.client("s")
        client.subscribe("t", qos=granted)
        bench.client("p").publish("t", qos=published)
        assert [packet.qos for packet in client.take()] == [min(published, granted)]

    def test_1_is_over_with_its_puback(self, bench, version):
        """[MQTT-4.3.2-1], [MQTT-4.3.2-2], [MQTT-4.3.2-3], [MQTT-4.3.2-1 (3.1.1)]."""
        client = kept(bench, version=version)
        client.subscribe("t", qos=1)
        bench.client("p").publish("t", qos=1)
        (message,) = client.take()
        assert (message.qos, message.dup, message.packet_id) == (1, False, 1)
        client.send(Puback(1))
        client.vanish()
        assert kept(bench, version=version).take() == []

    def test_2_takes_four_packets(self, bench, version):
        """[MQTT-4.3.3-1], [MQTT-4.3.3-2], [MQTT-4.3.3-3], [MQTT-4.3.3-4], [MQTT-4.3.3-5], [MQTT-4.3.3-1 (3.1.1)]."""
        client = kept(bench, version=version)
        client.subscribe("t", qos=2)
        bench.client("p").publish("t", qos=2)
        (message,) = client.take()
        assert (message.qos, message.dup) == (2, False)
        client.send(Pubrec(message.packet_id))
        assert client.take() == [Pubrel(message.packet_id)]
        client.send(Pubcomp(message.packet_id))
        assert client.take() == []
        session = client.connection.session
        assert session is not None
        assert session.outgoing.inflight == {}

    def test_2_is_not_sent_again_after_pubrec(self, bench, version):
        """[MQTT-4.3.3-5], [MQTT-4.3.3-6], [MQTT-4.4.0-1], [MQTT-4.4.0-1 (3.1.1)]: what is owed then is the PUBREL."""
        client = kept(bench, version=version)
        client.subscribe("t", qos=2)
        bench.client("p").publish("t", qos=2)
        client.send(Pubrec(1))
        client.vanish()
        assert kept(bench, version=version).take() == [Pubrel(1)]

    def test_a_second_pubrec_is_answered_again(self, bench, version):
        client = kept(bench, version=version)
        client.subscribe("t", qos=2)
        bench.client("p").publish("t", qos=2)
        client.take()
        client.send(Pubrec(1), Pubrec(1))
        assert client.take() == [Pubrel(1), Pubrel(1)]

    def test_v5_may_refuse_a_message(self, bench):
        """[MQTT-4.4.0-2]: an error in PUBREC or PUBACK ends it."""
        client = kept(bench, version=5)
        client.subscribe("t", qos=2)
        bench.client("p").publish("t", qos=2).publish("t", qos=1)
        client.take()
        client.send(Pubrec(1, Reason.QUOTA_EXCEEDED), Puback(2, Reason.UNSPECIFIED_ERROR))
        assert client.take() == []
        client.vanish()
        assert kept(bench, version=5).take() == []

    def test_answers_to_nothing_are_harmless(self, bench, version):
        client = kept(bench, version=version)
        client.send(Puback(9), Pubcomp(9), Pubrec(9))
        expected = Pubrel(9, Reason.PACKET_IDENTIFIER_NOT_FOUND if version == 5 else 0)
        assert client.take() == [expected]

    def test_the_wrong_answer_is_no_answer(self, bench, version):
        """[MQTT-4.3.2-3]: a QoS 2 message is not done by a PUBACK, nor a QoS 1 by a PUBCOMP."""
        client = kept(bench, version=version)
        client.subscribe("t", qos=2)
        bench.client("p").publish("t", b"2", qos=2).publish("t", b"1", qos=1)
        client.take()
        client.send(Puback(1), Pubcomp(2), Pubcomp(1))
        client.vanish()
        assert kept(bench, version=version).payloads() == [b"2", b"1"]


class TestIdentifiers:
    def test_they_are_never_0_and_unused(self, bench):
        """[MQTT-2.2.1-4], [MQTT-2.3.1-1 (3.1.1)], [MQTT-2.3.1-4 (3.1.1)]."""
        client = bench.client("s")
        client.subscribe("t", qos=1)
        session = client.connection.session
        assert session is not None
        session.outgoing.last_id = 65_533
        publisher = bench.client("p")
        for _ in range(4):
            publisher.publish("t", qos=1)
        assert ids(client) == [65_534, 65_535, 1, 2]
        session.outgoing.last_id = 65_533
        publisher.publish("t", qos=1)
        assert ids(client) == [3]

    def test_qos_0_has_none(self, bench):
        """[MQTT-2.2.1-2], [MQTT-2.3.1-5 (3.1.1)], [MQTT-4.3.1-1], [MQTT-4.3.1-1 (3.1.1)]."""
        client = bench.client("s")
        client.subscribe("t")
        bench.client("p").publish("t")
        assert client.take() == [Publish("t", b"x")]


class TestSendingAgain:
    def test_in_the_order_in_which_they_went_and_marked(self, bench, version):
        """[MQTT-4.4.0-1], [MQTT-3.3.1-1], [MQTT-4.4.0-1 (3.1.1)], [MQTT-3.3.1-1 (3.1.1)], [MQTT-4.6.0-1 (3.1.1)]."""
        client = kept(bench, version=version)
        client.subscribe("t", qos=2)
        publisher = bench.client("p")
        for number in range(6):
            publisher.publish("t", b"%d" % number, qos=1 + number % 2)
        before = [(packet.packet_id, packet.payload) for packet in client.take()]
        client.send(Puback(before[2][0]))
        client.vanish()
        again = kept(bench, version=version).take()
        assert [(packet.packet_id, packet.payload) for packet in again] == [each for each in before if each[1] != b"2"]
        assert all(packet.dup for packet in again)

    def test_not_while_the_connection_lasts(self, bench, version):
        """[MQTT-4.4.0-1]: no other time than a reconnection."""
        client = kept(bench, version=version)
        client.subscribe("t", qos=1)
        bench.client("p").publish("t", qos=1)
        client.take()
        bench.later(100_000)
        assert client.take() == []

    def test_what_came_meanwhile_follows(self, bench, version):
        """[MQTT-4.5.0-1], [MQTT-3.1.2-5 (3.1.1)], [MQTT-4.5.0-1 (3.1.1)]: every matching message, QoS 0 left out."""
        client = kept(bench, version=version)
        client.subscribe("t", qos=1)
        publisher = bench.client("p")
        publisher.publish("t", b"1", qos=1)
        client.vanish()
        publisher.publish("t", b"2", qos=1).publish("t", b"zero").publish("t", b"3", qos=1)
        assert kept(bench, version=version).payloads() == [b"1", b"2", b"3"]

    def test_qos_0_too_if_the_configuration_says_so(self):
        bench = Bench(BrokerSettings(queue_qos0=True))
        client = kept(bench)
        client.subscribe("t", qos=1)
        client.vanish()
        bench.client("p").publish("t", b"1", qos=1).publish("t", b"zero").publish("t", b"2", qos=1)
        assert kept(bench).payloads() == [b"1", b"zero", b"2"]


class TestWindow:
    def test_no_more_than_the_client_can_take(self, bench):
        """[MQTT-3.3.4-9], [MQTT-4.9.0-1], [MQTT-4.9.0-2]: its Receive Maximum."""
        client = kept(bench, version=5, receive_maximum=2)
        client.subscribe("t", qos=2)
        publisher = bench.client("p")
        for number in range(5):
            publisher.publish("t", b"%d" % number, qos=2)
        assert client.payloads() == [b"0", b"1"]
        client.send(Pubrec(1))
        assert client.payloads() == []  # PUBREC does not end it
        client.send(Pubcomp(1))
        assert client.payloads() == [b"2"]
        client.send(Pubrec(2, Reason.QUOTA_EXCEEDED))  # an error does
        assert client.payloads() == [b"3"]

    def test_other_packets_are_not_held_up(self, bench):
        """[MQTT-4.9.0-3], [MQTT-3.3.4-10]."""
        client = bench.client("s", version=5, receive_maximum=1)
        client.subscribe("t", qos=1)
        publisher = bench.client("p")
        publisher.publish("t", b"1", qos=1).publish("t", b"2", qos=1).publish("t", b"0")
        assert client.payloads() == [b"1", b"0"]
        assert len(client.subscribe("u")) == 1

    def test_no_more_than_we_send(self):
        bench = Bench(BrokerSettings(Limits(inflight_max=3)))
        client = bench.client("s")
        client.subscribe("t", qos=1)
        publisher = bench.client("p")
        for number in range(7):
            publisher.publish("t", b"%d" % number, qos=1)
        assert client.payloads() == [b"0", b"1", b"2"]
        client.send(Puback(1), Puback(2), Puback(3))
        assert client.payloads() == [b"3", b"4", b"5"]


class TestQueue:
    def away(self, bench: Bench, count: int) -> list[bytes]:
        client = kept(bench)
        client.subscribe("t", qos=1)
        client.vanish()
        publisher = bench.client("p")
        for number in range(count):
            publisher.publish("t", b"%d" % number, qos=1)
        return kept(bench).payloads()

    def test_a_full_one_loses_its_oldest(self):
        bench = Bench(BrokerSettings(Limits(queue_messages_max=3)))
        assert self.away(bench, 5) == [b"2", b"3", b"4"]
        assert bench.count("messages_dropped_queue") == 2

    def test_or_the_newest(self):
        bench = Bench(BrokerSettings(Limits(queue_messages_max=3), queue_full="newest"))
        assert self.away(bench, 5) == [b"0", b"1", b"2"]

    def test_bytes_count_too(self):
        bench = Bench(BrokerSettings(Limits(queue_bytes_max=3)))
        assert self.away(bench, 5) == [b"2", b"3", b"4"]

    def test_and_those_of_all_together(self):
        bench = Bench(BrokerSettings(Limits(queue_total_bytes_max=2)))
        assert self.away(bench, 5) == [b"3", b"4"]
        assert bench.broker.deliverer.queued_bytes == 0

    def test_the_sum_is_right_when_a_session_ends(self, bench):
        client = kept(bench, version=5)
        client.subscribe("t", qos=1)
        client.vanish()
        bench.client("p").publish("t", b"12345", qos=1)
        assert bench.broker.deliverer.queued_bytes == 5
        bench.later(2_000)
        assert bench.broker.deliverer.queued_bytes == 0


class TestPacketSize:
    def test_what_the_client_cannot_take_is_left_out_and_the_rest_follows(self, bench):
        """[MQTT-3.1.2-24], [MQTT-3.1.2-25]."""
        client = bench.client("s", version=5, maximum_packet_bytes=50)
        client.subscribe("t", qos=1)
        publisher = bench.client("p")
        publisher.publish("t", b"x" * 60, qos=1).publish("t", b"x" * 60).publish("t", b"fits", qos=1)
        assert client.payloads() == [b"fits"]
        assert bench.count("messages_dropped_size") == 2
        session = client.connection.session
        assert session is not None
        assert len(session.outgoing.inflight) == 1


def test_messages_of_one_publisher_arrive_in_order(bench, version):
    """[MQTT-4.6.0-5], [MQTT-4.6.0-6], [MQTT-4.6.0-5 (3.1.1)], [MQTT-4.6.0-6 (3.1.1)]."""
    client = bench.client("s", version=version)
    client.subscribe("#", qos=2)
    publisher = bench.client("p", version=version)
    for number in range(50):
        publisher.publish("t", b"%d" % number, qos=1)
    assert client.payloads() == [b"%d" % number for number in range(50)]
