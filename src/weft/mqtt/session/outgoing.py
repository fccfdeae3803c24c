"""The QoS machine towards a client: who may be sent, under which identifier, and what an acknowledgement means (§4.3, §4.9).

Invariants: an identifier names at most one delivery; at most ``window`` messages are sent and unacknowledged on one connection;
the queue is empty unless the window is full or nobody is connected; deliveries start in the order in which they came (§4.6).
"""

from collections import deque

from weft.mqtt.session.delivery import FLEETING_2, FLEETING_RELEASED, Delivery

IDS = 65_536


class Outgoing:
    """In: deliveries, acknowledgements. Out: deliveries that may be sent now, those that are over."""

    __slots__ = ("inflight", "last_id", "position", "queue", "queue_bytes", "unsent", "window")

    def __init__(self, window: int) -> None:
        self.window = window
        self.inflight: dict[int, Delivery] = {}
        """By packet identifier, in the order in which they were sent first: the order of resending [MQTT-4.6.0-1 (3.1.1)]."""
        self.unsent: dict[int, Delivery] = {}
        """Those of ``inflight`` that wait to be sent again: the client came back with a smaller window [MQTT-3.3.4-9]."""
        self.queue: deque[Delivery] = deque()
        self.queue_bytes = 0
        self.last_id = 0
        self.position = 0

    @property
    def has_room(self) -> bool:
        """May a new delivery be sent at once? Not if others wait: they go first."""
        return not self.queue and len(self.inflight) < self.window

    def next_unsent(self) -> Delivery | None:
        """The next that may be sent again."""
        if not self.unsent or len(self.inflight) - len(self.unsent) >= self.window:
            return None
        return self.unsent.pop(next(iter(self.unsent)))

    def next_id(self) -> int:
        """A free identifier, not 0 [MQTT-2.2.1-4], round robin so that a late acknowledgement meets nobody new."""
        inflight, candidate = self.inflight, self.last_id
        while True:
            candidate += 1
            if candidate == IDS:
                candidate = 1
            if candidate not in inflight:
                self.last_id = candidate
                return candidate

    def start(self, delivery: Delivery) -> int:
        """``delivery`` is about to be sent: its identifier, unused until it is over [MQTT-2.2.1-4]."""
        packet_id = delivery.packet_id = self.next_id()
        self.inflight[packet_id] = delivery
        return packet_id

    def enqueue(self, delivery: Delivery) -> None:
        self.queue.append(delivery)
        if delivery.publication is not None:
            self.queue_bytes += len(delivery.publication.payload)

    def dequeue(self, newest: bool = False) -> Delivery:
        """The next to be sent; or the newest, to be dropped."""
        delivery = self.queue.pop() if newest else self.queue.popleft()
        if delivery.publication is not None:
            self.queue_bytes -= len(delivery.publication.payload)
        return delivery

    def on_puback(self, packet_id: int) -> Delivery | None:
        """QoS 1 is over; None if the identifier names no QoS 1 delivery."""
        delivery = self.inflight.get(packet_id)
        if delivery is None or delivery.qos != 1:
            return None
        del self.inflight[packet_id]
        self.unsent.pop(packet_id, None)
        return delivery

    def on_pubrec(self, packet_id: int, is_error: bool) -> Delivery | None:
        """The client has the QoS 2 message, or (v5) refuses it, and then it is over. None: no such delivery.

        The message is never sent again after this [MQTT-4.3.3-6]; the caller still needs ``publication`` to let go of it.
        """
        delivery = self.inflight.get(packet_id)
        if delivery is None or delivery.qos != 2:
            return None
        self.unsent.pop(packet_id, None)
        if is_error:
            del self.inflight[packet_id]
        elif delivery is FLEETING_2:
            self.inflight[packet_id] = FLEETING_RELEASED
        else:
            delivery.released = True
        return delivery

    def on_pubcomp(self, packet_id: int) -> Delivery | None:
        """QoS 2 is over; None if nothing was released under this identifier."""
        delivery = self.inflight.get(packet_id)
        if delivery is None or not delivery.released:
            return None
        del self.inflight[packet_id]
        return delivery

    def unacknowledged(self) -> list[Delivery]:
        """What is sent again when the client comes back, in this order [MQTT-4.4.0-1]."""
        return list(self.inflight.values())
