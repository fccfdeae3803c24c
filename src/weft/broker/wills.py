"""Wills (§3.1.2.5): what a client left to be said if it goes without a word, and when it is said.

A will is published when its delay has passed or its session ends, whichever is first [MQTT-3.1.2-8], and not at all if the
client is back before [MQTT-3.1.3-9]. Each is published at most once.
"""

from collections.abc import Callable

import msgspec

from weft.broker.journal import Journal
from weft.broker.records import WillGone, WillKept
from weft.core.timers import Timers
from weft.mqtt.codec.packets import Will
from weft.mqtt.publication import Publication, forwardable
from weft.mqtt.session.session import Session
from weft.telemetry.counters import Counters


class WillDue(msgspec.Struct, frozen=True, gc=False):
    """Timer: the delay has passed."""

    client_id: str


class Wills:
    """In: clients that connect, leave well, vanish. Out: ``say`` is called with what is to be published."""

    def __init__(
        self, timers: Timers, journal: Journal, counters: Counters, say: Callable[[float, Publication], object]
    ) -> None:
        self._timers = timers
        self._journal = journal
        self._counters = counters
        self._say = say
        self._kept: set[str] = set()
        """Clients with a will in the store."""
        self._pending: dict[str, tuple[Will, str | None]] = {}
        """Those that have gone without a word, and whose delay has not passed."""

    def connected(self, session: Session, will: Will | None) -> None:
        """The client is here: a pending will of before is void; its new one must survive a crash if the session does."""
        self.void(session.client_id)
        if will is not None and session.survives and self._journal.keeps:
            self._kept.add(session.client_id)
            self._journal.append(WillKept(session.client_id, will, delay_of(will), None, session.user))

    def left(self, session: Session) -> None:
        """DISCONNECT: the will is discarded [MQTT-3.14.4-3]."""
        self.void(session.client_id)

    def vanished(self, now: float, session: Session, will: Will | None, is_last_chance: bool = False) -> None:
        """The connection ended in any other way [MQTT-3.1.2-8].

        If it is because the broker stops, that is the last chance to say it, unless it is in the store: then it is said
        after the restart, if its client does not come back in time.
        """
        if will is None or (is_last_chance and session.client_id in self._kept):
            return
        delay = 0.0 if is_last_chance else min(delay_of(will), session.expiry_s)
        self._pending[session.client_id] = (will, session.user)
        if delay <= 0:
            self.publish(now, session.client_id)
            return
        self._timers.set(WillDue(session.client_id), now + delay)
        if session.client_id in self._kept:
            self._journal.append(WillKept(session.client_id, will, delay_of(will), now + delay, session.user))

    def hurry(self, now: float) -> None:
        """The broker stops: what waits and is not in the store is said now."""
        for client_id in [client_id for client_id in self._pending if client_id not in self._kept]:
            self.publish(now, client_id)

    def restore(self, now: float, kept: WillKept) -> None:
        """After a restart: its client is away, and its delay starts now unless it had started before."""
        self._kept.add(kept.client_id)
        self._pending[kept.client_id] = (kept.will, kept.user)
        self._timers.set(WillDue(kept.client_id), now + kept.delay_s if kept.due_at is None else kept.due_at)

    def publish(self, now: float, client_id: str) -> None:
        """The delay has passed, or the session has ended: say it, once."""
        found = self._pending.pop(client_id, None)
        self.void(client_id)
        if found is None:
            return
        will, user = found
        expiry = will.properties.message_expiry_s
        self._counters["weft_wills_published_total"] += 1
        self._say(
            now,
            Publication(
                will.topic,
                will.payload,
                will.qos,
                will.retain,
                forwardable(will.properties),
                None if expiry is None else now + expiry,
                client_id,
                user,
            ),
        )

    def void(self, client_id: str) -> None:
        self._pending.pop(client_id, None)
        self._timers.cancel(WillDue(client_id))
        if client_id in self._kept:
            self._kept.remove(client_id)
            self._journal.append(WillGone(client_id))


def delay_of(will: Will) -> float:
    return float(will.properties.will_delay_s or 0)
