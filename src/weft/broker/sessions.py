"""Sessions by client id: begun, resumed, taken over, ended, expired, and found again after a restart (§4.1)."""

import msgspec

from weft.broker.delivery import Deliverer
from weft.broker.journal import Journal
from weft.broker.records import SessionGone, SessionKept, SubscriptionGone, SubscriptionKept
from weft.broker.routes import Routes
from weft.broker.settings import Limits
from weft.broker.wills import Wills
from weft.core.timers import Timers
from weft.mqtt.codec.packets import Request
from weft.mqtt.session.session import Session, Subscription

NEVER_S = 0xFFFF_FFFF
"""Session Expiry Interval: the session does not expire (§3.1.2.11.2)."""


class SessionEnds(msgspec.Struct, frozen=True, gc=False):
    """Timer: the expiry has passed."""

    client_id: str


class Sessions:
    """Invariant: a client id names at most one session, and a session has at most one link [MQTT-3.1.4-3]."""

    def __init__(
        self,
        limits: Limits,
        timers: Timers,
        routes: Routes,
        deliverer: Deliverer,
        journal: Journal,
        wills: Wills,
    ) -> None:
        self.by_client: dict[str, Session] = {}
        self.limits = limits
        self._timers = timers
        self._routes = routes
        self._deliverer = deliverer
        self._journal = journal
        self._wills = wills

    @property
    def is_full(self) -> bool:
        return len(self.by_client) >= self.limits.sessions_total_max

    def capped(self, expiry_s: float) -> float:
        """As long as the client wishes, and the configuration allows."""
        return min(float(expiry_s), self.limits.session_expiry_max_s)

    def open(
        self, now: float, client_id: str, clean: bool, expiry_s: float, user: str | None = None
    ) -> tuple[Session, bool]:
        """The session of a client that has just been let in, not yet linked; and whether it was there before.

        Whoever held it before has been disconnected by now.
        """
        session = self.by_client.get(client_id)
        if session is not None and clean:  # [MQTT-3.1.2-4]
            self.discard(now, session)
            session = None
        present = session is not None  # [MQTT-3.1.2-5], [MQTT-3.1.2-6]
        if session is None:
            session = self.by_client[client_id] = Session(client_id, self.limits.inflight_max)
        session.ends_at = None
        session.user = user  # before it is kept: after a crash it must still be known whose it was
        self._timers.cancel(SessionEnds(client_id))
        survived = session.survives
        session.expiry_s = expiry_s
        if session.survives:
            self._keep(session)
        elif survived:
            self._journal.append(SessionGone(client_id))  # it goes on, but no longer than this connection
        return session, present

    def closed(self, now: float, session: Session) -> None:
        """Its connection is gone: it ends now, or when its expiry has passed."""
        if not session.survives:
            self.discard(now, session)
            return
        session.link = None
        self._routes.moved(session)
        if session.expiry_s < NEVER_S:
            session.ends_at = now + session.expiry_s
            self._timers.set(SessionEnds(session.client_id), session.ends_at)
        self._keep(session)

    def set_expiry(self, session: Session, expiry_s: float) -> None:
        """DISCONNECT may change it (§3.14.2.2.2)."""
        expiry_s = self.capped(expiry_s)
        if session.survives and expiry_s <= 0:
            self._journal.append(SessionGone(session.client_id))
        session.expiry_s = expiry_s

    def expire(self, now: float, client_id: str) -> None:
        session = self.by_client.get(client_id)
        if session is not None and session.link is None:
            self.discard(now, session)

    def discard(self, now: float, session: Session) -> None:
        """End it: a will that waits is said now [MQTT-3.1.2-8], and all that was kept for it goes [MQTT-4.1.0-2]."""
        del self.by_client[session.client_id]
        self._timers.cancel(SessionEnds(session.client_id))
        session.link = None
        for subscription in session.subscriptions.values():
            self._routes.unsubscribe(session, subscription)
        session.subscriptions = {}
        self._wills.publish(now, session.client_id)
        self._deliverer.discard(now, session)
        if session.survives:
            self._journal.append(SessionGone(session.client_id))

    # Subscriptions

    def subscribe(self, session: Session, subscription: Subscription) -> bool:
        """True if the session had none with this filter before; if it had, this one replaces it [MQTT-3.8.4-3]."""
        is_new = subscription.name not in session.subscriptions
        session.subscriptions[subscription.name] = subscription
        self._routes.subscribe(session, subscription)
        if session.survives:
            self._journal.append(record_of(session, subscription))
        return is_new

    def unsubscribe(self, session: Session, name: str) -> bool:
        """False if there was no such subscription."""
        subscription = session.subscriptions.pop(name, None)
        if subscription is None:
            return False
        self._routes.unsubscribe(session, subscription)
        if session.survives:
            self._journal.append(SubscriptionGone(session.client_id, name))
        return True

    # The store

    def _keep(self, session: Session) -> None:
        self._journal.append(SessionKept(session.client_id, session.expiry_s, session.ends_at, session.user))

    def restore(self, now: float, session: Session) -> None:
        """As the store kept it: its client is away, since now if it was here when the broker stopped."""
        self.by_client[session.client_id] = session
        for subscription in session.subscriptions.values():
            self._routes.subscribe(session, subscription)
        if session.expiry_s < NEVER_S:
            if session.ends_at is None:
                session.ends_at = now + session.expiry_s
            self._timers.set(SessionEnds(session.client_id), session.ends_at)


def record_of(session: Session, subscription: Subscription) -> SubscriptionKept:
    request = Request(subscription.name, subscription.qos, subscription.no_local, subscription.retain_as_published)
    return SubscriptionKept(session.client_id, request, subscription.identifier, subscription.given)
