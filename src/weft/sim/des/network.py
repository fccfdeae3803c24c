"""The seam between the engine and the world: when does a message arrive, and over how many links?

``depart`` answers for the whole way if it can; where messages queue for links it answers for the first link and is asked
again, ``onward``, when the message gets there. Nothing here drops a message: that is a fault (``faults``).
"""

from typing import NamedTuple, Protocol

from weft.core.errors import Misuse
from weft.core.ids import NodeId
from weft.core.machine import Message
from weft.sim.des.draws import draws


class Transit(NamedTuple):
    """A message between two links of its way: which way, how far along, how large."""

    way: tuple[int, ...]
    at: int
    size: int


Passage = tuple[float, int, Transit | None]
"""(when, links crossed in all, None if it has then arrived)"""


class Network(Protocol):
    """``begin`` is called once, by the simulation that the network then belongs to."""

    def begin(self, seed: int) -> None: ...

    def depart(self, now: float, source: NodeId, to: NodeId, message: Message) -> Passage: ...

    def onward(self, now: float, transit: Transit) -> Passage: ...


class Uniform:
    """Everybody is one link from everybody; each message takes ``delay_s`` and up to ``jitter_s`` more."""

    def __init__(self, delay_s: float = 0.01, jitter_s: float = 0.0) -> None:
        if delay_s < 0 or jitter_s < 0:
            raise Misuse(f"a delay is not below 0: delay_s={delay_s} jitter_s={jitter_s}")
        self._delay_s = delay_s
        self._jitter_s = jitter_s
        self._draws = draws(0)

    def begin(self, seed: int) -> None:
        self._draws = draws(seed, 1)

    def depart(self, now: float, source: NodeId, to: NodeId, message: Message) -> Passage:
        if self._jitter_s:
            return now + self._delay_s + self._jitter_s * next(self._draws), 1, None
        return now + self._delay_s, 1, None

    def onward(self, now: float, transit: Transit) -> Passage:
        raise Misuse("a uniform network has no second link")
