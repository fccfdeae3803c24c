"""Suzaku: ``Peer`` with finger tables for routing (see the package)."""

from collections.abc import Sequence

from weft.core.errors import Violation
from weft.core.ids import NodeId
from weft.core.machine import Message, Outbox
from weft.overlay.api import Entry, Ref
from weft.overlay.keys import Key
from weft.overlay.peer import Peer
from weft.overlay.ring.tables import Link
from weft.overlay.settings import Settings
from weft.overlay.suzaku.messages import Handover
from weft.overlay.suzaku.tables import REVERSE_MAX
from weft.overlay.suzaku.upkeep import Upkeep


class Suzaku(Peer):
    """In: what ``Peer`` takes, and Update, UpdateAck, Replace. Out: O(log n) routing, both ways round the ring."""

    def __init__(self, node: NodeId, settings: Settings, seed: int = 0, run: int = 0) -> None:
        super().__init__(node, settings, seed, run)
        self.fingers = Upkeep(
            self.local, self.contacts, settings, self.values, lambda key: self.ring.links.get((0, key))
        )
        self._handlers.update(self.fingers.handlers)
        self._timers.update(self.fingers.timers)

    def rights(self, key: Key) -> Sequence[Entry]:
        return self.fingers.tables[key].entries(forward=True)

    def lefts(self, key: Key) -> Sequence[Entry]:
        return self.fingers.tables[key].entries(forward=False)

    def _inserted(self, now: float, link: Link, out: Outbox) -> None:
        self.fingers.start(now, link, out)

    def _changed(self, now: float, link: Link, out: Outbox) -> None:
        self.fingers.changed(now, link, out)

    def _deleted(self, now: float, link: Link, out: Outbox) -> None:
        self.fingers.stop(link.me.key)

    def _unreachable(self, now: float, ref: Ref, out: Outbox) -> None:
        self.fingers.unreachable(now, ref, out)

    def ring_leave_job(self, link: Link) -> Message | None:
        fingers = self.fingers.tables.get(link.me.key)
        return Handover(link.me, tuple(fingers.reverse) if fingers is not None else ())

    def ring_job(self, now: float, link: Link, source: NodeId, job: Message, out: Outbox) -> None:
        if not isinstance(job, Handover) or job.old.node != source or len(job.pointers) > REVERSE_MAX:
            raise Violation(f"not a job for a finger table: {type(job).__name__}")
        self.fingers.hand_over(now, link.me, job.old, job.pointers, out)
