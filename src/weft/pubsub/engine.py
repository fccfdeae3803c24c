"""Pub/sub of one broker: front door and verbs. It is the machine; the overlay below it is a part of it.

    subscribe ──▶ nodes ──▶ a virtual node in ``alm``; with wildcards: one in the catalogue of ``shapes`` too
    publish ──▶ shapes.places ──▶ for each, publishers.due? ──no──▶ nothing at all: zero messages
                     └─yes──▶ range multicast to ``alm`` ──▶ other brokers' engines ──▶ Arrived

The caller serves its own clients: what a broker publishes does not come back to it as ``Arrived``. A peer's message that
violates the protocol is counted and traced here and never raises.
"""

from collections import Counter
from typing import Any

from weft.core.errors import Misuse, Violation
from weft.core.ids import NodeId
from weft.core.machine import Event, Handlers, Message, Outbox, TimerHandlers
from weft.core.timers import Timers
from weft.overlay.api import Joined, JoinFailed, Left, Missed, NeighbourChanged, Overlay, Query, Received
from weft.overlay.keys import ALM, OFM, PUB, Segment, filter_parts
from weft.pubsub.boundary import members, place_of
from weft.pubsub.messages import BODY_BYTES_MAX, Compare, Compared, Publication, Report, Signal, check_publication
from weft.pubsub.nodes import HOME, Nodes, Rejoin
from weft.pubsub.port import Port
from weft.pubsub.publishers import CheckDue, Idle, Publishers
from weft.pubsub.settings import Settings
from weft.pubsub.shapes import AnnounceDue, AskShapes, Live, Shapes, is_wild, reaches

RUN_STEPS = 1 << 40
"""Publications of one life of a broker, before its numbers would reach the next life's."""
SEEN_MAX = 65_536
"""Publications that are remembered as having arrived here."""


class Arrived(Event, frozen=True, gc=False):
    """``origin`` published ``body`` to ``topic``, to which somebody here is subscribed."""

    topic: str
    body: bytes
    origin: NodeId
    hops: int


