"""PUBLISH from a client, and the acknowledgements of both directions (§3.3–§3.7, §4.3)."""

from weft.broker.access.api import PUBLISH, RETAIN
from weft.broker.bounds import LimitHit
from weft.broker.connection import Connection
from weft.broker.hub import Hub
from weft.broker.records import Incoming, IncomingDone
from weft.broker.routes import RESERVED
from weft.mqtt.codec.encode import ack, encode
from weft.mqtt.codec.packets import V5, Puback, Pubcomp, Publish, Pubrec, Pubrel
from weft.mqtt.codec.reasons import ProtocolError, Reason, Refused
from weft.mqtt.publication import Publication, forwardable
from weft.mqtt.topics import levels
from weft.telemetry.counters import hit


class Inbound:
    """In: what a connected client publishes and acknowledges. Out: publications, acknowledgements."""

    def __init__(self, broker: Hub) -> None:
        self.broker = broker

    def on_publish(self, connection: Connection, now: float, packet: Publish) -> None:
        broker, session = self.broker, connection.session
        assert session is not None
        broker.counters["weft_messages_received_total"] += 1
        if packet.qos > broker.limits.qos_max:  # [MQTT-3.2.2-11]
            raise LimitHit(
                Reason.QOS_NOT_SUPPORTED, "qos_max", f"QoS {packet.qos}; at most {broker.limits.qos_max} is taken"
            )
        if packet.retain and not broker.settings.retain:  # [MQTT-3.2.2-14]
            raise Refused(Reason.RETAIN_NOT_SUPPORTED, "retained messages are not kept here")
        if packet.properties.subscription_ids:  # [MQTT-3.3.4-6]
            raise ProtocolError("a PUBLISH from a client with a subscription identifier")
        topic = self._topic(connection, packet)
        if packet.qos == 2 and packet.packet_id in session.incoming:
            # [MQTT-4.3.3-10]: the message was taken when the identifier came first; only the answer is wanted again. It may
            # have come over a connection that ended before the message was durable.
            connection.acknowledge(ack(0x50, packet.packet_id), is_recorded=True)
            return
        if packet.qos:
            self._check_receive_maximum(connection)
        refused = self._refusal(connection, topic, packet)
        if refused is not None:
            self._refuse(connection, packet, refused)
            return
        taken: Publication | Reason | None = self._publication(connection, now, topic, packet)
        if broker.plugins.sees_publish and isinstance(taken, Publication):
            taken = self._seen(connection, now, taken)
        if isinstance(taken, Reason):
            self._refuse(connection, packet, taken)
            return
        before = len(broker.journal.records)
        heard = 1 if taken is None else broker.publish(now, taken)
        if packet.qos:
            self._acknowledge(connection, packet, heard, before)

    def _seen(self, connection: Connection, now: float, publication: Publication) -> Publication | Reason | None:
        """What plugins make of it; None: dropped, and acknowledged as if somebody had heard it."""
        assert connection.subject is not None
        answer = self.broker.plugins.publish(now, connection.subject, publication)
        if answer is None:
            self.broker.counters["weft_messages_dropped_plugin_total"] += 1
        self.broker.hear_plugins(now)
        return answer

    def _topic(self, connection: Connection, packet: Publish) -> str:
        """With aliases resolved (§3.3.2.3.4)."""
        alias = packet.properties.topic_alias
        if alias is None:
            return packet.topic
        if alias > self.broker.limits.topic_aliases_max:  # [MQTT-3.3.2-9]
            raise LimitHit(Reason.TOPIC_ALIAS_INVALID, "topic_aliases_max", f"topic alias {alias}")
        if connection.aliases is None:
            connection.aliases = {}
        if packet.topic:
            connection.aliases[alias] = packet.topic  # [MQTT-3.3.2-12]
            return packet.topic
        topic = connection.aliases.get(alias)
        if topic is None:
            raise ProtocolError(f"topic alias {alias} stands for nothing")
        return topic

    def _check_receive_maximum(self, connection: Connection) -> None:
        """[MQTT-3.3.4-7]: what v5's client has been told; the clients of before are merely not read from (``HELD``)."""
        session = connection.session
        assert session is not None
        if connection.version == V5:
            unacknowledged = len(session.incoming) + connection.held_pubacks
            if unacknowledged >= self.broker.limits.receive_maximum:
                raise LimitHit(
                    Reason.RECEIVE_MAXIMUM_EXCEEDED,
                    "receive_maximum",
                    "more messages unacknowledged than the receive maximum",
                )

    def _refusal(self, connection: Connection, topic: str, packet: Publish) -> Reason | None:
        """Why this message is not taken, if it is not."""
        broker, subject = self.broker, connection.subject
        assert subject is not None
        if levels(topic) > broker.limits.topic_levels_max:
            broker.counters[hit("topic_levels_max")] += 1
            return Reason.TOPIC_NAME_INVALID
        if topic.partition("/")[0] == RESERVED or not broker.authority.may(subject, PUBLISH, topic, packet.qos):
            return Reason.NOT_AUTHORIZED
        if packet.retain and not broker.authority.may(subject, RETAIN, topic, packet.qos):
            return Reason.NOT_AUTHORIZED
        return None

    def _refuse(self, connection: Connection, packet: Publish, reason: Reason) -> None:
        """v5 hears it in the acknowledgement; before, there is no way to say it, and the message is acknowledged and gone."""
        self.broker.counters["weft_messages_refused_total"] += 1
        if not packet.qos:
            return
        kind: type[Puback | Pubrec] = Puback if packet.qos == 1 else Pubrec
        if connection.version == V5:
            connection.acknowledge(encode(V5, kind(packet.packet_id, reason)), is_recorded=False)
        else:
            connection.acknowledge(encode(connection.version, kind(packet.packet_id)), is_recorded=False)
            if packet.qos == 2:
                assert connection.session is not None
                connection.session.incoming[packet.packet_id] = None

    def _publication(self, connection: Connection, now: float, topic: str, packet: Publish) -> Publication:
        broker, properties = self.broker, packet.properties
        expiry = properties.message_expiry_s
        most = broker.limits.message_expiry_max_s
        if most and (expiry is None or expiry > most):
            expiry_s: float | None = most
        else:
            expiry_s = expiry
        return Publication(
            broker.named(connection.origin, topic),
            packet.payload,
            packet.qos,
            packet.retain,
            forwardable(properties),
            None if expiry_s is None else now + expiry_s,
            connection.client_id,
            connection.granted.user if connection.granted else None,
        )

    def _acknowledge(self, connection: Connection, packet: Publish, heard: int, before: int) -> None:
        """After the message is ours: stored for whoever must have it, and given to everybody else."""
        broker, session = self.broker, connection.session
        assert session is not None
        if packet.qos == 2:
            session.incoming[packet.packet_id] = None  # [MQTT-4.3.3-8]: kept until PUBREL
            if session.survives:
                broker.journal.append(Incoming(session.client_id, packet.packet_id))
        is_recorded = len(broker.journal.records) > before
        first = 0x40 if packet.qos == 1 else 0x50
        if heard or connection.version != V5:
            answer = ack(first, packet.packet_id)
        else:
            answer = bytes((first, 3)) + packet.packet_id.to_bytes(2, "big") + bytes((Reason.NO_MATCHING_SUBSCRIBERS,))
        connection.acknowledge(answer, is_recorded)

    def on_pubrel(self, connection: Connection, now: float, packet: Pubrel) -> None:
        """The client knows that we have it: the identifier is free again [MQTT-4.3.3-11]."""
        session = connection.session
        assert session is not None
        if packet.packet_id in session.incoming:
            del session.incoming[packet.packet_id]
            if session.survives:
                self.broker.journal.append(IncomingDone(session.client_id, packet.packet_id))
            # Its next message may have this identifier: after a crash that must not look like this one again.
            connection.acknowledge(ack(0x70, packet.packet_id), is_recorded=session.survives)
        elif connection.version == V5:
            connection.send(encode(V5, Pubcomp(packet.packet_id, Reason.PACKET_IDENTIFIER_NOT_FOUND)))
        else:
            connection.send(ack(0x70, packet.packet_id))

    def on_puback(self, connection: Connection, now: float, packet: Puback) -> None:
        assert connection.session is not None
        self.broker.deliverer.on_puback(now, connection.session, packet.packet_id)

    def on_pubrec(self, connection: Connection, now: float, packet: Pubrec) -> None:
        assert connection.session is not None
        self.broker.deliverer.on_pubrec(now, connection.session, packet.packet_id, packet.code)

    def on_pubcomp(self, connection: Connection, now: float, packet: Pubcomp) -> None:
        assert connection.session is not None
        self.broker.deliverer.on_pubcomp(now, connection.session, packet.packet_id)
