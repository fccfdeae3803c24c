"""One run of an overlay whose members come and go: what is asked of it, what is looked at, and the rows that come of it.

A row is something measured: what (``measure``), of which ``kind``, ``at`` what time or level, and its ``value``.

    join          seconds until in the ring, or ``failed``        mended, open   seconds of a hole in the ring
    stayed, got   members throughout a multicast, of them reached  last           seconds until the last of them was
    silent        members throughout that were neither reached nor reported missing to the sender
    twice, late   deliveries that should not be                    lookup, lookup hops   seconds and hops, by how it ended
    pointers      share of right and of left pointers that are right, over time
    held, live, defined, right, off                                table entries by level, summed over samples
    load          messages per member and second, over time
    messages, bytes   per member and second, by purpose            refused        messages that broke the protocol
    per delivery  messages of a kind of multicast for each delivery of one
"""

from collections.abc import Callable
from functools import partial
from typing import NamedTuple

from weft.core.ids import NodeId
from weft.core.machine import Event, Outbox
from weft.core.rand import Rng
from weft.overlay.settings import Settings
from weft.sim.churn.asking import DEADLINE_S, WAYS, Asking
from weft.sim.churn.membership import Membership
from weft.sim.churn.purposes import Metered
from weft.sim.churn.rightness import pointers, tables
from weft.sim.des.engine import Simulation

DELAY_S, JITTER_S = 0.02, 0.06
"""A message takes 20 to 80 ms."""
LOOK_S = 0.25
"""How often holes in the ring are looked at: how exact repair times are."""
SAMPLE_S = 10.0
SAMPLED = 400
"""Members whose tables are looked at in each sample."""
PATIENCE_S = Settings().ping_timeout_s * Settings().ping_tries
"""From the first look at who has crashed until it is given up."""
ENTRIES = ("held", "live", "defined", "right", "off")


class Terms(NamedTuple):
    """How a run is to be."""

    overlay: str
    nodes: int
    departure: str
    """``crash`` or ``leave``: how sessions end."""
    lifetime_s: float
    """The mean of a session."""
    warm_s: float
    """So long it runs before anything is asked or told, …"""
    measured_s: float
    """… and so long then."""
    ping_s: float
    update_s: float
    walk_s: float
    span: int
    """Members in the range of a multicast."""
    multicasts_per_s: float
    """Of each way."""
    lookups_per_s: float

    @property
    def settings(self) -> Settings:
        """The defaults but for how often neighbours look at each other and how often tables are refreshed."""
        return Settings(ping_interval_s=self.ping_s, update_interval_s=self.update_s, walk_interval_s=self.walk_s)


class Turnover:
    """``run`` once; then ``rows``."""

    def __init__(self, terms: Terms, seed: int) -> None:
        self.network = Metered(DELAY_S, JITTER_S)
        self.simulation = Simulation(seed, self.network)
        self.membership = Membership(
            self.simulation,
            terms.overlay,
            terms.settings,
            terms.lifetime_s,
            terms.nodes,
            terms.departure == "crash",
            self._tell,
        )
        self.asking = Asking(self.simulation, self.membership, terms.span, self._tell)
        self.network.is_new = self.membership.is_new
        self.network.is_lookup = self.asking.is_sought
        self.network.multicast_of = self.asking.way
        self.simulation.on_deliver = self._heard
        self.rows: list[tuple[str, str, float, float]] = []
        self._terms = terms
        self._begin_s = terms.warm_s
        self._end_s = terms.warm_s + terms.measured_s
        self._rng = Rng(seed, 3)
        self._entries: dict[tuple[str, int], float] = {}
        self._members: list[int] = []
        self._sent = 0

    def run(self) -> "Turnover":
        simulation = self.simulation
        self.membership.begin()
        self._every(LOOK_S, 0.0, self._end_s, self.membership.look)
        self._every(SAMPLE_S, SAMPLE_S, self._end_s, self._sample)
        last = self._end_s - DEADLINE_S
        step = 1.0 / self._terms.multicasts_per_s
        for number, way in enumerate(WAYS):
            self._every(step, self._begin_s + step * number / len(WAYS), last, partial(self.asking.multicast, way))
        self._every(1.0 / self._terms.lookups_per_s, self._begin_s, last, self.asking.lookup)
        simulation.run(until=self._begin_s)
        self.network.reset()
        self._members.clear()
        simulation.run(until=self._end_s)
        self._sum_up()
        return self

    def _every(self, step_s: float, first: float, last: float, action: Callable[[], None]) -> None:
        """``action`` at ``first`` and each ``step_s`` until ``last``."""

        def turn() -> None:
            action()
            if self.simulation.now + step_s <= last:
                self.simulation.at(self.simulation.now + step_s, turn)

        if first <= last:
            self.simulation.at(first, turn)

    def _tell(self, measure: str, kind: str, value: float) -> None:
        """What happens before the measured time is not told."""
        if self.simulation.now >= self._begin_s:
            self.rows.append((measure, kind, self.simulation.now, value))

    def _heard(self, now: float, node: NodeId, event: Event, out: Outbox) -> None:
        self.membership.heard(now, node, event)
        self.asking.heard(now, node, event, out)

    def _sample(self) -> None:
        """How right everything is now; from the first sample on, since that is how it goes astray."""
        simulation, members, peers = self.simulation, self.membership.members, self.membership.peers
        now, count = simulation.now, len(members)
        simulation.upward.clear()
        self._members.append(count)
        rights, lefts = pointers(peers, members)
        found = tables(peers, members, [self._rng.below(count) for _ in range(min(SAMPLED, count))])
        held, live, defined, right, _ = (sum(column) for column in zip(*found, strict=True))
        sent, self._sent = self._sent, simulation.sent.total()
        for measure, kind, value in (
            ("pointers", "right", rights / count),
            ("pointers", "left", lefts / count),
            ("tables", "live", live / held),
            ("tables", "right", right / defined),
            ("load", "all", (self._sent - sent) / SAMPLE_S / count),
            ("members", "all", float(count)),
        ):
            self.rows.append((measure, kind, now, value))
        if now > self._begin_s:
            for level, entries in enumerate(found):
                for name, value in zip(ENTRIES, entries, strict=True):
                    self._entries[name, level] = self._entries.get((name, level), 0.0) + value

    def _sum_up(self) -> None:
        self.rows += [("level", name, float(level), value) for (name, level), value in self._entries.items()]
        share = len(self._members) / sum(self._members) / (self._end_s - self._begin_s)
        for purpose, sent in sorted(self.network.messages.items()):
            self.rows.append(("messages", purpose, 0.0, sent * share))
            self.rows.append(("bytes", purpose, 0.0, self.network.bytes[purpose] * share))
        for way, delivered in self.asking.delivered.items():
            self.rows.append(("per delivery", way, 0.0, self.network.messages[way] / delivered))
        for since in self.membership.holes.values():
            self.rows.append(("open", "hole", since, self._end_s - since))
        for peer in self.membership.peers.values():
            for what, times in sorted(peer.local.counts.items()):
                if what.startswith("violation"):
                    self.rows.append(("refused", what, 0.0, float(times)))
