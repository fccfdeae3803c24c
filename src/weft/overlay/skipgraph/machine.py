"""Skip Graph: ``Peer`` with a tower of levels for each of its keys (see the package)."""

from collections.abc import Sequence

from weft.core.errors import Misuse
from weft.core.ids import NodeId
from weft.core.limits import LEVELS_MAX
from weft.core.machine import Outbox
from weft.overlay.api import Entry
from weft.overlay.keys import Key
from weft.overlay.peer import Peer
from weft.overlay.ring.messages import Status
from weft.overlay.ring.tables import Link
from weft.overlay.settings import Settings
from weft.overlay.skipgraph.upkeep import Upkeep


class SkipGraph(Peer):
    """In: what ``Peer`` takes, and Step, Stepped. Out: O(log n) routing over levels of shared digits."""

    def __init__(
        self, node: NodeId, settings: Settings, seed: int = 0, run: int = 0, *, vector: int | None = None
    ) -> None:
        super().__init__(node, settings, seed, run)
        digits = settings.membership_digits
        if not 0 < digits < LEVELS_MAX:
            raise Misuse(f"a membership vector of {digits} digits: 1…{LEVELS_MAX - 1} are possible")
        if vector is None:
            vector = self.local.rng.bits() >> (64 - digits)
        elif not 0 <= vector < 1 << digits:
            raise Misuse(f"membership vector {vector} does not have {digits} binary digits")
        self.vector = vector
        self.levels = Upkeep(self.local, self.contacts, self.ring, settings, vector)
        self._handlers.update(self.levels.handlers)
        self._timers.update(self.levels.timers)

    def height(self, key: Key) -> int:
        """The highest level of our node ``key``."""
        tower = self.levels.towers.by_key.get(key)
        return 0 if tower is None else tower.top

    def rights(self, key: Key) -> Sequence[Entry]:
        return [Entry(link.right, link.level) for link in self._tower(key)]

    def lefts(self, key: Key) -> Sequence[Entry]:
        return [Entry(link.left, link.level) for link in self._tower(key)]

    def _tower(self, key: Key) -> list[Link]:
        """The links of ``key`` that lead anywhere, nearest first; level 0 in any case."""
        links = [self.ring.links[0, key]]
        for level in range(1, self.height(key) + 1):
            link = self.ring.links[level, key]
            if link.status is not Status.INS and link.right != link.me:
                links.append(link)
        return links

    def _inserted(self, now: float, link: Link, out: Outbox) -> None:
        self.levels.inserted(now, link, out)

    def _changed(self, now: float, link: Link, out: Outbox) -> None:
        self.levels.changed(now, link, out)

    def _leave(self, now: float, link: Link, out: Outbox) -> None:
        self.levels.leave(now, link, out)

    def _deleted(self, now: float, link: Link, out: Outbox) -> None:
        self.levels.deleted(now, link, out)

    def _refused(self, now: float, link: Link, out: Outbox) -> None:
        self.levels.refused(now, link, out)

    def _alone(self, now: float, link: Link, out: Outbox) -> None:
        self.levels.alone(now, link, out)
