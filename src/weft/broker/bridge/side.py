"""One side of a relay: a link, the identifiers under way on it, and what must wait for one of them."""

from collections import deque

from weft.mqtt.client.link import Link
from weft.mqtt.codec.packets import Packet, Publish, Subscribe, Unsubscribe

WAITING_MAX = 65_535
"""QoS 1 and 2 messages that wait for an identifier or for the other side's receive maximum: there are no more identifiers."""


class Side:
    """``flight``: messages sent here and not acknowledged, by identifier, with the QoS that the sender waits for.

    Identifiers come from the other side and stay what they are there. Packets of our own (subscriptions, probes) take one
    from the top that is free; should a message with the same one come, it waits.
    """

    def __init__(self, link: Link, window_max: int) -> None:
        self.link = link
        self.window_max = window_max
        self.flight: dict[int, Publish] = {}
        self.own: dict[int, Packet] = {}
        self.waiting: deque[Publish] = deque()

    @property
    def window(self) -> int:
        return min(self.window_max, self.link.limits.receive_maximum)

    def may(self, publish: Publish) -> bool:
        """Whether it may be sent now ([MQTT-3.3.4-7]; [MQTT-2.2.1-3])."""
        if not publish.qos or publish.packet_id in self.flight:
            return True
        return publish.packet_id not in self.own and len(self.flight) + self.probes < self.window

    @property
    def probes(self) -> int:
        return sum(isinstance(packet, Publish) for packet in self.own.values())

    @property
    def is_asking(self) -> bool:
        """A SUBSCRIBE or UNSUBSCRIBE has no answer yet."""
        return any(isinstance(packet, Subscribe | Unsubscribe) for packet in self.own.values())

    def free_id(self) -> int:
        return next(number for number in range(65_535, 0, -1) if number not in self.flight and number not in self.own)
