"""Shared subscriptions (§4.8.2): each message goes to one member of the group.

Whoever is connected comes first; if nobody is, a member whose session survives gets it into its queue. Strategies are pure
functions of the group's own state, so a run replays from its seed.
"""

from collections.abc import Callable, Iterator
from zlib import crc32

from weft.core.rand import Rng
from weft.mqtt.publication import Publication
from weft.mqtt.session.session import Link, Session, Subscription

Member = tuple[Session, Subscription]
Strategy = Callable[["Group", list[Member], Publication], Member]


class Group:
    """The sessions that share one filter under one name, in the order in which they came."""

    __slots__ = ("filter", "last", "members", "name", "strategy", "turn")

    def __init__(self, name: str, filter_: str, strategy: Strategy) -> None:
        self.name = name
        self.filter = filter_
        self.members: dict[Session, Subscription] = {}
        self.strategy = strategy
        self.turn = 0
        self.last: Session | None = None

    def add(self, session: Session, subscription: Subscription) -> bool:
        """True if it is a new member."""
        is_new = session not in self.members
        self.members[session] = subscription
        return is_new

    def remove(self, session: Session) -> bool:
        if self.last is session:
            self.last = None
        return self.members.pop(session, None) is not None

    def choose(self, publication: Publication, without: Session | None = None) -> Member | None:
        """Who gets ``publication``; None if nobody can."""
        members = [member for member in self.members.items() if member[0] is not without]
        able = [member for member in members if member[0].link is not None]
        if not able and publication.qos:
            able = [member for member in members if member[0].survives]
        if not able:
            return None
        return self.strategy(self, able, publication) if len(able) > 1 else able[0]

    def turns(self) -> "Turns | None":
        """Its members as a row, if nothing is to be decided for a message at QoS 0 but whose turn it is."""
        if self.strategy is not round_robin:
            return None
        able = [(session.link, subscription) for session, subscription in self.members.items() if session.link]
        if not able or any(not link.is_plain or subscription.identifier for link, subscription in able):
            return None
        return Turns(self, [link for link, _ in able])


class Turns:
    """Connected members in turn; right as long as the route that has it is live."""

    __slots__ = ("_group", "_links")

    def __init__(self, group: Group, links: list[Link]) -> None:
        self._group = group
        self._links = links

    def take(self, count: int) -> Iterator[tuple[Link, int, int]]:
        """For ``count`` messages: who gets which of them, as the first and the step."""
        links, step = self._links, len(self._links)
        if step == 1:
            yield links[0], 0, 1
            return
        turn = self._group.turn + 1
        self._group.turn += count
        for first in range(min(count, step)):
            yield links[(turn + first) % step], first, step


def round_robin(group: Group, able: list[Member], publication: Publication) -> Member:
    group.turn += 1
    return able[group.turn % len(able)]


def sticky(group: Group, able: list[Member], publication: Publication) -> Member:
    """The same member as long as it is able, then the next."""
    for member in able:
        if member[0] is group.last:
            return member
    chosen = round_robin(group, able, publication)
    group.last = chosen[0]
    return chosen


def hash_client(group: Group, able: list[Member], publication: Publication) -> Member:
    return able[crc32(publication.publisher.encode()) % len(able)]


def hash_topic(group: Group, able: list[Member], publication: Publication) -> Member:
    return able[crc32(publication.topic.encode()) % len(able)]


def least_loaded(group: Group, able: list[Member], publication: Publication) -> Member:
    """Fewest messages sent and not acknowledged, or waiting; of equals, in turn."""
    loads = [len(session.outgoing.inflight) + len(session.outgoing.queue) for session, _ in able]
    least = min(loads)
    return round_robin(group, [member for member, load in zip(able, loads, strict=True) if load == least], publication)


def strategy(name: str, seed: int) -> Strategy:
    """By the name that the configuration uses."""
    if name == "random":
        rng = Rng(seed, 0x5A)
        return lambda group, able, publication: rng.choice(able)
    return {
        "round-robin": round_robin,
        "sticky": sticky,
        "hash-client": hash_client,
        "hash-topic": hash_topic,
        "least-loaded": least_loaded,
    }[name]
