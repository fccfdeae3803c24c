"""One virtual node for each (filter, segment) of a broker, however many want it; and its home.

    WAITING ── home is in ──▶ JOINING ── Joined ──▶ IN ── nobody wants it ──▶ LEAVING ── Left ──▶ gone, or JOINING again
                                 └ JoinFailed: WAITING for Rejoin

The home is a node below all topics that each broker has while it runs: a broker without any node in the ring could reach
nobody, and a first publication must not wait for a join. Other nodes join through it.
"""

from enum import Enum

import msgspec

from weft.core.errors import Misuse
from weft.core.ids import NodeId
from weft.core.machine import Outbox
from weft.core.timers import Timers
from weft.overlay.keys import PUB, Key, Segment, check_key
from weft.pubsub.boundary import Place
from weft.pubsub.port import Port
from weft.pubsub.settings import Settings

HOME = ("", "home")
"""Shape and literals of homes: no filter has an empty shape, so they sort below all topics."""


class Stage(Enum):
    WAITING = "waiting"
    JOINING = "joining"
    IN = "in"
    LEAVING = "leaving"


class Rejoin(msgspec.Struct, frozen=True, gc=False):
    """Timer: the overlay gave up the join of ``key`` a while ago."""

    key: Key


class _Node(msgspec.Struct):
    wanted: int
    stage: Stage = Stage.WAITING


class Nodes:
    """In: ``want``, ``unwant``, the overlay's Joined, JoinFailed, Left. Out: joins and leaves. See the picture."""

    def __init__(self, node: NodeId, cluster: tuple[str, ...], port: Port, timers: Timers, settings: Settings) -> None:
        self._node = node
        self._cluster = cluster
        self._port = port
        self._timers = timers
        self._settings = settings
        self._nodes: dict[Key, _Node] = {}
        self._introducers: tuple[NodeId, ...] = ()
        self._tries = 0
        self.home = self.key(HOME, PUB)

    def key(self, place: Place, segment: Segment) -> Key:
        """Where this broker stands in ``segment`` of ``place``."""
        return check_key(Key(*place, segment, 0, self._cluster, self._node))

    def stage(self, key: Key) -> Stage | None:
        node = self._nodes.get(key)
        return None if node is None else node.stage

    def is_in(self, key: Key) -> bool:
        return self.stage(key) is Stage.IN

    @property
    def held(self) -> list[Key]:
        """Whatever is not out of the ring yet, the home first."""
        return list(self._nodes)

    @property
    def is_full(self) -> bool:
        return len(self._nodes) >= self._settings.subscriptions_max

    def wanted(self, key: Key) -> int:
        """How many want ``key``."""
        node = self._nodes.get(key)
        return 0 if node is None else node.wanted

    def start(self, now: float, introducers: tuple[NodeId, ...], out: Outbox) -> None:
        """Join the home through one of ``introducers``; without any, found a ring."""
        if self.home in self._nodes:
            raise Misuse("started already")
        self._introducers = introducers
        self.want(now, self.home, out)

    def stop(self, now: float, out: Outbox) -> None:
        """Nothing is wanted any more; the home goes last, as others leave through it."""
        for key in reversed(list(self._nodes)):
            while self.wanted(key):
                self.unwant(now, key, out)

    def want(self, now: float, key: Key, out: Outbox) -> None:
        node = self._nodes.get(key)
        if node is not None:
            node.wanted += 1
            return
        if self.is_full:
            raise Misuse(f"more than {self._settings.subscriptions_max} filters and segments at one broker")
        self._nodes[key] = _Node(1)
        self._join(now, key, out)

    def unwant(self, now: float, key: Key, out: Outbox) -> None:
        node = self._nodes.get(key)
        if node is None or not node.wanted:
            raise Misuse(f"{key} is not wanted here")
        node.wanted -= 1
        if node.wanted:
            return
        if node.stage is Stage.WAITING:
            self._timers.cancel(Rejoin(key))
            del self._nodes[key]
        elif node.stage is not Stage.LEAVING:
            node.stage = Stage.LEAVING
            self._port.leave(now, key, out)

    def _join(self, now: float, key: Key, out: Outbox) -> None:
        introducer = None
        if key != self.home:
            if not self.is_in(self.home):
                return  # ``on_joined`` of the home takes it up
        elif self._introducers:
            introducer = self._introducers[self._tries % len(self._introducers)]
            self._tries += 1
        self._nodes[key].stage = Stage.JOINING
        self._port.join(now, key, introducer, out)

    def on_joined(self, now: float, key: Key, out: Outbox) -> None:
        node = self._nodes[key]
        if node.stage is Stage.JOINING:  # else a leave waits for the insertion to end
            node.stage = Stage.IN
        if key == self.home:
            for other, waiting in list(self._nodes.items()):
                if waiting.stage is Stage.WAITING and Rejoin(other) not in self._timers:
                    self._join(now, other, out)

    def on_join_failed(self, now: float, key: Key, out: Outbox) -> None:
        node = self._nodes[key]
        if not node.wanted:
            del self._nodes[key]
            return
        node.stage = Stage.WAITING
        self._timers.set(Rejoin(key), now + self._settings.rejoin_s)

    def on_left(self, now: float, key: Key, out: Outbox) -> None:
        if self._nodes[key].wanted:  # wanted again meanwhile
            self._nodes[key].stage = Stage.WAITING
            self._join(now, key, out)
        else:
            del self._nodes[key]

    def on_rejoin(self, now: float, due: Rejoin, out: Outbox) -> None:
        self._join(now, due.key, out)
