"""The client's machine, against our own broker in memory and against a server that the test plays."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from broker_bench import Bench
from weft.broker.access.api import Origin
from weft.broker.settings import BrokerSettings, Limits
from weft.core.errors import Misuse, Violation
from weft.mqtt.client.events import (
    ClientSettings,
    Connected,
    Disconnected,
    Event,
    LinkSettings,
    Message,
    Published,
    Refused,
    Subscribed,
    Unsubscribed,
)
from weft.mqtt.client.machine import Client
from weft.mqtt.codec.decode import decode
from weft.mqtt.codec.encode import encode
from weft.mqtt.codec.frames import split
from weft.mqtt.codec.packets import (
    Auth,
    Connack,
    Connect,
    Disconnect,
    Packet,
    Pingreq,
    Pingresp,
    Puback,
    Pubcomp,
    Publish,
    Pubrec,
    Pubrel,
    Request,
    Suback,
    Subscribe,
)
from weft.mqtt.codec.properties import NONE, Properties
from weft.mqtt.codec.reasons import Reason

VERSIONS = pytest.mark.parametrize("version", [3, 4, 5])


class Server:
    """The other end, played by the test: packets in, packets out."""

    def __init__(self, client: Client, now: float = 0.0) -> None:
        self.client = client
        self.now = now
        self.version = client.connect.version
        client.open(now)

    def got(self) -> list[Packet]:
        data, at, found = self.client.take(), 0, []
        while (frame := split(data, at)) is not None:
            first, start, at = frame
            found.append(decode(self.version, first, data[start:at]))
        return found

    def says(self, *packets: Packet) -> list[Event]:
        return list(self.client.receive(self.now, b"".join(encode(self.version, packet) for packet in packets)))

    def welcomes(self, present: bool = False, **properties: object) -> list[Event]:
        self.got()
        return self.says(Connack(present, 0, Properties(**properties) if properties else NONE))


def client(version: int = 5, clean: bool = True, **options: object) -> Client:
    settings = {name: options.pop(name) for name in ("settings", "link_settings", "authenticator") if name in options}
    return Client(Connect(version, "me", clean, **options), **settings)  # type: ignore[arg-type]


# ------------------------------------------------------------------------------------------------ with our own broker


class Wire:
    """A client and the broker's connection; ``budget`` pieces are carried, then the wire is cut."""

    def __init__(self, bench: Bench, client: Client) -> None:
        self.bench, self.client = bench, client
        self.events: list[Event] = []
        self.budget: int | None = None
        self.arrived: list[bytes] = []
        self.connection = None

    def dial(self) -> None:
        self.connection = self.bench.broker.accept(self.bench.now, Origin("test", "tcp", "127.0.0.1", 1, True))
        self.bench.clients[self.connection.number] = self
        self.arrived = []
        self.client.open(self.bench.now)
        self.run()

    def flush(self) -> None:
        if self.connection is not None:
            self.arrived += self.connection.out
            self.connection.out.clear()

    def run(self) -> None:
        while self.connection is not None:
            if data := self.client.take():
                if self._carries():
                    self.connection.receive(self.bench.now, data)
                    self.bench.tick()
            elif self.arrived:
                data = self.arrived.pop(0)
                if self._carries():
                    self.events += self.client.receive(self.bench.now, data)
            else:
                return

    def _carries(self) -> bool:
        if self.budget is not None:
            self.budget -= 1
            if self.budget < 0:
                self.cut()
                return False
        return True

    def cut(self) -> None:
        connection, self.connection = self.connection, None
        if connection is not None:
            connection.lost(self.bench.now, "cut")
            self.bench.tick()
            self.events += self.client.lost("cut")

    def of(self, kind: type) -> list[Event]:
        return [event for event in self.events if isinstance(event, kind)]


