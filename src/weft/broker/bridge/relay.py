"""The bridge's machine: two links, and what goes from one to the other.

Every QoS 1 and 2 message crosses under the packet identifier that it came with, and every acknowledgement goes back as it is:
PUBACK of one broker is PUBACK to the other. So a message is acknowledged where it came from only when it is safe where it
went, and the bridge itself remembers nothing that matters: after a lost connection, or kill -9, each broker repeats what it
has no acknowledgement for, under the same identifier, and the other one's session knows an identifier of QoS 2 that it has
seen. The queue, its bounds and its durability are those of our broker's session ``$bridge/NAME``, and of the one at far.

        far connects ──▶ CONNACK ──▶ near connects ──▶ CONNACK ──▶ relaying ──▶ either is lost: both end, and again

Invariant: near is connected only while far is, so our session keeps what far cannot take.
"""

from collections import deque
from collections.abc import Iterable

import msgspec

from weft.broker.bridge.demand import SETTLE_S, Hearing, Wanted
from weft.broker.bridge.filters import intersect
from weft.broker.bridge.mapping import crossing, inward, may_enter, may_leave, outward
from weft.broker.bridge.settings import BridgeSettings
from weft.broker.bridge.side import WAITING_MAX, Side
from weft.broker.notices import Notices
from weft.broker.routes import BRIDGES
from weft.broker.settings import Limits
from weft.mqtt.client.events import LinkSettings
from weft.mqtt.client.link import Closed, Link, State
from weft.mqtt.client.words import connack_words, words
from weft.mqtt.codec.packets import (
    V5,
    V311,
    Connack,
    Connect,
    Packet,
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
from weft.mqtt.codec.properties import NONE, Properties
from weft.mqtt.codec.reasons import Reason
from weft.telemetry.counters import Counters

FOREVER = 0xFFFF_FFFF
EARLY_MAX = 10_000
"""Messages of far that wait until near is connected; of QoS 0, more are dropped."""
PROBES_MAX = 8
SUBSCRIBE_MAX = 100
"""Filters in one SUBSCRIBE or UNSUBSCRIBE."""


class Bridge:
    """In: ``far_opened``, ``far_received``, both for near, ``demand``, ``timeout``. Out: each link's ``take``, ``deadline``.

    ``wants_near``: the driver is to accept a connection of ours and say ``near_opened``.
    """

    def __init__(
        self,
        settings: BridgeSettings,
        broker_id: str,
        limits: Limits,
        counters: Counters,
        notices: Notices,
        password: bytes | None = None,
    ) -> None:
        self.settings = settings
        self.broker_id = broker_id
        self.counters = counters
        self.notices = notices
        self.far: Side | None = None
        self.near: Side | None = None
        self.wants_near = False
        self.is_relaying = False
        self._password = password
        self._window = min(settings.inflight_max, limits.receive_maximum)
        # In the order in which they are tried: 5; 3.1.1 with mosquitto's bridge bit; plain 3.1.1.
        self._dialects = [
            d for d in ((V5, False), (V311, True), (V311, False)) if settings.version in {"auto", _NAMES[d[0]]}
        ]
        self._clean = False
        self._wanted = [Wanted(topic, settings.linger_s) for topic in settings.topics if topic.goes_in]
        self._hearing = Hearing(settings.probe_s)
        self._has: dict[str, int] = {}
        self._settle_at: float | None = None
        self._kept: list[str] = []
        self._early: deque[Publish] = deque()
        self._far_present = False

    # ------------------------------------------------------------------------------------------------- the driver's side

    @property
    def client_id(self) -> str:
        return BRIDGES + self.settings.name

    @property
    def deadline(self) -> float | None:
        due = [side.link.deadline for side in (self.far, self.near) if side is not None]
        if self.is_relaying:
            due.append(self._settle_at)
            due += [wanted.deadline for wanted in self._wanted]
        return min((at for at in due if at is not None), default=None)

    @property
    def is_over(self) -> bool:
        """The connection to far has ended, or must: write what is left, close, and dial again."""
        return self.far is None or self.far.link.closing

    def far_opened(self, now: float) -> None:
        """A network connection to far is there."""
        version, bit = self._dialects[0]
        settings = self.settings
        properties = NONE
        if version >= V5:
            properties = Properties(session_expiry_s=settings.session_expiry_s, receive_maximum=self._window)
        connect = Connect(
            version,
            settings.client_id or f"weft-{self.broker_id}-{settings.name}",
            clean_start=self._clean,
            keep_alive_s=settings.keep_alive_s,
            username=settings.username or None,
            password=self._password,
            properties=properties,
            bridge=bit,
        )
        self.far = Side(Link(connect, LinkSettings()), self._window)
        self.near = None
        self.wants_near = self.is_relaying = False
        self._early.clear()
        self.far.link.open(now)

    def far_received(self, now: float, data: bytes) -> None:
        if self.far is not None:
            self._from_far(now, self.far.link.receive(now, data))

    def far_lost(self, now: float, why: str) -> None:
        if self.far is not None and not self.far.link.closing:
            self.notices.say_seldom(
                now, "warning", "bridge lost", self.settings.name, bridge=self.settings.name, why=why
            )
        self._end(now)

    def near_opened(self, now: float, kept: Iterable[str] = ()) -> None:
        """Our broker has accepted a connection. ``kept``: our session's filters there, should the settings have changed."""
        self._kept = list(kept)
        assert self.far is not None
        self.wants_near = False
        window = max(1, min(self._window, self.far.link.limits.receive_maximum) - self._probes_max)
        properties = Properties(session_expiry_s=FOREVER, receive_maximum=window)
        connect = Connect(V5, self.client_id, clean_start=False, properties=properties)
        # Nothing is told of packet sizes: our broker's own bound is what it takes in, and so what it gives out.
        self.near = Side(Link(connect, LinkSettings(packet_bytes_max=268_435_460, topic_aliases_max=0)), self._window)
        self.near.link.open(now)

    def near_received(self, now: float, data: bytes) -> None:
        if self.near is not None:
            self._from_near(now, self.near.link.receive(now, data))

    def near_lost(self, now: float) -> None:
        """Our broker ended it: an administrator, a drain, a limit."""
        if self.far is not None and not self.far.link.closing:
            self.far.link.disconnect(now)
        self._end(now)

    def stop(self, now: float) -> None:
        """We are to end: both sessions stay as they are."""
        for side in (self.far, self.near):
            if side is not None:
                side.link.disconnect(now)

    def demand(self, now: float, filter_: str, is_added: bool) -> None:
        """A local filter got its first subscriber, or lost its last."""
        if self.settings.demand == "always":
            return
        for wanted in self._wanted:
            if wanted.change(now, filter_, is_added) and self._settle_at is None:
                self._settle_at = now + SETTLE_S

    def timeout(self, now: float) -> None:
        if self.far is not None:
            self._from_far(now, self.far.link.timeout(now))
        if self.near is not None:
            self._from_near(now, self.near.link.timeout(now))
        if self.is_relaying:
            due = [self._settle_at, *(wanted.deadline for wanted in self._wanted)]
            if any(at is not None and at <= now for at in due):
                self._settle_at = None
                self._settle(now)

    # ------------------------------------------------------------------------------------------------------- from far

    def _from_far(self, now: float, packets: list[Packet | Closed]) -> None:
        for packet in packets:
            far = self.far
            if far is None:
                return
            match packet:
                case Publish():
                    self._inward(now, packet)
                case Puback() | Pubrec() | Pubcomp():
                    self._far_acknowledged(now, far, packet)
                case Pubrel():
                    self._pass_on(now, self.near, packet)
                case Suback() | Unsuback():
                    self._far_answered(now, far, packet)
                case Connack():
                    self._far_connack(now, far, packet)
                case Closed():
                    self._say(now, "warning", "bridge closed", why=packet.text or words(packet.code))
                    self._end(now)

    def _far_connack(self, now: float, far: Side, packet: Connack) -> None:
        five = far.link.version >= V5
        if packet.code:
            if packet.code in {0x01, 0x84} and len(self._dialects) > 1:
                self._dialects.pop(0)
                self._say(now, "info", "bridge falls back to an older version of MQTT")
            else:
                self._say(now, "error", "bridge refused", why=connack_words(packet.code, five, packet.properties))
            self._end(now)
            return
        self._far_present = packet.session_present
        if not packet.session_present:
            self._has.clear()
        self.wants_near = True

    def _far_acknowledged(self, now: float, far: Side, packet: Puback | Pubrec | Pubcomp) -> None:
        own = far.own.pop(packet.packet_id, None)
        if own is not None:  # a probe: what was QoS 0 has told us whether it is heard
            if isinstance(own, Publish):
                self._hearing.learn(now, own.topic, packet.code != Reason.NO_MATCHING_SUBSCRIBERS)
            self._flush(now, far)
            return
        sent = far.flight.get(packet.packet_id)
        if sent is not None and not isinstance(packet, Pubcomp):
            self._learn(now, far, sent, packet.code)
        if not isinstance(packet, Pubrec) or packet.code >= 0x80:
            far.flight.pop(packet.packet_id, None)
        if sent is not None and sent.qos == 2 and isinstance(packet, Puback):
            packet = Pubrec(packet.packet_id, packet.code if packet.code >= 0x80 else 0)  # it crossed with QoS 1
        self._pass_on(now, self.near, packet)
        self._flush(now, far)

    def _learn(self, now: float, far: Side, sent: Publish, code: int) -> None:
        if code >= 0x80:
            self.counters["weft_bridge_refused_total"] += 1
            self._say(now, "warning", "bridge: a message was refused", topic=sent.topic, why=words(code))
        elif far.link.version >= V5:
            self._hearing.learn(now, sent.topic, code != Reason.NO_MATCHING_SUBSCRIBERS)

    def _far_answered(self, now: float, far: Side, packet: Suback | Unsuback) -> None:
        asked = far.own.pop(packet.packet_id, None)
        if isinstance(packet, Suback) and isinstance(asked, Subscribe):
            for request, code in zip(asked.requests, packet.codes, strict=False):
                if code >= 0x80:
                    self._has.pop(request.filter, None)
                    self._say(
                        now, "warning", "bridge: a subscription was refused", filter=request.filter, why=words(code)
                    )
        self._flush(now, far)
        if self.is_relaying:
            self._settle(now)

    def _inward(self, now: float, packet: Publish) -> None:
        near = self.near
        if near is None or not self.is_relaying:
            if packet.qos or len(self._early) < EARLY_MAX:
                self._early.append(packet)
            return
        found = inward(self.settings.topics, packet.topic)
        if found is None or not may_enter(packet.properties, self.broker_id):
            self.counters["weft_bridge_loops_total"] += found is not None
            self._refuse(now, self.far, packet)
            return
        self.counters["weft_bridge_in_total"] += 1
        self._send(now, near, self.far, crossing(packet, found[1], packet.retain, self.broker_id))

    # ------------------------------------------------------------------------------------------------------ from near

    def _from_near(self, now: float, packets: list[Packet | Closed]) -> None:
        for packet in packets:
            near = self.near
            if near is None:
                return
            match packet:
                case Publish():
                    self._outward(now, near, packet)
                case Puback() | Pubrec() | Pubcomp():
                    if not isinstance(packet, Pubrec) or packet.code >= 0x80:
                        near.flight.pop(packet.packet_id, None)
                    self._pass_on(now, self.far, packet)
                    self._flush(now, near)
                case Pubrel():
                    self._pass_on(now, self.far, packet)
                case Suback() | Unsuback():
                    near.own.pop(packet.packet_id, None)
                    self._flush(now, near)
                case Connack():
                    self._near_connack(now, near, packet)
                case Closed():
                    self._say(now, "warning", "bridge: our broker closed it", why=packet.text or words(packet.code))
                    self.near_lost(now)

    def _near_connack(self, now: float, near: Side, packet: Connack) -> None:
        assert self.far is not None
        if packet.code:
            self._say(
                now, "error", "bridge: our broker refused it", why=connack_words(packet.code, True, packet.properties)
            )
            self.near_lost(now)
            return
        if (
            self._far_present
            and not packet.session_present
            and any(t.goes_out and t.qos == 2 for t in self.settings.topics)
        ):
            # Our session is new and will begin again with identifiers for which far may still wait for a PUBREL: it would
            # take new messages for repetitions. So its session must be new, too ([MQTT-3.2.2-4]).
            self._clean = True
            self.near_lost(now)
            return
        self._clean = False
        self.is_relaying = True
        self._say(now, "info", "bridge connected", far=self.settings.url, version=self.far.link.version)
        qos_max = self.far.link.limits.maximum_qos
        requests = [
            Request(topic.local, min(topic.qos, qos_max), no_local=True, retain_as_published=True, retain_handling=1)
            for topic in self.settings.topics
            if topic.goes_out
        ]
        stale = sorted(set(self._kept) - {request.filter for request in requests})
        for at in range(0, len(stale), SUBSCRIBE_MAX):
            self._ask(now, near, Unsubscribe(0, tuple(stale[at : at + SUBSCRIBE_MAX])))
        for at in range(0, len(requests), SUBSCRIBE_MAX):
            self._ask(now, near, Subscribe(0, tuple(requests[at : at + SUBSCRIBE_MAX])))
        self._settle(now)
        early, self._early = self._early, deque()
        for publish in early:
            self._inward(now, publish)

    def _outward(self, now: float, near: Side, packet: Publish) -> None:
        far = self.far
        found = outward(self.settings.topics, packet.topic)
        if far is None or found is None or not may_leave(packet.properties, self.broker_id):
            self.counters["weft_bridge_loops_total"] += found is not None
            self._refuse(now, near, packet)
            return
        limits = far.link.limits
        sent = crossing(
            packet, found[1], packet.retain and limits.retain, self.broker_id if far.link.version >= V5 else None
        )
        if not packet.retain and self._asks_first(far, sent):
            is_heard = self._hearing.is_heard(now, sent.topic)
            if is_heard is None and self._probe(now, far, sent):
                return
            if is_heard is False:
                self.counters["weft_bridge_suspended_total"] += 1
                self._refuse(now, near, packet)
                return
        self.counters["weft_bridge_out_total"] += 1
        self._send(now, far, near, sent)

    def _asks_first(self, far: Side, sent: Publish) -> bool:
        """Whether a message goes only where it is heard. Only MQTT 5 has a word for it: 0x10, No matching subscribers."""
        demand = self.settings.demand
        return far.link.version >= V5 and demand != "always" and (not sent.qos or demand == "ack")

    def _probe(self, now: float, far: Side, sent: Publish) -> bool:
        """Nobody knows whether it is heard: a QoS 0 message crosses as QoS 1, under an identifier of our own, to find out."""
        if sent.qos or not far.link.limits.maximum_qos or far.probes >= self._probes_max:
            return False
        number = far.free_id()
        probe = msgspec.structs.replace(sent, qos=1, packet_id=number)
        if not far.link.send(now, probe):
            return False
        far.own[number] = probe
        self._hearing.learn(now, sent.topic, True)  # until the answer is there
        self.counters["weft_bridge_out_total"] += 1
        return True

    # ------------------------------------------------------------------------------------------------------------ both

    def _send(self, now: float, side: Side, back: Side | None, publish: Publish) -> None:
        """A message to ``side``; what it says goes ``back``."""
        if not side.may(publish) or (publish.qos and side.waiting):
            if len(side.waiting) < WAITING_MAX:
                side.waiting.append(publish)
            return
        wire = publish
        qos_max = side.link.limits.maximum_qos
        if publish.qos > qos_max:
            wire = msgspec.structs.replace(
                publish, qos=qos_max, packet_id=publish.packet_id if qos_max else 0, dup=False
            )
        if not side.link.send(now, wire):
            self.counters["weft_bridge_oversize_total"] += 1
            self._say(now, "warning", "bridge: a message is too large for the other side", topic=publish.topic)
            self._refuse(now, back, publish)
        elif wire.qos:
            side.flight[publish.packet_id] = publish
        elif publish.qos:
            self._refuse(now, back, publish)

    def _refuse(self, now: float, back: Side | None, packet: Publish) -> None:
        """It does not cross: whoever sent it need not keep it. The PUBREL of QoS 2 crosses, and its answer is what it wants."""
        if back is not None and packet.qos:
            back.link.send(now, Puback(packet.packet_id) if packet.qos == 1 else Pubrec(packet.packet_id))

    def _flush(self, now: float, side: Side) -> None:
        """An identifier is free again."""
        while side.waiting and side.may(side.waiting[0]):
            waiting, side.waiting = side.waiting, deque()
            first = waiting.popleft()
            self._send(now, side, self.near if side is self.far else self.far, first)
            side.waiting = waiting

    def _pass_on(self, now: float, side: Side | None, packet: Packet) -> None:
        if side is not None:
            side.link.send(now, packet)

    def _ask(self, now: float, side: Side, packet: Subscribe | Unsubscribe) -> None:
        packet = msgspec.structs.replace(packet, packet_id=side.free_id())
        side.own[packet.packet_id] = packet
        side.link.send(now, packet)

    def _settle(self, now: float) -> None:
        """Bring far's subscriptions to what is wanted; one packet at a time, first what is new, then what is not wanted."""
        far = self.far
        if far is None or far.is_asking:
            return
        wanted: dict[str, Request] = {}
        five = far.link.version >= V5
        for each in self._wanted:
            topic = each.topic
            if not five and not far.link.connect.bridge and self._would_echo(now, topic.remote):
                continue
            for filter_ in [topic.remote] if self.settings.demand == "always" else each.filters(now):
                wanted[filter_] = Request(filter_, topic.qos, five, five, 1 if five else 0)
        fresh = [request for filter_, request in wanted.items() if self._has.get(filter_) != request.qos][
            :SUBSCRIBE_MAX
        ]
        if fresh:
            self._has.update({request.filter: request.qos for request in fresh})
            self._ask(now, far, Subscribe(0, tuple(fresh)))
            return
        gone = [filter_ for filter_ in self._has if filter_ not in wanted][:SUBSCRIBE_MAX]
        if gone:
            for filter_ in gone:
                del self._has[filter_]
            self._ask(now, far, Unsubscribe(0, tuple(gone)))

    def _would_echo(self, now: float, remote: str) -> bool:
        """Plain 3.1.1 sends our own messages back: where both directions overlap, only one of them can be."""
        for topic in self.settings.topics:
            if topic.goes_out and intersect(topic.remote, remote) is not None:
                text = "the other broker knows neither MQTT 5 nor bridges: what goes out would come back"
                self._say(now, "error", "bridge: not fetched", filter=remote, why=text)
                return True
        return False

    @property
    def _probes_max(self) -> int:
        assert self.far is not None
        room = min(self._window, self.far.link.limits.receive_maximum)
        return PROBES_MAX if room >= 4 * PROBES_MAX else min(1, room - 1)

    def _end(self, now: float) -> None:
        """One side is gone: so is the other, and each keeps its session."""
        self.is_relaying = self.wants_near = False
        for side in (self.near, self.far):
            if side is not None and side.link.state is not State.OVER:
                side.link.disconnect(now)
        self._early.clear()

    def _say(self, now: float, level: str, event: str, **fields: object) -> None:
        self.notices.say_seldom(now, level, event, self.settings.name, bridge=self.settings.name, **fields)


_NAMES = {V5: "5", V311: "3.1.1"}
