"""Topics and filters from a stated generator, as numbers; and the key orders of two schemes that find the filters of a topic.

A topic has a level for each entry of ``WORDS``, which says how many words there are; the word is drawn by Zipf's law, the
levels by themselves. A filter is a topic drawn the same way, blanked by one of the live shapes, each as likely.

By *shapes*, as weft does (docs/adr/0003): filters in order of (shape, literals), so that those of one shape which match a
topic are one range. By *prefixes*: in order of the literal levels before the first wildcard, filters without any apart; a
topic's filters are in the ranges of its prefixes, among others whose remaining levels do not match.
"""

from typing import NamedTuple

import numpy as np

from weft.sim.vector.draws import Draws
from weft.sim.vector.layout import Longs

WORDS = (4, 8, 16, 32, 8)
"""Site, building, floor, room, quantity."""

SHAPES = (
    "L/L/L/L/L",
    "L/L/L/#",
    "L/L/L/+/L",
    "L/#",
    "L/+/L/L/L",
    "L/L/#",
    "+/+/+/+/L",
    "L/L/L/L/#",
    "L/+/+/+/L",
    "L/L/+/L/L",
    "+/L/L/L/L",
    "L/L/+/+/L",
    "L/+/#",
    "L/L/L/L/+",
    "+/L/#",
    "L/+/L/#",
)
"""In the order in which they come to life: the plain topic first."""


class Scheme(NamedTuple):
    """An order of filters: those of equal ``codes`` are one range. ``kinds``: the patterns of levels that tell codes apart."""

    kinds: tuple[tuple[int, ...], ...]
    """For each kind of query, the levels whose words it names."""
    codes: Longs
    """Of each filter."""

    def asked(self, topic: Longs) -> list[int]:
        """The codes whose filters may match ``topic``: one for each kind."""
        return [_code(kind, levels, topic) for kind, levels in enumerate(self.kinds)]


def drawn(draws: Draws, count: int) -> Longs:
    """Topics: the word's number at each level, a row each."""
    columns = []
    for words in WORDS:
        weights = np.cumsum(1.0 / np.arange(1, words + 1))
        columns.append(np.searchsorted(weights, draws.random(count) * weights[-1], side="right"))
    return np.stack(columns, axis=1).astype(np.int64)


def literals(shape: str) -> tuple[int, ...]:
    """The levels at which ``shape`` has a literal."""
    return tuple(at for at, level in enumerate(shape.split("/")) if level == "L")


def prefix(shape: str) -> tuple[int, ...]:
    """The literal levels before the first wildcard."""
    found = literals(shape)
    return tuple(at for count, at in enumerate(found) if at == count)


def by_shapes(topics: Longs, shape_of: Longs, live: int) -> Scheme:
    """Filters made of ``topics`` by the first ``live`` shapes."""
    kinds = tuple(literals(shape) for shape in SHAPES[:live])
    return Scheme(kinds, _codes(topics, shape_of, kinds))


def by_prefixes(topics: Longs, shape_of: Longs, live: int) -> Scheme:
    """The same filters; a kind is a length of prefixes that is in use, or the plain topic."""
    plain = len(WORDS)
    of_shape = [plain + 1 if "+" not in shape and "#" not in shape else len(prefix(shape)) for shape in SHAPES[:live]]
    lengths = sorted(set(of_shape))
    kinds = tuple(tuple(range(min(length, plain))) for length in lengths)
    kind_of = np.array([lengths.index(length) for length in of_shape])
    return Scheme(kinds, _codes(topics, kind_of[shape_of], kinds))


def _code(kind: int, levels: tuple[int, ...], topic: Longs) -> int:
    code = kind
    for level, words in enumerate(WORDS):
        code = code * (words + 1) + (int(topic[level]) + 1 if level in levels else 0)
    return code


def _codes(topics: Longs, kind_of: Longs, kinds: tuple[tuple[int, ...], ...]) -> Longs:
    """``_code`` of each row."""
    codes = kind_of.astype(np.int64)
    for level, words in enumerate(WORDS):
        named = np.array([level in levels for levels in kinds])[kind_of]
        codes = codes * (words + 1) + np.where(named, topics[:, level] + 1, 0)
    return codes
