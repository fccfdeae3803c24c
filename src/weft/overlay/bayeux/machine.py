"""Bayeux: joins reach the root, publications take the way that the root's answer took (see the package).

A lost Tree is not repaired: Bayeux is here as a model of paths and costs, and has no upkeep.
"""

from collections.abc import Iterable

from weft.core.errors import Violation
from weft.core.ids import NodeId
from weft.core.limits import VIRTUAL_NODES_MAX
from weft.core.machine import Outbox
from weft.overlay.bayeux.messages import Join, Leave, Prune, Tree
from weft.overlay.bayeux.tables import MEMBERS_MAX, Branch
from weft.overlay.groups import Publication, Seen, heard_hops, heard_topic
from weft.overlay.rendezvous.machine import Rendezvous
from weft.overlay.rendezvous.messages import Walk
from weft.overlay.rendezvous.routes import Route


class Bayeux(Rendezvous):
    """Invariant: a node other than the root has registered a member exactly if the member's Tree has passed it."""

    def __init__(self, node: NodeId, route: Route, seed: int = 0, run: int = 0) -> None:
        super().__init__(node, route, seed, run)
        self.branches: dict[str, Branch] = {}
        self._seen = Seen()
        self._handlers.update(
            {Join: self.on_join, Tree: self.on_tree, Leave: self.on_leave, Prune: self.on_prune},
        )

    # The verbs

    def subscribe(self, now: float, interest: str, out: Outbox) -> None:
        self._wants(interest)
        self._to_root(Join(interest, self.local.node, self.route.identity, 0, None), out)

    def unsubscribe(self, now: float, interest: str, out: Outbox) -> None:
        self._no_longer_wants(interest)
        self._to_root(Leave(interest, self.local.node, 0, None), out)

    # To the root

    def on_join(self, now: float, source: NodeId, message: Join, out: Outbox) -> None:
        heard_topic(message.topic)
        heard_hops(message.hops)
        if not 0 <= message.identity < 1 << self.route.digits:
            raise Violation("an id out of bounds")
        self._to_root(message, out)

    def on_leave(self, now: float, source: NodeId, message: Leave, out: Outbox) -> None:
        heard_topic(message.topic)
        heard_hops(message.hops)
        self._to_root(message, out)

    def _to_root(self, message: Join | Leave, out: Outbox) -> None:
        topic, member = message.topic, message.member
        step = self._next(topic, message.walk, out)
        if isinstance(message, Join):
            if step.to is not None:
                out.send(step.to, Join(topic, member, message.identity, message.hops + 1, step.walk))
            elif member != self.local.node:
                self._register(Tree(topic, member, message.identity, 0, None), None, out)
        elif step.to is not None:
            out.send(step.to, Leave(topic, member, message.hops + 1, step.walk))
        elif member != self.local.node:
            self._forget(Prune(topic, member, 0), None, out)

    # From the root

    def on_tree(self, now: float, source: NodeId, message: Tree, out: Outbox) -> None:
        heard_topic(message.topic)
        heard_hops(message.hops)
        if not 0 <= message.identity < 1 << self.route.digits:
            raise Violation("an id out of bounds")
        self._register(message, source, out)

    def _register(self, tree: Tree, source: NodeId | None, out: Outbox) -> None:
        topic, member = tree.topic, tree.member
        step = self.route.step(tree.identity, tree.walk)
        if member != self.local.node and (step.to is None or _is_final(step.walk)):
            raise Violation("a member that is not where its id says")
        branch = self.branches.get(topic)
        if branch is None:
            if len(self.branches) >= VIRTUAL_NODES_MAX:
                raise Violation("on the way to members of too many topics")
            branch = self.branches[topic] = Branch()
        if len(branch.members) >= MEMBERS_MAX:
            raise Violation("too many members")
        if source is not None:
            branch.parents.setdefault(source, set()).add(member)
        if step.to is not None and member != self.local.node:
            branch.members[member] = step.to
            out.send(step.to, Tree(topic, member, tree.identity, tree.hops + 1, step.walk))

    def on_prune(self, now: float, source: NodeId, message: Prune, out: Outbox) -> None:
        heard_topic(message.topic)
        heard_hops(message.hops)
        branch = self.branches.get(message.topic)
        if branch is None or message.member not in branch.parents.get(source, ()):
            raise Violation("a prune of no member, or not from where it came")
        self._forget(message, source, out)

    def _forget(self, prune: Prune, source: NodeId | None, out: Outbox) -> None:
        branch = self.branches.get(prune.topic)
        if branch is None:
            return
        following = branch.forget(prune.member, source)
        if following is not None:
            out.send(following, Prune(prune.topic, prune.member, prune.hops + 1))
        if not branch.members and not branch.parents:
            del self.branches[prune.topic]

    # Publications

    def _targets(self, topic: str) -> Iterable[NodeId]:
        branch = self.branches.get(topic)
        return () if branch is None else branch.targets()

    def _admits(self, source: NodeId, publication: Publication) -> bool:
        branch = self.branches.get(publication.about)
        if branch is None or source not in branch.parents:
            raise Violation("a publication from no parent")
        if self._seen.first(publication.origin, publication.number):
            return True
        self.local.counts["bayeux.copy"] += 1
        return False


def _is_final(walk: Walk | None) -> bool:
    return walk is not None and walk.final
