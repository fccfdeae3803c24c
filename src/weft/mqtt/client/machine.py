"""``Client``: what lives longer than a connection to a server.

Messages on their way to the server, identifiers of QoS 2 messages that came from it, subscriptions to renew. The driver
calls ``open`` when a connection is there, ``receive`` and ``timeout``, ``lost`` when it is gone, and writes what ``take``
answers; when ``open`` is called again, everything goes on: with the session that the server kept, or from the start.
"""

from collections.abc import Callable, Iterator

import msgspec

from weft.core.errors import Misuse
from weft.mqtt.client.events import (
    Authenticator,
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
from weft.mqtt.client.link import Closed, Link, State
from weft.mqtt.client.outgoing import Outgoing
from weft.mqtt.client.words import AGAIN_V3, AGAIN_V5, connack_words, words
from weft.mqtt.codec.packets import (
    V5,
    V31,
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
from weft.mqtt.codec.reasons import ProtocolError, Reason
from weft.mqtt.codec.reasons import Refused as Illegal
from weft.mqtt.topics import check_filter, check_name

ASKED_MAX = 1_000
"""SUBSCRIBE and UNSUBSCRIBE packets without an answer; past it, asking for more is misuse."""


class _Asked(msgspec.Struct, frozen=True):
    """A SUBSCRIBE or UNSUBSCRIBE under way; told again on the next connection if this one ends first."""

    token: int
    packet: Subscribe | Unsubscribe


class Client:
    """One client id at one server, over as many connections as it takes."""

    def __init__(
        self,
        connect: Connect,
        settings: ClientSettings | None = None,
        link_settings: LinkSettings | None = None,
        authenticator: Callable[[], Authenticator] | None = None,
    ) -> None:
        self.connect = connect
        self.settings = settings or ClientSettings()
        self.link_settings = link_settings or LinkSettings()
        self.client_id = connect.client_id
        self.link: Link | None = None
        self.outgoing = Outgoing(self.settings.inflight_max, self.settings.queue_max)
        self.subscriptions: dict[str, tuple[Request, int]] = {}
        """What the server granted, with the subscription identifier: renewed when a session is gone."""
        self._authenticator = authenticator
        self._asked: dict[int, _Asked] = {}
        self._received: set[int] = set()
        self._token = 0
        self.is_deaf = False
        """Messages are neither told nor acknowledged any more: the session keeps them for the next time."""
        self._has_met = False
        self._ready: list[Event] = []

    # ------------------------------------------------------------------------------------------------- the driver's side

    @property
    def deadline(self) -> float | None:
        return self.link.deadline if self.link is not None else None

    @property
    def closing(self) -> bool:
        return self.link is None or self.link.closing

    @property
    def is_up(self) -> bool:
        return self.link is not None and self.link.state is State.UP

    def take(self) -> bytes:
        """Bytes for the server."""
        return self.link.take() if self.link is not None else b""

    def open(self, now: float) -> None:
        """A network connection is there."""
        connect = self.connect
        keeps = (connect.properties.session_expiry_s or 0) > 0
        if self._has_met and connect.version >= V5 and keeps:
            connect = msgspec.structs.replace(connect, clean_start=False)  # the session that we made is wanted back
        if connect.client_id != self.client_id:
            connect = msgspec.structs.replace(connect, client_id=self.client_id)
        self.link = Link(connect, self.link_settings, self._authenticator() if self._authenticator else None)
        self.link.open(now)

    def receive(self, now: float, data: bytes) -> Iterator[Event]:
        """What a server sent, as events. Each packet is handled when its turn comes, so take all of them: what the caller
        does on one event (``is_deaf``, ``disconnect``) holds from the next packet on.
        """
        if self.link is not None:
            yield from self._after(now, self.link.receive(now, data))

    def timeout(self, now: float) -> Iterator[Event]:
        if self.link is not None:
            yield from self._after(now, self.link.timeout(now))

    def lost(self, why: str) -> list[Event]:
        """The network connection is gone; nothing to say if we knew that it would."""
        over = self.closing
        if self.link is not None:
            self.link.lost()
        return [] if over else [Disconnected(0, why)]

    # ------------------------------------------------------------------------------------------------- the caller's side

    @property
    def room(self) -> int:
        """How many more messages ``publish`` takes now."""
        return self.outgoing.room

    @property
    def is_idle(self) -> bool:
        """Nothing waits for the server."""
        return not self.outgoing and not self._asked

    def publish(
        self, now: float, topic: str, payload: bytes, qos: int = 0, retain: bool = False, properties: Properties = NONE
    ) -> int:
        """Queue a message; its token comes back in ``Published``."""
        _check(check_name, topic)
        if not self.outgoing.room:
            raise Misuse(f"{self.outgoing.queue_max} messages wait already; ask for room first")
        self._token += 1
        self.outgoing.waiting.append((self._token, Publish(topic, payload, qos, retain, properties=properties)))
        self._pump(now)
        return self._token

    def subscribe(self, now: float, requests: tuple[Request, ...], identifier: int = 0) -> int:
        """Ask for subscriptions; the token comes back in ``Subscribed``."""
        for request in requests:
            _check(check_filter, request.filter)
        properties = msgspec.structs.replace(NONE, subscription_ids=(identifier,)) if identifier else NONE
        return self._ask(now, Subscribe(0, requests, properties))

    def unsubscribe(self, now: float, filters: tuple[str, ...]) -> int:
        return self._ask(now, Unsubscribe(0, filters))

    def disconnect(self, now: float, code: int = 0, expiry_s: int | None = None) -> None:
        if self.link is not None:
            self.link.disconnect(now, code, expiry_s)

    def ready(self) -> list[Event]:
        """Events that a call of the caller caused, such as a message that the server's limits forbid."""
        taken, self._ready = self._ready, []
        return taken

    # ------------------------------------------------------------------------------------------------------------ within

    def _after(self, now: float, packets: list[Packet | Closed]) -> Iterator[Event]:
        for packet in packets:
            events: list[Event] = []
            try:
                self._on(now, packet, events)
            except Illegal as error:
                assert self.link is not None
                self._on(now, self.link.fail(now, error.reason, str(error)), events)
                yield from events
                break
            yield from events
        self._pump(now)
        yield from self.ready()

    def _on(self, now: float, packet: Packet | Closed, events: list[Event]) -> None:
        match packet:
            case Publish():
                self._on_publish(now, packet, events)
            case Puback():
                self._done(self.outgoing.on_puback(packet), packet.code, packet.properties, events)
            case Pubrec():
                token, pubrel = self.outgoing.on_pubrec(packet)
                self._done(token, packet.code, packet.properties, events)
                if pubrel is not None:
                    self._send(now, pubrel)
            case Pubrel():
                self._on_pubrel(now, packet)
            case Pubcomp():
                self._done(self.outgoing.on_pubcomp(packet), 0, NONE, events)
            case Suback() | Unsuback():
                self._on_answer(packet, events)
            case Connack():
                self._on_connack(now, packet, events)
            case Closed():
                again = packet.code not in {Reason.SESSION_TAKEN_OVER, Reason.BANNED, Reason.NOT_AUTHORIZED}
                text = packet.text or (words(packet.code) if packet.by_server else "")
                events.append(Disconnected(packet.code, text, packet.by_server, again))

    def _on_connack(self, now: float, packet: Connack, events: list[Event]) -> None:
        five = self.connect.version >= V5
        if packet.code:
            text = connack_words(packet.code, five, packet.properties)
            events.append(Refused(packet.code, text, packet.code in (AGAIN_V5 if five else AGAIN_V3)))
            return
        assert self.link is not None
        self.client_id = packet.properties.assigned_client_id or self.client_id  # [MQTT-3.1.3-7]: from now on ours
        self.outgoing.window = min(self.outgoing.inflight_max, self.link.limits.receive_maximum)
        events.append(Connected(packet.session_present, self.client_id, packet))
        asked, self._asked = list(self._asked.values()), {}
        # 3.1 has no word for it: whoever asked for the old session takes it to be there, and subscribes again to be sure.
        is_untold = self.connect.version == V31 and not self.connect.clean_start
        if packet.session_present or is_untold:
            for pending in self.outgoing.resume():
                self._send(now, pending)
        else:
            self._received.clear()  # [MQTT-3.2.2-5]: what we remembered of the session is void
            events.extend(Published(token, 0) for token in self.outgoing.restart())
        if self._has_met and not packet.session_present:
            self._renew(now)
        self._has_met = True
        for one in asked:
            self._put_request(now, one.token, one.packet)

    def _renew(self, now: float) -> None:
        """The server forgot our subscriptions: ask again, one packet for each subscription identifier."""
        by_identifier: dict[int, list[Request]] = {}
        for request, identifier in self.subscriptions.values():
            by_identifier.setdefault(identifier, []).append(request)
        for identifier, requests in by_identifier.items():
            properties = msgspec.structs.replace(NONE, subscription_ids=(identifier,)) if identifier else NONE
            self._put_request(now, 0, Subscribe(0, tuple(requests), properties))

    def _on_publish(self, now: float, packet: Publish, events: list[Event]) -> None:
        if self.is_deaf:
            return
        if packet.qos == 2:
            fresh = packet.packet_id not in self._received
            self._received.add(packet.packet_id)  # 65,535 at most: there are no more identifiers
            self._send(now, Pubrec(packet.packet_id))  # [MQTT-4.3.3-8]
            if not fresh:
                return  # [MQTT-4.3.3-10]: exactly once
        elif packet.qos == 1:
            self._send(now, Puback(packet.packet_id))  # [MQTT-4.3.2-4]
        events.append(
            Message(
                packet.topic, packet.payload, packet.qos, packet.retain, packet.dup, packet.packet_id, packet.properties
            )
        )

    def _on_pubrel(self, now: float, packet: Pubrel) -> None:
        known = packet.packet_id in self._received
        self._received.discard(packet.packet_id)
        self._send(now, Pubcomp(packet.packet_id, 0 if known else Reason.PACKET_IDENTIFIER_NOT_FOUND))

    def _on_answer(self, packet: Suback | Unsuback, events: list[Event]) -> None:
        asked = self._asked.pop(packet.packet_id, None)
        text = packet.properties.reason_string or ""
        if isinstance(packet, Suback):
            if asked is None or not isinstance(asked.packet, Subscribe):
                raise ProtocolError("SUBACK without SUBSCRIBE")
            requests = asked.packet.requests
            if len(packet.codes) != len(requests):  # [MQTT-3.8.4-6]
                raise ProtocolError(f"SUBACK has {len(packet.codes)} codes for {len(requests)} filters")
            identifiers = asked.packet.properties.subscription_ids
            for request, code in zip(requests, packet.codes, strict=True):
                if code < 0x80:
                    self.subscriptions[request.filter] = (request, identifiers[0] if identifiers else 0)
            events.append(Subscribed(asked.token, requests, packet.codes, text))
            return
        if asked is None or not isinstance(asked.packet, Unsubscribe):
            raise ProtocolError("UNSUBACK without UNSUBSCRIBE")
        for filter_ in asked.packet.filters:
            self.subscriptions.pop(filter_, None)
        events.append(Unsubscribed(asked.token, asked.packet.filters, packet.codes or (0,) * len(asked.packet.filters)))

    def _done(self, token: int | None, code: int, properties: Properties, events: list[Event]) -> None:
        if token is not None:
            text = properties.reason_string or (words(code) if code >= 0x80 else "")
            events.append(Published(token, code, text))

    def _ask(self, now: float, packet: Subscribe | Unsubscribe) -> int:
        if len(self._asked) >= ASKED_MAX:
            raise Misuse(f"{ASKED_MAX} requests wait for their answers already")
        self._token += 1
        self._put_request(now, self._token, packet)
        return self._token

    def _put_request(self, now: float, token: int, packet: Subscribe | Unsubscribe) -> None:
        packet_id = self.outgoing.free_id(self._asked)
        packet = msgspec.structs.replace(packet, packet_id=packet_id)
        self._asked[packet_id] = _Asked(token, packet)
        if self.is_up:
            self._send(now, packet)

    def _send(self, now: float, packet: Packet) -> None:
        assert self.link is not None
        self.link.send(now, packet)

    def _pump(self, now: float) -> None:
        """Send what the window has room for."""
        link = self.link
        if link is None or link.state is not State.UP:
            return
        while (taken := self.outgoing.next()) is not None:
            token, publish = taken
            objection = link.objection(publish)
            if objection is not None:
                self._ready.append(Published(token, *objection))
                continue
            if publish.qos:
                packet_id = self.outgoing.free_id(self._asked)
                publish = msgspec.structs.replace(publish, packet_id=packet_id)
            try:
                fits = link.send(now, publish)
            except Misuse as error:  # the caller's properties; said with the token, not out of somebody else's call
                self._ready.append(Published(token, Reason.IMPLEMENTATION_SPECIFIC_ERROR, str(error)))
                continue
            if not fits:
                text = f"the server takes {link.limits.packet_bytes_max} bytes at most in one packet"
                self._ready.append(Published(token, Reason.PACKET_TOO_LARGE, text))
            elif publish.qos:
                self.outgoing.put(token, publish)
            else:
                self._ready.append(Published(token, 0))


def _check(rule: Callable[[str], None], text: str) -> None:
    try:
        rule(text)
    except Illegal as error:
        raise Misuse(f"{text!r}: {error}") from None
