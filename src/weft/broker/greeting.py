"""CONNECT and AUTH: who is let in, under which session, and what the CONNACK says (§3.1, §3.2, §3.15, §4.12)."""

from typing import Any

import msgspec

from weft.broker.access.api import (
    PUBLISH,
    RETAIN,
    WILL,
    Challenge,
    ConversationWork,
    Credentials,
    Denied,
    Granted,
    Subject,
    Success,
    Work,
)
from weft.broker.bounds import LimitHit
from weft.broker.connection import ADMITTING, ConnectDue, Connection, State
from weft.broker.hub import Hub
from weft.broker.quota import Quota
from weft.broker.routes import BRIDGE, BRIDGES
from weft.broker.sessions import NEVER_S
from weft.mqtt.codec.encode import encode
from weft.mqtt.codec.packets import V5, V31, Auth, Connack, Connect, Will
from weft.mqtt.codec.properties import NONE, Properties
from weft.mqtt.codec.reasons import ProtocolError, Reason, Refused
from weft.mqtt.session.session import Session

ASSIGNED_ALPHABET = "abcdefghjkmnpqrstuvwxyz23456789"
ASSIGNED_CHARACTERS = 20


class GrantEnds(msgspec.Struct, frozen=True, gc=False):
    """Timer: a token has expired."""

    number: int