@VERSIONS
@pytest.mark.parametrize("qos", [0, 1, 2])
def test_what_is_published_comes_back(version, qos):
    """[MQTT-2.2.1-5], [MQTT-3.3.4-1], [MQTT-3.1.0-1]"""
    wire = Wire(Bench(), client(version))
    wire.dial()
    wire.client.subscribe(wire.bench.now, (Request("a/+", 2),))
    wire.run()
    token = wire.client.publish(wire.bench.now, "a/b", b"x", qos)
    wire.run()
    assert [(m.topic, m.payload, m.qos) for m in wire.of(Message)] == [("a/b", b"x", qos)]
    assert Published(token, 0) in wire.events + wire.client.ready()
    assert wire.client.is_idle


@VERSIONS
@pytest.mark.parametrize("qos", [1, 2])
@pytest.mark.parametrize("cut_after", range(30))
def test_wherever_the_wire_is_cut_nothing_is_lost(version, qos, cut_after):
    """[MQTT-4.4.0-1], [MQTT-4.4.0-1 (3.1.1)]; QoS 2 is exactly once, both ways [MQTT-4.3.3-10], [MQTT-4.3.3-1 (3.1.1)]."""
    bench = Bench()
    expiry = Properties(session_expiry_s=1000) if version == 5 else NONE
    wire = Wire(bench, client(version, clean=False, properties=expiry))
    wire.dial()
    wire.client.subscribe(bench.now, (Request("a", 2),))
    wire.run()
    wire.budget = cut_after
    for number in range(3):
        wire.client.publish(bench.now, "a", b"%d" % number, qos)
    wire.run()
    wire.cut()
    wire.budget = None
    wire.dial()
    assert wire.client.is_idle
    payloads = [message.payload for message in wire.of(Message)]
    assert set(payloads) == {b"0", b"1", b"2"}
    if qos == 2:
        assert payloads == [b"0", b"1", b"2"]
    assert sorted(event.token for event in wire.of(Published)) == [2, 3, 4]


def test_without_a_session_subscriptions_are_renewed_and_messages_go_again():
    """[MQTT-3.2.2-5]: what was remembered of the session is void."""
    bench = Bench()
    wire = Wire(bench, client(4))
    wire.dial()
    wire.client.subscribe(bench.now, (Request("a", 1),))
    wire.run()
    wire.cut()
    wire.client.publish(bench.now, "a", b"while away", 1)
    wire.dial()
    assert [message.payload for message in wire.of(Message)] == [b"while away"]
    assert [event.token for event in wire.of(Subscribed)] == [1, 0]


def test_the_client_id_that_the_server_chose_is_kept():
    """[MQTT-3.1.3-2]"""
    bench = Bench()
    wire = Wire(bench, Client(Connect(5, "")))
    wire.dial()
    chosen = wire.of(Connected)[0].client_id
    wire.cut()
    wire.dial()
    assert wire.of(Connected)[1].client_id == chosen != ""


def test_what_the_server_does_not_take_is_said_and_not_sent():
    """[MQTT-3.2.2-11], [MQTT-3.2.2-14], [MQTT-3.2.2-15]"""
    bench = Bench(BrokerSettings(limits=Limits(qos_max=1, packet_bytes_max=500), retain=False))
    wire = Wire(bench, client())
    wire.dial()
    tokens = [
        wire.client.publish(bench.now, "a", b"x", 2),
        wire.client.publish(bench.now, "a", b"x", 0, True),
        wire.client.publish(bench.now, "a", bytes(1000), 1),
        wire.client.publish(bench.now, "a", b"x", 1),
    ]
    wire.run()
    events = {event.token: event.code for event in wire.of(Published) + wire.client.ready()}
    wanted = [Reason.QOS_NOT_SUPPORTED, Reason.RETAIN_NOT_SUPPORTED, Reason.PACKET_TOO_LARGE]
    assert [events[token] for token in tokens[:3]] == wanted
    assert events[tokens[3]] in {0, 0x10}
    assert wire.connection is not None


# --------------------------------------------------------------------------------------------- with a server to order


def test_no_more_is_under_way_than_the_server_wants():
    """[MQTT-3.3.4-7], [MQTT-4.9.0-1], [MQTT-4.9.0-2]; identifiers [MQTT-2.2.1-3], [MQTT-2.3.1-2 (3.1.1)]."""
    server = Server(client())
    server.welcomes(receive_maximum=2)
    for _ in range(5):
        server.client.publish(0.0, "a", b"", 1)
    sent = server.got()
    assert [packet.packet_id for packet in sent] == [1, 2]
    server.says(Puback(1))
    assert [packet.packet_id for packet in server.got()] == [3]


