"""Suzaku converged: fingers are index arithmetic, so there is no table to build (SELECT §3.2; overlay §3).

FFT[i] of position p is p + 2^i, BFT[i] is p − 2^i, round the ring, for i up to ``top_level``; the models and
``sim/whole.py:whole_suzaku`` share that function. What aggregated values come to, and how they age, is in ``ageing``.
"""

from dataclasses import dataclass

import numpy as np

from weft.overlay.suzaku.geometry import top_level
from weft.sim.vector.compiled import compiled
from weft.sim.vector.layout import Ints, Layout


@dataclass(frozen=True, slots=True)
class Suzaku:
    """A converged ring of ``layout``."""

    layout: Layout

    @property
    def top(self) -> int:
        """k of the papers."""
        return top_level(self.layout.size)

    def fft(self, position: int) -> list[int]:
        return [(position + (1 << level)) % self.layout.size for level in range(self.top + 1)]

    def bft(self, position: int) -> list[int]:
        return [(position - (1 << level)) % self.layout.size for level in range(self.top + 1)]


def lookups(overlay: Suzaku, brokers: Ints, places: Ints) -> Ints:
    """Hops of lookups: broker number ``brokers[i]`` looks for whose right neighbour a key just above ``places[i]`` would be.

    A message goes to the contact with the greatest key not above the place, by the tables of all keys of a broker
    (RELAY §5.2), until that contact is the broker's own.
    """
    hops = np.empty(brokers.size, np.int32)
    layout = overlay.layout
    _lookups(layout.size, overlay.top, layout.owner, layout.first, layout.held, brokers, places, hops)
    return hops


@compiled
def _lookups(
    size: int, top: int, owner: Ints, first: Ints, held: Ints, brokers: Ints, places: Ints, hops: Ints
) -> None:
    plain = owner.size == 0
    for query in range(brokers.size):
        place, broker, taken = places[query], brokers[query], 0
        while True:
            begin, end = (0, 1) if plain else (first[broker], first[broker + 1])
            nearest = size
            for at in range(begin, end):
                node = broker if plain else held[at]
                away = (place - node) % size  # how far the place is above the contact: wrapping below the least
                nearest = min(nearest, away)
                for level in range(top + 1):
                    for contact in (node + (1 << level), node - (1 << level)):
                        nearest = min(nearest, (place - contact) % size)
            best = (place - nearest) % size
            holder = best if plain else owner[best]
            if holder == broker:
                break
            broker = holder
            taken += 1
        hops[query] = taken
