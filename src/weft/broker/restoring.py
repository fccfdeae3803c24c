"""After a restart: sessions, queues, retained messages and wills as the store kept them."""

from weft.broker.hub import Hub
from weft.broker.records import Kept, KeptSession, MessageKept, Queued, SubscriptionKept
from weft.mqtt.codec.kinds import Kind
from weft.mqtt.codec.properties import unpack
from weft.mqtt.publication import Publication
from weft.mqtt.session.delivery import Delivery
from weft.mqtt.session.session import Session, Subscription
from weft.mqtt.topics import split_share


def restore(broker: Hub, now: float, kept: Kept) -> None:
    """Into a broker that nobody has connected to yet."""
    messages = {message.number: _publication(message) for message in kept.messages}
    broker.keeping.last_number = max(messages, default=0)
    for each in kept.retained:
        broker.retained.restore(messages[each.number])
    for session in kept.sessions:
        _session(broker, now, session, messages)
    for publication in messages.values():
        if not publication.refs:  # nobody names it: a crash between two batches
            publication.refs = 1
            broker.keeping.drop(publication)


def _publication(message: MessageKept) -> Publication:
    publication = Publication(
        message.topic,
        message.payload,
        message.qos,
        message.retain,
        unpack(message.properties, 0, len(message.properties), Kind.PUBLISH)[0],
        message.expires_at,
        message.publisher,
        message.user,
    )
    publication.number = message.number
    return publication


def _session(broker: Hub, now: float, kept: KeptSession, messages: dict[int, Publication]) -> None:
    said = kept.session
    session = Session(said.client_id, broker.limits.inflight_max)
    session.expiry_s, session.ends_at, session.user = said.expiry_s, said.ends_at, said.user
    session.subscriptions = {each.request.filter: _subscription(each) for each in kept.subscriptions}
    session.incoming = dict.fromkeys(kept.incoming)
    for queued in kept.queue:
        _delivery(broker, session, queued, messages)
    broker.sessions.restore(now, session)
    if kept.will is not None:
        broker.wills.restore(now, kept.will)


def _delivery(broker: Hub, session: Session, queued: Queued, messages: dict[int, Publication]) -> None:
    """Sent ones keep their identifier: what the client has seen under it is the same message still [MQTT-4.4.0-1]."""
    outgoing = session.outgoing
    publication = messages[queued.number] if queued.number else None
    delivery = Delivery(publication, queued.qos, queued.retain, queued.identifiers)
    delivery.position = outgoing.position = queued.position
    if publication is not None:
        publication.refs += 1
    if queued.packet_id:
        delivery.packet_id = outgoing.last_id = queued.packet_id
        delivery.released = publication is None
        outgoing.inflight[queued.packet_id] = delivery
    else:
        outgoing.enqueue(delivery)
        broker.deliverer.queued_bytes += len(publication.payload) if publication is not None else 0


def _subscription(kept: SubscriptionKept) -> Subscription:
    request = kept.request
    group, filter_ = split_share(request.filter)
    return Subscription(
        request.filter,
        filter_,
        kept.given,
        request.qos,
        request.no_local,
        request.retain_as_published,
        kept.identifier,
        group,
    )
