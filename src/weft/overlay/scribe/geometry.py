"""The tree that joins make, as a pure function: shared with the bulk models, which build the same trees in bulk.

Because a node's next hop depends on nothing but the node and the target, the tree is the union of the subscribers' ways to the
root, whatever the order in which they joined.
"""

from collections.abc import Callable, Iterable
from typing import TypeVar

N = TypeVar("N")  # a node


def tree(subscribers: Iterable[N], root: N, onward: Callable[[N], N]) -> dict[N, N]:
    """The parent of every forwarder and subscriber but the root; ``onward`` is a node's next hop towards the root."""
    parents: dict[N, N] = {}
    for subscriber in subscribers:
        at = subscriber
        while at != root and at not in parents:
            parents[at] = onward(at)
            at = parents[at]
    return parents


def depth(node: N, root: N, parents: dict[N, N]) -> int:
    """How many messages below the root ``node`` is."""
    hops = 0
    while node != root:
        node = parents[node]
        hops += 1
    return hops
