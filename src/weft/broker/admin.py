"""What an operator may ask of a broker and tell it to do: pure functions, for the admin interface, tests, and whoever comes.

Every answer is bounded: lists come in ``Pages``, details are cut where ``reports`` says so. What cannot be is a ``Misuse``;
what is not there is None. Commands act as clients would, minus access rules; afterwards the driver has something to do.
"""

from collections.abc import Callable, Iterator
from itertools import islice
from typing import TYPE_CHECKING

from weft import __version__
from weft.broker.census import Census
from weft.broker.connection import Connection
from weft.broker.pages import ITEMS_MAX, Pages
from weft.broker.reports import (
    DELIVERIES_MAX,
    LISTED_MAX,
    PAYLOAD_BYTES_MAX,
    Client,
    ClientDetail,
    ClientPage,
    Deleted,
    DeliveryRow,
    Ended,
    FilterPage,
    FilterRow,
    LimitsInForce,
    Published,
    PublishOrder,
    Receiver,
    RetainedDetail,
    RetainedPage,
    RetainedSummary,
    RouteReport,
    SessionPage,
    SessionSummary,
    SharedReceivers,
    Status,
    SubscriptionPage,
    SubscriptionRow,
)
from weft.core.errors import Misuse
from weft.mqtt.codec.properties import Properties
from weft.mqtt.codec.reasons import Reason, Refused
from weft.mqtt.publication import Publication
from weft.mqtt.session.session import Session, Subscription
from weft.mqtt.topics import check_filter, check_name, levels
from weft.telemetry.gauges import Gauges

if TYPE_CHECKING:
    from weft.broker.broker import Broker
    from weft.mqtt.session.delivery import Delivery

REASON_CHARACTERS_MAX = 200


