"""What somebody wants: which subscriptions at far are worth having, and which topics nobody hears there."""

from weft.broker.bridge.filters import disjoint, intersect
from weft.broker.bridge.settings import Topic

FILTERS_MAX = 200
"""Subscriptions at far for one entry of ``topics``; past it, the whole entry is subscribed to."""
LIVE_MAX = 100_000
"""Local filters looked at for one entry; past it, the whole entry counts as wanted."""
SETTLE_S = 0.05
"""Changes of local subscriptions are gathered this long: clients that subscribe one by one are one SUBSCRIBE."""
TOPICS_MAX = 10_000
"""Topics of which it is remembered whether they are heard at far; past it, the oldest is forgotten."""


class Wanted:
    """One entry's part of the local subscriptions. Filters here are as far knows them."""

    def __init__(self, topic: Topic, linger_s: float) -> None:
        self.topic = topic
        self.linger_s = linger_s
        self._counts: dict[str, int] = {}
        self._leaving: dict[str, float] = {}
        self._overflow = False

    def change(self, now: float, filter_: str, is_added: bool) -> bool:
        """A local filter came or went; whether that means something for this entry."""
        common = intersect(filter_, self.topic.local)
        if common is None or not common.startswith(self.topic.local_prefix):
            return False
        wanted = self.topic.remote_prefix + common[len(self.topic.local_prefix) :]
        if not wanted:
            return False
        count = self._counts.get(wanted, 0) + (1 if is_added else -1)
        if count > 0:
            if count == 1 and len(self._counts) >= LIVE_MAX:
                self._overflow = True
                return True
            self._counts[wanted] = count
            self._leaving.pop(wanted, None)
        elif wanted in self._counts:
            del self._counts[wanted]
            self._leaving[wanted] = now + self.linger_s
        return True

    def filters(self, now: float) -> list[str]:
        """What to be subscribed to now."""
        self._leaving = {name: until for name, until in self._leaving.items() if until > now}
        if self._overflow:
            return [self.topic.remote]
        return disjoint([*self._counts, *self._leaving], self.topic.remote, FILTERS_MAX)

    @property
    def deadline(self) -> float | None:
        return min(self._leaving.values(), default=None)


class Hearing:
    """By topic at far: whether it was heard when it was last acknowledged, until that is too old to believe."""

    def __init__(self, probe_s: float) -> None:
        self._probe_s = probe_s
        self._known: dict[str, tuple[float, bool]] = {}

    def learn(self, now: float, topic: str, is_heard: bool) -> None:
        self._known.pop(topic, None)
        if len(self._known) >= TOPICS_MAX:
            del self._known[next(iter(self._known))]
        self._known[topic] = (now + self._probe_s, is_heard)

    def is_heard(self, now: float, topic: str) -> bool | None:
        """None: nobody knows, so it is time to find out."""
        until, is_heard = self._known.get(topic, (now, True))
        return is_heard if until > now else None
