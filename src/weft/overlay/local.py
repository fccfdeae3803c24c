"""What the protocols of one broker share: identity, seeded randomness, timers, counters.

One ``Local`` per broker, handed to each component (ring, hops, lookup, spread, fingers, levels) by the overlay machine
that stacks them. It has no behaviour of the protocol's own.
"""

from collections import Counter

from weft.core.ids import NodeId
from weft.core.machine import Outbox
from weft.core.rand import Rng
from weft.core.timers import Timers

INCARNATION_STEPS = 1 << 32
"""Joins (and retried joins) that one run of a broker may make before its numbers would reach the next run's."""


class Local:
    """Invariant: ``next_incarnation`` never repeats for a node id, if each run is given a higher ``run`` (overlay §2)."""

    def __init__(self, node: NodeId, seed: int = 0, run: int = 0) -> None:
        self.node = node
        self.rng = Rng(seed, node, run)
        self.timers = Timers()
        self.counts: Counter[str] = Counter()
        self._incarnation = run * INCARNATION_STEPS
        self._request = run * INCARNATION_STEPS

    def next_incarnation(self) -> int:
        self._incarnation += 1
        return self._incarnation

    def next_request(self) -> int:
        """A number that no other request of this broker, of any kind, has had."""
        self._request += 1
        return self._request

    def count(self, what: str, out: Outbox, subject: object = None, detail: object = None) -> None:
        """Something worth noticing happened: counted for metrics, traced for ``story``."""
        self.counts[what] += 1
        out.trace(what, subject, detail)