def test_topics_get_aliases_if_the_server_takes_them():
    """[MQTT-3.3.2-9], [MQTT-3.2.2-17]: none above the server's maximum."""
    server = Server(client())
    server.welcomes(topic_alias_maximum=1)
    for topic in ("a", "a", "b", "b"):
        server.client.publish(0.0, topic, b"")
    sent = [(packet.topic, packet.properties.topic_alias) for packet in server.got()]
    assert sent == [("a", 1), ("", 1), ("b", None), ("b", None)]


def test_a_server_that_allows_no_aliases_gets_none():
    """[MQTT-3.2.2-18]"""
    server = Server(client())
    server.welcomes()
    for _ in range(2):
        server.client.publish(0.0, "a", b"")
    assert [(packet.topic, packet.properties.topic_alias) for packet in server.got()] == [("a", None)] * 2


@VERSIONS
def test_answers_come_in_the_order_of_what_they_answer(version):
    """[MQTT-4.6.0-2], [MQTT-4.6.0-3], [MQTT-4.6.0-4], and all of them [MQTT-4.5.0-2]; [MQTT-4.6.0-2 (3.1.1)],
    [MQTT-4.6.0-3 (3.1.1)], [MQTT-4.6.0-4 (3.1.1)], [MQTT-4.5.0-2 (3.1.1)].
    """
    server = Server(client(version))
    server.welcomes()
    server.says(*[Publish("a", b"", 1 + number % 2, packet_id=number) for number in (9, 4, 7, 2)])
    assert server.got() == [Pubrec(9), Puback(4), Pubrec(7), Puback(2)]
    for _ in range(3):
        server.client.publish(0.0, "a", b"", 2)
    server.got()
    server.says(Pubrec(3), Pubrec(1), Pubrec(2))
    assert server.got() == [Pubrel(3), Pubrel(1), Pubrel(2)]


def test_a_full_window_holds_up_nothing_but_messages():
    """[MQTT-3.3.4-8], [MQTT-4.9.0-3]"""
    server = Server(client())
    server.welcomes(receive_maximum=1)
    server.client.publish(0.0, "a", b"", 1)
    server.client.publish(0.0, "a", b"", 1)
    server.client.subscribe(0.0, (Request("a"),))
    server.says(Publish("a", b"", 1, packet_id=5))
    assert [type(packet) for packet in server.got()] == [Publish, Subscribe, Puback]


@VERSIONS
def test_disconnect_goes_last(version):
    """[MQTT-3.14.4-1], [MQTT-3.14.4-2], [MQTT-3.14.4-1 (3.1.1)], [MQTT-3.14.4-2 (3.1.1)]"""
    server = Server(client(version))
    server.welcomes()
    server.client.disconnect(0.0)
    server.client.publish(0.0, "a", b"", 1)
    server.says(Publish("a", b"", 1, packet_id=5))
    assert server.got() == [Disconnect()]
    assert server.client.closing


def test_the_servers_aliases_are_resolved():
    """[MQTT-3.3.2-10]"""
    server = Server(client())
    server.welcomes()
    events = server.says(
        Publish("a", b"1", properties=Properties(topic_alias=7)),
        Publish("", b"2", properties=Properties(topic_alias=7)),
    )
    assert [(event.topic, event.properties.topic_alias) for event in events] == [("a", None), ("a", None)]


def test_a_deaf_client_leaves_messages_with_the_session():
    server = Server(client())
    server.welcomes()
    taken = []
    data = b"".join(encode(5, Publish("a", b"", 1, packet_id=number)) for number in (1, 2, 3))
    for event in server.client.receive(0.0, data):
        taken.append(event.packet_id)
        server.client.is_deaf = True
    assert taken == [1]
    assert [packet.packet_id for packet in server.got()] == [1]


