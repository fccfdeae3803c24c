"""Publishers of one broker, by topic: when a publication is due, and when its publisher is suspended (RELAY §5.3; overlay §7).

    outside ── publishes again ──▶ joining ── Joined: what the note says ──▶ in: resumed ◀──▶ suspended
       └──────────────── silent for idle_s: forgotten ◀── leaves ◀──────────────┘

Outside, a publication finds its way by the overlay's tables, so that the first one waits for no join. Inside, it is due only
if the next segment is ``alm``. The one at the edge, the rendezvous point (rp), sees that itself and tells the others when it
changes (figure 7). A newcomer learns it from its left neighbour's note, decides itself if it is the rp, and else, at the left
end of the segment, asks its right neighbour (figure 8); until it knows, it publishes. A broker that subscribes too has no
node here.

What signals miss is repaired (§5.3.6): (i) a publication that meets the rp although nobody listens is answered by a signal;
(ii) who is suspended compares with its right neighbour now and then, and reports a difference to the rp.
"""

from collections import Counter
from typing import Any

import msgspec

from weft.core.errors import Violation
from weft.core.ids import NodeId
from weft.core.machine import Outbox
from weft.core.rand import Rng
from weft.core.timers import Timers
from weft.overlay.api import Found, Missed, NeighbourChanged, Query, Ref
from weft.overlay.keys import ALM, OFM, PUB, Key
from weft.pubsub.boundary import (
    LISTENING,
    Place,
    is_publisher_beside,
    members,
    note,
    noted,
    place_of,
    publishers,
    seen,
)
from weft.pubsub.messages import Compare, Compared, Publication, Report, Signal, check_answer, check_place
from weft.pubsub.nodes import Nodes
from weft.pubsub.port import Port
from weft.pubsub.settings import Settings
from weft.pubsub.shapes import reaches


class Idle(msgspec.Struct, frozen=True, gc=False):
    """Timer: has the publisher of ``place`` been silent for long?"""

    place: Place


class CheckDue(msgspec.Struct, frozen=True, gc=False):
    """Timer: the suspended publisher of ``place`` compares with its neighbour."""

    place: Place


class Publisher(msgspec.Struct):
    """``answer`` is what follows ``pub``, as far as we know; ``edge``: we are the rp, and see it ourselves."""

    last: float
    count: int = 0
    member: bool = False
    answer: int | None = None
    edge: bool = False
    right: Ref | None = None
    signalled: float | None = None

    @property
    def sends(self) -> bool:
        return self.answer is None or self.answer == LISTENING


