"""§3.3 to §3.11, §4.3, §4.8 as a server, statement by statement: what the tests of modules do not show by the way."""

import pytest

from broker_bench import Bench, Client
from weft.broker.access.api import SUBSCRIBE
from weft.broker.settings import BrokerSettings, Limits
from weft.mqtt.codec.packets import (
    Puback,
    Pubcomp,
    Publish,
    Pubrec,
    Pubrel,
    Request,
    Suback,
    Subscribe,
    Unsuback,
    Unsubscribe,
)
from weft.mqtt.codec.properties import NONE
from weft.mqtt.codec.reasons import Reason
from weft.mqtt.topics import matches


@pytest.fixture
def bench() -> Bench:
    return Bench()


@pytest.fixture(params=[4, 5])
def version(request) -> int:
    return request.param


def kept(bench: Bench, name: str = "s", **properties) -> Client:
    return bench.client(name, 5, clean=False, session_expiry_s=1_000, **properties)


def messages(client: Client) -> list[Publish]:
    return [packet for packet in client.take() if isinstance(packet, Publish)]


class TestRetained:
    def late(self, bench: Bench, version: int) -> list[tuple[str, bytes, int]]:
        """What somebody who comes now gets."""
        client = bench.client("late", version)
        answers = client.subscribe("#", qos=2)
        return [(each.topic, each.payload, each.qos) for each in answers if isinstance(each, Publish)]

    def test_the_last_one_with_its_qos_is_kept(self, bench, version):
        """[MQTT-3.3.1-5], [MQTT-3.3.1-5 (3.1.1)]; [MQTT-3.3.1-7 (3.1.1)]: at QoS 0, too."""
        publisher = bench.client("p", version)
        publisher.publish("t", b"1", qos=1, retain=True)
        publisher.publish("t", b"2", qos=2, retain=True)
        assert self.late(bench, version) == [("t", b"2", 2)]
        publisher.publish("t", b"3", retain=True)
        assert self.late(bench, version) == [("t", b"3", 0)]

    def test_an_empty_one_is_delivered_removes_and_is_not_kept(self, bench, version):
        """[MQTT-3.3.1-6], [MQTT-3.3.1-7], [MQTT-3.3.1-10 (3.1.1)], [MQTT-3.3.1-11 (3.1.1)]."""
        heard = bench.client("w", version)
        publisher = bench.client("p", version)
        publisher.publish("t", b"1", retain=True)
        heard.subscribe("t")
        publisher.publish("t", b"", retain=True).publish("u", b"", retain=True)
        assert heard.payloads() == [b""]
        assert self.late(bench, version) == []
        assert bench.broker.retained.count == 0

    def test_who_does_not_retain_changes_nothing(self, bench, version):
        """[MQTT-3.3.1-8], [MQTT-3.3.1-12 (3.1.1)]."""
        publisher = bench.client("p", version)
        publisher.publish("t", b"kept", retain=True).publish("t", b"passes").publish("t", b"").publish("u", b"passes")
        assert self.late(bench, version) == [("t", b"kept", 0)]


class TestForwarding:
    def test_what_arrives_matches_the_filter(self, bench, version):
        """[MQTT-3.3.2-3], [MQTT-3.3.2-3 (3.1.1)]."""
        names = ["a", "a/b", "a/b/c", "/", "a//c", "$x/b", "A/b"]
        filters = ["a/+", "+/b", "a/#", "#", "+", "/+", "a/+/c", "$x/+"]
        heard = {filter_: bench.client(f"w{number}", version) for number, filter_ in enumerate(filters)}
        for filter_, client in heard.items():
            client.subscribe(filter_)
        for name in names:
            bench.client("p").publish(name)
        for filter_, client in heard.items():
            assert [each.topic for each in messages(client)] == [name for name in names if matches(filter_, name)]

    @pytest.mark.parametrize("properties", [{}, {"topic_alias_maximum": 5}])
    def test_no_topic_aliases_for_anybody(self, bench, properties):
        """[MQTT-3.1.2-26], [MQTT-3.1.2-27], [MQTT-3.3.2-11]: a server may use them; we do not."""
        heard = bench.client("w", 5, **properties)
        heard.subscribe("t", qos=1)
        publisher = bench.client("p", 5)
        for qos in (0, 1, 1, 0):
            publisher.publish("t", qos=qos, topic_alias=1)
        assert [(each.topic, each.properties.topic_alias) for each in messages(heard)] == [("t", None)] * 4

    def test_a_content_type_that_is_not_utf_8_is_malformed(self, bench):
        """[MQTT-3.3.2-19], [MQTT-3.3.2-13]."""
        for number in ("03", "08"):
            client = bench.client("p", 5).speak(bytes.fromhex(f"30 09 0001 74 05 {number} 0002 c080 78"))
            assert client.take()[0].code == Reason.MALFORMED_PACKET
            assert client.closed

    def test_no_wildcards_where_none_are_offered(self):
        """[MQTT-3.8.3-2 (3.1.1)]."""
        client = Bench(BrokerSettings(wildcards=False)).client()
        client.send(Subscribe(1, (Request("a/+"), Request("a"), Request("#"))))
        assert client.take() == [Suback(1, (0x80, 0, 0x80))]

    def test_every_answer_fits_its_qos(self, bench, version):
        """[MQTT-3.3.4-1], [MQTT-3.3.4-1 (3.1.1)], [MQTT-2.2.1-5], [MQTT-2.3.1-6 (3.1.1)]."""
        bench.client("w").subscribe("t")
        client = bench.client("p", version)
        client.send(Publish("t", b"0"), Publish("t", b"1", 1, packet_id=9), Publish("t", b"2", 2, packet_id=8))
        assert client.take() == [Puback(9), Pubrec(8)]


