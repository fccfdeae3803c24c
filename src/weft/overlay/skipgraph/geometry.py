"""Digits and levels, as pure functions: shared with the vectorised models, which build the same tables in bulk.

A vector of ``digits`` binary digits is an integer, digit 0 its most significant bit: a prefix is a shift, and nodes that
share a prefix are neighbours when sorted by vector.
"""

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable
from operator import attrgetter
from typing import Any, TypeVar

from weft.overlay.settings import Settings

DIGITS = Settings().membership_digits

K = TypeVar("K", bound=Any)  # a key: anything with an order


def digit(vector: int, at: int, digits: int = DIGITS) -> int:
    """Digit ``at`` of ``vector``, counted from the front."""
    return (vector >> (digits - 1 - at)) & 1


def prefix(vector: int, length: int, digits: int = DIGITS) -> int:
    """The first ``length`` digits of ``vector``."""
    return vector >> (digits - length)


def common_prefix(one: int, other: int, digits: int = DIGITS) -> int:
    """How many digits two vectors share from the front: the highest level at which their nodes meet."""
    return digits - (one ^ other).bit_length()


def static_levels(
    nodes: Iterable[tuple[K, int]], digits: int = DIGITS, owner: Callable[[K], Hashable] = attrgetter("broker")
) -> dict[K, list[tuple[K, K]]]:
    """The converged tables of ``nodes``, given as (key, its broker's vector): each key's (left, right), from level 0 up.

    Level 0 links all. Above it a ring has members of two owners (brokers) or more, or it is not there.
    """
    ranked = sorted(nodes, key=lambda node: node[0])
    tables: dict[K, list[tuple[K, K]]] = {key: [] for key, _ in ranked}
    rings, level = [ranked], 0
    while rings:
        for ring in rings:
            for at, (key, _) in enumerate(ring):
                tables[key].append((ring[at - 1][0], ring[(at + 1) % len(ring)][0]))
        level += 1
        rings = [part for ring in rings for part in _parts(ring, level, digits, owner)] if level <= digits else []
    return tables


def _parts(
    ring: Iterable[tuple[K, int]], level: int, digits: int, owner: Callable[[K], Hashable]
) -> list[list[tuple[K, int]]]:
    """``ring`` cut by its members' prefix, in key order; parts without company left out."""
    parts: dict[int, list[tuple[K, int]]] = defaultdict(list)
    for node in ring:
        parts[prefix(node[1], level, digits)].append(node)
    return [part for part in parts.values() if len({owner(key) for key, _ in part}) > 1]


def goes_on(me: Any, at: Any, following: Any, rightward: bool) -> bool:
    """Does a walk that ``me`` began, now at ``at``, get further by going to ``following``, or has it been all the way round?"""
    low, high = (at, me) if rightward else (me, at)
    if low < high:
        return bool(low < following < high)
    return bool(following > low or following < high)


def wins(one: tuple[int, Any], other: tuple[int, Any]) -> bool:
    """Of two walkers (steps walked, key) that meet: has the first walked further? Keys break a tie, the same way for both."""
    return one > other
