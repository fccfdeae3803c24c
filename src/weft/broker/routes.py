"""Who gets a topic's messages: subscriptions, and what follows from them for one topic, computed once.

A ``Route`` is the answer for one topic. It stays right until a subscription that matches the topic comes or goes, or a session
that has one connects or disconnects; then it is no longer ``live``. A literal filter ends one route; a wildcard filter may
match any topic, so it begins a new ``generation`` and all are thrown away. Connections keep the routes of the topics they
publish to, and look at both.

Invariant: a live route of the current generation lists exactly those that a match from nothing would.
"""

from collections.abc import Callable, Iterator
from typing import Any

from weft.broker.shared import Group, Strategy, Turns
from weft.broker.trie import Trie
from weft.mqtt.session.session import Session, Subscription

BRIDGES = "$bridge/"
"""What the client ids of bridges begin with. Their subscriptions are no demand: they pass on, they do not want."""

BRIDGE = "bridge"
"""The transport of a bridge's ``Origin``; no listener has it."""

RESERVED = "$SYS"
"""The root of what only the broker says."""

ROUTES_MAX = 100_000
"""Routes kept at once; past it all are forgotten, and those in use are computed again."""


class Match:
    """One session that gets the topic's messages, with what its matching subscriptions come to together (§3.3.4).

    One copy, however many of its filters match: at the highest QoS of them [MQTT-3.3.4-2], with all their identifiers
    [MQTT-3.3.4-3], [MQTT-3.3.4-4]. No Local holds only if every matching subscription has it.
    """

    __slots__ = ("identifiers", "no_local", "qos", "retain_as_published", "session")

    def __init__(self, session: Session, subscription: Subscription) -> None:
        self.session = session
        self.qos = subscription.qos
        self.no_local = subscription.no_local
        self.retain_as_published = subscription.retain_as_published
        self.identifiers: tuple[int, ...] = (subscription.identifier,) if subscription.identifier else ()

    def add(self, subscription: Subscription) -> None:
        self.qos = max(self.qos, subscription.qos)
        self.no_local = self.no_local and subscription.no_local
        self.retain_as_published = self.retain_as_published or subscription.retain_as_published
        if subscription.identifier:
            self.identifiers += (subscription.identifier,)


class Route:
    """``fast3`` and ``fast5`` are connections for which a message needs nothing but its bytes; ``slow`` are all others.

    ``alike``: all there is are quick ones that take QoS 1, of version 5 (True) or of none (False); None: they differ.
    ``turns`` are the groups as seen at QoS 0, if that is all they are and their members take turns; else ``groups_slow``.
    """

    __slots__ = (
        "alike",
        "fast",
        "fast3",
        "fast5",
        "groups",
        "groups_slow",
        "live",
        "matches",
        "slow",
        "topic",
        "turns",
    )

    def __init__(self, topic: str, matches: list[Match], groups: list[Group]) -> None:
        self.topic = topic
        self.live = True
        self.matches = matches
        self.groups = groups
        self.fast: list[Match] = []
        self.slow: list[Match] = []
        self.fast3: list[Any] = []
        self.fast5: list[Any] = []
        for match in matches:
            link = match.session.link
            if link is None or not link.is_plain or match.no_local or match.identifiers or match.session.survives:
                self.slow.append(match)
            else:
                self.fast.append(match)
                (self.fast5 if link.version == 5 else self.fast3).append(link)
        kinds = {link.version == 5 for link in (*self.fast3, *self.fast5)}
        is_simple = len(kinds) == 1 and not self.slow and not groups and all(match.qos for match in self.fast)
        self.alike: bool | None = kinds.pop() if is_simple else None
        rows = [group.turns() for group in groups] if not self.slow else []
        self.turns: list[Turns] = [turns for turns in rows if turns is not None]
        if len(self.turns) < len(groups):  # one that is slow comes after its matches, and in the order of groups
            self.turns = []
        self.groups_slow: list[Group] = [] if self.turns else groups

    def has(self, link: Any) -> bool:
        """Is ``link`` one of the quick ones?"""
        return link in self.fast3 or link in self.fast5

    @property
    def is_empty(self) -> bool:
        return not self.matches and not self.groups


