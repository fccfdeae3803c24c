"""Publishing through a root: what Scribe and Bayeux have in common; the tree below the root is theirs."""

from collections.abc import Iterable
from typing import Any

from weft.core.errors import Misuse, Violation
from weft.core.ids import NodeId
from weft.core.limits import VIRTUAL_NODES_MAX
from weft.core.machine import Outbox
from weft.overlay.groups import FrontDoor, Publication, check_topic, heard_hops, heard_topic
from weft.overlay.local import Local
from weft.overlay.rendezvous.geometry import identity
from weft.overlay.rendezvous.messages import Data, Post, Rooted, Walk
from weft.overlay.rendezvous.routes import Route, Step

ROOTS_MAX = VIRTUAL_NODES_MAX
"""Roots that a publisher remembers."""


class Rendezvous(FrontDoor):
    """In: Post, Rooted, Data. Out: the same. Invariant: we spread what came to us as a root, or from a parent, only."""

    def __init__(self, node: NodeId, route: Route, seed: int = 0, run: int = 0) -> None:
        super().__init__(Local(node, seed, run))
        self.route = route
        self.roots: dict[str, NodeId | None] = {}
        """The roots of the topics that we publish; None while we do not know one."""
        self.owned: set[str] = set()
        """The topics whose root we know ourselves to be."""
        self.subscribed: set[str] = set()
        self._handlers.update({Post: self.on_post, Rooted: self.on_rooted, Data: self.on_data})

    # What a tree defines

    def _targets(self, topic: str) -> Iterable[NodeId]:
        """Who gets the next copy from us."""
        raise AssertionError("a rendezvous without a tree")

    def _admits(self, source: NodeId, publication: Publication) -> bool:
        """May ``publication`` come from ``source``, and is it new? ``Violation`` if it may not."""
        raise AssertionError("a rendezvous without a tree")

    def _owns(self, topic: str, out: Outbox) -> None:
        """We have just learnt that we own ``topic``."""

    # Publishing

    def publish(self, now: float, about: str, payload: Any, out: Outbox) -> int:
        """To the root: by the way there the first time, in one message from then on."""
        check_topic(about)
        publication = Publication(about, payload, self.local.node, self.local.next_request())
        root = self.roots.get(about)
        if root is None or about in self.owned:
            self._seek(about)
            self._route(Post(publication, 0, True, None), out)
        else:
            out.send(root, Post(publication, 1, False, None))
        return publication.number

    def _seek(self, topic: str) -> None:
        if topic not in self.roots:
            if len(self.roots) >= ROOTS_MAX:
                del self.roots[next(iter(self.roots))]
            self.roots[topic] = None

    def on_post(self, now: float, source: NodeId, message: Post, out: Outbox) -> None:
        heard_topic(message.publication.about)
        heard_hops(message.hops)
        self._route(message, out)

    def _route(self, post: Post, out: Outbox) -> None:
        publication = post.publication
        step = self._next(publication.about, post.walk, out)
        if step.to is not None:
            # who was taken for the root and is not lets the publisher know who is
            out.send(step.to, Post(publication, post.hops + 1, True, step.walk))
            return
        if post.seeking and publication.origin != self.local.node:
            out.send(publication.origin, Rooted(publication.about))
        self._spread(publication, post.hops, post.hops, out)

    def _next(self, topic: str, walk: Walk | None, out: Outbox) -> Step:
        """Where next; ``to`` is None if we are the root, and then we know it from now on."""
        if topic in self.owned:
            return Step(None, None)
        step = self.route.step(identity(topic, self.route.digits), walk)
        if step.to is None:
            self._own(topic, out)
        return step

    def _own(self, topic: str, out: Outbox) -> None:
        if len(self.owned) >= VIRTUAL_NODES_MAX:
            raise Violation("root of too many topics")
        self.owned.add(topic)
        self._owns(topic, out)

    def on_rooted(self, now: float, source: NodeId, message: Rooted, out: Outbox) -> None:
        if message.topic not in self.roots:
            raise Violation("a root that nobody asked for")
        self.roots[message.topic] = source

    def on_data(self, now: float, source: NodeId, message: Data, out: Outbox) -> None:
        heard_topic(message.publication.about)
        heard_hops(message.hops)
        heard_hops(message.relay, 0)
        if self._admits(source, message.publication):
            self._spread(message.publication, message.hops, message.relay, out)

    def _spread(self, publication: Publication, hops: int, relay: int, out: Outbox) -> None:
        if publication.about in self.subscribed:
            out.deliver(publication.received(hops, relay))
        for node in self._targets(publication.about):
            out.send(node, Data(publication, hops + 1, relay))

    # Subscribing: what both trees check

    def _wants(self, topic: str) -> None:
        check_topic(topic)
        if topic in self.subscribed:
            raise Misuse(f"{topic} is subscribed already")
        if len(self.subscribed) >= VIRTUAL_NODES_MAX:
            raise Misuse(f"more than {VIRTUAL_NODES_MAX} subscriptions")
        self.subscribed.add(topic)

    def _no_longer_wants(self, topic: str) -> None:
        if topic not in self.subscribed:
            raise Misuse(f"{topic} is not subscribed")
        self.subscribed.discard(topic)
