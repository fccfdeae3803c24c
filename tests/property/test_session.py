"""The QoS machine towards a client against the simplest model: a list of messages, each with the state it is in."""

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from weft.mqtt.publication import Publication
from weft.mqtt.session.delivery import Delivery
from weft.mqtt.session.outgoing import Outgoing

WINDOW = 3
WAITING, SENT, RELEASED = "waiting", "sent", "released"


class OutgoingAgainstModel(RuleBasedStateMachine):
    """The model: what is not over, in the order in which it came, as [number, qos, state, identifier]."""

    def __init__(self) -> None:
        super().__init__()
        self.outgoing = Outgoing(WINDOW)
        self.outgoing.last_id = 65_530
        self.model: list[list] = []
        self.numbers = 0

    def under_way(self) -> list[list]:
        return [entry for entry in self.model if entry[2] != WAITING]

    def entry(self, packet_id: int) -> list | None:
        return next((entry for entry in self.under_way() if entry[3] == packet_id), None)

    @rule(qos=st.integers(1, 2))
    def offer(self, qos):
        self.numbers += 1
        delivery = Delivery(Publication("t", b"%d" % self.numbers), qos)
        there_is_room = len(self.under_way()) < WINDOW and all(entry[2] != WAITING for entry in self.model)
        assert self.outgoing.has_room == there_is_room
        if there_is_room:
            self.model.append([self.numbers, qos, SENT, self.outgoing.start(delivery)])
        else:
            self.outgoing.enqueue(delivery)
            self.model.append([self.numbers, qos, WAITING, 0])

    @precondition(lambda self: self.outgoing.queue and len(self.outgoing.inflight) < WINDOW)
    @rule()
    def pump(self):
        delivery = self.outgoing.dequeue()
        first = next(entry for entry in self.model if entry[2] == WAITING)
        assert delivery.publication is not None
        assert delivery.publication.payload == b"%d" % first[0]
        first[2], first[3] = SENT, self.outgoing.start(delivery)

    @precondition(lambda self: self.outgoing.queue)
    @rule(newest=st.booleans())
    def drop(self, newest):
        self.outgoing.dequeue(newest)
        waiting = [entry for entry in self.model if entry[2] == WAITING]
        self.model.remove(waiting[-1 if newest else 0])

    @rule(packet_id=st.one_of(st.integers(65_529, 65_535), st.integers(0, 12)))
    def puback(self, packet_id):
        entry = self.entry(packet_id)
        right = entry is not None and entry[1] == 1
        assert (self.outgoing.on_puback(packet_id) is not None) == right
        if right:
            self.model.remove(entry)

    @rule(packet_id=st.one_of(st.integers(65_529, 65_535), st.integers(0, 12)), is_error=st.booleans())
    def pubrec(self, packet_id, is_error):
        entry = self.entry(packet_id)
        right = entry is not None and entry[1] == 2
        assert (self.outgoing.on_pubrec(packet_id, is_error) is not None) == right
        if right and is_error:
            self.model.remove(entry)
        elif right:
            entry[2] = RELEASED

    @rule(packet_id=st.one_of(st.integers(65_529, 65_535), st.integers(0, 12)))
    def pubcomp(self, packet_id):
        entry = self.entry(packet_id)
        right = entry is not None and entry[2] == RELEASED
        assert (self.outgoing.on_pubcomp(packet_id) is not None) == right
        if right:
            self.model.remove(entry)

    @invariant()
    def same(self):
        inflight = self.outgoing.inflight
        assert list(inflight) == [entry[3] for entry in sorted(self.under_way(), key=lambda entry: entry[0])]
        assert 0 not in inflight
        assert all(inflight[packet_id].packet_id == packet_id for packet_id in inflight)
        assert [inflight[entry[3]].released for entry in self.under_way()] == [
            entry[2] == RELEASED for entry in self.under_way()
        ]
        assert len(self.outgoing.queue) == sum(entry[2] == WAITING for entry in self.model)
        assert self.outgoing.queue_bytes == sum(len(str(entry[0])) for entry in self.model if entry[2] == WAITING)
        assert [delivery.position for delivery in self.outgoing.unacknowledged()] == [0] * len(inflight)


TestOutgoing = OutgoingAgainstModel.TestCase