class Admin:
    """Bound to one broker. In: questions, orders. Out: the values of ``reports``."""

    def __init__(self, broker: "Broker", started_at: float) -> None:
        self.broker = broker
        self.started_at = started_at
        self._pages = Pages()
        self._census = Census()

    # ---------------------------------------------------------------------------------------------------- overview

    def status(self, now: float, trouble: str | None) -> Status:
        """``trouble``: why clients should not come, as the host sees it."""
        broker, counters = self.broker, self.broker.counters
        sums = self._census.take(broker.sessions.by_client)
        return Status(
            version=__version__,
            uptime_s=round(now - self.started_at, 3),
            ready=trouble is None,
            trouble=trouble,
            connections=len(broker.connections),
            sessions=len(broker.sessions.by_client),
            sessions_online=sums.online,
            subscriptions=broker.routes.subscriptions,
            retained=broker.retained.count,
            retained_bytes=broker.retained.bytes,
            queued=sums.queued,
            queued_bytes=broker.deliverer.queued_bytes,
            inflight=sums.inflight,
            messages_received=counters["weft_messages_received_total"],
            messages_delivered=counters["weft_messages_delivered_total"],
            bytes_received=counters["weft_bytes_received_total"],
            bytes_sent=counters["weft_bytes_sent_total"],
        )

    def measure(self, now: float, gauges: Gauges) -> None:
        """Everything that the broker itself knows, by the names of ``telemetry.gauges``."""
        broker = self.broker
        sums = self._census.take(broker.sessions.by_client)
        gauges.say(f'weft_build_info{{version="{__version__}"}}', 1)
        gauges.say("weft_uptime_seconds", now - self.started_at)
        gauges.say("weft_connections", len(broker.connections))
        gauges.say("weft_sessions_online", sums.online)
        gauges.say("weft_sessions_offline", len(broker.sessions.by_client) - sums.online)
        gauges.say("weft_subscriptions", broker.routes.subscriptions)
        gauges.say("weft_retained_messages", broker.retained.count)
        gauges.say("weft_retained_bytes", broker.retained.bytes)
        gauges.say("weft_queued_messages", sums.queued)
        gauges.say("weft_queued_bytes", broker.deliverer.queued_bytes)
        gauges.say("weft_inflight_messages", sums.inflight)
        gauges.say("weft_journal_records", len(broker.journal.records))

    def limits(self) -> LimitsInForce:
        return LimitsInForce(self.broker.settings)

    # ------------------------------------------------------------------------------------------ clients and sessions

    def clients(
        self, now: float, cursor: str = "", limit: int = 100, contains: str = "", user: str | None = None
    ) -> ClientPage:
        """Those connected now whose client id contains ``contains``."""

        def rows(client_id: str) -> Iterator[Client]:
            session = self.broker.sessions.by_client.get(client_id)
            if session is None or session.link is None or (user is not None and session.user != user):
                return
            if contains in client_id:
                yield self._client(session)

        items, after = self._pages.read(now, "clients", cursor, _bounded(limit), self._client_ids, rows)
        return ClientPage(items, after)

    def sessions(
        self, now: float, cursor: str = "", limit: int = 100, contains: str = "", online: bool | None = None
    ) -> SessionPage:
        """All, or those whose client is here, or is away."""

        def rows(client_id: str) -> Iterator[SessionSummary]:
            session = self.broker.sessions.by_client.get(client_id)
            if session is not None and contains in client_id and online in (None, session.link is not None):
                yield _session(session)

        items, after = self._pages.read(now, "sessions", cursor, _bounded(limit), self._client_ids, rows)
        return SessionPage(items, after)

    def client(self, client_id: str) -> ClientDetail | None:
        """Its connection, if there is one, its session, and the beginning of what it has to do."""
        session = self.broker.sessions.by_client.get(client_id)
        if session is None:
            return None
        return ClientDetail(
            client=self._client(session) if session.link is not None else None,
            session=_session(session),
            subscriptions=[_subscription(session, one) for one in islice(session.subscriptions.values(), LISTED_MAX)],
            inflight=[_delivery(one) for one in islice(session.outgoing.inflight.values(), DELIVERIES_MAX)],
            queue=[_delivery(one) for one in islice(session.outgoing.queue, DELIVERIES_MAX)],
        )

    def kick(self, now: float, client_id: str, text: str = "") -> Ended | None:
        """Close its connection, with reason 0x98 and ``text`` where the version has such; its session stays (§3.14.2.1)."""
        connection = self._connection(client_id)
        if connection is None:
            return None
        connection.disconnect(now, Reason.ADMINISTRATIVE_ACTION, _reason(text))
        return Ended(client_id, online=True)

    def discard(self, now: float, client_id: str, text: str = "") -> Ended | None:
        """End its session and forget all that was kept for it; its client, if it is here, is disconnected."""
        session = self.broker.sessions.by_client.get(client_id)
        if session is None:
            return None
        connection = self._connection(client_id)
        if connection is not None:
            connection.disconnect(now, Reason.ADMINISTRATIVE_ACTION, _reason(text))
        if self.broker.sessions.by_client.get(client_id) is session:  # it outlived its connection
            self.broker.sessions.discard(now, session)
        return Ended(client_id, online=connection is not None)

    def _client_ids(self) -> list[str]:
        return list(self.broker.sessions.by_client)

    def _connection(self, client_id: str) -> Connection | None:
        session = self.broker.sessions.by_client.get(client_id)
        return None if session is None else _connection(session)

    def _client(self, session: Session) -> Client:
        connection = _connection(session)
        assert connection is not None
        origin = connection.origin
        return Client(
            client_id=session.client_id,
            user=session.user,
            version=connection.version,
            address=origin.address,
            port=origin.port,
            listener=origin.listener,
            transport=origin.transport,
            keep_alive_s=connection.keep_alive_s,
            heard_at=connection.heard_at,
            connected_at=session.connected_at,
            out_buffer_bytes=sum(map(len, connection.out)),
            reading=connection.reading,
        )

    # ------------------------------------------------------------------------------------------- subscriptions, routes

    def subscriptions(
        self, now: float, cursor: str = "", limit: int = 100, client: str | None = None, pattern: str | None = None
    ) -> SubscriptionPage:
        """All, or those of one client, or those with exactly this filter, matched or given."""

        def keys() -> list[str]:
            return self._client_ids() if client is None else [client]

        def rows(client_id: str) -> Iterator[SubscriptionRow]:
            session = self.broker.sessions.by_client.get(client_id)
            if session is None:
                return
            for subscription in session.subscriptions.values():
                if pattern is None or pattern in (subscription.filter, subscription.given):
                    yield _subscription(session, subscription)

        items, after = self._pages.read(now, "subscriptions", cursor, _bounded(limit), keys, rows)
        return SubscriptionPage(items, after)

    def filters(self, now: float, cursor: str = "", limit: int = 100, contains: str = "") -> FilterPage:
        """What is subscribed to, and by how many."""
        routes = self.broker.routes

        def rows(filter_: str) -> Iterator[FilterRow]:
            subscribers = routes.subscribers(filter_)
            if subscribers and contains in filter_:
                yield FilterRow(filter_, subscribers)

        items, after = self._pages.read(now, "topics", cursor, _bounded(limit), lambda: list(routes.filters()), rows)
        return FilterPage(items, after)

    def route(self, topic: str) -> RouteReport:
        """Who would get a message published to ``topic`` now."""
        _check(check_name, topic)
        route = self.broker.routes.to(topic)
        shared = [
            SharedReceivers(
                group.name,
                group.filter,
                len(group.members),
                [_member(session, one) for session, one in islice(group.members.items(), DELIVERIES_MAX)],
            )
            for group in islice(route.groups, DELIVERIES_MAX)
        ]
        receivers = [
            Receiver(
                match.session.client_id,
                match.session.link is not None,
                match.qos,
                match.no_local,
                match.identifiers,
            )
            for match in islice(route.matches, LISTED_MAX)
        ]
        return RouteReport(topic, len(route.matches), receivers, shared)

    # -------------------------------------------------------------------------------------------- retained, publishing

    def retained(self, now: float, cursor: str = "", limit: int = 100, pattern: str = "#") -> RetainedPage:
        """Those whose topic matches the filter ``pattern``."""
        _check(check_filter, pattern)
        retained = self.broker.retained

        def rows(topic: str) -> Iterator[RetainedSummary]:
            found = retained.get(now, topic)
            if found is not None:
                yield _retained(found)

        items, after = self._pages.read(
            now, "retained", cursor, _bounded(limit), lambda: retained.topics(pattern), rows
        )
        return RetainedPage(items, after)

    def retained_at(self, now: float, topic: str) -> RetainedDetail | None:
        """What ``topic`` retains, with its payload."""
        found = self.broker.retained.get(now, topic)
        if found is None:
            return None
        payload = bytes(found.payload[:PAYLOAD_BYTES_MAX])
        try:
            text = payload.decode()
        except UnicodeDecodeError:
            text = None
        return RetainedDetail(_retained(found), payload, text, found.properties.content_type)

    def forget_retained(self, topic: str) -> Deleted | None:
        """Delete what ``topic`` retains."""
        return Deleted(topic) if self.broker.retained.delete(topic) else None

    def publish(self, now: float, order: PublishOrder) -> Published:
        """On behalf of nobody: access rules do not apply, the standard and the broker's limits do."""
        limits = self.broker.settings.limits
        _check(check_name, order.topic)
        if levels(order.topic) > limits.topic_levels_max:
            raise Misuse(f"a topic has at most {limits.topic_levels_max} levels")
        if order.response_topic is not None:
            _check(check_name, order.response_topic)
        if order.payload is not None and order.payload_base64 is not None:
            raise Misuse("give payload or payload_base64, not both")
        payload = order.payload_base64 or (order.payload or "").encode()
        if len(payload) + len(order.topic.encode()) > limits.packet_bytes_max:
            raise Misuse(f"a message has at most {limits.packet_bytes_max} bytes, topic included")
        if order.retain and not self.broker.settings.retain:
            raise Misuse("this broker retains no messages (setting 'retain')")
        properties = Properties(
            payload_format=1 if order.payload is not None else None,
            content_type=order.content_type,
            response_topic=order.response_topic,
            correlation_data=order.correlation_data,
            user=tuple(order.user_properties),
        )
        expires_at = None if order.expiry_s is None else now + order.expiry_s
        qos = min(order.qos, limits.qos_max)
        publication = Publication(order.topic, payload, qos, order.retain, properties, expires_at)
        return Published(order.topic, self.broker.publish(now, publication))


