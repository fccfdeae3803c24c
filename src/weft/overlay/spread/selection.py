"""Which candidate Anycast picks: SELECT §4.2, as pure functions (the draw apart, which has its generator as an argument)."""

from collections.abc import Sequence
from typing import NamedTuple

from weft.core.rand import Rng
from weft.overlay.api import Condition, Entry, Ref
from weft.overlay.keys import Key, KeyRange, after
from weft.overlay.spread.geometry import arcs, contains, matches, meet, subtract
from weft.overlay.spread.messages import Pick
from weft.overlay.values import Attributes

WEIGHT_MAX = 1e12
"""A value counts for no more than this: a weight must stay a number that can be added up."""


class Candidate(NamedTuple):
    """A node that may be picked: ourselves at level −1, or an entry, for ``scope`` of the range."""

    ref: Ref
    level: int
    value: float
    scope: KeyRange


def weights(selection: str, candidates: Sequence[Candidate]) -> list[float]:
    """SELECT §4.2 Algorithm 2; not divided by their sum, which the draw does."""
    values = [min(max(0.0, candidate.value), WEIGHT_MAX) for candidate in candidates]
    levels = [candidate.level for candidate in candidates]
    if selection == "many":
        return values
    if selection == "few":
        return [max(values) + 1 - value for value in values]
    if selection == "close":
        return [float(max(levels) + 1 - level) for level in levels]
    return [1.0] * len(candidates)


def choose(rng: Rng, selection: str, candidates: Sequence[Candidate]) -> Candidate:
    """SELECTONE: weighted random."""
    shares = weights(selection, candidates)
    return rng.weighted(candidates, shares) if sum(shares) > 0 else rng.choice(candidates)


def alone(key: Key) -> KeyRange:
    """The range that holds ``key`` and nothing else."""
    return KeyRange(key, after(key))


def candidates_at(
    here: Ref, values: Attributes, rights: Sequence[Entry], lefts: Sequence[Entry], pick: Pick, condition: Condition
) -> list[Candidate]:
    """FFT[−1…k] ∪ BFT: what matches, meets the scope and is not ruled out. ``random`` does not look at values."""
    blind = pick.selection == "random"
    found = []
    if (
        (blind or matches(values, condition))
        and here.key in pick.scope
        and not contains(pick.ruled_out, alone(here.key))
    ):
        found.append(Candidate(here, -1, values.get(condition.label, 0.0), alone(here.key)))
    for entry, ranges in arcs(here.key, rights, lefts):
        if blind or matches(entry.values, condition):
            scopes = [meet(arc, pick.scope) for arc in ranges]
            open_scopes = [s for s in scopes if not s.is_empty and subtract(s, pick.ruled_out)]
            if open_scopes:
                value = (entry.values or {}).get(condition.label, 0.0)
                found.append(Candidate(entry.ref, entry.level, value, open_scopes[0]))
    return found
