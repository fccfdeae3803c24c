"""Are the tables what the ring says they should be? The papers' definitions, computed from all keys at once.

Suzaku: FFT[i] of the j-th of n nodes is the (j+2**i)-th, for i = 0…ceil(log2 n)−1, BFT[i] the (j−2**i)-th (SELECT §3.2, eq. 1).
Skip Graph: at level i, the next node each way that shares i digits of the membership vector (RELAY §5.1).
"""

from collections.abc import Sequence

from weft.overlay.peer import Peer
from weft.overlay.skipgraph.geometry import static_levels
from weft.overlay.skipgraph.machine import SkipGraph
from weft.overlay.suzaku.geometry import hops_bound, top_level
from weft.overlay.suzaku.machine import Suzaku
from weft.sim.invariants import Broken


def converged(overlay: str, peers: Sequence[Peer]) -> None:
    """Raise ``Broken`` unless every table is exactly as defined."""
    if overlay == "suzaku":
        suzaku_converged([peer for peer in peers if isinstance(peer, Suzaku)])
    else:
        skipgraph_converged([peer for peer in peers if isinstance(peer, SkipGraph)])


def suzaku_converged(peers: Sequence[Suzaku]) -> None:
    """Compare every finger with the key order."""
    every = sorted(key for peer in peers for key in peer.keys())
    place = {key: index for index, key in enumerate(every)}
    levels = range(top_level(len(every)) + 1)
    for peer in peers:
        for key in peer.keys():
            for entries, sign in ((peer.rights(key), 1), (peer.lefts(key), -1)):
                wanted = [every[(place[key] + sign * 2**level) % len(every)] for level in levels]
                found = [entry.ref.key for entry in entries]
                if found != wanted:
                    side = "FFT" if sign > 0 else "BFT"
                    raise Broken(
                        f"{side} of {key}: {[place.get(k) for k in found]}, wanted {[place[k] for k in wanted]}"
                    )


def skipgraph_converged(peers: Sequence[SkipGraph]) -> None:
    """Compare every level's neighbours with the keys and the vectors."""
    wanted = static_levels([(key, peer.vector) for peer in peers for key in peer.keys()])
    for peer in peers:
        for key in peer.keys():
            found = [
                (left.ref.key, right.ref.key) for left, right in zip(peer.lefts(key), peer.rights(key), strict=True)
            ]
            if found != wanted[key]:
                raise Broken(f"levels of {key}: {found}, wanted {wanted[key]}")


def hops_allowed(overlay: str, nodes: int) -> int:
    """Most hops of a lookup among ``nodes`` keys: Suzaku's bound; a Skip Graph only promises its expectation."""
    return hops_bound(nodes) if overlay == "suzaku" else nodes