class TestExpiry:
    def test_a_message_that_has_been_sent_does_not_expire(self, bench):
        """[MQTT-4.3.3-7]; nor does it at QoS 1."""
        client = kept(bench)
        client.subscribe("t", qos=2)
        publisher = bench.client("p", 5)
        publisher.publish("t", b"2", qos=2, message_expiry_s=10).publish("t", b"1", qos=1, message_expiry_s=10)
        assert client.payloads() == [b"2", b"1"]
        client.vanish()
        bench.later(60)
        assert kept(bench).payloads() == [b"2", b"1"]

    def test_an_exchange_goes_on_when_its_message_has_expired(self, bench):
        """[MQTT-4.3.3-13], [MQTT-4.3.3-12]."""
        away = kept(bench, "away")
        away.subscribe("t", qos=2)
        away.vanish()
        client = bench.client("p", 5)
        client.send(Publish("t", b"x", 2, packet_id=7))
        client.publish("t", b"x", qos=2, message_expiry_s=1)
        client.take()
        bench.later(5)
        client.send(Pubrel(7), Pubrel(1))
        assert client.take() == [Pubcomp(7), Pubcomp(1)]
        client.send(Publish("t", b"y", 2, packet_id=7))
        assert client.take() == [Pubrec(7)]
        assert kept(bench, "away").payloads() == [b"x", b"y"]


class TestReceiveMaximum:
    def owed(self, bench: Bench, count: int, qos: int = 1) -> None:
        """A session with so many messages sent and not acknowledged, whose client has gone."""
        client = kept(bench)
        client.subscribe("t", qos=qos)
        publisher = bench.client("p")
        for number in range(count):
            publisher.publish("t", b"%d" % number, qos=qos)
        assert len(client.payloads()) == count
        client.vanish()

    def test_it_holds_for_what_is_sent_again(self, bench):
        """[MQTT-3.3.4-9], [MQTT-4.9.0-1], [MQTT-4.4.0-1]: all of it, in order, as there is room; then what is new."""
        self.owed(bench, 5)
        client = kept(bench, receive_maximum=2)
        bench.client("p").publish("t", b"new", qos=1)
        heard = []
        while got := messages(client):
            assert len(got) <= 2
            heard += [(each.payload, each.dup, each.packet_id) for each in got]
            client.send(Puback(got[0].packet_id))
            client.got += got[1:]
            if len(got) > 1:
                client.got.pop()
                client.send(Puback(got[1].packet_id))
        assert heard == [(b"%d" % number, True, number + 1) for number in range(5)] + [(b"new", False, 6)]

    def test_other_packets_do_not_wait(self, bench):
        """[MQTT-3.3.4-10], [MQTT-4.9.0-3]: PUBREL is sent again at once."""
        self.owed(bench, 4, qos=2)
        client = kept(bench)
        client.take()
        client.send(Pubrec(4))
        client.take()
        client.vanish()
        client = kept(bench, receive_maximum=1)
        assert [(type(each), each.packet_id) for each in client.take()] == [(Publish, 1), (Pubrel, 4)]
        client.send(Pubcomp(4), Pubrec(1), Pubcomp(1))
        assert [(type(each), each.packet_id) for each in client.take()] == [(Pubrel, 1), (Publish, 2)]

    def test_an_acknowledgement_of_what_waits_to_be_sent_again_counts(self, bench):
        """[MQTT-4.3.2-3]: it was sent on the connection before."""
        self.owed(bench, 4)
        client = kept(bench, receive_maximum=1)
        assert [each.packet_id for each in messages(client)] == [1]
        client.send(Puback(3), Puback(1))
        assert [each.packet_id for each in messages(client)] == [2]
        client.send(Puback(2))
        assert [each.packet_id for each in messages(client)] == [4]

    def test_nothing_that_is_published_meanwhile_is_lost(self, bench):
        """[MQTT-3.3.4-9], [MQTT-4.5.0-1]: by a client that will not outlive this connection, several at once."""
        self.owed(bench, 5)
        client = bench.client("s", 5, clean=False, receive_maximum=2)
        bench.client("p").send(*[Publish("t", b"%d" % number, 1, packet_id=number) for number in range(5, 12)])
        heard = []
        while got := messages(client):
            heard += [each.payload for each in got]
            client.send(*[Puback(each.packet_id) for each in got])
        assert heard == [b"%d" % number for number in range(12)]

    def test_a_session_that_ends_meanwhile_leaves_nothing(self, bench):
        self.owed(bench, 4)
        client = kept(bench, receive_maximum=1)
        session = client.connection.session
        assert session is not None
        client.vanish()
        bench.later(2_000)
        assert (session.outgoing.inflight, session.outgoing.unsent) == ({}, {})


