"""What the topics of a new subscription retain, as fast as the client takes it (§3.3.1.3).

A filter may match a million retained messages. They are looked up and sent in slices: the first with the SUBACK, each next one
when the driver has written the last and, at QoS 1 and 2, the client's window has taken it. Each message is what its topic
retains when its turn comes, so nothing that is replayed is older than what the client has heard already.
"""

from collections.abc import Iterator

from weft.broker.hub import Hub
from weft.mqtt.session.session import Session, Subscription

SLICE_MESSAGES, SLICE_BYTES = 500, 65_536


class Replay:
    """In: ``advance``. Out: deliveries to the session. It ends with its connection."""

    __slots__ = ("_broker", "_session", "_subscription", "_topics")

    def __init__(self, broker: Hub, session: Session, subscription: Subscription) -> None:
        self._broker = broker
        self._session = session
        self._subscription = subscription
        self._topics: Iterator[str] = broker.retained.topics(subscription.filter)

    def advance(self, now: float) -> bool:
        """The next slice; False if it was the last."""
        retained, deliverer = self._broker.retained, self._broker.deliverer
        session, subscription = self._session, self._subscription
        if session.subscriptions.get(subscription.name) is not subscription:
            return False  # unsubscribed, or replaced by one with a replay of its own
        messages = size = 0
        while messages < SLICE_MESSAGES and size < SLICE_BYTES and not session.outgoing.queue:
            topic = next(self._topics, None)
            if topic is None:
                return False
            messages += 1
            publication = retained.get(now, topic)
            if publication is None or (subscription.no_local and publication.publisher == session.client_id):
                continue
            size += len(publication.payload) + len(topic)
            deliverer.retained(now, session, subscription, publication)
        return True
