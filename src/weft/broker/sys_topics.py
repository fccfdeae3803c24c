"""The ``$SYS`` tree: the broker's numbers as topics, under the names that mosquitto has made customary.

While somebody subscribes below ``$SYS``, each topic whose value has changed is published every ``settings.sys_interval_s`` and
retained, in memory only: a store would write old numbers for ever. While nobody does, nothing happens at all, not even a timer:
the first subscriber's filter sets ``deadline`` to at once, and the load averages take what happened meanwhile as spread evenly.
"""

import math

from weft import __version__
from weft.broker.census import Census
from weft.broker.delivery import Deliverer
from weft.broker.retained import Retained
from weft.broker.routes import Routes
from weft.mqtt.publication import Publication
from weft.mqtt.session.session import Session
from weft.telemetry.counters import Counters

RESERVED = "$SYS"
ROOT = "$SYS/broker/"
SPANS = {"1min": 1, "5min": 5, "15min": 15}

COUNTED = {
    "bytes/received": ("weft_bytes_received_total",),
    "bytes/sent": ("weft_bytes_sent_total",),
    "clients/expired": ("weft_sessions_expired_total",),
    "messages/received": ("weft_packets_received_total",),
    "publish/messages/received": ("weft_messages_received_total",),
    "publish/messages/sent": ("weft_messages_delivered_total",),
    "publish/messages/dropped": (
        "weft_messages_dropped_slow_total",
        "weft_messages_dropped_queue_total",
        "weft_messages_dropped_size_total",
    ),
}
"""Topic → the counters that it sums up."""

AVERAGED = {
    "bytes/received": COUNTED["bytes/received"],
    "bytes/sent": COUNTED["bytes/sent"],
    "connections": ("weft_connects_accepted_total",),
    "messages/received": COUNTED["messages/received"],
    "publish/dropped": COUNTED["publish/messages/dropped"],
    "publish/received": COUNTED["publish/messages/received"],
    "publish/sent": COUNTED["publish/messages/sent"],
    "sockets": ("weft_connections_opened_total",),
}
"""Topic below ``load/`` → the counters whose rise per minute it averages, over 1, 5 and 15 minutes."""


class SysTopics:
    """In: ``timeout`` once ``deadline`` has passed; the routes' news. Out: publications.

    ``deadline`` is None while nobody listens, and 0, that is at once, at first: the first ``timeout`` starts the clock.
    """

    def __init__(
        self,
        interval_s: float,
        sessions: dict[str, Session],
        routes: Routes,
        retained: Retained,
        deliverer: Deliverer,
        counters: Counters,
    ) -> None:
        self._interval_s = interval_s
        self._sessions = sessions
        self._routes = routes
        self._retained = retained
        self._deliverer = deliverer
        self._counters = counters
        self.deadline: float | None = 0.0 if self._interval_s else None
        self._started_at: float | None = None
        self._now = 0.0
        self._counts = dict.fromkeys(AVERAGED, 0)
        self._loads = {(name, span): 0.0 for name in AVERAGED for span in SPANS}
        self._said: dict[str, str] = {}
        self._heard = sum(map(_is_ours, routes.filters()))
        """Filters below ``$SYS`` that have subscribers."""
        self._online_max = 0
        self._census = Census()
        if self._interval_s:
            routes.watchers.append(self._on_filter)

    def timeout(self, now: float) -> None:
        """Sample, and say what has changed to whoever listens."""
        if self.deadline is None or now < self.deadline:
            return
        self._sample(now)
        if self._heard:
            self.deadline = now + self._interval_s
            self._say()
        else:
            self.deadline = None

    def _on_filter(self, filter_: str, is_heard: bool) -> None:
        """A filter got its first subscriber, or lost its last."""
        if not _is_ours(filter_):
            return
        self._heard += 1 if is_heard else -1
        if is_heard and self._heard == 1:
            self.deadline = 0.0
        elif not self._heard:
            for name in self._said:
                self._retained.delete(ROOT + name)
            self._said.clear()
            if self._started_at is not None:
                self.deadline = None

    def _say(self) -> None:
        for name, value in self.values().items():
            if self._said.get(name) == value:
                continue
            self._said[name] = value
            publication = Publication(ROOT + name, value.encode(), retain=True)
            self._retained.set(publication, is_passing=True)
            route = self._routes.to(publication.topic)
            if not route.is_empty:
                self._deliverer.publish(self._now, publication, route)

    def values(self) -> dict[str, str]:
        """Name below ``$SYS/broker/`` → value, as of the last sample where it depends on time."""
        sums = self._census.take(self._sessions)
        sessions, retained = len(self._sessions), self._retained
        self._online_max = max(self._online_max, sums.online)
        values = {
            "version": f"weft version {__version__}",
            "uptime": f"{self._now - (self._started_at or self._now):.0f} seconds",
            "clients/total": str(sessions),
            "clients/connected": str(sums.online),
            "clients/disconnected": str(sessions - sums.online),
            "clients/maximum": str(self._online_max),
            "subscriptions/count": str(self._routes.subscriptions),
            "shared_subscriptions/count": str(len(self._routes.groups())),
            "retained messages/count": str(retained.count),
            "store/messages/count": str(retained.count + sums.queued + sums.inflight),
            "store/messages/bytes": str(retained.bytes + self._deliverer.queued_bytes),
        }
        values |= {name: str(self._sum(counters)) for name, counters in COUNTED.items()}
        return values | {f"load/{name}/{span}": f"{load:.2f}" for (name, span), load in self._loads.items()}

    def _sum(self, names: tuple[str, ...]) -> int:
        return sum(self._counters[name] for name in names)

    def _sample(self, now: float) -> None:
        """Exponential moving averages of what happened per minute."""
        if self._started_at is None:
            self._started_at = self._now = now
        minutes, self._now = (now - self._now) / 60, now
        for name, counters in AVERAGED.items():
            count = self._sum(counters)
            risen, self._counts[name] = count - self._counts[name], count
            if minutes <= 0:
                continue
            for span, length in SPANS.items():
                weight = math.exp(-minutes / length)
                self._loads[name, span] = (1 - weight) * risen / minutes + weight * self._loads[name, span]


def _is_ours(filter_: str) -> bool:
    """Below ``$SYS``: a wildcard at the front does not get there [MQTT-4.7.2-1]."""
    return filter_.partition("/")[0] == RESERVED