def _bounded(limit: int) -> int:
    if not 1 <= limit <= ITEMS_MAX:
        raise Misuse(f"a page has 1 to {ITEMS_MAX} items, not {limit}")
    return limit


def _connection(session: Session) -> Connection | None:
    """A session's link is its connection, which knows more than a session has to."""
    link = session.link
    assert link is None or isinstance(link, Connection)
    return link


def _check(check: Callable[[str], None], topic: str) -> None:
    """The standard's rules for names and filters, as an error of our caller."""
    try:
        check(topic)
    except Refused as refused:
        raise Misuse(f"'{topic[:100]}': {refused}") from None


def _reason(text: str) -> str:
    """What a client is told: one line, bounded."""
    return " ".join(text.split())[:REASON_CHARACTERS_MAX] or "disconnected by the operator"


def _session(session: Session) -> SessionSummary:
    outgoing = session.outgoing
    return SessionSummary(
        client_id=session.client_id,
        user=session.user,
        online=session.link is not None,
        expiry_s=session.expiry_s,
        ends_at=session.ends_at,
        subscriptions=len(session.subscriptions),
        inflight=len(outgoing.inflight),
        queued=len(outgoing.queue),
        queued_bytes=outgoing.queue_bytes,
    )


def _subscription(session: Session, subscription: Subscription) -> SubscriptionRow:
    return SubscriptionRow(
        client_id=session.client_id,
        filter=subscription.filter,
        given=subscription.given,
        qos=subscription.qos,
        group=subscription.group,
        no_local=subscription.no_local,
        retain_as_published=subscription.retain_as_published,
        identifier=subscription.identifier,
    )


def _member(session: Session, subscription: Subscription) -> Receiver:
    identifiers = (subscription.identifier,) if subscription.identifier else ()
    return Receiver(session.client_id, session.link is not None, subscription.qos, subscription.no_local, identifiers)


def _delivery(delivery: "Delivery") -> DeliveryRow:
    publication = delivery.publication
    return DeliveryRow(
        delivery.packet_id,
        delivery.qos,
        delivery.released,
        None if publication is None else publication.topic,
        None if publication is None else len(publication.payload),
    )


def _retained(publication: Publication) -> RetainedSummary:
    return RetainedSummary(
        publication.topic,
        len(publication.payload),
        publication.qos,
        publication.publisher,
        publication.user,
        publication.expires_at,
    )
