"""One client's network connection: bytes in, bytes out, and the order of packets that the standard allows.

This is the front door: it finds packets in what arrives, refuses what is too large, not allowed now, or malformed, and hands
the rest to those who know what it means: ``greeting`` (CONNECT, AUTH), ``inbound`` (PUBLISH, acknowledgements),
``subscribing``. ``hotpath`` is the quick way through the same door. Nothing that a client sends is raised out of ``receive``.

        first packet       verdict
AWAITING ────────▶ ADMITTING ─────▶ CONNECTED ──▶ CLOSED
    └──────────────────┴── Refused, lost ───────────┘

Invariants: ``out`` holds whole packets, and the connection stands in ``broker.dirty`` whenever it becomes non-empty; once
CLOSED nothing more is said, and the session, if there was one, has been told.
"""

from collections import deque
from enum import Enum
from typing import Any, Protocol

import msgspec

from weft.broker.access.api import Conversation, Granted, Origin, Subject
from weft.broker.bounds import LimitHit
from weft.broker.hub import Hub
from weft.broker.quota import Quota
from weft.broker.routes import Route
from weft.mqtt.codec.decode import decode
from weft.mqtt.codec.encode import encode
from weft.mqtt.codec.frames import FLAWS, bounds, count, split
from weft.mqtt.codec.kinds import Kind
from weft.mqtt.codec.opening import announced
from weft.mqtt.codec.packets import Connack, Disconnect, Pingreq, Will
from weft.mqtt.codec.properties import NONE, Properties
from weft.mqtt.codec.reasons import Malformed, ProtocolError, Reason, Refused
from weft.mqtt.codec.returns import connack_code, disconnect_code
from weft.mqtt.session.session import Session
from weft.telemetry.counters import hit

PUBLISH_QOS_MASK = 0xF6
"""Of a first byte: kind and QoS, without DUP and RETAIN."""
PUBLISH_QOS_0 = 0x30
PARKED_BYTES_MAX = 1_048_576
"""What may come while a verdict is awaited: reading pauses, but what was read by then is there."""
PINGRESP = b"\xd0\x00"
PUBACK = 0x40

# Why reading is paused; several reasons may hold at once.
ADMITTING, QUOTA, HELD, PRESSURE = 1, 2, 4, 8


class ConnectDue(msgspec.Struct, frozen=True, gc=False):
    """Timer: by now the client must have been let in."""

    number: int


class QuotaDue(msgspec.Struct, frozen=True, gc=False):
    """Timer: a client that was too fast is read from again."""

    number: int


class Advancing(Protocol):
    """What goes out in slices; ``replay`` has it."""

    def advance(self, now: float) -> bool:
        """The next slice; False if it was the last."""


class State(Enum):
    AWAITING = "awaiting CONNECT"
    ADMITTING = "waiting for a verdict"
    CONNECTED = "connected"
    CLOSED = "closed"


