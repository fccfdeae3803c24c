"""Bayeux's ways in bulk: from the root to each member by the member's id (overlay §8; ``overlay/bayeux``)."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from weft.core.errors import Misuse
from weft.sim.vector.borrowed import borrowed
from weft.sim.vector.layout import Ints, Longs
from weft.sim.vector.scribe import Net, Substrate, onward

WAY_MAX = 1 << 16
"""No way to a member is longer: an id that no route finds, as two nodes have it."""


@dataclass(frozen=True, slots=True)
class Ways:
    """``sources[i]`` hands every publication to ``targets[i]``, each pair once, by source; copies are among them.

    ``reached`` has the depth of each member: where ways part and meet again, the shorter is the first to arrive.
    """

    root: int
    sources: Ints
    targets: Ints
    reached: Ints
    copies: int
    """Messages of a publication that reach who has had it."""
    joins: int
    """Join messages if the members joined in the order given and the root was not known before."""
    trees: int
    """Tree messages: the members' ways added up."""

    def forwards(self, into: Longs) -> Longs:
        """Messages that each node sends of one publication, added to ``into``."""
        np.add.at(into, self.sources, 1)
        return into

    def lengths(self, publisher: int) -> Ints:
        """Messages from ``publisher``, which knows the root, to each member."""
        return self.reached + np.int32(publisher != self.root)


def ways(over: Substrate, target: int, members: npt.ArrayLike) -> Ways:
    """The ways from the root of a topic whose id is ``target``."""
    joining = np.asarray(members, np.int64)
    if joining.size and not 0 <= int(joining.min()) <= int(joining.max()) < over.size:
        raise Misuse(f"a member that is not one of the {over.size} nodes")
    sought = over.seek(target, int(joining[0]) if joining.size else 0)
    lengths = np.empty(joining.size, np.int64)
    joins = _climb(over.net, target, sought.root, joining) + sought.hops if joining.size else 0
    if not _measure(over.net, sought.root, joining, lengths):
        raise Misuse("two nodes have one id")
    pairs = np.empty(int(lengths.sum()), np.int64)
    _walk(over.net, over.size, sought.root, joining, pairs)
    trees = pairs.size
    pairs = np.unique(pairs)
    sources, targets = pairs // over.size, pairs % over.size
    depths = np.full(over.size, -1, np.int32)
    first = np.searchsorted(sources, np.arange(over.size + 1))
    seen = _spread(first, targets, sought.root, depths) if pairs.size else 1
    reached = np.where(joining == sought.root, 0, depths[joining]).astype(np.int32)
    copies = pairs.size - (seen - 1)
    return Ways(
        sought.root,
        sources.astype(np.int32),
        targets.astype(np.int32),
        reached,
        copies,
        joins if joining.size else 0,
        trees,
    )


@borrowed
def _climb(net: Net, target: int, root: int, joining: Longs) -> int:
    """Messages of all joins but the first."""
    total = 0
    for which in range(1, joining.size):
        at = joining[which]
        while at != root:
            at = onward(net, at, target)
            total += 1
    return total


@borrowed
def _measure(net: Net, root: int, joining: Longs, lengths: Longs) -> bool:
    """The length of the way to each member; False if there is none."""
    identities = net.identities
    for which in range(joining.size):
        member = joining[which]
        wanted = identities[member] if identities.size else member
        at, hops = root, 0
        while at != member:
            following = onward(net, at, wanted)
            hops += 1
            if following == at or hops > WAY_MAX:
                return False
            at = following
        lengths[which] = hops
    return True


@borrowed
def _walk(net: Net, size: int, root: int, joining: Longs, pairs: Longs) -> None:
    """Each step of each way, as one number."""
    identities = net.identities
    count = 0
    for which in range(joining.size):
        member = joining[which]
        wanted = identities[member] if identities.size else member
        at = root
        while at != member:
            following = onward(net, at, wanted)
            pairs[count] = at * size + following
            count += 1
            at = following


@borrowed
def _spread(first: Longs, targets: Longs, root: int, depths: Ints) -> int:
    """Breadth first from the root; how many nodes it reaches, the root included."""
    queue = np.empty(depths.size, np.int64)
    queue[0] = root
    depths[root] = 0
    begin, end = 0, 1
    while begin < end:
        at = queue[begin]
        begin += 1
        for which in range(first[at], first[at + 1]):
            following = targets[which]
            if depths[following] < 0:
                depths[following] = depths[at] + 1
                queue[end] = following
                end += 1
    return end
