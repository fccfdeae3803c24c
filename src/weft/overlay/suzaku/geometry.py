"""Where fingers point, as pure functions: shared with the vectorised models, which build the same tables in bulk.

With n nodes there are levels 0…k, k = ceil(log2 n) − 1: the last finger is the last one that has not wrapped past its owner.
"""

from weft.overlay.keys import Key, between


def top_level(nodes: int) -> int:
    """k of the papers: the highest level of a converged table of ``nodes`` nodes (−1: alone, no finger)."""
    return (nodes - 1).bit_length() - 1


def hops_bound(nodes: int) -> int:
    """Most hops of a converged lookup, counted until the message is at the node sought.

    The papers' ``ceil(log2 n) − 1`` holds from three nodes on; with two, the other is one hop away.
    """
    return max(min(nodes - 1, 1), top_level(nodes))


def advances(owner: Key, finger: Key, following: Key, forward: bool) -> bool:
    """Does ``following`` lie beyond ``finger`` as seen from ``owner``, without having wrapped past it?"""
    if following in (owner, finger):
        return False
    return between(finger, following, owner) if forward else between(owner, following, finger)


def stands_in(owner: Key, finger: Key, spare: Key, dead: Key, forward: bool) -> bool:
    """May ``spare``, left of ``dead``, take its place beyond ``finger``?

    To the right a left neighbour is nearer to the owner: one that is not between the two has passed the owner, and would
    lie at the far end of the circle.
    """
    return between(finger, spare, dead) if forward else advances(owner, finger, spare, forward)


def covered_levels(level: int, forward: bool) -> int:
    """How many of a node's forward fingers, from FFT[0], its aggregate for a finger at ``level`` takes in (besides itself).

    FFT[i] stands for 2**i nodes from its node on: that node's FFT[−1…i−1].
    BFT[i] stands for 2**(i−1) nodes, one if i is 0: that node's FFT[−1…i−2].
    """
    return level if forward else max(level - 1, 0)


def zigzag(forward: int | None, backward: int | None) -> tuple[bool, int] | None:
    """The next finger of a newcomer: FFT[0], BFT[0], FFT[1], BFT[1], …; None on a side that is complete."""
    if forward is not None and (backward is None or forward <= backward):
        return True, forward
    if backward is not None:
        return False, backward
    return None
