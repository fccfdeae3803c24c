"""One network connection seen from the client: from CONNECT to the end.

Owns framing, the handshake with enhanced authentication, keep-alive, topic aliases both ways, and the limits that the server
states. It hands out packets that are legal where they stand and has no opinion on QoS: ``machine`` has, and a bridge, which
relays acknowledgements between two links, needs none.

A server that breaks the standard, or a bound of ours, is told (v5: DISCONNECT with the reason, §4.13) and the link is over;
nothing it sends raises out of ``receive``.
"""

from enum import Enum

import msgspec

from weft.core.errors import Violation
from weft.mqtt.client.events import Authenticator, LinkSettings
from weft.mqtt.codec import frames
from weft.mqtt.codec.decode import decode
from weft.mqtt.codec.encode import encode
from weft.mqtt.codec.kinds import Kind
from weft.mqtt.codec.packets import (
    V5,
    V311,
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
    Suback,
    Unsuback,
)
from weft.mqtt.codec.properties import NONE
from weft.mqtt.codec.reasons import ProtocolError, Reason, Refused

FROM_SERVERS = (Publish, Puback, Pubrec, Pubrel, Pubcomp, Suback, Unsuback, Pingresp)
"""What a server may send once it has accepted, in every version (§2.1.2); v5 adds DISCONNECT and AUTH."""


class State(Enum):
    NEW = "new"
    ASKING = "asking"
    """CONNECT is out, CONNACK is not in."""
    UP = "up"
    OVER = "over"


class Closed(msgspec.Struct, frozen=True):
    """The link is over, and why."""

    code: int
    text: str
    by_server: bool = False


class Limits(msgspec.Struct, frozen=True):
    """What the server's CONNACK allows (v5 §3.2.2.3); before v5 everything."""

    receive_maximum: int = 65_535
    maximum_qos: int = 2
    retain: bool = True
    packet_bytes_max: int = 268_435_460
    topic_aliases_max: int = 0
    wildcards: bool = True
    subscription_ids: bool = True
    shared: bool = True