class Greeting:
    """In: CONNECT, AUTH, verdicts. Out: a CONNACK, and a session linked to the connection."""

    def __init__(self, broker: Hub) -> None:
        self.broker = broker

    # CONNECT

    def on_connect(self, connection: Connection, now: float, packet: Connect) -> None:
        connection.version = packet.version
        connection.is_bridge = packet.bridge
        connection.problem_information = packet.properties.request_problem_information != 0
        connection.packet_bytes_max = packet.properties.maximum_packet_bytes or 0
        connection.client_id = packet.client_id or self._assigned(packet)
        if len(connection.client_id.encode()) > self.broker.limits.client_id_bytes_max:
            raise LimitHit(Reason.CLIENT_IDENTIFIER_NOT_VALID, "client_id_bytes_max", "client identifier too long")
        is_bridge = connection.origin.transport == BRIDGE
        if connection.client_id.startswith(BRIDGES) is not is_bridge:
            raise Refused(
                Reason.CLIENT_IDENTIFIER_NOT_VALID, f"client identifiers that begin with {BRIDGES} are for bridges"
            )
        connection.state = State.ADMITTING
        connection.pause(ADMITTING)
        connection.pending = packet
        if is_bridge:  # part of this process: its settings say what it may do
            self.verdict(connection, now, Granted(None, is_superuser=True))
            return
        credentials = self._credentials(connection, packet)
        method = packet.properties.authentication_method
        if method is None:
            self.verdict(connection, now, self.broker.authority.admit(now, credentials))
            return
        conversation = self.broker.authority.converse(now, method, credentials)
        if conversation is None:  # [MQTT-4.12.0-1]
            raise Refused(Reason.BAD_AUTHENTICATION_METHOD, f"authentication method {method!r} is not offered")
        connection.method = method
        connection.conversation = conversation
        self.verdict(connection, now, conversation.step(now, packet.properties.authentication_data or b""))

    def _assigned(self, packet: Connect) -> str:
        """For a client without one: unguessable [MQTT-3.1.3-6]; 3.1 has no such thing, and 3.1.1 only for clean sessions."""
        if packet.version == V31 or (packet.version < V5 and not packet.clean_start):  # [MQTT-3.1.3-8 (3.1.1)]
            raise Refused(Reason.CLIENT_IDENTIFIER_NOT_VALID, "an empty client identifier needs a clean session")
        while True:
            drawn = "".join(self.broker.rng.choice(ASSIGNED_ALPHABET) for _ in range(ASSIGNED_CHARACTERS))
            if f"weft-{drawn}" not in self.broker.sessions.by_client:  # [MQTT-3.2.2-16]
                return f"weft-{drawn}"

    @staticmethod
    def _credentials(connection: Connection, packet: Connect) -> Credentials:
        return Credentials(connection.client_id, packet.username, packet.password, connection.origin, packet.version)

    # Verdicts

    def verdict(self, connection: Connection, now: float, result: Any) -> None:
        """What the authority says of whoever waits, now or after its ``Work``."""
        if connection.is_closed:
            if isinstance(result, Granted | Denied) and isinstance(connection.pending, Connect):
                self.broker.authority.admitted(now, self._credentials(connection, connection.pending), result)
        elif isinstance(result, Work | ConversationWork):
            connection.pause(ADMITTING)
            self.broker.works.append((connection, result.run))
        elif isinstance(result, Challenge):
            self._challenge(connection, result)
        elif isinstance(result, Success):
            self._admitted(connection, now, result.granted, result.data)
        elif isinstance(result, Granted):
            self._admitted(connection, now, result, None)
        else:
            assert isinstance(result, Denied)
            self._denied(connection, now, result)

    def _challenge(self, connection: Connection, challenge: Challenge) -> None:
        """[MQTT-4.12.0-2], [MQTT-4.12.0-3]: another AUTH is awaited."""
        connection.unpause(ADMITTING)
        self._send_auth(connection, Reason.CONTINUE_AUTHENTICATION, challenge.data)

    def _denied(self, connection: Connection, now: float, denied: Denied) -> None:
        self.broker.counters["weft_connects_denied_total"] += 1
        if isinstance(connection.pending, Connect):
            credentials = self._credentials(connection, connection.pending)
            self.broker.authority.admitted(now, credentials, denied)
        connection.disconnect(now, denied.reason, denied.text)

    def _admitted(self, connection: Connection, now: float, granted: Granted, data: bytes | None) -> None:
        packet = connection.pending
        if isinstance(packet, Auth):
            self._reauthenticated(connection, now, granted, data)
            return
        assert isinstance(packet, Connect)
        self.broker.authority.admitted(now, self._credentials(connection, packet), granted)
        connection.granted = granted
        connection.subject = Subject(connection.client_id, granted, connection.origin)
        will = self._will(connection, packet.will)
        sessions = self.broker.sessions
        if sessions.is_full and connection.client_id not in sessions.by_client:
            raise LimitHit(Reason.QUOTA_EXCEEDED, "sessions_total_max", "no more sessions")
        self._check_owner(connection, granted)
        expiry_s = self._expiry(packet)
        welcome = self._welcome(connection, packet, expiry_s, data)
        if not connection.takes(encode(packet.version, Connack(False, Reason.SUCCESS, welcome))):
            raise Refused(Reason.PACKET_TOO_LARGE, "the CONNACK would be larger than the client takes")
        self._takeover(now, connection.client_id)
        clean = packet.clean_start or self._is_elsewhere(connection)
        session, present = sessions.open(now, connection.client_id, clean, expiry_s, granted.user)
        self._link(connection, now, packet, session, will)
        present = present and packet.version != V31  # 3.1 has no such flag
        connection.send(encode(packet.version, Connack(present, Reason.SUCCESS, welcome)))  # [MQTT-3.2.0-1]
        self._opened(now, connection)
        connection.resume(now)

    def _will(self, connection: Connection, will: Will | None) -> Will | None:
        """A will is refused here rather than lost later."""
        if will is None:
            return None
        broker, subject = self.broker, connection.subject
        assert subject is not None
        if will.qos > broker.limits.qos_max:  # [MQTT-3.2.2-12]
            raise LimitHit(Reason.QOS_NOT_SUPPORTED, "qos_max", f"a will at QoS {will.qos}")
        if will.retain and not broker.settings.retain:  # [MQTT-3.2.2-13]
            raise Refused(Reason.RETAIN_NOT_SUPPORTED, "a retained will")
        actions = (PUBLISH, WILL, RETAIN) if will.retain else (PUBLISH, WILL)
        if not all(broker.authority.may(subject, action, will.topic, will.qos) for action in actions):
            raise Refused(Reason.NOT_AUTHORIZED, f"a will on {will.topic!r} is not allowed")
        topic = broker.named(connection.origin, will.topic)
        return Will(topic, will.payload, will.qos, will.retain, will.properties)

    def _expiry(self, packet: Connect) -> float:
        """v5 says it; before, a session that is not clean does not expire (§3.1.2.11.2)."""
        if packet.version < V5:
            return 0.0 if packet.clean_start else self.broker.sessions.capped(NEVER_S)
        return self.broker.sessions.capped(packet.properties.session_expiry_s or 0)

    def _link(self, connection: Connection, now: float, packet: Connect, session: Session, will: Will | None) -> None:
        limits = self.broker.limits
        session.mount = connection.origin.mount
        session.connected_at = now
        session.outgoing.window = min(
            limits.inflight_max, packet.properties.receive_maximum or 65_535
        )  # [MQTT-3.3.4-9]
        session.link = connection
        connection.session = session
        connection.will = will
        connection.keep_alive_s = self._keep_alive(packet)
        if limits.messages_per_second_max or limits.bytes_per_second_max:
            connection.quota = Quota(now, limits.messages_per_second_max, limits.bytes_per_second_max)
        connection.state = State.CONNECTED
        connection.is_plain = self._is_plain(connection)
        connection.pending = None
        connection.unpause(ADMITTING)

    def _keep_alive(self, packet: Connect) -> int:
        """v5's clients can be told a shorter one; others are taken at their word [MQTT-3.2.2-22]."""
        most = self.broker.limits.keep_alive_max_s
        if most and packet.version == V5 and not 0 < packet.keep_alive_s <= most:
            return most
        return packet.keep_alive_s

    def _welcome(self, connection: Connection, packet: Connect, expiry_s: float, data: bytes | None) -> Properties:
        """What the CONNACK tells."""
        if packet.version < V5:
            return NONE
        limits, settings = self.broker.limits, self.broker.settings
        asked = packet.properties.session_expiry_s or 0
        keep_alive_s = self._keep_alive(packet)
        return Properties(
            session_expiry_s=None if expiry_s == asked else int(expiry_s),
            receive_maximum=limits.receive_maximum,
            maximum_qos=limits.qos_max if limits.qos_max < 2 else None,  # [MQTT-3.2.2-9]
            retain_available=None if settings.retain else 0,
            maximum_packet_bytes=limits.packet_bytes_max,
            assigned_client_id=None if packet.client_id else connection.client_id,  # [MQTT-3.2.2-16]
            topic_alias_maximum=limits.topic_aliases_max or None,
            wildcard_available=None if settings.wildcards else 0,
            shared_available=None if settings.shared else 0,
            server_keep_alive_s=None if keep_alive_s == packet.keep_alive_s else keep_alive_s,
            authentication_method=packet.properties.authentication_method,
            authentication_data=data or None,
        )

    def _is_elsewhere(self, connection: Connection) -> bool:
        """Behind another mount its subscriptions would mean other topics: that is another session."""
        session = self.broker.sessions.by_client.get(connection.client_id)
        return session is not None and session.mount not in (None, connection.origin.mount)

    def _check_owner(self, connection: Connection, granted: Granted) -> None:
        """A session of one user is not for another, who would get what was queued for him; nobody's is for anybody."""
        session = self.broker.sessions.by_client.get(connection.client_id)
        if session is not None and session.user is not None and session.user != granted.user:
            raise Refused(Reason.NOT_AUTHORIZED, "the client identifier belongs to a session of another user")

    def _takeover(self, now: float, client_id: str) -> None:
        """Whoever holds ``client_id`` goes [MQTT-3.1.4-3], [MQTT-3.1.4-2 (3.1.1)]."""
        session = self.broker.sessions.by_client.get(client_id)
        if session is not None and session.link is not None:
            self.broker.counters["weft_sessions_taken_over_total"] += 1
            holder = session.link
            assert isinstance(holder, Connection)
            holder.disconnect(now, Reason.SESSION_TAKEN_OVER, "the client identifier connected again")

    def _is_plain(self, connection: Connection) -> bool:
        """May ``hotpath`` take this connection's packets, and others' packets to it?"""
        limits = self.broker.limits
        return (
            not connection.origin.mount
            and not connection.packet_bytes_max
            and limits.qos_max > 0
            and not limits.message_expiry_max_s
            and not self.broker.plugins.sees_publish
        )

    def _opened(self, now: float, connection: Connection) -> None:
        """The CONNACK is on its way; what the session is owed follows."""
        broker, session = self.broker, connection.session
        assert session is not None
        broker.counters["weft_connects_accepted_total"] += 1
        broker.timers.cancel(ConnectDue(connection.number))
        broker.wills.connected(session, connection.will)
        if connection.keep_alive_s:
            broker.keepalives.add(connection)
        self._granted_until(connection)
        broker.routes.moved(session)
        assert connection.subject is not None
        broker.review(session, connection.subject)
        broker.deliverer.resend(now, session)
        if broker.plugins:
            broker.plugins.connected(now, connection.subject)
            broker.hear_plugins(now)

    def _granted_until(self, connection: Connection) -> None:
        """A token's end is the connection's end, unless it is renewed."""
        token = GrantEnds(connection.number)
        if connection.granted is None or connection.granted.until is None:
            self.broker.timers.cancel(token)
        else:
            self.broker.timers.set(token, connection.granted.until)

    # AUTH

    def on_auth(self, connection: Connection, now: float, packet: Auth) -> None:
        """More of a conversation, or a new one on a connection that had one [MQTT-4.12.1-1]."""
        method = packet.properties.authentication_method
        if connection.version != V5 or connection.conversation is None:  # [MQTT-4.12.0-7]
            raise ProtocolError("AUTH without an authentication method in the CONNECT")
        if method != connection.method:  # [MQTT-4.12.0-5]
            raise ProtocolError("AUTH changes the authentication method")
        if connection.state is State.CONNECTED:
            if packet.code == Reason.RE_AUTHENTICATE:
                self._begin_again(connection, now, packet)
                return
            if connection.pending is None:
                raise ProtocolError("AUTH continues what was not begun")
        if packet.code != Reason.CONTINUE_AUTHENTICATION:
            raise ProtocolError(f"AUTH with reason {packet.code:#04x} is not for now")
        self.verdict(connection, now, connection.conversation.step(now, packet.properties.authentication_data or b""))

    def _begin_again(self, connection: Connection, now: float, packet: Auth) -> None:
        assert connection.subject is not None
        credentials = Credentials(connection.client_id, None, None, connection.origin, V5)
        method = connection.method
        assert method is not None
        conversation = self.broker.authority.converse(now, method, credentials)
        if conversation is None:
            raise Refused(Reason.BAD_AUTHENTICATION_METHOD, f"authentication method {method!r} is not offered any more")
        connection.conversation = conversation
        connection.pending = packet
        self.verdict(connection, now, conversation.step(now, packet.properties.authentication_data or b""))

    def _reauthenticated(self, connection: Connection, now: float, granted: Granted, data: bytes | None) -> None:
        """The connection goes on with the rights it has now; as somebody else it may not."""
        assert connection.granted is not None
        if granted.user != connection.granted.user:
            raise Refused(Reason.NOT_AUTHORIZED, "re-authenticated as somebody else")
        connection.granted = granted
        connection.subject = Subject(connection.client_id, granted, connection.origin)
        connection.pending = None
        connection.routes.clear()
        connection.unpause(ADMITTING)
        self._send_auth(connection, Reason.SUCCESS, data)
        self._granted_until(connection)

    @staticmethod
    def _send_auth(connection: Connection, reason: Reason, data: bytes | None) -> None:
        properties = Properties(authentication_method=connection.method, authentication_data=data or None)
        packet = encode(V5, Auth(reason, properties))
        if not connection.takes(packet):
            raise Refused(Reason.PACKET_TOO_LARGE, "the AUTH would be larger than the client takes")
        connection.send(packet)
