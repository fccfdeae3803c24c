"""Scribe: joins stop at the first forwarder, publications take the joins' way back (see the package)."""

from collections.abc import Iterable

from weft.core.errors import Violation
from weft.core.ids import NodeId
from weft.core.limits import VIRTUAL_NODES_MAX
from weft.core.machine import Outbox
from weft.overlay.groups import Publication, heard_hops, heard_topic
from weft.overlay.rendezvous.machine import Rendezvous
from weft.overlay.rendezvous.routes import Route, Step
from weft.overlay.scribe.messages import Join, Leave
from weft.overlay.scribe.tables import CHILDREN_MAX, Branch
from weft.overlay.scribe.upkeep import Upkeep


class Scribe(Rendezvous):
    """Invariant: whoever has a branch subscribes, has children, or is the root; all but the root have told a parent so."""

    def __init__(
        self, node: NodeId, route: Route, seed: int = 0, run: int = 0, *, beat_interval_s: float | None = None
    ) -> None:
        super().__init__(node, route, seed, run)
        self.branches: dict[str, Branch] = {}
        self.upkeep = Upkeep(self.local, self.branches, self.owned, self._climb, beat_interval_s)
        self._handlers.update({Join: self.on_join, Leave: self.on_leave, **self.upkeep.handlers})
        self._timers.update(self.upkeep.timers)

    # The verbs

    def subscribe(self, now: float, interest: str, out: Outbox) -> None:
        self._wants(interest)
        self._enter(now, Join(interest, 0, None), None, out)

    def unsubscribe(self, now: float, interest: str, out: Outbox) -> None:
        self._no_longer_wants(interest)
        self._prune(interest, out)

    # The tree

    def on_join(self, now: float, source: NodeId, message: Join, out: Outbox) -> None:
        heard_topic(message.topic)
        heard_hops(message.hops)
        if message.walk is not None and message.walk.final:
            if message.topic not in self.owned:
                self._own(message.topic, out)
            self.upkeep.arm(now)
            return
        branch = self.branches.get(message.topic)
        if branch is not None and len(branch.children) >= CHILDREN_MAX and source not in branch.children:
            raise Violation("too many children")
        self._enter(now, message, source, out)

    def _enter(self, now: float, join: Join, child: NodeId | None, out: Outbox) -> None:
        """Be a forwarder, of ``child`` or for ourselves; the join goes on unless we were one."""
        topic = join.topic
        branch = self.branches.get(topic)
        knew = branch is not None and (branch.parent is not None or topic in self.owned)
        came_round = join.walk is not None and join.walk.start == self.local.node
        unsure = join.anew and child is not None and branch is not None and not branch.settled
        if branch is None and len(self.branches) >= VIRTUAL_NODES_MAX:
            raise Violation("forwarder of too many topics")
        step = self._next(topic, join.walk, out) if not knew or came_round or unsure else None
        branch = self.branches.setdefault(topic, Branch())
        if child is not None:
            branch.children[child] = None
        if step is not None:
            self._go_on(now, join, branch, step, out)

    def _climb(self, now: float, join: Join, out: Outbox) -> None:
        """``join``, which begins here, goes towards the root."""
        self._go_on(now, join, self.branches[join.topic], self._next(join.topic, join.walk, out), out)

    def _go_on(self, now: float, join: Join, branch: Branch, step: Step, out: Outbox) -> None:
        """Our parent is whoever ``join`` goes to, unless it goes to tell the root that it is the root."""
        if step.to is None:
            self.upkeep.arm(now)
            return
        if step.walk is None or not step.walk.final:
            if branch.parent not in (None, step.to):
                out.send(branch.parent, Leave(join.topic))
            branch.parent = step.to
            self.upkeep.expect(now, join.topic)
        out.send(step.to, Join(join.topic, join.hops + 1, step.walk, join.anew))

    def _owns(self, topic: str, out: Outbox) -> None:
        """The surplus of a ring that wraps hangs on us, its root: we leave our parent, and it follows."""
        branch = self.branches.setdefault(topic, Branch())
        if branch.parent is not None:
            out.send(branch.parent, Leave(topic))
            branch.parent = None
        self.upkeep.forget(topic)

    def on_leave(self, now: float, source: NodeId, message: Leave, out: Outbox) -> None:
        heard_topic(message.topic)
        branch = self.branches.get(message.topic)
        if branch is None or source not in branch.children:
            raise Violation("a leave of no child")
        del branch.children[source]
        self._prune(message.topic, out)

    def _prune(self, topic: str, out: Outbox) -> None:
        """Leave the tree if there is no reason to be in it."""
        branch = self.branches[topic]
        if branch.children or topic in self.subscribed or topic in self.owned:
            return
        if branch.parent is not None:
            out.send(branch.parent, Leave(topic))
        del self.branches[topic]
        self.upkeep.forget(topic)

    # Publications

    def _targets(self, topic: str) -> Iterable[NodeId]:
        branch = self.branches.get(topic)
        return () if branch is None else branch.children

    def _admits(self, source: NodeId, publication: Publication) -> bool:
        branch = self.branches.get(publication.about)
        if branch is None or branch.parent != source:
            raise Violation("a publication from no parent")
        return True
