"""Suzaku's update messages by construction: what a converged ring's exchanges say (SELECT §3.3, §4.7; overlay §3–4).

For how large they are there is no need to send them. They are the machines' own message types; that the machines fill them
so is for the tests.
"""

from bisect import bisect_left
from collections.abc import Sequence

from weft.core.limits import LEFT_NEIGHBOURS_MAX
from weft.overlay.api import Ref
from weft.overlay.suzaku.geometry import covered_levels
from weft.overlay.suzaku.messages import Update, UpdateAck


class Values:
    """What converged tables say where each node announces 1 under its label (None: nothing): sums of any stretch of nodes."""

    def __init__(self, of_nodes: Sequence[str | None]) -> None:
        self._size = len(of_nodes)
        labels = [*of_nodes, *of_nodes]
        self._borders = [at for at in range(2 * self._size) if at == 0 or labels[at] != labels[at - 1]]
        self._labels = labels

    def of(self, begin: int, count: int) -> dict[str, float]:
        """Nodes ``begin`` … ``begin + count − 1``, round the ring."""
        begin %= self._size
        end, found = begin + count, dict[str, float]()
        at = begin
        while at < end:
            following = bisect_left(self._borders, at + 1)
            until = min(end, self._borders[following] if following < len(self._borders) else 2 * self._size)
            name = self._labels[at]
            if name is not None:
                found[name] = found.get(name, 0.0) + until - at
            at = until
        return found


def exchange(
    refs: Sequence[Ref], values: Values, asker: int, level: int, carried: bool
) -> tuple[tuple[Update, UpdateAck], tuple[int, int]]:
    """The query and the reply of one refresh, and how many label-value pairs each carries."""
    size = len(refs)
    asked = (asker + (1 << level)) % size
    lent = values.of(asker, 1 << covered_levels(level, forward=False)) if carried else None
    told = values.of(asked, 1 << covered_levels(level, forward=True)) if carried else None
    backups = tuple(refs[(asked - step) % size] for step in range(1, LEFT_NEIGHBOURS_MAX + 1))
    query = Update(refs[asked], refs[asker], level, True, 1, lent)
    reply = UpdateAck(refs[asker], refs[asked], 1, told, refs[(asked + (1 << level)) % size], backups)
    return (query, reply), (len(lent or ()), len(told or ()))
