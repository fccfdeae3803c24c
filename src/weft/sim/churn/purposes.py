"""What each message of an overlay is for, told from the message and from who sends it: a network that counts.

Purposes: ``ring`` (neighbours that look at each other), ``tables`` (fingers and levels kept right), ``reunion`` (asking after
who was lost or met), ``joins``, ``leaves``, ``repair``, ``lookups``, and a purpose for each kind of multicast that the driver
names. An answer has its question's purpose, a wrapped hop its body's, an acknowledgement its hop's. What the broker of a
newcomer does for its tables counts as its join. A message to oneself leaves no broker and is not counted.
"""

from collections import Counter
from collections.abc import Callable
from typing import Any

from weft.core.ids import NodeId
from weft.core.machine import Message
from weft.overlay.hops import Hop, HopAck
from weft.overlay.keys import Key
from weft.overlay.lookup import Gone, Seek, Sought
from weft.overlay.ring.messages import Candidate, Kind, Ping, Pong, PropagateNeighbours, SetL, SetR, SetRAck, SetRNak
from weft.overlay.skipgraph.messages import Step, Stepped
from weft.overlay.spread.messages import Astray, Gather, Returned, Scatter
from weft.overlay.suzaku.messages import Replace, Update, UpdateAck
from weft.sim.des.encoding import size_of
from weft.sim.des.network import Passage, Uniform

UPKEEP = ("ring", "tables", "reunion")
PURPOSES = (*UPKEEP, "joins", "leaves", "repair", "lookups")

SIZED_EVERY = 16
"""One in so many messages of a purpose is encoded to see how large it is."""
ASKED_MAX = 200_000
"""Questions whose purpose is remembered for the answer."""

Judge = Callable[[NodeId, NodeId, Any], str]


class Metered(Uniform):
    """In: messages as they leave. Out: ``messages`` and ``bytes`` by purpose, since the last ``reset``."""

    def __init__(self, delay_s: float, jitter_s: float) -> None:
        super().__init__(delay_s, jitter_s)
        self.messages: Counter[str] = Counter()
        self.bytes: Counter[str] = Counter()
        self.is_new: Callable[[NodeId], bool] = lambda node: False
        """Is it still on its way in, or building its tables?"""
        self.is_lookup: Callable[[Key], bool] = lambda key: False
        """Is it a key that the application looks up?"""
        self.multicast_of: Callable[[Any], str] = lambda payload: "multicast"
        self._asked: dict[tuple[str, NodeId, int], str] = {}
        self._judges: dict[type[Message], Judge] = {
            Hop: self._hop,
            HopAck: lambda source, to, ack: self._answer("hop", to, ack.number),
            Seek: self._seek,
            Sought: lambda source, to, sought: self._answer("seek", to, sought.request),
            SetR: self._set_r,
            SetRAck: lambda source, to, ack: self._answer("set", to, ack.request),
            SetRNak: lambda source, to, nak: self._answer("set", to, nak.request),
            SetL: lambda source, to, set_l: (
                "leaves" if set_l.new.node == source else self._grown(set_l.new.node, "repair")
            ),
            Update: lambda source, to, update: self._grown(source),
            UpdateAck: lambda source, to, ack: self._grown(to),
            Step: lambda source, to, step: self._grown(source) if step.rightward else "repair",
            Stepped: lambda source, to, stepped: self._grown(to) if stepped.rightward else "repair",
            Scatter: self._scatter,
            Gather: lambda source, to, gather: self._answer("scatter", to, gather.ticket),
            Returned: lambda source, to, returned: self.multicast_of(returned.scatter.asked.payload),
        }
        for kind, purpose in (
            (Ping, "ring"),
            (Pong, "ring"),
            (PropagateNeighbours, "ring"),
            (Replace, "leaves"),
            (Candidate, "repair"),
            (Gone, "repair"),
            (Astray, "repair"),
        ):
            self._judges[kind] = lambda source, to, message, purpose=purpose: purpose  # type: ignore[misc]

    def depart(self, now: float, source: NodeId, to: NodeId, message: Message) -> Passage:
        purpose = self._judges[type(message)](source, to, message)
        counted = self.messages[purpose]
        self.messages[purpose] = counted + 1
        if counted % SIZED_EVERY == 0:
            self.bytes[purpose] += size_of(message) * SIZED_EVERY
        return super().depart(now, source, to, message)

    def reset(self) -> None:
        """Count anew."""
        self.messages.clear()
        self.bytes.clear()

    def _remember(self, what: str, asker: NodeId, number: int, purpose: str) -> str:
        self._asked[what, asker, number] = purpose
        if len(self._asked) > ASKED_MAX:
            del self._asked[next(iter(self._asked))]
        return purpose

    def _answer(self, what: str, asker: NodeId, number: int) -> str:
        return self._asked.get((what, asker, number), "repair")

    def _grown(self, node: NodeId, otherwise: str = "tables") -> str:
        return "joins" if self.is_new(node) else otherwise

    def _hop(self, source: NodeId, to: NodeId, hop: Hop) -> str:
        return self._remember("hop", source, hop.number, self._judges[type(hop.body)](source, to, hop.body))

    def _seek(self, source: NodeId, to: NodeId, seek: Seek) -> str:
        """A newcomer seeks its own key; lookups seek keys that are there; all else is about borders of keys."""
        if seek.key.broker == seek.origin:
            purpose = "joins"
        else:
            purpose = "lookups" if self.is_lookup(seek.key) else "reunion"
        return self._remember("seek", seek.origin, seek.request, purpose)

    def _set_r(self, source: NodeId, to: NodeId, set_r: SetR) -> str:
        """INSERT by who is grown: back into a ring that took it for dead, or up into a level that has become one."""
        if set_r.kind is Kind.INSERT:
            purpose = self._grown(source, "tables" if set_r.level else "repair")
        else:
            purpose = "leaves" if set_r.kind is Kind.DELETE else "repair"
        return self._remember("set", source, set_r.request, purpose)

    def _scatter(self, source: NodeId, to: NodeId, scatter: Scatter) -> str:
        purpose = self.multicast_of(scatter.asked.payload)
        return self._remember("scatter", source, scatter.ticket, purpose) if scatter.ticket else purpose
