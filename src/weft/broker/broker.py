"""The broker: its parts, put together, and what a driver calls.

A driver accepts sockets and says so (``accept``), hands over bytes (``Connection.receive``), empties ``dirty``, ``works``,
``notices`` and the journal after each tick, and calls ``timeout`` when ``deadline`` has passed. Everything else follows.
"""

from collections import Counter as Tally
from typing import Any

from weft.broker import hotpath
from weft.broker.access.api import Authority, Origin
from weft.broker.connection import PRESSURE, QUOTA, ConnectDue, Connection, QuotaDue, State, on_disconnect, on_pingreq
from weft.broker.greeting import GrantEnds, Greeting
from weft.broker.hub import Hub
from weft.broker.inbound import Inbound
from weft.broker.journal import Journal
from weft.broker.quota import Quota
from weft.broker.records import Kept
from weft.broker.restoring import restore
from weft.broker.sessions import SessionEnds
from weft.broker.settings import BrokerSettings
from weft.broker.subscribing import Subscribing
from weft.broker.sys_topics import SysTopics
from weft.broker.wills import WillDue
from weft.mqtt.codec.packets import (
    Auth,
    Connect,
    Disconnect,
    Pingreq,
    Puback,
    Pubcomp,
    Publish,
    Pubrec,
    Pubrel,
    Subscribe,
    Unsubscribe,
)
from weft.mqtt.codec.reasons import Reason
from weft.telemetry.counters import hit


