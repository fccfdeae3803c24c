"""The tree that joins make, as a pure function: shared with the bulk models."""

from collections import deque
from collections.abc import Callable, Iterable
from typing import TypeVar

N = TypeVar("N")  # a node


def ways(members: Iterable[N], root: N, onward: Callable[[N, N], N]) -> dict[N, dict[N, None]]:
    """Whom each node hands a publication to, in the order of joining; ``onward(node, member)`` is the next hop."""
    table: dict[N, dict[N, None]] = {}
    for member in members:
        at = root
        while at != member:
            following = onward(at, member)
            table.setdefault(at, {})[following] = None
            at = following
    return table


def hops(root: N, table: dict[N, dict[N, None]]) -> dict[N, int]:
    """How many messages below the root each node is: where ways meet again, the shortest is the first to arrive."""
    depths = {root: 0}
    waiting = deque([root])
    while waiting:
        at = waiting.popleft()
        for following in table.get(at, ()):
            if following not in depths:
                depths[following] = depths[at] + 1
                waiting.append(following)
    return depths
