"""Whatever a broker has acknowledged arrives, and QoS 2 arrives once, however often connections break and the broker crashes.

The subscriber here is a client as the standard wants it: it remembers QoS 2 identifiers across connections, nothing of QoS 1.
"""

from hypothesis import given, settings
from hypothesis import strategies as st

from broker_bench import Bench, Client
from kept import Model
from weft.broker.settings import BrokerSettings, Limits
from weft.mqtt.codec.packets import Packet, Puback, Pubcomp, Publish, Pubrec, Pubrel

LIMITS = Limits(inflight_max=3)

steps = st.lists(
    st.one_of(
        st.tuples(st.just("publish"), st.integers(1, 2)),
        st.tuples(st.just("answer"), st.integers(0, 3)),
        st.tuples(st.just("lose the subscriber"), st.just(0)),
        st.tuples(st.just("lose the publisher"), st.just(0)),
        st.tuples(st.just("crash"), st.just(0)),
    ),
    max_size=40,
)


class Exchange:
    """A publisher, a broker that may crash, a subscriber; ``answered`` and ``taken`` are what each may rely on."""

    def __init__(self) -> None:
        self.bench = Bench(BrokerSettings(LIMITS), keeps=True, holds=True)
        self.numbers = 0
        self.unanswered: dict[int, Publish] = {}
        self.rejoin()
        self.subscriber.subscribe("t", qos=2)
        self.answered: list[Publish] = []
        self.taken: list[bytes] = []
        self.open: dict[int, Publish] = {}
        """By identifier, what the subscriber has not finished; QoS 2 after its PUBREC is no longer here."""

    def back(self, name: str) -> Client:
        return self.bench.client(name, 5, clean=False, session_expiry_s=1_000)

    def rejoin(self) -> None:
        self.publisher = self.back("p")
        self.subscriber = self.back("s")

    def publish(self, qos: int) -> None:
        self.numbers += 1
        packet = Publish("t", b"%d" % self.numbers, qos, packet_id=self.numbers)
        self.unanswered[packet.packet_id] = packet
        self.publisher.send(packet)
        self.hear_answers()

    def hear_answers(self) -> None:
        for reply in self.publisher.take():
            if isinstance(reply, Puback | Pubrec) and reply.packet_id in self.unanswered:
                self.answered.append(self.unanswered.pop(reply.packet_id))
                if isinstance(reply, Pubrec):
                    self.publisher.send(Pubrel(reply.packet_id))

    def hear(self) -> None:
        for packet in self.subscriber.take():
            self.hear_one(packet)

    def hear_one(self, packet: Packet) -> None:
        if isinstance(packet, Publish):
            if packet.qos == 1 or packet.packet_id not in self.open:
                self.taken.append(packet.payload)
            self.open[packet.packet_id] = packet
        elif isinstance(packet, Pubrel):
            self.open.pop(packet.packet_id, None)
            self.subscriber.send(Pubcomp(packet.packet_id))

    def answer(self, count: int) -> None:
        self.hear()
        for packet_id, packet in list(self.open.items())[:count]:
            if packet.qos == 2:
                self.subscriber.send(Pubrec(packet_id))
            else:
                del self.open[packet_id]
                self.subscriber.send(Puback(packet_id))
        self.hear()

    def forget_qos_1(self) -> None:
        self.open = {packet_id: packet for packet_id, packet in self.open.items() if packet.qos == 2}

    def model(self) -> Model:
        model = Model()
        for record in self.bench.records:
            model.apply(record)
        return model

    def play(self, what: str, value: int) -> None:
        if what == "publish":
            self.publish(value)
        elif what == "answer":
            self.answer(value)
        elif what == "lose the publisher":
            self.publisher.vanish()
            self.publisher = self.back("p")
        else:
            self.hear()
            self.forget_qos_1()
            if what == "crash":
                records, now = self.bench.records, self.bench.now
                kept = self.model().kept()
                self.bench = Bench(BrokerSettings(LIMITS), keeps=True, holds=True)
                self.bench.now, self.bench.records = now, records
                self.bench.broker.restore(now, kept)
                self.rejoin()
            else:
                self.subscriber.vanish()
                self.subscriber = self.back("s")

    def finish(self) -> None:
        for _ in range(self.numbers + 3):
            self.answer(10)


@settings(max_examples=300)
@given(steps=steps)
def test_whatever_is_acknowledged_arrives_and_qos_2_arrives_once(steps):
    exchange = Exchange()
    for what, value in steps:
        exchange.play(what, value)
    exchange.finish()
    assert set(exchange.taken) >= {packet.payload for packet in exchange.answered}
    exactly_once = [packet.payload for packet in exchange.answered if packet.qos == 2]
    assert [exchange.taken.count(payload) for payload in exactly_once] == [1] * len(exactly_once)
    session = exchange.bench.broker.sessions.by_client["s"]
    assert not session.outgoing.inflight
    assert not session.outgoing.queue
    assert exchange.model().messages == {}
    assert exchange.model().queue == {}