class Link:
    """In: ``open``, ``receive``, ``timeout``, ``send``. Out: ``out`` (empty it by ``take``), ``closing``, ``deadline``."""

    def __init__(
        self, connect: Connect, settings: LinkSettings | None = None, authenticator: Authenticator | None = None
    ) -> None:
        self.settings = settings or LinkSettings()
        self.version = connect.version
        self.connect = self._announced(connect, authenticator)
        self.authenticator = authenticator
        self.state = State.NEW
        self.limits = Limits()
        self.keep_alive_s = float(connect.keep_alive_s)
        self.out: list[bytes] = []
        self._buffer = bytearray()
        self._sent_at = 0.0
        self._heard_at = 0.0
        self._pinged_at: float | None = None
        self._names: dict[int, str] = {}
        self._aliases: dict[str, int] = {}
        self._owed: set[int] = set()

    # ------------------------------------------------------------------------------------------------- the driver's side

    @property
    def closing(self) -> bool:
        """Close the socket once ``out`` is written."""
        return self.state is State.OVER

    @property
    def deadline(self) -> float | None:
        if self.state is State.ASKING:
            return self._sent_at + self.settings.connect_timeout_s
        if self.state is not State.UP or not self.keep_alive_s:
            return None
        if self._pinged_at is not None:
            return self._pinged_at + self.settings.ping_timeout_s
        # A tenth early: the interval counts at the server, and the way there is not free ([MQTT-3.1.2-20]).
        return min(self._sent_at, self._heard_at) + 0.9 * self.keep_alive_s

    def take(self) -> bytes:
        """What is to be written now."""
        data = b"".join(self.out)
        self.out.clear()
        return data

    def open(self, now: float) -> None:
        """The network connection is there: CONNECT goes first ([MQTT-3.1.0-1])."""
        assert self.state is State.NEW
        self.state = State.ASKING
        self._put(now, encode(self.version, self.connect))

    def receive(self, now: float, data: bytes) -> list[Packet | Closed]:
        """What came, as packets that were legal where they stood; a last ``Closed`` if that was the end."""
        found: list[Packet | Closed] = []
        if self.state is State.OVER:
            return found
        self._buffer += data
        self._heard_at = now
        try:
            self._read(now, found)
        except Refused as error:
            found.append(self.fail(now, error.reason, str(error)))
        except Violation as error:
            found.append(self.fail(now, Reason.NOT_AUTHORIZED, f"the server failed to authenticate: {error}"))
        return found

    def timeout(self, now: float) -> list[Packet | Closed]:
        """The deadline has passed: a ping is due, or the server has been silent too long."""
        deadline = self.deadline
        if deadline is None or now < deadline:
            return []
        if self.state is State.ASKING:
            self.state = State.OVER
            return [Closed(0, f"no answer to CONNECT within {self.settings.connect_timeout_s:g} s")]
        if self._pinged_at is not None:
            return [self.fail(now, Reason.UNSPECIFIED_ERROR, f"silent for {now - self._heard_at:.0f} s")]
        self._pinged_at = now
        self._put(now, encode(self.version, Pingreq()))
        return []

    def lost(self) -> None:
        """The network connection is gone."""
        self.state = State.OVER
        self.out.clear()

    # ------------------------------------------------------------------------------------------------- the caller's side

    def send(self, now: float, packet: Packet) -> bool:
        """Write ``packet``; False if the server takes none of that size ([MQTT-3.2.2-15]). An ended link swallows it."""
        if self.state is State.OVER:
            return True
        if isinstance(packet, Publish):
            return self._send_publish(now, packet)
        data = encode(self.version, packet)
        if len(data) > self.limits.packet_bytes_max:
            return False
        if isinstance(packet, Puback | Pubcomp) or (isinstance(packet, Pubrec) and packet.code >= 0x80):
            self._owed.discard(packet.packet_id)
        self._put(now, data)
        return True

    def objection(self, publish: Publish) -> tuple[Reason, str] | None:
        """Why the server would not take this message, by what it said when it accepted us."""
        limits = self.limits
        if publish.qos > limits.maximum_qos:  # [MQTT-3.2.2-11]
            return Reason.QOS_NOT_SUPPORTED, f"the server takes QoS {limits.maximum_qos} at most"
        if publish.retain and not limits.retain:  # [MQTT-3.2.2-14]
            return Reason.RETAIN_NOT_SUPPORTED, "the server retains no messages"
        return None

    def reauthenticate(self, now: float, authenticator: Authenticator) -> None:
        """Begin a re-authentication with the same method as before (§4.12.1)."""
        assert self.authenticator is not None
        assert authenticator.method == self.authenticator.method  # [MQTT-4.12.1-1]
        self.authenticator = authenticator
        properties = msgspec.structs.replace(
            NONE, authentication_method=authenticator.method, authentication_data=authenticator.first()
        )
        self.send(now, Auth(Reason.RE_AUTHENTICATE, properties))

    def disconnect(self, now: float, code: int = 0, expiry_s: int | None = None) -> None:
        """Our own wish: DISCONNECT goes last ([MQTT-3.14.4-1])."""
        if self.state in {State.ASKING, State.UP}:
            properties = NONE if expiry_s is None else msgspec.structs.replace(NONE, session_expiry_s=expiry_s)
            if self.state is State.UP:
                self._put(now, encode(self.version, Disconnect(code, properties)))
            self.state = State.OVER

    def fail(self, now: float, reason: Reason, text: str) -> Closed:
        """The server broke the standard or a bound: say so if the version can (§4.13.1), and end."""
        if self.version >= V5 and self.state is State.UP:
            self._put(now, encode(self.version, Disconnect(reason)))
        self.state = State.OVER
        return Closed(reason, text)

    # ------------------------------------------------------------------------------------------------------------ within

    def _announced(self, connect: Connect, authenticator: Authenticator | None) -> Connect:
        """CONNECT as it is sent: with our own bounds, where the version can say them and the caller has not."""
        if connect.version < V5:
            return connect
        given = connect.properties
        settings = self.settings
        wanted: dict[str, object] = {}
        if given.receive_maximum is None:
            wanted["receive_maximum"] = settings.receive_maximum
        if given.maximum_packet_bytes is None:
            wanted["maximum_packet_bytes"] = settings.packet_bytes_max
        if given.topic_alias_maximum is None and settings.topic_aliases_max:
            wanted["topic_alias_maximum"] = settings.topic_aliases_max
        if authenticator is not None:
            wanted["authentication_method"] = authenticator.method
            wanted["authentication_data"] = authenticator.first()
        return msgspec.structs.replace(connect, properties=msgspec.structs.replace(given, **wanted))

    def _put(self, now: float, data: bytes) -> None:
        self.out.append(data)
        self._sent_at = now

    def _read(self, now: float, found: list[Packet | Closed]) -> None:
        buffer = self._buffer
        bound = self.connect.properties.maximum_packet_bytes or self.settings.packet_bytes_max
        at = 0
        try:
            while self.state is not State.OVER:
                bounds = frames.split(buffer, at)
                if bounds is None:
                    break
                first, start, end = bounds
                if end - at > bound:  # [MQTT-3.1.2-24]
                    raise Refused(Reason.PACKET_TOO_LARGE, f"a packet of {end - at} bytes; {bound} are allowed")
                if end > len(buffer):
                    break
                packet = self._decode(first, bytes(memoryview(buffer)[start:end]))
                at = end
                self._on(now, packet, found)
        finally:
            del buffer[:at]

    def _decode(self, first: int, body: bytes) -> Packet:
        """A server that knows no version 5 answers in its own: a CONNACK of two bytes."""
        older = self.state is State.ASKING and self.version >= V5 and first >> 4 == Kind.CONNACK and len(body) == 2
        return decode(V311 if older else self.version, first, body)

    def _on(self, now: float, packet: Packet, found: list[Packet | Closed]) -> None:
        self._pinged_at = None
        match packet:
            case Connack() if self.state is State.ASKING:
                self._on_connack(now, packet)
                found.append(packet)
            case Auth() if self.version >= V5:
                self._on_auth(now, packet)
            case Disconnect() if self.version >= V5:
                self.state = State.OVER
                found.append(Closed(packet.code, packet.properties.reason_string or "", by_server=True))
            case _ if self.state is not State.UP:
                raise ProtocolError(f"{type(packet).__name__} before CONNACK")  # [MQTT-3.2.0-1]
            case Publish():
                found.append(self._on_publish(packet))
            case Pingresp():
                pass
            case _ if isinstance(packet, FROM_SERVERS):
                found.append(packet)
            case _:
                raise ProtocolError(f"a server sends no {type(packet).__name__}")

    def _on_connack(self, now: float, packet: Connack) -> None:
        if packet.code:
            self.state = State.OVER
            return
        if packet.session_present and self.connect.clean_start:
            raise ProtocolError("a session is present although a new one was asked for")  # [MQTT-3.2.2-4]
        said = packet.properties
        if self.authenticator is not None:
            self.authenticator.finish(said.authentication_data or b"")
        self.state = State.UP
        self._heard_at = self._sent_at = now
        if said.server_keep_alive_s is not None:
            self.keep_alive_s = float(said.server_keep_alive_s)  # [MQTT-3.1.2-21]
        self.limits = Limits(
            receive_maximum=said.receive_maximum or 65_535,
            maximum_qos=2 if said.maximum_qos is None else said.maximum_qos,
            retain=said.retain_available != 0,
            packet_bytes_max=said.maximum_packet_bytes or 268_435_460,
            topic_aliases_max=min(said.topic_alias_maximum or 0, self.settings.topic_aliases_max),
            wildcards=said.wildcard_available != 0,
            subscription_ids=said.subscription_ids_available != 0,
            shared=said.shared_available != 0,
        )

    def _on_auth(self, now: float, packet: Auth) -> None:
        """§4.12: before CONNACK only a challenge; after it, a challenge or the end of a re-authentication."""
        if self.authenticator is None or packet.properties.authentication_method != self.authenticator.method:
            raise ProtocolError("AUTH that nobody asked for")  # [MQTT-4.12.0-6]
        data = packet.properties.authentication_data or b""
        if packet.code == Reason.CONTINUE_AUTHENTICATION:
            properties = msgspec.structs.replace(
                NONE,
                authentication_method=self.authenticator.method,
                authentication_data=self.authenticator.answer(data),
            )
            self._put(now, encode(self.version, Auth(Reason.CONTINUE_AUTHENTICATION, properties)))  # [MQTT-4.12.0-3]
        elif packet.code == Reason.SUCCESS and self.state is State.UP:
            self.authenticator.finish(data)
        else:
            raise ProtocolError(f"AUTH with code {packet.code:#04x}")

    def _on_publish(self, packet: Publish) -> Publish:
        if packet.qos and packet.packet_id not in self._owed:
            bound = self.connect.properties.receive_maximum
            if bound is not None and len(self._owed) >= bound:  # [MQTT-3.3.4-9]
                raise Refused(Reason.RECEIVE_MAXIMUM_EXCEEDED, f"more than {bound} messages unacknowledged")
            if self.version >= V5:
                self._owed.add(packet.packet_id)
        alias = packet.properties.topic_alias
        if alias is None:
            return packet
        if not 0 < alias <= (self.connect.properties.topic_alias_maximum or 0):  # [MQTT-3.3.2-8], [MQTT-3.3.2-11]
            raise Refused(Reason.TOPIC_ALIAS_INVALID, f"topic alias {alias}")
        topic = packet.topic
        if topic:
            self._names[alias] = topic
        elif alias in self._names:
            topic = self._names[alias]
        else:
            raise Refused(Reason.PROTOCOL_ERROR, f"topic alias {alias} means nothing yet")
        properties = msgspec.structs.replace(packet.properties, topic_alias=None)
        return msgspec.structs.replace(packet, topic=topic, properties=properties)

    def _send_publish(self, now: float, packet: Publish) -> bool:
        bound = self.limits.packet_bytes_max
        alias = self._alias_of(packet.topic)
        if alias:
            known = packet.topic in self._aliases
            properties = msgspec.structs.replace(packet.properties, topic_alias=alias)
            short = msgspec.structs.replace(packet, topic="" if known else packet.topic, properties=properties)
            data = encode(self.version, short)
            if len(data) <= bound:
                self._aliases[packet.topic] = alias
                self._put(now, data)
                return True
        data = encode(self.version, packet)
        if len(data) > bound:
            return False
        self._put(now, data)
        return True

    def _alias_of(self, topic: str) -> int:
        """The topic's alias, or the one it gets; 0: none left. First come, first served: no table to churn."""
        known = self._aliases.get(topic)
        if known is not None:
            return known
        fresh = len(self._aliases) + 1
        return fresh if fresh <= self.limits.topic_aliases_max else 0
