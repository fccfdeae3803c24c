"""SHG: subscriptions go up, events go up, across and down (see the package).

``variant`` is ``corrected``, or ``literal``: the paper's procedures as printed. Corners are given and do not change, so nothing
has to be kept true and there is no upkeep; a message that is lost is lost.
"""

from typing import Any

from weft.core.errors import Misuse, Violation
from weft.core.ids import NodeId
from weft.core.limits import VIRTUAL_NODES_MAX
from weft.core.machine import Outbox
from weft.overlay.groups import FrontDoor, Publication, heard_hops
from weft.overlay.local import Local
from weft.overlay.shg.geometry import (
    branches,
    dominator,
    is_dominating,
    literal_onward,
    literal_targets,
    onward,
    place,
)
from weft.overlay.shg.messages import Across, Down, Subscribe, Unsubscribe, Up
from weft.overlay.shg.patterns import Attributes, Pattern, heard, wrong_attributes
from weft.overlay.shg.tables import Table

VARIANTS = ("corrected", "literal")
DIMENSION_MAX = 24


class Shg(FrontDoor):
    """One corner of a hypercube of dimension ``n`` whose low ``k`` bits index inside a partition."""

    def __init__(self, corner: int, n: int, k: int, variant: str = "corrected", seed: int = 0, run: int = 0) -> None:
        if not 0 < k < n <= DIMENSION_MAX:
            raise Misuse(f"dimension {n} with {k} low bits: 0 < k < n ≤ {DIMENSION_MAX}")
        if not 0 <= corner < 1 << n:
            raise Misuse(f"{corner} is no corner of a hypercube of dimension {n}")
        if variant not in VARIANTS:
            raise Misuse(f"unknown variant {variant}; known: {', '.join(VARIANTS)}")
        super().__init__(Local(NodeId(corner + 1), seed, run))
        self.corner = corner
        self.table = Table()
        self._n = n
        self._k = k
        self._literal = variant == "literal"
        self._parent = self._onward(corner)
        self._handlers.update(
            {
                Subscribe: self.on_subscribe,
                Unsubscribe: self.on_unsubscribe,
                Up: self.on_up,
                Across: self.on_across,
                Down: self.on_down,
            }
        )

    def _onward(self, corner: int) -> int:
        return literal_onward(corner, self._k) if self._literal else onward(corner, self._k)

    @property
    def dominates(self) -> bool:
        """Do ways up end here?"""
        return self._parent == self.corner

    # Patterns

    def subscribe(self, now: float, interest: Pattern, out: Outbox) -> None:
        if interest in self.table.own:
            raise Misuse("this pattern is subscribed already")
        if len(self.table) >= VIRTUAL_NODES_MAX:
            raise Misuse(f"more than {VIRTUAL_NODES_MAX} patterns")
        self._install(interest, None, out)

    def unsubscribe(self, now: float, interest: Pattern, out: Outbox) -> None:
        if interest not in self.table.own:
            raise Misuse("this pattern is not subscribed")
        self._remove(interest, None, out)

    def on_subscribe(self, now: float, source: NodeId, message: Subscribe, out: Outbox) -> None:
        self._from_below(source)
        heard(message.pattern)
        if len(self.table) >= VIRTUAL_NODES_MAX:
            raise Violation("too many patterns")
        self._install(message.pattern, source, out)

    def _install(self, pattern: Pattern, child: NodeId | None, out: Outbox) -> None:
        """A step up, and no further where the pattern is known; as printed: all the way, each node modifies its item."""
        new = self.table.install(pattern, child)
        if not self.dominates and (new or self._literal):
            out.send(NodeId(self._parent + 1), Subscribe(pattern))

    def on_unsubscribe(self, now: float, source: NodeId, message: Unsubscribe, out: Outbox) -> None:
        self._from_below(source)
        if source not in self.table.children.get(message.pattern, ()):
            raise Violation("a pattern that is not wanted there")
        self._remove(message.pattern, source, out)

    def _remove(self, pattern: Pattern, child: NodeId | None, out: Outbox) -> None:
        if self.table.remove(pattern, child) and not self.dominates:
            out.send(NodeId(self._parent + 1), Unsubscribe(pattern))

    def _from_below(self, source: NodeId) -> None:
        if not 0 < source <= 1 << self._n or source == self.local.node or self._onward(source - 1) != self.corner:
            raise Violation("from nobody below")

    # Events

    def publish(self, now: float, about: Attributes, payload: Any, out: Outbox) -> int:
        wrong = wrong_attributes(about)
        if wrong:
            raise Misuse(wrong)
        number = self.local.next_request()
        self._up(Publication(dict(about), payload, self.local.node, number), 0, out)
        return number

    def on_up(self, now: float, source: NodeId, message: Up, out: Outbox) -> None:
        self._from_below(source)
        self._check(message.publication, message.hops)
        self._up(message.publication, message.hops, out)

    def _up(self, publication: Publication, hops: int, out: Outbox) -> None:
        if not self.dominates:
            out.send(NodeId(self._parent + 1), Up(publication, hops + 1))
            return
        self._down(publication, hops, hops, out)
        if self._literal:
            self._scatter(publication, hops, out)
        else:
            self._across(publication, self._n - self._k + 1, hops, hops, out)

    def _across(self, publication: Publication, dimension: int, hops: int, relay: int, out: Outbox) -> None:
        for at, along in branches(place(self.corner, self._n, self._k), dimension):
            to = NodeId(dominator(at, self._n, self._k) + 1)
            out.send(to, Across(publication, along, hops + 1, relay))

    def _scatter(self, publication: Publication, hops: int, out: Outbox) -> None:
        """The three broadcasts as printed; what they send to ourselves is no message, and is served again all the same."""
        for target in literal_targets(self.corner, self._n, self._k):
            if target == self.corner:
                self._down(publication, hops, hops, out)
            else:
                out.send(NodeId(target + 1), Across(publication, 0, hops + 1, hops))

    def on_across(self, now: float, source: NodeId, message: Across, out: Outbox) -> None:
        self._check(message.publication, message.hops, message.relay)
        if not (is_dominating(self.corner, self._k) and self._is_dominator(source)):
            raise Violation("an event across that is not in the event partition")
        apart = place(self.corner, self._n, self._k) ^ place(source - 1, self._n, self._k)
        along = message.dimension
        highest = 0 if self._literal else self._n - self._k  # as printed, nobody hands on
        if not 0 <= along <= highest or (apart != 1 << along and not self._literal):
            raise Violation("an event across from nobody along this dimension")
        self._down(message.publication, message.hops, message.relay, out)
        self._across(message.publication, message.dimension, message.hops, message.relay, out)

    def _is_dominator(self, source: NodeId) -> bool:
        return 0 < source <= 1 << self._n and source != self.local.node and is_dominating(source - 1, self._k)

    def on_down(self, now: float, source: NodeId, message: Down, out: Outbox) -> None:
        if self.dominates or source != self._parent + 1:
            raise Violation("an event from nobody above")
        self._check(message.publication, message.hops, message.relay)
        self._down(message.publication, message.hops, message.relay, out)

    def _down(self, publication: Publication, hops: int, relay: int, out: Outbox) -> None:
        us, children = self.table.wanting(publication.about)
        if us:
            out.deliver(publication.received(hops, relay))
        for child in children:
            out.send(child, Down(publication, hops + 1, relay))

    def _check(self, publication: Publication, hops: int, relay: int = 0) -> None:
        heard_hops(hops)
        heard_hops(relay, 0)
        wrong = wrong_attributes(publication.about)
        if wrong:
            raise Violation(wrong)
