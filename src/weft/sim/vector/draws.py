"""``weft.core.rand`` in bulk: the very numbers of its streams, bit for bit, as arrays and inside kernels.

A state after ``count`` draws is the first state plus ``count`` times a constant, so a block of draws has no order.
"""

import numpy as np
import numpy.typing as npt

from weft.core.rand import Rng
from weft.sim.vector.compiled import bare

Words = npt.NDArray[np.uint64]

_GAMMA = np.uint64(0x9E3779B97F4A7C15)
_FIRST = np.uint64(0xBF58476D1CE4E5B9)
_SECOND = np.uint64(0x94D049BB133111EB)
_BY_30, _BY_27, _BY_31, _BY_11 = np.uint64(30), np.uint64(27), np.uint64(31), np.uint64(11)
_SCALE = 1.0 / (1 << 53)
_MASK = (1 << 64) - 1


def mix(words: Words) -> Words:
    """SplitMix64's finaliser, for each word."""
    words = (words ^ (words >> _BY_30)) * _FIRST
    words = (words ^ (words >> _BY_27)) * _SECOND
    words ^= words >> _BY_31
    return words


def block(state: int, count: int) -> Words:
    """The next ``count`` draws of 64 bits of the stream that is at ``state``."""
    return mix(np.arange(1, count + 1, dtype=np.uint64) * _GAMMA + np.uint64(state))


def states(seed: int, numbers: npt.NDArray[np.int64], *path: int) -> Words:
    """``Rng(seed, number, *path).state`` for each of ``numbers``."""
    found = np.asarray(numbers).astype(np.uint64) + _word(Rng(seed).state + int(_GAMMA))
    for part in path:
        found = mix(found) + _word(part + int(_GAMMA))
    return mix(found)


def _word(number: int) -> np.uint64:
    return np.uint64(number & _MASK)


class Draws:
    """One stream, drawn from in blocks: what ``Rng(seed, *path)`` would give call by call."""

    def __init__(self, seed: int, *path: int) -> None:
        self._rng = Rng(seed, *path)

    def bits(self, count: int) -> Words:
        words = block(self._rng.state, count)
        self._rng.state = (self._rng.state + count * int(_GAMMA)) & _MASK
        return words

    def random(self, count: int) -> npt.NDArray[np.float64]:
        """Uniform in [0, 1)."""
        return (self.bits(count) >> _BY_11).astype(np.float64) * _SCALE

    def below(self, bound: int, count: int) -> npt.NDArray[np.int64]:
        """Uniform in 0 … bound−1."""
        return (self.bits(count) % np.uint64(bound)).astype(np.int64)

    def shuffled(self, count: int) -> npt.NDArray[np.int32]:
        """0 … count−1 as ``Rng.shuffle`` would leave them; the first few are a sample."""
        order = np.arange(count, dtype=np.int32)
        if count > 1:
            _shuffle(order, self.bits(count - 1))
        return order


@bare
def _shuffle(items: npt.NDArray[np.int32], words: Words) -> None:
    for step in range(items.size - 1):
        last = items.size - 1 - step
        other = np.int64(words[step] % np.uint64(last + 1))
        items[last], items[other] = items[other], items[last]


@bare
def mixed(word: np.uint64) -> np.uint64:
    """``mix`` of one word, inside a kernel."""
    word = (word ^ (word >> _BY_30)) * _FIRST
    word = (word ^ (word >> _BY_27)) * _SECOND
    return word ^ (word >> _BY_31)


@bare
def bits_at(streams: Words, which: int) -> np.uint64:
    """Inside a kernel: the next 64 bits of stream ``which``, whose state moves on."""
    streams[which] += _GAMMA
    return mixed(streams[which])


@bare
def random_at(streams: Words, which: int) -> float:
    """The same, uniform in [0, 1)."""
    return (bits_at(streams, which) >> _BY_11) * _SCALE
