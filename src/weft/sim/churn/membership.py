"""Members that come and go: machines in the event simulator, from a ring that starts whole.

Sessions last an exponential time. At its end a member crashes, or leaves in good order; others arrive at the same mean rate,
and join through a member drawn when they do.

    arrive ─▶ Joined: a member ─▶ crash: a hole in the ring ─────────────▶ the neighbours point over it: mended
                               └▶ leave ─▶ Left ─▶ gone a little later ──┘
"""

from bisect import bisect_left, bisect_right, insort
from collections.abc import Callable
from math import log
from typing import Any

from weft.core.ids import NodeId
from weft.core.machine import Event, Outbox
from weft.core.rand import Rng
from weft.overlay.api import Joined, JoinFailed, Left
from weft.overlay.keys import Key, between, number_key
from weft.overlay.peer import Peer
from weft.overlay.settings import Settings
from weft.overlay.suzaku.machine import Suzaku
from weft.sim.des.engine import Simulation
from weft.sim.overlays import make
from weft.sim.whole import whole_skipgraph, whole_suzaku

NUMBERS = 10**12
"""Keys are numbers below this, drawn at random."""
LINGER_S = 1.0
"""Who has left answers for so long: what was on its way to it is not lost."""
AGAIN_S = 1.0
"""Wait after a join that failed."""
NEW_S = 30.0
"""So long after it is in the ring, what a member does for its tables still counts as its join."""

Told = Callable[[str, str, float], None]
"""(measure, kind, value): something that was measured, now."""


class Membership:
    """``members``: who is in the ring and has not been told to leave, in key order."""

    def __init__(
        self,
        simulation: Simulation,
        overlay: str,
        settings: Settings,
        lifetime_s: float,
        size: int,
        crashes: bool,
        tell: Told,
    ) -> None:
        self.members: list[Key] = []
        self.holes: dict[Key, float] = {}
        """Keys that the ring's pointers may still lead to, and since when they should not."""
        self._simulation = simulation
        self._overlay = overlay
        self._settings = settings
        self._lifetime_s = lifetime_s
        self._size = size
        self._crashes = crashes
        self._tell = tell
        self._rng = Rng(simulation.seed, 1)
        self._keys: dict[NodeId, Key] = {}
        self._numbers: set[int] = set()
        self._begun: dict[NodeId, float] = {}
        """When each of those who are not in yet began to join."""
        self._since: dict[NodeId, float] = {}
        """When each member came in."""
        self._next = 1

    @property
    def peers(self) -> dict[NodeId, Peer]:
        return self._simulation.machines  # type: ignore[return-value]

    def since(self, node: NodeId) -> float | None:
        """Since when ``node`` is a member; None: it is not, or is on its way out."""
        return self._since.get(node)

    def is_new(self, node: NodeId) -> bool:
        since = self._since.get(node)
        return since is None or self._simulation.now < since + NEW_S

    def floor(self, key: Key) -> Key:
        """The greatest member not above ``key``; the greatest of all if there is none."""
        return self.members[bisect_right(self.members, key) - 1]

    # Coming

    def begin(self) -> None:
        """A whole ring of ``size``, whose members' sessions end as if it had been like that for ever; others arrive."""
        keys = {node: self._key(node) for node in [self._new_node() for _ in range(self._size)]}
        start = whole_suzaku if self._overlay == "suzaku" else whole_skipgraph
        for node, peer in start(
            {node: [key] for node, key in keys.items()}, self._settings, self._simulation.seed
        ).items():
            if isinstance(peer, Suzaku):  # phases uniform: in a whole ring all would refresh the same level at a time
                fingers = peer.fingers.tables[keys[node]]
                fingers.cursor = self._rng.below(max(1, len(fingers.forward)))
            self._simulation.add(node, peer)
            self._since[node] = -NEW_S
            self._end_of(node)
        self.members = sorted(keys.values())
        self._next_arrival()

    def _new_node(self) -> NodeId:
        self._next += 1
        return NodeId(self._next - 1)

    def _key(self, node: NodeId) -> Key:
        number = self._rng.below(NUMBERS)
        while number in self._numbers:
            number = self._rng.below(NUMBERS)
        self._numbers.add(number)
        key = self._keys[node] = number_key(number, node)
        return key

    def _after(self, mean_s: float) -> float:
        """An exponential time from now."""
        return self._simulation.now - mean_s * log(1.0 - self._rng.random())

    def _next_arrival(self) -> None:
        self._simulation.at(self._after(self._lifetime_s / self._size), self._arrive)

    def _end_of(self, node: NodeId) -> None:
        self._simulation.at(self._after(self._lifetime_s), lambda: self._depart(node))

    def _arrive(self) -> None:
        node = self._new_node()
        self._key(node)
        self._simulation.add(node, make(self._overlay, node, self._settings, self._simulation.seed, 0))
        self._begun[node] = self._simulation.now
        self._join(node)
        self._end_of(node)
        self._next_arrival()

    def _join(self, node: NodeId) -> None:
        if node in self._begun:  # else its session is over
            key, contact = self._keys[node], self._rng.choice(self.members).broker

            def join(peer: Any, now: float, out: Outbox) -> None:
                peer.join(now, key, contact, out)

            self._simulation.do(node, join)

    # Going

    def _depart(self, node: NodeId) -> None:
        """Who is still joining just stops."""
        key = self._keys.pop(node)
        if self._since.pop(node, None) is None:
            del self._begun[node]
            self._simulation.crash(node)
            return
        del self.members[bisect_left(self.members, key)]
        self.holes[key] = self._simulation.now
        if self._crashes:
            self._simulation.crash(node)
        else:

            def leave(peer: Any, now: float, out: Outbox) -> None:
                peer.leave(now, key, out)

            self._simulation.do(node, leave)

    # What machines say, and what is seen

    def heard(self, now: float, node: NodeId, event: Event) -> None:
        if isinstance(event, Joined):
            if node in self._begun:
                insort(self.members, event.key)
                self._since[node] = now
                self._tell("join", "done", now - self._begun.pop(node))
        elif isinstance(event, JoinFailed):
            self._tell("join", "failed", 0.0)
            self._simulation.at(now + AGAIN_S, lambda: self._join(node))
        elif isinstance(event, Left):
            self._simulation.at(now + LINGER_S, lambda: self._simulation.crash(node))

    def look(self) -> None:
        """Which holes are mended: the member before it points over it to a live node, which points back."""
        now, peers = self._simulation.now, self.peers
        for key, since in list(self.holes.items()):
            before = self.floor(key)
            link = peers[before.broker].ring.links[0, before]
            right = peers.get(link.right.node)
            back = None if right is None else right.ring.find(link.right, 0)
            if back is not None and back.left == link.me and between(before, key, link.right.key):
                del self.holes[key]
                self._tell("mended", "hole", now - since)
