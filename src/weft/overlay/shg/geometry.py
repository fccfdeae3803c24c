"""Partitions, steps and broadcasts as pure functions over corners: shared with the bulk model.

The corrected rules first. What the paper prints, and why it cannot be meant, stands at the ``literal_`` functions.
"""

from collections.abc import Iterator


def low(node: int, k: int) -> int:
    """Where in its partition ``node`` is."""
    return node & ((1 << k) - 1)


def partition(node: int, k: int) -> int:
    """The number of ``node``'s partition: its high bits."""
    return node >> k


def dominating(node: int, k: int) -> int:
    """The dominating node that ``node`` belongs to: the nearer of the two of its partition, ties to the first."""
    bits = low(node, k).bit_count()
    return node - low(node, k) if 2 * bits <= k else node | ((1 << k) - 1)


def distance(node: int, k: int) -> int:
    """Steps from ``node`` to its dominating node."""
    bits = low(node, k).bit_count()
    return min(bits, k - bits)


def onward(node: int, k: int) -> int:
    """One step towards the dominating node: the lowest of the low bits that differ; ``node`` itself if it dominates."""
    differing = node ^ dominating(node, k)
    return node ^ (differing & -differing)


def is_dominating(node: int, k: int) -> bool:
    return low(node, k) in {0, (1 << k) - 1}


def place(dominator: int, n: int, k: int) -> int:
    """A dominating node's place in the event partition, a hypercube of dimension n−k+1: the layer is the highest bit."""
    return partition(dominator, k) | (1 << (n - k) if low(dominator, k) else 0)


def dominator(at: int, n: int, k: int) -> int:
    """The dominating node at a place of the event partition."""
    full = (1 << k) - 1 if at >> (n - k) else 0
    return (at & ((1 << (n - k)) - 1)) << k | full


def branches(at: int, dimension: int) -> Iterator[tuple[int, int]]:
    """Whom a place hands an event to that came along ``dimension`` (at the root: n−k+1), and along which dimension.

    The binomial tree: along every dimension below the one it came by, so each place gets it once. The layer is the highest,
    so an event crosses between the layers once, at the root.
    """
    for along in reversed(range(dimension)):
        yield at ^ (1 << along), along


# What the paper prints (its procedures sub_table_constructing and event_routing)


def literal_onward(node: int, k: int) -> int:
    """One step towards the bare dominating node, whichever is nearer.

    diff2 is |ID − (high ∘ σk−1…σ0)|, and a node's elements are all among those: it is 0. So ``diff1 > diff2`` holds for every
    node that has low elements, and what it then selects is high_ID: no node ever chooses the full one, and full dominating
    nodes walk all k steps. ``ID ∘ x`` with x in ID is ID; it is read as ID − x here, or nothing would be installed on the way.
    """
    bits = low(node, k)
    return node ^ (bits & -bits)


def literal_targets(dominator: int, n: int, k: int) -> list[int]:
    """The dominating nodes that event_routing sends an event to from ``dominator``, message by message, in its order.

    1. to x ∘ DN for every x over the high alphabet: supersets only, each as often as there are x that make it, itself too
    2. to x ∘ twin for every single x of the high alphabet: not to the twin itself
    3. to all dominating nodes with one element more or less ("the other DNs"), near or far
    Nobody hands on, and nobody remembers what it has had: what is reached twice is served twice.
    """
    full = (1 << k) - 1
    twin = dominator ^ full
    first = [dominator | x << k for x in range(1 << (n - k))]
    second = [twin | 1 << along for along in range(k, n)]
    sizes = {dominator.bit_count() + 1, dominator.bit_count() - 1}
    bases = [a << k for a in range(1 << (n - k))]
    third = [node for base in bases for node in (base, base | full) if node.bit_count() in sizes]
    return first + second + third