class Broker(Hub):
    """See the module. Out: ``dirty``, ``works``, ``notices``, ``journal``, which the driver empties."""

    def __init__(
        self, settings: BrokerSettings, authority: Authority, seed: int, journal: Journal | None = None
    ) -> None:
        super().__init__(settings, authority, seed, journal)
        self.connections: dict[int, Connection] = {}
        self.addresses: Tally[str] = Tally()
        self._greeting = Greeting(self)
        inbound, subscribing = Inbound(self), Subscribing(self)
        self.handlers = {
            Connect: self._greeting.on_connect,
            Auth: self._greeting.on_auth,
            Publish: inbound.on_publish,
            Puback: inbound.on_puback,
            Pubrec: inbound.on_pubrec,
            Pubrel: inbound.on_pubrel,
            Pubcomp: inbound.on_pubcomp,
            Subscribe: subscribing.on_subscribe,
            Unsubscribe: subscribing.on_unsubscribe,
            Pingreq: on_pingreq,
            Disconnect: on_disconnect,
        }
        self.sys_topics = SysTopics(
            settings.sys_interval_s,
            self.sessions.by_client,
            self.routes,
            self.retained,
            self.deliverer,
            self.counters,
        )
        self._last_number = 0
        self._accepting: Quota | None = None

    # A driver calls

    def restore(self, now: float, kept: Kept) -> None:
        """What the store held, before the first connection."""
        restore(self, now, kept)

    def accept(self, now: float, origin: Origin) -> Connection | None:
        """A new network connection; None: refused by a total limit, close it."""
        limits = self.limits
        if self._accepting is None and limits.connections_per_second_max:
            self._accepting = Quota(now, limits.connections_per_second_max, 0)
        if (
            self.draining
            or len(self.connections) >= limits.connections_total_max
            or (
                limits.connections_per_address_max
                and self.addresses[origin.address] >= limits.connections_per_address_max
            )
            or (self._accepting is not None and self._accepting.take(now, 1, 0) > 0)
        ):
            self.counters["weft_connections_refused_total"] += 1
            self.notices.say_seldom(now, "warning", "connection refused", origin.address, address=origin.address)
            return None
        self._last_number += 1
        connection = self.connections[self._last_number] = Connection(self, self._last_number, origin, now)
        self.addresses[origin.address] += 1
        self.counters["weft_connections_opened_total"] += 1
        self.timers.set(ConnectDue(connection.number), now + limits.connect_timeout_s)
        return connection

    @property
    def deadline(self) -> float | None:
        first = self.timers.deadline  # asked at the end of every tick
        for deadline in (self.keepalives.deadline, self.sys_topics.deadline):
            if deadline is not None and (first is None or deadline < first):
                first = deadline
        return first

    def timeout(self, now: float) -> None:
        for token in self.timers.due(now):
            if isinstance(token, ConnectDue):
                self._connect_due(now, token.number)
            elif isinstance(token, QuotaDue):
                if token.number in self.connections:
                    self.connections[token.number].unpause(QUOTA)
            elif isinstance(token, SessionEnds):
                self.counters["weft_sessions_expired_total"] += 1
                self.sessions.expire(now, token.client_id)
            elif isinstance(token, WillDue):
                self.wills.publish(now, token.client_id)
            elif isinstance(token, GrantEnds) and token.number in self.connections:
                connection = self.connections[token.number]
                connection.disconnect(now, Reason.NOT_AUTHORIZED, "the token has expired")
        self.keepalives.timeout(now)
        self.sys_topics.timeout(now)

    def committed(self, now: float, batch: int) -> None:
        """Journal batches up to ``batch`` are durable."""
        self.journal.committed(now, batch)

    def begin_drain(self, now: float) -> None:
        """Nobody new; everybody is told and closed once what is theirs is written."""
        self.draining = True
        self.wills.hurry(now)
        for connection in list(self.connections.values()):
            connection.shut_down(now)

    def press(self, now: float, is_high: bool) -> None:
        """The driver has more to write than it should (or not any more): stop reading from those who publish."""
        for connection in self.connections.values():
            if not is_high:
                connection.unpause(PRESSURE)
            elif connection.routes or connection.heard_at >= now - 1.0:
                connection.pause(PRESSURE)

    def reloaded(self, now: float) -> None:
        """Access rules changed: whoever would not be let in any more goes, and subscriptions that are not allowed end."""
        for connection in list(self.connections.values()):
            subject, session = connection.subject, connection.session
            if subject is None or session is None:
                continue
            if self.authority.stands(now, subject):
                self.review(session, subject)
            else:
                connection.disconnect(now, Reason.NOT_AUTHORIZED, "the access rules have changed")

    # Connections call

    def hot(self, connection: Connection, now: float, data: bytes) -> int:
        return hotpath.receive(connection, now, data)

    def verdict(self, connection: Connection, now: float, result: Any) -> None:
        self._greeting.verdict(connection, now, result)

    def overdue(self, now: float, connection: Connection) -> None:
        self.counters["weft_keep_alive_timeouts_total"] += 1
        connection.disconnect(now, Reason.KEEP_ALIVE_TIMEOUT, "silent for more than its keep-alive")  # [MQTT-3.1.2-22]

    def closed(self, now: float, connection: Connection, says_will: bool) -> None:
        """A connection has ended."""
        del self.connections[connection.number]
        self.counters["weft_connections_closed_total"] += 1
        self.addresses[connection.origin.address] -= 1
        if not self.addresses[connection.origin.address]:
            del self.addresses[connection.origin.address]
        for token in (ConnectDue(connection.number), QuotaDue(connection.number), GrantEnds(connection.number)):
            self.timers.cancel(token)
        self.keepalives.remove(connection)
        session = connection.session
        if session is None or session.link is not connection:
            return
        session.link = None
        if says_will:
            self.wills.vanished(now, session, connection.will, is_last_chance=self.draining)
        else:
            self.wills.left(session)
        self.sessions.closed(now, session)
        if self.plugins and connection.subject is not None:
            self.plugins.disconnected(now, connection.subject)
            self.hear_plugins(now)

    def _connect_due(self, now: float, number: int) -> None:
        connection = self.connections.get(number)
        if connection is not None and connection.state is not State.CONNECTED:
            self.counters[hit("connect_timeout_s")] += 1
            connection.disconnect(now, Reason.MAXIMUM_CONNECT_TIME, "no CONNECT in time")