class TestWordless:
    def test_acknowledgements_have_no_reason_strings_and_no_user_properties(self, bench):
        """So that none makes them larger than the client takes: [MQTT-3.4.2-2], [MQTT-3.4.2-3], [MQTT-3.5.2-2], [MQTT-3.5.2-3],
        [MQTT-3.6.2-2], [MQTT-3.6.2-3], [MQTT-3.7.2-2], [MQTT-3.7.2-3], [MQTT-3.9.2-1], [MQTT-3.9.2-2], [MQTT-3.11.2-1],
        [MQTT-3.11.2-2]; nor against the client's wish: [MQTT-3.1.2-29].
        """
        bench.authority.forbidden = {(SUBSCRIBE, "no"), ("publish", "no")}
        client = bench.client("c", 5, request_problem_information=0)
        client.send(
            Subscribe(1, (Request("t", 2), Request("no"))),
            Unsubscribe(2, ("never",)),
            Publish("t", b"", 1, packet_id=3),
            Publish("no", b"", 1, packet_id=4),
            Publish("t", b"", 2, packet_id=5),
            Publish("no", b"", 2, packet_id=6),
            Pubrel(5),
            Pubrel(7),
            Pubrec(8),
            Pubrec(2),
        )
        answers = [packet for packet in client.take() if not isinstance(packet, Publish)]
        assert {type(packet) for packet in answers} == {Suback, Unsuback, Puback, Pubrec, Pubrel, Pubcomp}
        assert {packet.properties for packet in answers} == {NONE}


class TestSharing:
    def members(self, bench: Bench, *qos: int) -> list[Client]:
        found = [kept(bench, f"m{number}") for number in range(len(qos))]
        for member, each in zip(found, qos, strict=True):
            member.subscribe("$share/g/t", qos=each)
        return found

    def test_each_at_the_qos_that_it_was_granted(self, bench):
        """[MQTT-4.8.2-3]."""
        low, high = self.members(bench, 0, 1)
        publisher = bench.client("p")
        for _ in range(4):
            publisher.publish("t", qos=2)
        assert {each.qos for each in messages(low)} == {0}
        assert {each.qos for each in messages(high)} == {1}

    def begun(self, bench: Bench) -> tuple[Client, Client]:
        """Who has been sent a QoS 2 message, and who has not."""
        first, second = self.members(bench, 2, 2)
        bench.client("p").publish("t", b"x", qos=2)
        return (first, second) if first.got else (second, first)

    def test_what_was_begun_with_a_member_is_completed_with_it(self, bench):
        """[MQTT-4.8.2-4]."""
        chosen, other = self.begun(bench)
        name = chosen.connection.client_id
        chosen.vanish()
        back = kept(bench, name)
        assert [(each.payload, each.dup) for each in messages(back)] == [(b"x", True)]
        back.send(Pubrec(1), Pubcomp(1))
        assert other.take() == []

    def test_and_with_nobody_else(self, bench):
        """[MQTT-4.8.2-5]."""
        chosen, other = self.begun(bench)
        chosen.vanish()
        bench.later(2_000)
        assert other.take() == []

    @pytest.mark.parametrize("qos", [1, 2])
    def test_what_a_member_refuses_is_gone(self, bench, qos):
        """[MQTT-4.8.2-6], [MQTT-4.4.0-2]."""
        members = self.members(bench, qos, qos)
        bench.client("p").publish("t", qos=qos)
        (chosen,) = [member for member in members if member.got]
        refusal = Puback(1, Reason.UNSPECIFIED_ERROR) if qos == 1 else Pubrec(1, Reason.UNSPECIFIED_ERROR)
        chosen.take()
        chosen.send(refusal)
        name = chosen.connection.client_id
        chosen.vanish()
        bench.later(1)
        assert kept(bench, name).take() == []
        assert [member.take() for member in members if member is not chosen] == [[]]


def test_overlap_is_bounded_by_what_is_granted():
    """[MQTT-3.3.4-2], [MQTT-3.3.5-1 (3.1.1)], [MQTT-3.8.4-7]."""
    bench = Bench(BrokerSettings(Limits(qos_max=1)))
    client = bench.client("c")
    client.subscribe("a/+", qos=0)
    client.subscribe("a/#", qos=2)
    bench.client("p").publish("a/b", qos=1)
    assert [each.qos for each in messages(client)] == [1]
