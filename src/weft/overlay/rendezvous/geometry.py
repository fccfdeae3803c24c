"""Ids and the two ways to their owners, as pure functions over integers: numba compiles the same functions for the bulk models.

Routing by numeric id (SkipNet; RELAY §6), base 2, walking right only. A node whose id shares h digits with the target goes on
along its ring of level h. Whoever shares more has found a higher ring. When the ring wraps, nobody in it shares more, and
the numerically closest node of it owns the target. Hence a node's next hop is its own: ``right(shared(id, target))``.

Routing by prefix over a hypercube: flip the first digit that differs.
"""

from functools import lru_cache
from hashlib import sha256


def length(value: int) -> int:
    """Binary digits of ``value`` ≥ 0."""
    count = 0
    for half in (32, 16, 8, 4, 2, 1):
        if value >> half:
            value >>= half
            count += half
    return count + value


def shared(one: int, other: int, digits: int) -> int:
    """How many digits two ids share from the front."""
    value = one ^ other
    count = 0
    for half in (32, 16, 8, 4, 2, 1):
        if value >> half:
            value >>= half
            count += half
    return digits - count - value


def nearer(one: int, one_node: int, other: int, other_node: int, target: int) -> bool:
    """Is the first numerically closer to ``target``? Nodes break a tie."""
    near, far = abs(one - target), abs(other - target)
    return near < far or (near == far and one_node < other_node)


def flip(at: int, target: int) -> int:
    """The neighbour of ``at`` in a hypercube that shares one digit more with ``target``; ``at`` itself if it is there."""
    value = at ^ target
    bit = 1
    while value > 1:
        value >>= 1
        bit <<= 1
    return at if at == target else at ^ bit


@lru_cache(maxsize=4_096)
def identity(topic: str, digits: int) -> int:
    """The id of a topic: the first ``digits`` binary digits of its SHA-256."""
    return int.from_bytes(sha256(topic.encode("utf-8", "surrogatepass")).digest()[:8], "big") >> (64 - digits)