def test_keep_alive_pings_and_notices_silence():
    """[MQTT-3.1.2-20], [MQTT-3.1.2-23 (3.1.1)]"""
    server = Server(client(keep_alive_s=10))
    server.welcomes()
    assert server.client.deadline == 9.0
    assert list(server.client.timeout(9.0)) == []
    assert server.got() == [Pingreq()]
    server.now = 9.5
    server.says(Pingresp())
    assert server.client.deadline == 18.0
    list(server.client.timeout(18.0))
    assert server.client.deadline == 38.0
    (event,) = server.client.timeout(38.0)
    assert isinstance(event, Disconnected)
    assert server.client.closing


def test_the_servers_keep_alive_is_obeyed():
    """[MQTT-3.2.2-21], [MQTT-3.1.2-21]"""
    server = Server(client(keep_alive_s=60))
    server.welcomes(server_keep_alive_s=5)
    assert server.client.deadline == 4.5


def test_a_server_that_does_not_answer_is_given_up():
    server = Server(client(link_settings=LinkSettings(connect_timeout_s=3)))
    assert server.client.deadline == 3.0
    (event,) = server.client.timeout(3.0)
    assert "no answer to CONNECT" in event.text


@pytest.mark.parametrize(
    ("version", "code", "again"), [(4, 3, True), (4, 5, False), (5, 0x88, True), (5, 0x86, False), (5, 0x84, False)]
)
def test_a_refusal_says_whether_to_try_again(version, code, again):
    server = Server(client(version))
    (event,) = server.says(Connack(False, code))
    assert isinstance(event, Refused)
    assert event.again is again
    assert server.client.closing


def test_a_server_of_version_3_refuses_version_5_in_its_own_way():
    server = Server(client(5))
    (event,) = server.client.receive(0.0, b"\x20\x02\x00\x01")
    assert isinstance(event, Refused)
    assert event.code == 1


def test_a_resumed_session_repeats_what_is_owed_in_order():
    """[MQTT-4.4.0-1], [MQTT-4.6.0-1], [MQTT-3.3.1-1], [MQTT-2.3.1-3 (3.1.1)]: DUP, the same identifiers."""
    server = Server(client(clean=False))
    server.welcomes()
    server.client.publish(0.0, "a", b"1", 1)
    server.client.publish(0.0, "b", b"2", 2)
    server.says(Pubrec(2))
    server.client.lost("cut")
    server.client.open(1.0)
    server.got()
    server.welcomes(present=True)
    server.client.lost("cut")
    server.client.open(2.0)
    server.got()
    server.says(Connack(True, 0))
    assert server.got() == [Publish("a", b"1", 1, dup=True, packet_id=1), Pubrel(2)]


def test_a_message_of_qos_2_is_told_once_however_often_it_comes():
    """[MQTT-4.3.3-10]"""
    server = Server(client())
    server.welcomes()
    message = Publish("a", b"", 2, packet_id=5)
    assert len(server.says(message)) == 1
    assert server.says(Publish("a", b"", 2, dup=True, packet_id=5)) == []
    assert server.got() == [Pubrec(5), Pubrec(5)]
    server.says(Pubrel(5))
    assert server.got() == [Pubcomp(5)]
    assert len(server.says(message)) == 1


@pytest.mark.parametrize(
    ("packets", "reason"),
    [
        ((Pingreq(),), Reason.PROTOCOL_ERROR),
        ((Subscribe(1, (Request("a"),)),), Reason.PROTOCOL_ERROR),
        ((Connack(False, 0),), Reason.PROTOCOL_ERROR),
        ((Suback(9, (0,)),), Reason.PROTOCOL_ERROR),
        ((Auth(0x18, Properties(authentication_method="x")),), Reason.PROTOCOL_ERROR),
        ((Publish("", b"", properties=Properties(topic_alias=3)),), Reason.PROTOCOL_ERROR),
        ((Publish("a", b"", properties=Properties(topic_alias=65)),), Reason.TOPIC_ALIAS_INVALID),
        (tuple(Publish("a", b"", 2, packet_id=n) for n in range(1, 102)), Reason.RECEIVE_MAXIMUM_EXCEEDED),
        ((Publish("a", bytes(2000)),), Reason.PACKET_TOO_LARGE),
    ],
)
def test_a_server_that_breaks_the_standard_is_told_and_left(packets, reason):
    server = Server(client(link_settings=LinkSettings(packet_bytes_max=1500)))
    server.welcomes()
    events = server.says(*packets)
    assert isinstance(events[-1], Disconnected)
    assert events[-1].code == reason
    assert server.got()[-1] == Disconnect(reason)
    assert server.client.closing