class Publishers:
    """In: ``due`` for each publication, the overlay's events, messages, timers. Out: signals, comparisons, reports."""

    def __init__(
        self,
        node: NodeId,
        seed: int,
        nodes: Nodes,
        port: Port,
        timers: Timers,
        counts: Counter[str],
        settings: Settings,
    ) -> None:
        self._node = node
        self._rng = Rng(seed, node, 5)
        self._nodes = nodes
        self._port = port
        self._timers = timers
        self._counts = counts
        self._settings = settings
        self.topics: dict[Place, Publisher] = {}

    # Publishing

    def due(self, now: float, place: Place, out: Outbox) -> bool:
        """Something is to be published: must the overlay carry it?"""
        if self.is_exempt(place):
            return True
        publisher = self.topics.get(place)
        if publisher is None:
            if len(self.topics) >= self._settings.publishers_max:
                self._counts["publishers.full"] += 1
                return True
            publisher = self.topics[place] = Publisher(now)
            self._timers.set(Idle(place), now + self._settings.idle_s)
        publisher.last = now
        publisher.count += 1
        key = self._nodes.key(place, PUB)
        if not publisher.member and publisher.count >= self._settings.join_after and not self._nodes.is_full:
            publisher.member = True
            self._nodes.want(now, key, out)
        return publisher.sends or not self._nodes.is_in(key)

    def is_exempt(self, place: Place) -> bool:
        """Who subscribes to what it publishes is no publisher of it: as long as it is there, somebody listens (§5.3.5)."""
        return any(self._nodes.is_in(self._nodes.key(place, segment)) for segment in (ALM, OFM))

    def forget(self, now: float, place: Place, out: Outbox) -> None:
        """We are no publisher of ``place`` any more."""
        publisher = self.topics.pop(place, None)
        if publisher is None:
            return
        self._timers.cancel(Idle(place))
        self._timers.cancel(CheckDue(place))
        if publisher.member:
            self._nodes.unwant(now, self._nodes.key(place, PUB), out)

    def on_idle(self, now: float, due: Idle, out: Outbox) -> None:
        over = self.topics[due.place].last + self._settings.idle_s
        if over > now:
            self._timers.set(due, over)
        else:
            self.forget(now, due.place, out)

    def _member(self, key: Key) -> Publisher | None:
        """The publisher whose node in the ring ``key`` is."""
        if key.segment != PUB or not self._nodes.is_in(key):
            return None
        return self.topics.get(place_of(key))

    # What our own node sees

    def on_joined(self, key: Key, text: bytes) -> None:
        """The predecessor's note came with the answer to our insertion; ``on_neighbours`` follows."""
        publisher = self._member(key)
        if publisher is not None:
            publisher.answer = noted(place_of(key), text)
            publisher.edge = False

    def on_neighbours(self, now: float, event: NeighbourChanged, out: Outbox) -> None:
        """Figure 7: the rp's neighbour changed; figure 8: we have come in. Left of the edge only the answer we have counts."""
        key = event.key
        publisher = self._member(key)
        if publisher is None:
            return
        publisher.right = event.right
        answer = seen(key, event.right.key)
        was_edge, publisher.edge = publisher.edge, answer is not None
        if answer is not None and answer != publisher.answer:
            self._take(now, key, publisher, answer, out)
            if is_publisher_beside(key, event.left.key):
                self._signal(now, key, publisher, out)
        elif answer is None and publisher.answer is None:
            self._compare(key, publisher, out)
            self._timers.set(CheckDue(place_of(key)), now + self._settings.check_first_s)
        elif not was_edge or not publisher.edge:
            self._take(now, key, publisher, publisher.answer, out)

    def _take(self, now: float, key: Key, publisher: Publisher, answer: int | None, out: Outbox) -> None:
        """``answer`` holds from now on: for us, and for whoever comes in right of us."""
        assert answer is not None, "what is not known is not taken"
        place, sent = place_of(key), publisher.sends
        publisher.answer = answer
        self._port.overlay.note(key, note(place, answer))
        if publisher.sends:
            self._timers.cancel(CheckDue(place))
        else:
            self._timers.set(CheckDue(place), now + self._settings.check_first_s)
        if sent != publisher.sends:
            self._count("resumed" if publisher.sends else "suspended", place, out)

    # Signals

    def _signal(self, now: float, key: Key, publisher: Publisher, out: Outbox) -> None:
        """Tell all of our segment (§5.3.4)."""
        assert publisher.answer is not None, "who tells, knows"
        place = place_of(key)
        publisher.signalled = now
        self._count("signalled", place, out)
        signal = Signal(place, publisher.answer)
        self._port.multicast(
            now, Query(publishers(place), signal, strategy=self._settings.strategy, reliable=True), out
        )

    def on_signalled(self, now: float, key: Key, payload: Any, out: Outbox) -> None:
        """A multicast reached our node ``key`` in ``pub``."""
        if not isinstance(payload, Signal) or payload.place != place_of(key):
            raise Violation("what is no signal of this topic sent to its publishers")
        self.on_signal(now, key.broker, payload, out)

    def on_signal(self, now: float, source: NodeId, message: Signal, out: Outbox) -> None:
        check_place(message.place)
        check_answer(message.answer)
        key = self._nodes.key(message.place, PUB)
        publisher = self._member(key)
        if publisher is not None and not publisher.edge:  # at the edge our own eyes are better
            self._take(now, key, publisher, message.answer, out)

    def on_missed(self, now: float, event: Missed, out: Outbox) -> None:
        """Repair (i): a publication met us, the rp, because nobody listens; its publisher does not know that.

        One from outside is not answered: nobody would tell its broker when it may go on.
        """
        publisher = self._member(event.key)
        if publisher is None or not publisher.edge or publisher.sends or event.origin == self._node:
            return
        place, payload = place_of(event.key), event.payload
        if isinstance(payload, Publication) and payload.member and reaches(payload.topic, place):
            assert publisher.answer is not None, "at the edge the answer is known"
            self._count("repaired.i", place, out)
            out.send(event.origin, Signal(place, publisher.answer))

    # Repair (ii)

    def on_check_due(self, now: float, due: CheckDue, out: Outbox) -> None:
        place = due.place
        key = self._nodes.key(place, PUB)
        publisher = self._member(key)
        if publisher is None or publisher.answer == LISTENING:
            return
        if not publisher.edge:
            self._compare(key, publisher, out)
        self._timers.set(due, now + self._rng.uniform(0.75, 1.25) * self._settings.check_s)

    def _compare(self, key: Key, publisher: Publisher, out: Outbox) -> None:
        assert publisher.right is not None, "who is in the ring has a right neighbour"
        out.send(publisher.right.node, Compare(key, publisher.right.key))

    def on_compare(self, now: float, source: NodeId, message: Compare, out: Outbox) -> None:
        if message.key.broker != source or place_of(message.key) != place_of(message.right):
            raise Violation("comparison for somebody else")
        publisher = self._member(message.right)
        if publisher is not None and publisher.answer is not None:
            out.send(source, Compared(message.key, publisher.answer))

    def on_compared(self, now: float, source: NodeId, message: Compared, out: Outbox) -> None:
        check_answer(message.answer)
        key = message.key
        publisher = self._member(key)
        if publisher is None or publisher.right is None or publisher.right.node != source or publisher.edge:
            self._counts["compared.late"] += 1
        elif publisher.answer is None:
            self._take(now, key, publisher, message.answer, out)
        elif publisher.answer != message.answer:
            self._report(now, key, out)

    def _report(self, now: float, key: Key, out: Outbox) -> None:
        """To the rp: whoever has the greatest key below ``alm``."""

        def at(later: float, found: Found, outbox: Outbox) -> None:
            if found.at is not None and is_publisher_beside(key, found.at.key):
                outbox.send(found.at.node, Report(place_of(key)))

        self._count("reported", place_of(key), out)
        self._port.lookup(now, members(place_of(key)).low, at, out)

    def on_report(self, now: float, source: NodeId, message: Report, out: Outbox) -> None:
        """The rp tells its segment once more, but not for each of many reports of one difference."""
        check_place(message.place)
        key = self._nodes.key(message.place, PUB)
        publisher = self._member(key)
        if publisher is None or not publisher.edge:
            self._counts["report.astray"] += 1
        elif publisher.signalled is not None and now < publisher.signalled + self._settings.check_first_s:
            self._counts["report.doubled"] += 1
        else:
            self._count("repaired.ii", message.place, out)
            self._signal(now, key, publisher, out)

    def _count(self, what: str, place: Place, out: Outbox) -> None:
        self._counts[what] += 1
        out.trace(f"pubsub.{what}", place)