class Engine:
    """In: verbs, messages, timers. Out: effects, ``Arrived``. Invariant: no overlay event but through ``_hear``."""

    def __init__(
        self,
        node: NodeId,
        overlay: Overlay,
        cluster: tuple[str, ...] = (),
        settings: Settings | None = None,
        seed: int = 0,
        run: int = 0,
    ) -> None:
        """``run`` is higher in each life of a broker, so that its publications are never taken for former ones."""
        self.node = node
        self.settings = settings or Settings()
        self.timers = Timers()
        self.counts: Counter[str] = Counter()
        self.port = Port(overlay, self._hear)
        self.nodes = Nodes(node, cluster, self.port, self.timers, self.settings)
        self.publishers = Publishers(node, seed, self.nodes, self.port, self.timers, self.counts, self.settings)
        self.shapes = Shapes(node, self.nodes, self.port, self.timers, self.counts, self.settings)
        self._number = run * RUN_STEPS
        self._seen: dict[tuple[NodeId, int], None] = {}
        self._handlers: Handlers = {
            Live: self.shapes.on_live,
            AskShapes: self.shapes.on_ask,
            Signal: self.publishers.on_signal,
            Compare: self.publishers.on_compare,
            Compared: self.publishers.on_compared,
            Report: self.publishers.on_report,
        }
        self._timers: TimerHandlers = {
            AnnounceDue: self.shapes.on_announce_due,
            Rejoin: self.nodes.on_rejoin,
            Idle: self.publishers.on_idle,
            CheckDue: self.publishers.on_check_due,
        }

    # The machine

    @property
    def deadline(self) -> float | None:
        ours, overlays = self.timers.deadline, self.port.overlay.deadline
        if ours is None or overlays is None:
            return overlays if ours is None else ours
        return min(ours, overlays)

    def receive(self, now: float, source: NodeId, message: Message, out: Outbox) -> None:
        handler = self._handlers.get(type(message))
        if handler is None:
            self.port.receive(now, source, message, out)
            return
        try:
            handler(now, source, message, out)
        except Violation as violation:
            self._violated(source, violation, out)

    def timeout(self, now: float, out: Outbox) -> None:
        overlays = self.port.overlay.deadline
        if overlays is not None and overlays <= now:
            self.port.timeout(now, out)
        for token in self.timers.due(now):
            self._timers[type(token)](now, token, out)

    # The verbs

    def start(self, now: float, introducers: tuple[NodeId, ...], out: Outbox) -> None:
        """Become part of the overlay through one of ``introducers``; without any, begin one."""
        self.nodes.start(now, introducers, out)

    def stop(self, now: float, out: Outbox) -> None:
        """Leave in good order: nothing is wanted any more. It is over when ``is_out``."""
        for place in list(self.publishers.topics):
            self.publishers.forget(now, place, out)
        self.nodes.stop(now, out)

    @property
    def is_out(self) -> bool:
        return not self.nodes.held

    def subscribe(self, now: float, topic_filter: str, out: Outbox, segment: Segment = ALM) -> None:
        """One more wants ``topic_filter``; each ``subscribe`` is undone by one ``unsubscribe``."""
        if segment == PUB:
            raise Misuse("publishers publish; they do not subscribe to the pub segment")
        place = filter_parts(topic_filter)
        self.nodes.want(now, self.nodes.key(place, segment), out)
        if is_wild(place[0]):
            try:
                self.shapes.want(now, place[0], out)
            except Misuse:  # no room for it: all or nothing
                self.nodes.unwant(now, self.nodes.key(place, segment), out)
                raise

    def unsubscribe(self, now: float, topic_filter: str, out: Outbox, segment: Segment = ALM) -> None:
        place = filter_parts(topic_filter)
        self.nodes.unwant(now, self.nodes.key(place, segment), out)
        if is_wild(place[0]):
            self.shapes.unwant(now, place[0], out)

    def publish(self, now: float, topic: str, body: bytes, out: Outbox, *, reliable: bool = False) -> bool:
        """``body`` to all other brokers that subscribe to ``topic``; False if that costs nothing, as nobody does."""
        if len(body) > BODY_BYTES_MAX:
            raise Misuse(f"a body of more than {BODY_BYTES_MAX} bytes")
        place = filter_parts(topic)
        if is_wild(place[0]):
            raise Misuse(f"{topic}: a topic, not a filter with wildcards")
        if not self.nodes.is_in(self.nodes.home):
            self.counts["publish.alone"] += 1  # not in the overlay (yet): nobody else can be reached
            return False
        self._number += 1
        due = [each for each in (place, *self.shapes.places(now, topic)) if self.publishers.due(now, each, out)]
        for each in due:
            publication = Publication(topic, body, self.nodes.is_in(self.nodes.key(each, PUB)), self._number)
            query = Query(members(each), publication, strategy=self.settings.strategy, reliable=reliable)
            self.port.multicast(now, query, out)
        self.counts["publish.sent" if due else "publish.suspended"] += 1
        return bool(due)

    # What the overlay says

    def _hear(self, now: float, event: Event, out: Outbox) -> None:
        if isinstance(event, Received):
            try:
                self._received(now, event, out)
            except Violation as violation:
                self._violated(event.origin, violation, out)
        elif isinstance(event, NeighbourChanged):
            if event.key.shape:
                self.publishers.on_neighbours(now, event, out)
            else:
                self.shapes.on_neighbours(now, event, out)
        elif isinstance(event, Missed):
            self.publishers.on_missed(now, event, out)
        elif isinstance(event, Joined):
            self.nodes.on_joined(now, event.key, out)
            if event.key.segment in (ALM, OFM) and self.nodes.is_in(event.key):
                self.publishers.forget(now, place_of(event.key), out)
            else:
                self.publishers.on_joined(event.key, event.note)
        elif isinstance(event, JoinFailed):
            self.nodes.on_join_failed(now, event.key, out)
        elif isinstance(event, Left):
            self.shapes.on_left(event.key)
            self.nodes.on_left(now, event.key, out)

    def _received(self, now: float, event: Received, out: Outbox) -> None:
        if event.token is not None:
            self.port.reply(now, event.token, None, out)
        if event.origin == self.node:
            return
        if place_of(event.key) == HOME:
            self.shapes.on_announced(now, event.origin, event.payload, out)
            return
        if event.key.segment == PUB:
            self.publishers.on_signalled(now, event.key, event.payload, out)
            return
        publication = check_publication(event.payload)
        if not reaches(publication.topic, place_of(event.key)):
            raise Violation("publication of another topic")
        if self.nodes.wanted(event.key) and self._is_new(event.origin, publication.number):
            out.deliver(Arrived(publication.topic, publication.body, event.origin, event.hops))

    def _is_new(self, origin: NodeId, number: int) -> bool:
        """Did it not come here before, for another filter that matches it?"""
        if (origin, number) in self._seen:
            return False
        self._seen[origin, number] = None
        if len(self._seen) > SEEN_MAX:
            del self._seen[next(iter(self._seen))]
        return True

    def _violated(self, source: NodeId, violation: Any, out: Outbox) -> None:
        self.counts["violation"] += 1
        out.trace("pubsub.violation", source, str(violation))
