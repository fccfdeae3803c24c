"""Messages to the server: a bounded queue, a window, and the steps of QoS 1 and 2 (§4.3), over all connections of a client.

    QoS 1   SENT ── PUBACK ──▶ done
    QoS 2   SENT ── PUBREC ──▶ RELEASED ── PUBCOMP ──▶ done

A packet identifier belongs to a message from its first PUBLISH to its last acknowledgement ([MQTT-2.2.1-3]). The window is the
lesser of our own bound and the server's receive maximum ([MQTT-3.3.4-7]).
"""

from collections import deque
from collections.abc import Container, Iterator
from enum import Enum

from weft.mqtt.codec.packets import Puback, Pubcomp, Publish, Pubrec, Pubrel
from weft.mqtt.codec.reasons import ProtocolError, Reason


class Step(Enum):
    SENT = "sent"
    RELEASED = "released"


class Entry:
    """One message under way at QoS 1 or 2. After PUBREC the message itself is not needed any more."""

    __slots__ = ("publish", "step", "token")

    def __init__(self, token: int, publish: Publish) -> None:
        self.token = token
        self.publish = publish
        self.step = Step.SENT


class Outgoing:
    """``waiting``: not sent yet, in order. ``flight``: by packet identifier, in the order of their first sending."""

    def __init__(self, inflight_max: int, queue_max: int) -> None:
        self.inflight_max = inflight_max
        self.queue_max = queue_max
        self.waiting: deque[tuple[int, Publish]] = deque()
        self.flight: dict[int, Entry] = {}
        self.window = inflight_max
        self._last_id = 0

    def __len__(self) -> int:
        return len(self.waiting) + len(self.flight)

    @property
    def room(self) -> int:
        return max(0, self.queue_max - len(self.waiting))

    def free_id(self, taken: Container[int]) -> int:
        """An identifier that nothing under way uses ([MQTT-2.2.1-3]); ``taken`` are those of subscribes."""
        while True:
            self._last_id = self._last_id % 65_535 + 1
            if self._last_id not in self.flight and self._last_id not in taken:
                return self._last_id

    def next(self) -> tuple[int, Publish] | None:
        """The message whose turn it is, taken from the queue, if the window has room for it. Order is kept (§4.6)."""
        if not self.waiting or (self.waiting[0][1].qos and len(self.flight) >= self.window):
            return None
        return self.waiting.popleft()

    def put(self, token: int, publish: Publish) -> None:
        """It has been sent for the first time."""
        self.flight[publish.packet_id] = Entry(token, publish)

    def on_puback(self, packet: Puback) -> int | None:
        """The token that is done."""
        entry = self._entry(packet.packet_id, 1)
        if entry is None:
            return None
        del self.flight[packet.packet_id]
        return entry.token

    def on_pubrec(self, packet: Pubrec) -> tuple[int | None, Pubrel | None]:
        """The token, if it is done (refused), or else PUBREL, which is owed even for an identifier that we do not know."""
        entry = self._entry(packet.packet_id, 2)
        if packet.code >= 0x80:
            if entry is None:
                return None, None
            del self.flight[packet.packet_id]
            return entry.token, None
        if entry is None:
            return None, Pubrel(packet.packet_id, Reason.PACKET_IDENTIFIER_NOT_FOUND)
        entry.step = Step.RELEASED
        entry.publish = Publish("", b"", 2, packet_id=packet.packet_id)
        return None, Pubrel(packet.packet_id)  # [MQTT-4.3.3-4]

    def on_pubcomp(self, packet: Pubcomp) -> int | None:
        entry = self._entry(packet.packet_id, 2)
        if entry is None:
            return None
        if entry.step is not Step.RELEASED:
            raise ProtocolError("PUBCOMP before PUBREC")
        del self.flight[packet.packet_id]
        return entry.token

    def resume(self) -> Iterator[Publish | Pubrel]:
        """The session is there: what is unacknowledged goes again, in order, identifiers unchanged ([MQTT-4.4.0-1])."""
        for packet_id, entry in self.flight.items():
            yield Pubrel(packet_id) if entry.step is Step.RELEASED else again(entry.publish)

    def restart(self) -> list[int]:
        """The session is gone: what was not taken over by the server is a new message now. Answers the tokens that are done."""
        done = [entry.token for entry in self.flight.values() if entry.step is Step.RELEASED]
        fresh = [(entry.token, entry.publish) for entry in self.flight.values() if entry.step is Step.SENT]
        self.flight.clear()
        self.waiting.extendleft(reversed(fresh))
        return done

    def _entry(self, packet_id: int, qos: int) -> Entry | None:
        entry = self.flight.get(packet_id)
        if entry is not None and entry.publish.qos != qos:
            raise ProtocolError(f"an acknowledgement of the wrong kind for a message of QoS {entry.publish.qos}")
        return entry


def again(publish: Publish) -> Publish:
    """The same with DUP ([MQTT-3.3.1-1])."""
    return Publish(
        publish.topic, publish.payload, publish.qos, publish.retain, True, publish.packet_id, publish.properties
    )
