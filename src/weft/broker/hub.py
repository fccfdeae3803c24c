"""What the parts of a broker share: settings, counts, timers, sessions, routes, the ways to publish.

``Broker`` is a hub with connections; the parts that handle packets (``connection``, ``greeting``, ``inbound``, ``subscribing``,
``hotpath``) know only this, so that none of them knows the others' insides.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any

from weft.broker.access.api import SHARE, SUBSCRIBE, Authority, Origin, Subject
from weft.broker.delivery import Deliverer
from weft.broker.hooks import Plugins
from weft.broker.journal import Journal
from weft.broker.keepalive import KeepAlives
from weft.broker.keeping import Keeping
from weft.broker.notices import Notices
from weft.broker.retained import Retained
from weft.broker.rewrite import Rewriter
from weft.broker.routes import Routes
from weft.broker.sessions import Sessions
from weft.broker.settings import BrokerSettings
from weft.broker.shared import strategy
from weft.broker.wills import Wills
from weft.core.rand import Rng
from weft.core.timers import Timers
from weft.mqtt.publication import Publication
from weft.mqtt.session.session import Session
from weft.mqtt.topics import split_share
from weft.telemetry.counters import Counters

FIXED = ("share_strategy", "sys_interval_s")
"""Settings that ``configure`` cannot change."""


class Hub(ABC):
    """Everything but the connections. ``dirty`` and ``works`` hold connections for the driver."""

    def __init__(self, settings: BrokerSettings, authority: Authority, seed: int, journal: Journal | None) -> None:
        self.settings = settings
        self.limits = settings.limits
        self.authority = authority
        self.plugins = Plugins.NONE
        self.rewriter = Rewriter()
        """Whoever composes a broker puts his own in place of these two, before the first connection."""
        self.rng = Rng(seed)
        self.journal = journal or Journal()
        self.counters = Counters()
        self.notices = Notices()
        self.timers = Timers()
        self.dirty: list[Any] = []
        self.works: list[tuple[Any, Callable[[], Any]]] = []
        self.draining = False
        self.routes = Routes(strategy(settings.share_strategy, seed))
        self.keeping = Keeping(self.journal)
        self.retained = Retained(self.limits, self.journal, self.keeping, self.counters)
        self.deliverer = Deliverer(settings, self.routes, self.journal, self.keeping, self.counters, self.notices)
        self.wills = Wills(self.timers, self.journal, self.counters, self.publish)
        self.sessions = Sessions(self.limits, self.timers, self.routes, self.deliverer, self.journal, self.wills)
        self.keepalives = KeepAlives(self.overdue)
        self.handlers: dict[type, Callable[[Any, float, Any], None]] = {}
        """By packet type, what a client may send; called with the connection, the time, the packet."""

    def publish(self, now: float, publication: Publication) -> int:
        """Keep it if it is to be retained, give it to everybody; the answer is how many sessions heard it."""
        if publication.retain:
            self.retained.set(publication)
        return self.deliverer.publish(now, publication)

    def hear_plugins(self, now: float) -> None:
        """After a plugin was called: what it wants published."""
        for publication in self.plugins.take(now):
            self.publish(now, publication)

    def review(self, session: Session, subject: Subject) -> None:
        """Subscriptions that the rules do not allow (any more) end: a session outlives the rights it was made with."""
        for subscription in list(session.subscriptions.values()):
            filter_ = split_share(subscription.given)[1]
            actions = (SUBSCRIBE,) if subscription.group is None else (SUBSCRIBE, SHARE)
            if not all(self.authority.may(subject, action, filter_, subscription.qos) for action in actions):
                self.sessions.unsubscribe(session, subscription.name)
                self.notices.say("info", "subscription ended by the rules", client=session.client_id, filter=filter_)

    def named(self, origin: Origin, topic: str) -> str:
        """A topic name as the broker knows it: rewritten, then behind the listener's mount; ``$`` topics stand in front."""
        if self.rewriter:
            topic = self.rewriter.published(topic)
        return origin.mount + topic if origin.mount and topic[0] != "$" else topic

    def matching(self, origin: Origin, filter_: str) -> str:
        """The same for a filter, without its share."""
        if self.rewriter:
            filter_ = self.rewriter.subscribed(filter_)
        return origin.mount + filter_ if origin.mount and filter_[0] != "$" else filter_

    def configure(self, settings: BrokerSettings) -> None:
        """New choices and bounds, from now on; what was chosen at the start for good is in ``FIXED``."""
        self.settings = self.deliverer.settings = settings
        self.limits = self.deliverer.limits = self.retained.limits = self.sessions.limits = settings.limits

    @abstractmethod
    def hot(self, connection: Any, now: float, data: bytes) -> int:
        """Handle the whole packets in ``data`` quickly; the answer is where the first incomplete one begins."""

    @abstractmethod
    def verdict(self, connection: Any, now: float, result: Any) -> None:
        """A ``Work`` is done."""

    @abstractmethod
    def overdue(self, now: float, connection: Any) -> None:
        """Silent for longer than its keep-alive allows."""

    @abstractmethod
    def closed(self, now: float, connection: Any, says_will: bool) -> None:
        """A connection has ended."""
