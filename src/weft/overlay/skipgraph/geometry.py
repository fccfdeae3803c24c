"""Digits and levels, as pure functions: shared with the vectorised models, which build the same tables in bulk.

A vector of ``digits`` binary digits is an integer, digit 0 its most significant bit: a prefix is a shift, and nodes that
share a prefix are neighbours when sorted by vector.
"""

from collections import defaultdict
from collections.abc import Hashable, Iterable, Sequence
from typing import Any, TypeVar

K = TypeVar("K", bound=Any)  # a key: anything with an order
Owner = TypeVar("Owner", bound=Hashable)

Neighbours = tuple[K, K]
"""(left, right), around the ring."""


def digit(vector: int, at: int, digits: int) -> int:
    """Digit ``at`` of ``vector``, counted from the front."""
    return (vector >> (digits - 1 - at)) & 1


def prefix(vector: int, length: int, digits: int) -> int:
    """The first ``length`` digits of ``vector``."""
    return vector >> (digits - length)


def common_prefix(one: int, other: int, digits: int) -> int:
    """How many digits two vectors share from the front: the highest level at which their nodes meet."""
    return digits - (one ^ other).bit_length()


def static_levels(nodes: Iterable[tuple[K, Owner, int]], digits: int) -> list[dict[K, Neighbours[K]]]:
    """The converged tables of ``nodes``, given as (key, broker, the broker's vector): level → key → (left, right).

    Level 0 links all. Above it a ring has members of two brokers or more, or it is not there.
    """
    rings = [sorted(nodes, key=lambda node: node[0])]
    levels: list[dict[K, Neighbours[K]]] = []
    while rings:
        levels.append(_linked([[key for key, _, _ in ring] for ring in rings]))
        if len(levels) > digits:
            break
        rings = [part for ring in rings for part in _parted(ring, len(levels), digits)]
    return levels


def _linked(rings: Iterable[Sequence[K]]) -> dict[K, Neighbours[K]]:
    return {key: (ring[at - 1], ring[(at + 1) % len(ring)]) for ring in rings for at, key in enumerate(ring)}


def _parted(ring: Iterable[tuple[K, Owner, int]], level: int, digits: int) -> list[list[tuple[K, Owner, int]]]:
    """``ring`` cut by its members' next digit, in key order; parts without company left out."""
    parts: dict[int, list[tuple[K, Owner, int]]] = defaultdict(list)
    for node in ring:
        parts[prefix(node[2], level, digits)].append(node)
    return [part for _, part in sorted(parts.items()) if any(owner != part[0][1] for _, owner, _ in part)]


def goes_on(me: Any, at: Any, following: Any, rightward: bool) -> bool:
    """Does a walk that ``me`` began, now at ``at``, get further by going to ``following``, or has it been all the way round?"""
    low, high = (at, me) if rightward else (me, at)
    if low < high:
        return bool(low < following < high)
    return bool(following > low or following < high)


def wins(one: tuple[int, Any], other: tuple[int, Any]) -> bool:
    """Of two walkers (steps walked, key) that meet: has the first walked further? Keys break a tie, the same way for both."""
    return one > other