class Routes:
    """In: subscriptions that come and go, sessions that connect and disconnect. Out: ``to(topic)``."""

    def __init__(self, strategy: Strategy) -> None:
        self.generation = 0
        self.watchers: list[Callable[[str, bool], None]] = []
        """Called with a filter when it gets its first subscriber (True) and when it loses its last (False), bridges apart."""
        self._strategy = strategy
        self._trie: Trie[Session | Group, Subscription | Group] = Trie()
        self._groups: dict[tuple[str, str], Group] = {}
        self._filters: dict[str, int] = {}
        self._cache: dict[str, Route] = {}
        self.subscriptions = 0

    def to(self, topic: str) -> Route:
        """The route of ``topic``, a valid topic name."""
        route = self._cache.get(topic)
        if route is None:
            if len(self._cache) >= ROUTES_MAX:
                self.forget()
            route = self._cache[topic] = self._match(topic)
        return route

    def _match(self, topic: str) -> Route:
        matches: dict[Session, Match] = {}
        groups: list[Group] = []
        for key, value in self._trie.match(topic):
            if isinstance(key, Group):
                groups.append(key)
            else:
                assert isinstance(value, Subscription)
                found = matches.get(key)
                if found is None:
                    matches[key] = Match(key, value)
                else:
                    found.add(value)
        return Route(topic, list(matches.values()), groups)

    def subscribe(self, session: Session, subscription: Subscription) -> None:
        """``session.subscriptions`` is the caller's; this is only what messages follow."""
        if subscription.group is None:
            if self._trie.add(subscription.filter, session, subscription):
                self._count(session, subscription.filter, 1)
        else:
            name = (subscription.group, subscription.filter)
            group = self._groups.get(name)
            if group is None:
                group = self._groups[name] = Group(subscription.group, subscription.filter, self._strategy)
                self._trie.add(subscription.filter, group, group)
            if group.add(session, subscription):
                self._count(session, subscription.filter, 1)
        self.touch(subscription.filter)

    def unsubscribe(self, session: Session, subscription: Subscription) -> None:
        if subscription.group is None:
            gone = self._trie.remove(subscription.filter, session)
        else:
            group = self._groups.get((subscription.group, subscription.filter))
            gone = group is not None and group.remove(session)
            if group is not None and not group.members:
                del self._groups[subscription.group, subscription.filter]
                self._trie.remove(subscription.filter, group)
        if gone:
            self._count(session, subscription.filter, -1)
        self.touch(subscription.filter)

    def moved(self, session: Session) -> None:
        """``session`` connected or disconnected: routes that list it are wrong now."""
        for subscription in session.subscriptions.values():
            self.touch(subscription.filter)

    def touch(self, filter_: str) -> None:
        """Something about ``filter_`` changed."""
        if "+" in filter_ or "#" in filter_:
            if self._cache:
                self.forget()
        else:
            route = self._cache.pop(filter_, None)
            if route is not None:
                route.live = False

    def forget(self) -> None:
        """All routes, everywhere: also when access rules changed."""
        self.generation += 1
        self._cache.clear()

    def filters(self) -> Iterator[str]:
        """Those with at least one subscriber that is no bridge, shared or not."""
        return iter(self._filters)

    def subscribers(self, filter_: str) -> int:
        """How many sessions have exactly this filter, shared or not."""
        return self._filters.get(filter_, 0)

    def groups(self) -> list[Group]:
        return list(self._groups.values())

    def _count(self, session: Session, filter_: str, change: int) -> None:
        self.subscriptions += change
        if session.client_id.startswith(BRIDGES):
            return
        count = self._filters.get(filter_, 0) + change
        if count:
            self._filters[filter_] = count
        else:
            del self._filters[filter_]
        if (change > 0 and count == 1) or not count:
            for watcher in self.watchers:
                watcher(filter_, bool(count))
