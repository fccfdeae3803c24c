"""Seeded randomness: SplitMix64 (Steele, Lea, Flood 2014).

One 64-bit word of state, so that a machine that holds a generator can be copied and compared cheaply, which the
exhaustive explorer does a million times; ``random.Random`` carries 625 words.
"""

from collections.abc import MutableSequence, Sequence
from typing import TypeVar

T = TypeVar("T")

_MASK = (1 << 64) - 1
_GAMMA = 0x9E3779B97F4A7C15


def mix(value: int) -> int:
    """SplitMix64's finaliser: a 64-bit permutation without visible structure."""
    value = ((value ^ (value >> 30)) * 0xBF58476D1CE4E5B9) & _MASK
    value = ((value ^ (value >> 27)) * 0x94D049BB133111EB) & _MASK
    return value ^ (value >> 31)


class Rng:
    """A stream of numbers that depends on its seed and nothing else."""

    __slots__ = ("state",)

    def __init__(self, seed: int, *path: int) -> None:
        """``path`` names a sub-stream: the same seed and path give the same numbers."""
        state = mix(seed & _MASK)
        for part in path:
            state = mix((state + _GAMMA + part) & _MASK)
        self.state = state

    def bits(self) -> int:
        """64 random bits."""
        self.state = (self.state + _GAMMA) & _MASK
        return mix(self.state)

    def random(self) -> float:
        """Uniform in [0, 1)."""
        return (self.bits() >> 11) * (1.0 / (1 << 53))

    def uniform(self, low: float, high: float) -> float:
        return low + (high - low) * self.random()

    def below(self, bound: int) -> int:
        """Uniform in 0 … bound−1 (bias under 2⁻³² for the bounds used here)."""
        return self.bits() % bound

    def choice(self, items: Sequence[T]) -> T:
        return items[self.below(len(items))]

    def weighted(self, items: Sequence[T], weights: Sequence[float]) -> T:
        """One of ``items`` with probability proportional to its weight; weights are ≥ 0 and not all 0."""
        point = self.random() * sum(weights)
        for item, weight in zip(items, weights, strict=True):
            point -= weight
            if point < 0:
                return item
        return items[-1]

    def shuffle(self, items: MutableSequence[T]) -> None:
        for last in range(len(items) - 1, 0, -1):
            other = self.below(last + 1)
            items[last], items[other] = items[other], items[last]

    def sample(self, items: Sequence[T], count: int) -> list[T]:
        """``count`` different items, in random order."""
        pool = list(items)
        self.shuffle(pool)
        return pool[:count]