class Connection:
    """See the module. In: ``receive``, ``lost``, ``verdict``, ``trim``. Out: ``out``, ``closing``, ``reading``."""

    __slots__ = (
        "_have", "_need", "_parts", "_pauses", "aliases", "broker", "client_id", "closing", "conversation", "generation",
        "granted", "heard_at", "held", "held_pubacks", "is_bridge", "is_plain", "keep_alive_s", "method", "number", "origin",
        "out", "packet_bytes_max", "pending", "problem_information", "quota", "replays", "rights", "routes", "session", "state",
        "subject", "version", "will",
    )  # fmt: skip

    def __init__(self, broker: Hub, number: int, origin: Origin, now: float) -> None:
        self.broker = broker
        self.number = number
        self.origin = origin
        self.state = State.AWAITING
        self.version = 0
        self.client_id = ""
        self.session: Session | None = None
        self.granted: Granted | None = None
        self.subject: Subject | None = None
        self.will: Will | None = None
        self.keep_alive_s = 0
        self.heard_at = now
        self.packet_bytes_max = 0
        self.problem_information = True
        self.is_plain = False
        self.is_bridge = False
        """A bridge of MQTT 3.1.1 that says so, as mosquitto's do: No Local and Retain As Published hold for it."""
        self.out: list[bytes] = []
        self.closing = False
        self.pending: Any = None
        """The CONNECT, or the AUTH, that waits for a verdict."""
        self.method: str | None = None
        self.conversation: Conversation | None = None
        self.aliases: dict[int, str] | None = None
        self.held: deque[tuple[int, bytes]] | None = None
        """Packets that wait for records to be durable, with the batch that they wait for."""
        self.held_pubacks = 0
        """How many of them are the end of a QoS 1 message that its client still counts (§4.9)."""
        self.replays: deque[Advancing] | None = None
        """Retained messages that are still to be sent, see ``replay``."""
        self.quota: Quota | None = None
        self.routes: dict[bytes, Route] = {}
        """What ``hotpath`` knows of the topics that this client publishes to."""
        self.generation = -1
        self.rights = -1
        """The generation of routes, and the version of the access rules, that ``routes`` is of."""
        self._pauses = 0
        self._parts: list[bytes] = []
        self._have = self._need = 0

    # ------------------------------------------------------------------------------------------------- what arrives

    def receive(self, now: float, data: bytes) -> None:
        """Bytes from the client."""
        if self.is_closed:
            return
        counters = self.broker.counters
        counters["weft_bytes_received_total"] += len(data)
        self.heard_at = now
        if self._parts:
            self._parts.append(data)
            self._have += len(data)
            if self._have < self._need or self.is_waiting:
                self._check_parked(now)
                return
            data = b"".join(self._parts)
            self._parts.clear()
        elif self.is_waiting:
            self._park(data, 0, 0)
            self._check_parked(now)
            return
        try:
            quota, before = self.quota, counters["weft_messages_received_total"]
            at = self.broker.hot(self, now, data) if self.is_plain else self._walk(now, data)
            if quota is not None:
                self._charge(now, quota, counters["weft_messages_received_total"] - before, len(data))
            if at < len(data) and not self.closing:
                self._park(data, at, self._needed(data, at))
        except Refused as refused:
            self.refuse(now, refused)

    def _walk(self, now: float, data: bytes) -> int:
        """Packet by packet; the answer is where the first incomplete one begins."""
        at = 0
        while (after := self.one(now, data, at)) >= 0:
            at = after
            if self.is_closed or self.is_waiting:
                break
        return at

    def one(self, now: float, data: bytes, at: int) -> int:
        """The packet at ``at``; the answer is where it ends, or -1 if it is not whole."""
        frame = split(data, at)
        if frame is None:
            return -1
        first, start, end = frame
        self._check_size(end - at)
        self.packet(now, first, data[start:end])
        return end

    def packet(self, now: float, first: int, body: bytes) -> None:
        """One packet, the slow way."""
        self.broker.counters["weft_packets_received_total"] += 1
        kind = first >> 4
        if self.state is State.AWAITING:
            if kind != Kind.CONNECT:  # [MQTT-3.1.0-1], [MQTT-3.1.0-1 (3.1.1)]
                raise ProtocolError("the first packet is not a CONNECT")
            self.version = announced(body)  # also for the answer to a CONNECT that cannot be read
            message = decode(0, first, body)
        elif kind == Kind.CONNECT:  # [MQTT-3.1.0-2], [MQTT-3.1.0-2 (3.1.1)]
            raise ProtocolError("a second CONNECT")
        elif self.state is State.ADMITTING and kind not in (Kind.AUTH, Kind.DISCONNECT):  # [MQTT-3.1.2-30]
            raise ProtocolError("only AUTH or DISCONNECT may come before the CONNACK")
        else:
            message = decode(self.version, first, body)
        handler = self.broker.handlers.get(type(message))
        if handler is None:
            raise ProtocolError(f"{type(message).__name__.upper()} is not for clients to send")
        handler(self, now, message)

    def _needed(self, data: bytes, at: int) -> int:
        """How long the packet that begins at ``at`` is, as far as can be told: at least one byte more than there is."""
        have, first = len(data) - at, data[at]
        if self.state is State.AWAITING and first >> 4 != Kind.CONNECT:  # no need to wait for the rest
            raise ProtocolError("the first packet is not a CONNECT")
        if FLAWS[self.version][first]:
            raise Malformed(FLAWS[self.version][first])
        found = bounds(data, at)
        if found is None:
            return have + 1
        size = found[2] - at
        self._check_size(size)
        return max(size, have + 1)

    def _check_size(self, size: int) -> None:
        limits = self.broker.limits
        name = "packet_bytes_unauthenticated_max" if self.session is None else "packet_bytes_max"
        bound: int = getattr(limits, name)
        if size > bound:  # [MQTT-3.2.2-15]
            raise LimitHit(Reason.PACKET_TOO_LARGE, name, f"a packet of {size} bytes; at most {bound} are taken")

    def _park(self, data: bytes, at: int, need: int) -> None:
        self._parts.append(data[at:] if at else data)
        self._have = len(data) - at
        self._need = need

    @property
    def is_closed(self) -> bool:
        return self.state is State.CLOSED

    @property
    def is_waiting(self) -> bool:
        """Is a verdict awaited? What arrives meanwhile is kept for later."""
        return bool(self._pauses & ADMITTING)

    def _check_parked(self, now: float) -> None:
        """While a verdict is awaited, a client may send on (§3.1.4), but not without bound."""
        if self.is_waiting and self._have > PARKED_BYTES_MAX:
            self.refuse(now, Refused(Reason.QUOTA_EXCEEDED, "too much before the verdict on its credentials"))

    def _charge(self, now: float, quota: Quota, messages: int, size: int) -> None:
        """Too fast: nothing is lost, reading pauses."""
        pause_s = quota.take(now, messages, size)
        if pause_s > 0:
            self.pause(QUOTA)
            self.broker.timers.set(QuotaDue(self.number), now + pause_s)

    def resume(self, now: float) -> None:
        """The verdict is in: what waited is handled."""
        if self._parts and not self.closing and not self.is_waiting:
            data = b"".join(self._parts)
            self._parts.clear()
            self.receive(now, data)

    def verdict(self, now: float, result: Any) -> None:
        """A ``Work`` is done; of whoever has hung up meanwhile it only counts, or guessing passwords would cost nothing."""
        try:
            self.broker.verdict(self, now, result)
        except Refused as refused:
            self.refuse(now, refused)

    # ---------------------------------------------------------------------------------------------- what is sent

    def send(self, packet: bytes) -> None:
        """One whole packet, after those sent before it."""
        if not self.out:
            self.broker.dirty.append(self)
        self.out.append(packet)

    def hold(self, packet: bytes) -> None:
        """The same, once all records so far are durable."""
        batch = self.broker.journal.wait(self)
        if not batch and not self.held:
            self.send(packet)
            return
        if self.held is None:
            self.held = deque()
        self.held.append((batch, packet))
        self.held_pubacks += packet[0] == PUBACK
        if len(self.held) > self.broker.limits.receive_maximum:
            self.pause(HELD)

    def acknowledge(self, packet: bytes, is_recorded: bool) -> None:
        """In the order of what is acknowledged (§4.6), and not before it is durable."""
        if is_recorded or self.held:
            self.hold(packet)
        else:
            self.send(packet)

    def release(self, now: float, batch: int) -> None:
        """Records up to ``batch`` are durable."""
        held = self.held
        if held is None or self.state is State.CLOSED:
            return
        while held and held[0][0] <= batch:
            packet = held.popleft()[1]
            self.held_pubacks -= packet[0] == PUBACK
            self.send(packet)
        if self._pauses & HELD and len(held) <= self.broker.limits.receive_maximum // 2:
            self.unpause(HELD)

    def replay(self, replay: Advancing) -> None:
        """More than one slice is retained: the rest follows as the client takes it."""
        if self.replays is None:
            self.replays = deque()
        self.replays.append(replay)
        self.broker.dirty.append(self)

    def refill(self, now: float) -> None:
        """All output is written, and the socket takes more: the next slice of what is being replayed."""
        if self.replays and not self.replays[0].advance(now):
            self.replays.popleft()
            self.broker.dirty.append(self)  # the next one's turn
        if not self.replays:
            self.replays = None

    @property
    def reading(self) -> bool:
        return not self._pauses

    def pause(self, why: int) -> None:
        """Stop reading, for one more reason."""
        if not self._pauses:
            self.broker.counters["weft_reading_paused_total"] += 1
            self.broker.dirty.append(self)
        self._pauses |= why

    def unpause(self, why: int) -> None:
        if self._pauses & why:
            self._pauses &= ~why
            if not self._pauses:
                self.broker.dirty.append(self)

    def trim(self, now: float, bytes_max: int) -> None:
        """The client does not read: bring ``out`` under ``bytes_max``, oldest QoS 0 messages first, or end it."""
        excess = sum(map(len, self.out)) - bytes_max
        if excess <= 0 or self.state is State.CLOSED:
            return
        if self.broker.settings.slow_consumer == "drop":
            kept, dropped = [], 0
            for chunk in self.out:
                if excess > 0 and chunk[0] & PUBLISH_QOS_MASK == PUBLISH_QOS_0:
                    excess -= len(chunk)
                    dropped += count(chunk)
                else:
                    kept.append(chunk)
            self.out[:] = kept
            self.broker.counters["weft_messages_dropped_slow_total"] += dropped
            self.broker.notices.say_seldom(now, "warning", "slow consumer", self.client_id, client=self.client_id)
        if excess > 0:
            self.broker.counters["weft_slow_consumers_total"] += 1
            self.out.clear()  # not even a DISCONNECT would get through
            self.close(now)

    # ---------------------------------------------------------------------------------------------------- the end

    def lost(self, now: float, why: str) -> None:
        """The socket is gone."""
        self.close(now)

    def refuse(self, now: float, refused: Refused) -> None:
        """The client broke the standard, or a limit: say so as its version allows, and close [MQTT-4.13.1-1]."""
        counters = self.broker.counters
        if isinstance(refused, Malformed):
            counters["weft_malformed_total"] += 1
        elif isinstance(refused, ProtocolError):
            counters["weft_protocol_errors_total"] += 1
        elif isinstance(refused, LimitHit):
            counters[hit(refused.limit)] += 1
        else:
            counters["weft_forbidden_total"] += 1
        self.disconnect(now, refused.reason, str(refused))

    def disconnect(self, now: float, reason: Reason, text: str) -> None:
        """End it from our side: with a reason where the version has one, else by closing."""
        if self.state is State.CLOSED:
            return
        self.broker.notices.say_seldom(
            now, "info", "client disconnected", self.client_id or self.origin.address,
            client=self.client_id, address=self.origin.address, reason=reason.name.lower(), why=text,
        )  # fmt: skip
        if self.state is State.CONNECTED:
            if self.version == 5:
                self._tell(encode(5, Disconnect(disconnect_code(reason), self.explanation(text))))
        elif self.version:
            self.send_connack(reason, text)
        elif reason is Reason.UNSUPPORTED_PROTOCOL_VERSION:
            self.send(encode(4, Connack(False, 1)))  # [MQTT-3.1.2-2 (3.1.1)], [MQTT-3.1.2-2]
        self.close(now)

    def send_connack(self, reason: Reason, text: str) -> None:
        """Not let in [MQTT-3.2.2-7]. 3.1 and 3.1.1 have five codes; where none fits they are closed without one."""
        code = connack_code(self.version, reason)
        if code is not None:
            self._tell(encode(self.version, Connack(False, code, self.explanation(text))))

    def _tell(self, last: bytes) -> None:
        if self.takes(last):
            self.send(last)

    def takes(self, packet: bytes) -> bool:
        """Whether the client can take a packet of that size [MQTT-3.1.2-24]."""
        return not self.packet_bytes_max or len(packet) <= self.packet_bytes_max

    def explanation(self, text: str) -> Properties:
        """A reason string, unless the client does not want one [MQTT-3.1.2-29] or could not take it
        [MQTT-3.2.2-19], [MQTT-3.14.2-3].
        """
        if not self.problem_information or (self.packet_bytes_max and len(text.encode()) + 32 > self.packet_bytes_max):
            return NONE
        return Properties(reason_string=text)

    def shut_down(self, now: float) -> None:
        """The server stops: whoever can be told is told (§4.13.2)."""
        if self.state is State.CONNECTED and self.version == 5:
            self._tell(encode(5, Disconnect(Reason.SERVER_SHUTTING_DOWN)))
        self.close(now)

    def close(self, now: float, says_will: bool = True) -> None:
        """However it ended: the session is told, once."""
        if self.state is State.CLOSED:
            return
        self.state = State.CLOSED
        self.closing = True
        self.is_plain = False
        self.broker.dirty.append(self)
        self.broker.closed(now, self, says_will)
        self.held = None
        self.replays = None
        self._parts.clear()
        self.routes.clear()


def on_pingreq(connection: Connection, now: float, packet: Pingreq) -> None:
    connection.send(PINGRESP)  # [MQTT-3.12.4-1]


def on_disconnect(connection: Connection, now: float, packet: Disconnect) -> None:
    """The client leaves; with 0x04 its will is to be said all the same (§3.14.2.1)."""
    session = connection.session
    if session is None:  # while it was being admitted (§4.12)
        connection.close(now)
        return
    expiry_s = packet.properties.session_expiry_s
    if expiry_s is not None:
        if not session.survives and expiry_s:  # §3.14.2.2.2
            raise ProtocolError("a session that ends with its connection cannot be prolonged")
        connection.broker.sessions.set_expiry(session, expiry_s)
    connection.close(now, says_will=packet.code != Reason.SUCCESS)