def test_a_session_out_of_nowhere_is_not_accepted():
    """[MQTT-3.2.2-4]: session present after a clean start."""
    server = Server(client())
    events = server.welcomes(present=True)
    assert isinstance(events[-1], Disconnected)


def test_suback_must_answer_each_filter():
    """[MQTT-3.8.4-6]"""
    server = Server(client())
    server.welcomes()
    server.client.subscribe(0.0, (Request("a"), Request("b")))
    (asked,) = server.got()
    assert isinstance(server.says(Suback(asked.packet_id, (0,)))[-1], Disconnected)


def test_unsubscribing_forgets():
    bench = Bench()
    wire = Wire(bench, client())
    wire.dial()
    wire.client.subscribe(bench.now, (Request("a"),))
    wire.run()
    wire.client.unsubscribe(bench.now, ("a", "b"))
    wire.run()
    assert wire.of(Unsubscribed)[0].codes == (0, Reason.NO_SUBSCRIPTION_EXISTED)
    assert wire.client.subscriptions == {}


def test_a_disconnect_of_the_server_says_why():
    server = Server(client())
    server.welcomes()
    (event,) = server.says(Disconnect(Reason.SESSION_TAKEN_OVER))
    assert event == Disconnected(Reason.SESSION_TAKEN_OVER, "session taken over", by_server=True, again=False)
    assert server.client.lost("gone") == []


@pytest.mark.parametrize(
    "wrong",
    [
        lambda c: c.publish(0.0, "a/#", b""),
        lambda c: c.publish(0.0, "", b""),
        lambda c: c.subscribe(0.0, (Request("a#"),)),
        lambda c: [c.publish(0.0, "a", b"") for _ in range(3)],
    ],
)
def test_misuse_is_raised_at_once(wrong):
    with pytest.raises(Misuse):
        wrong(client(settings=ClientSettings(queue_max=2)))


class Password:
    """A made-up method: the server asks, we answer; at the end it must say the word."""

    method = "WORD"

    def first(self) -> bytes:
        return b"hello"

    def answer(self, data: bytes) -> bytes:
        if data != b"who?":
            raise Violation("an unknown question")
        return b"me"

    def finish(self, data: bytes) -> None:
        if data != b"word":
            raise Violation("it does not know the word")


@pytest.mark.parametrize(
    ("question", "word", "good"), [(b"who?", b"word", True), (b"who?", b"x", False), (b"?", b"", False)]
)
def test_enhanced_authentication_goes_both_ways(question, word, good):
    """[MQTT-4.12.0-3]"""
    server = Server(client(authenticator=Password))
    connect = server.got()[0]
    assert (connect.properties.authentication_method, connect.properties.authentication_data) == ("WORD", b"hello")
    events = server.says(Auth(0x18, Properties(authentication_method="WORD", authentication_data=question)))
    if question == b"who?":
        (answer,) = server.got()
        assert answer.properties.authentication_data == b"me"
        events = server.says(Connack(False, 0, Properties(authentication_method="WORD", authentication_data=word)))
    assert isinstance(events[-1], Connected) is good


@given(st.sampled_from([3, 4, 5]), st.lists(st.binary(max_size=40), max_size=5), st.booleans())
def test_nothing_that_a_server_sends_raises(version, pieces, welcomed):
    server = Server(client(version))
    if welcomed:
        server.welcomes()
    for piece in pieces:
        list(server.client.receive(0.0, piece))
    server.client.publish(0.0, "a", b"")
    assert len(server.client.link._buffer) <= sum(map(len, pieces))
