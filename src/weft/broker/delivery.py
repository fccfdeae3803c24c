"""From a publication to sessions: the fan-out that does everything, and the QoS machine's effects for each delivery.

What ``hotpath`` does quickly for the common case is what this does for every case; the two are held to each other by a property
test.
"""

from collections.abc import Sequence

from weft.broker.journal import Journal
from weft.broker.keeping import Keeping
from weft.broker.notices import Notices
from weft.broker.records import Done, Queued, Released, Sent
from weft.broker.routes import Match, Route, Routes
from weft.broker.settings import BrokerSettings
from weft.broker.shared import Group
from weft.mqtt.codec.encode import ack, encode
from weft.mqtt.codec.packets import Pubrel
from weft.mqtt.codec.reasons import Reason
from weft.mqtt.publication import Publication
from weft.mqtt.session.delivery import Delivery
from weft.mqtt.session.session import Link, Session, Subscription
from weft.telemetry.counters import Counters

PUBREL = 0x62


class Deliverer:
    """In: publications with their routes, acknowledgements. Out: packets on links, records, counts."""

    def __init__(
        self,
        settings: BrokerSettings,
        routes: Routes,
        journal: Journal,
        keeping: Keeping,
        counters: Counters,
        notices: Notices,
    ) -> None:
        self.settings = settings
        self.limits = settings.limits
        self.routes = routes
        self.journal = journal
        self.keeping = keeping
        self.counters = counters
        self.notices = notices
        self.queued_bytes = 0
        """Payloads in all queues together."""

    # From one publication to many sessions

    def publish(self, now: float, publication: Publication, route: Route | None = None) -> int:
        """To everybody who subscribed; the answer is how many sessions that were."""
        if route is None:
            route = self.routes.to(publication.topic)
        heard = 0
        for match in route.matches:
            heard += self._to_match(now, match, publication)
        for group in route.groups:
            heard += self.to_group(now, group, publication)
        if not heard:
            self.counters["weft_messages_unheard_total"] += 1
        return heard

    def to_slow(self, now: float, matches: Sequence[Match], groups: Sequence[Group], publication: Publication) -> int:
        """To those of a route whom ``hotpath`` has left out."""
        heard = sum(self._to_match(now, match, publication) for match in matches)
        return heard + sum(self.to_group(now, group, publication) for group in groups)

    def _to_match(self, now: float, match: Match, publication: Publication) -> int:
        session = match.session
        if match.no_local and session.client_id == publication.publisher:  # [MQTT-3.8.3-3]
            return 0
        # [MQTT-3.3.1-12], [MQTT-3.3.1-13]: the flag says "this was retained" unless the subscriber wants the publisher's
        retain = publication.retain and match.retain_as_published
        self.deliver(now, session, publication, min(match.qos, publication.qos), retain, match.identifiers)
        return 1

    def to_group(self, now: float, group: Group, publication: Publication, without: Session | None = None) -> int:
        """To one member of a shared subscription, at the QoS that it was granted [MQTT-4.8.2-3]."""
        member = group.choose(publication, without)
        if member is None:
            return 0
        session, subscription = member
        identifiers = (subscription.identifier,) if subscription.identifier else ()
        retain = publication.retain and subscription.retain_as_published
        self.deliver(now, session, publication, min(subscription.qos, publication.qos), retain, identifiers, group)
        return 1

    def retained(self, now: float, session: Session, subscription: Subscription, publication: Publication) -> None:
        """A retained message for a new subscription: the flag is set [MQTT-3.3.1-8 (3.1.1)]."""
        identifiers = (subscription.identifier,) if subscription.identifier else ()
        self.deliver(now, session, publication, min(subscription.qos, publication.qos), True, identifiers)

    # From one publication to one session

    def deliver(
        self,
        now: float,
        session: Session,
        publication: Publication,
        qos: int,
        retain: bool,
        identifiers: tuple[int, ...],
        group: Group | None = None,
    ) -> None:
        """At ``qos``, now if its client can take it, else when it can."""
        link = session.link
        if qos == 0:
            if link is not None:
                if session.mount:
                    publication = unmounted(publication, session.mount)
                frame = publication.frame(link.version, 0, retain, identifiers, 0, now)
                self._send(link, frame)
            elif self.settings.queue_qos0 and session.survives:
                self._enqueue(now, session, Delivery(publication, 0, retain, identifiers))
            return
        delivery = Delivery(publication, qos, retain, identifiers, group)
        if link is None or not session.outgoing.has_room:
            self._enqueue(now, session, delivery)
            return
        session.outgoing.start(delivery)
        self._record(session, delivery)
        self._start(now, session, delivery)

    def pump(self, now: float, session: Session) -> None:
        """The window has room, or the client is here: send what waits."""
        link, outgoing = session.link, session.outgoing
        while link is not None and (again := outgoing.next_unsent()) is not None:
            self._start(now, session, again, dup=True)
        while link is not None and outgoing.queue and len(outgoing.inflight) < outgoing.window:
            delivery = self._dequeue(session)
            publication = delivery.publication
            assert publication is not None
            if publication.is_expired(now):  # [MQTT-3.3.2-5]
                self.counters["weft_messages_expired_total"] += 1
                self._finish(session, delivery)
            elif delivery.qos == 0:
                self._send(link, self._frame(now, session, delivery, dup=False))
                self._finish(session, delivery)
            else:
                packet_id = outgoing.start(delivery)
                if session.survives:
                    self.journal.append(Sent(session.client_id, delivery.position, packet_id))
                self._start(now, session, delivery)

    def resend(self, now: float, session: Session) -> None:
        """The client is back: everything unacknowledged again, in its order [MQTT-4.4.0-1], [MQTT-4.6.0-1 (3.1.1)]."""
        link, outgoing, started = session.link, session.outgoing, 0
        assert link is not None
        outgoing.unsent = {}
        for packet_id, delivery in list(outgoing.inflight.items()):
            if delivery.released:
                self._release(link, packet_id, delivery)
            elif delivery.publication is not None and started < outgoing.window:
                self._start(now, session, delivery, dup=True)  # [MQTT-3.3.1-1]
                started += 1
            elif delivery.publication is not None:
                outgoing.unsent[delivery.packet_id] = delivery
        self.pump(now, session)

    def _start(self, now: float, session: Session, delivery: Delivery, dup: bool = False) -> None:
        link = session.link
        assert link is not None
        frame = self._frame(now, session, delivery, dup)
        if link.packet_bytes_max and len(frame) > link.packet_bytes_max:
            # [MQTT-3.1.2-25]: as if it had been delivered
            self.counters["weft_messages_dropped_size_total"] += 1
            del session.outgoing.inflight[delivery.packet_id]
            self._finish(session, delivery)
            return
        self.counters["weft_messages_delivered_total"] += 1
        if delivery.qos == 2 and session.survives and self.journal.holds:
            link.hold(frame)  # its identifier must be durable first, or a crash would send it twice under two
        else:
            link.send(frame)

    def _frame(self, now: float, session: Session, delivery: Delivery, dup: bool) -> bytes:
        publication, link = delivery.publication, session.link
        assert publication is not None
        assert link is not None
        if session.mount:
            publication = unmounted(publication, session.mount)
        version = link.version
        return publication.frame(
            version, delivery.qos, delivery.retain, delivery.identifiers, delivery.packet_id, now, dup
        )

    def _send(self, link: Link, frame: bytes) -> None:
        """QoS 0: sent, or dropped because the client said that it cannot take so much [MQTT-3.1.2-24]."""
        if link.packet_bytes_max and len(frame) > link.packet_bytes_max:
            self.counters["weft_messages_dropped_size_total"] += 1
            return
        self.counters["weft_messages_delivered_total"] += 1
        link.send(frame)

    # The queue

    def _enqueue(self, now: float, session: Session, delivery: Delivery) -> None:
        """Behind those that wait; a full queue loses its oldest or this one, by the configuration."""
        outgoing, limits = session.outgoing, self.limits
        publication = delivery.publication
        assert publication is not None
        size = len(publication.payload)
        if session.link is None and not session.survives:
            return
        while (
            len(outgoing.queue) >= limits.queue_messages_max
            or outgoing.queue_bytes + size > limits.queue_bytes_max
            or self.queued_bytes + size > limits.queue_total_bytes_max
        ):
            self.counters["weft_messages_dropped_queue_total"] += 1
            self.notices.say_seldom(now, "warning", "queue full", session.client_id, client=session.client_id)
            if self.settings.queue_full == "newest" or not outgoing.queue:
                return
            self._finish(session, self._dequeue(session))
        outgoing.enqueue(delivery)
        self.queued_bytes += size
        self._record(session, delivery)

    def _dequeue(self, session: Session) -> Delivery:
        delivery = session.outgoing.dequeue()
        assert delivery.publication is not None
        self.queued_bytes -= len(delivery.publication.payload)
        return delivery

    def _record(self, session: Session, delivery: Delivery) -> None:
        """The session is to survive, so what it is owed has to."""
        if session.survives and self.journal.keeps:
            assert delivery.publication is not None
            number = self.keeping.keep(delivery.publication)
            session.outgoing.position += 1
            delivery.position = session.outgoing.position
            self.journal.append(
                Queued(
                    session.client_id,
                    delivery.position,
                    number,
                    delivery.qos,
                    delivery.retain,
                    delivery.identifiers,
                    delivery.packet_id,
                )
            )

    def _finish(self, session: Session, delivery: Delivery) -> None:
        """``delivery`` is over, however it ended."""
        if delivery.position:
            self.journal.append(Done(session.client_id, delivery.position))
            delivery.position = 0
            if delivery.publication is not None:
                self.keeping.drop(delivery.publication)
        delivery.publication = None

    # Acknowledgements (§4.3.2, §4.3.3)

    def on_puback(self, now: float, session: Session, packet_id: int) -> None:
        delivery = session.outgoing.on_puback(packet_id)
        if delivery is not None:
            self._finish(session, delivery)
            if session.outgoing.queue or session.outgoing.unsent:
                self.pump(now, session)

    def on_pubrec(self, now: float, session: Session, packet_id: int, code: int) -> None:
        delivery = session.outgoing.on_pubrec(packet_id, code >= Reason.UNSPECIFIED_ERROR)
        link = session.link
        assert link is not None
        if delivery is None:
            if code < Reason.UNSPECIFIED_ERROR:
                # Nobody waits for it any more; the client must be let go all the same [MQTT-4.3.3-4]
                link.send(encode(link.version, Pubrel(packet_id, Reason.PACKET_IDENTIFIER_NOT_FOUND)))
            return
        if code >= Reason.UNSPECIFIED_ERROR:
            self._finish(session, delivery)
            self.pump(now, session)
            return
        if delivery.publication is not None:
            if delivery.position:
                self.journal.append(Released(session.client_id, delivery.position))
                self.keeping.drop(delivery.publication)
            delivery.publication = None
        self._release(link, packet_id, delivery)

    def _release(self, link: Link, packet_id: int, delivery: Delivery) -> None:
        """PUBREL. The client forgets the identifier when it hears it, so a crash after it must not bring the message again."""
        if delivery.position and self.journal.holds:
            link.hold(ack(PUBREL, packet_id))
        else:
            link.send(ack(PUBREL, packet_id))

    def on_pubcomp(self, now: float, session: Session, packet_id: int) -> None:
        delivery = session.outgoing.on_pubcomp(packet_id)
        if delivery is not None:
            self._finish(session, delivery)
            self.pump(now, session)

    # The end of a session

    def discard(self, now: float, session: Session) -> None:
        """Nothing of it will be asked for again; what a shared subscription gave it goes to another member (§4.8.2)."""
        outgoing = session.outgoing
        left = [*outgoing.inflight.values(), *outgoing.queue]
        outgoing.inflight, outgoing.unsent = {}, {}
        while outgoing.queue:
            self._dequeue(session)
        for delivery in left:
            publication, group, qos = delivery.publication, delivery.group, delivery.qos
            # a QoS 2 message that was begun is for nobody else (§4.8.2)
            is_ours = qos == 1 or not delivery.packet_id
            if group is not None and publication is not None and is_ours and not publication.is_expired(now):
                self.to_group(now, group, publication, without=session)
            self._finish(session, delivery)


def unmounted(publication: Publication, mount: str) -> Publication:
    """As a client behind ``mount`` sees it."""
    topic = publication.topic.removeprefix(mount)
    if topic == publication.topic:
        return publication
    seen = Publication(
        topic, publication.payload, publication.qos, publication.retain, publication.properties, publication.expires_at
    )
    seen.publisher, seen.user = publication.publisher, publication.user
    return seen
