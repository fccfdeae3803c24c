"""Retained messages (§3.3.1.3): the last one of each topic that was marked to be kept."""

from collections.abc import Iterator

from weft.broker.journal import Journal
from weft.broker.keeping import Keeping
from weft.broker.names import NameTree
from weft.broker.records import RetainedGone, RetainedKept
from weft.broker.settings import Limits
from weft.mqtt.publication import Publication
from weft.telemetry.counters import Counters


class Retained:
    """In: ``set``, ``restore``. Out: ``match``. Invariant: ``count`` and ``bytes`` are those of what is stored."""

    def __init__(self, limits: Limits, journal: Journal, keeping: Keeping, counters: Counters) -> None:
        self.limits = limits
        self.journal = journal
        self.keeping = keeping
        self.counters = counters
        self.count = 0
        self.bytes = 0
        self._tree: NameTree[Publication] = NameTree()
        self._passing: set[str] = set()
        """Topics whose message no store has: ``$SYS``."""

    def set(self, publication: Publication, is_passing: bool = False) -> bool:
        """Replace what its topic retains [MQTT-3.3.1-5]; an empty payload only deletes it [MQTT-3.3.1-6], [MQTT-3.3.1-7].

        False if a total limit forbids it: then the old one is gone too, for it is not the last any more.
        """
        topic = publication.topic
        self.delete(topic)
        if not publication.payload:
            return True
        size = len(publication.payload)
        if self.count >= self.limits.retained_total_max or self.bytes + size > self.limits.retained_total_bytes_max:
            self.counters["weft_retained_refused_total"] += 1
            return False
        self._store(publication)
        if is_passing:
            self._passing.add(topic)
        elif self.journal.keeps:
            self.journal.append(RetainedKept(topic, self.keeping.keep(publication)))
        return True

    def restore(self, publication: Publication) -> None:
        """As the store kept it."""
        publication.refs += 1
        self._store(publication)

    def _store(self, publication: Publication) -> None:
        self._tree.set(publication.topic, publication)
        self.count += 1
        self.bytes += len(publication.payload)

    def delete(self, topic: str) -> bool:
        """True if there was one."""
        found = self._tree.get(topic)
        if found is None:
            return False
        self._tree.delete(topic)
        self.count -= 1
        self.bytes -= len(found.payload)
        if topic in self._passing:
            self._passing.remove(topic)
        elif self.journal.keeps:
            self.journal.append(RetainedGone(topic))
            self.keeping.drop(found)
        return True

    def get(self, now: float, topic: str) -> Publication | None:
        found = self._tree.get(topic)
        if found is not None and found.is_expired(now):
            self._expire(topic)
            return None
        return found

    def topics(self, filter_: str) -> Iterator[str]:
        """Those that match, one by one: it may be left and resumed while messages come and go."""
        return (topic for topic, _ in self._tree.match(filter_))

    def _expire(self, topic: str) -> None:
        self.counters["weft_messages_expired_total"] += 1
        self.delete(topic)
