"""Rings that start whole: converged machines without the messages that would have made them so.

For benches and experiments that begin with a converged overlay (SELECT §4.4 waits (k+1)²T for that; 1,024 nodes joining cost
a hundred thousand messages). ``tests/unit/sim/test_whole.py`` holds these tables to those that joins produce.
"""

from collections.abc import Mapping, Sequence

from weft.core.ids import NodeId
from weft.core.limits import LEFT_NEIGHBOURS_MAX
from weft.core.machine import Outbox
from weft.overlay.api import Ref
from weft.overlay.keys import Key
from weft.overlay.ring.messages import Status
from weft.overlay.ring.tables import Link
from weft.overlay.settings import Settings
from weft.overlay.skipgraph.geometry import static_levels
from weft.overlay.skipgraph.machine import SkipGraph
from weft.overlay.suzaku.geometry import top_level
from weft.overlay.suzaku.machine import Suzaku


def whole_suzaku(keys: Mapping[NodeId, Sequence[Key]], settings: Settings, seed: int = 0) -> dict[NodeId, Suzaku]:
    """A machine for each broker, its keys in one ring, its finger tables as SELECT §3.2 defines them."""
    peers = {node: Suzaku(node, settings, seed) for node in keys}
    refs = sorted(
        (Ref(key, node, peers[node].local.next_incarnation()) for node, held in keys.items() for key in held),
        key=lambda ref: ref.key,
    )
    count = len(refs)
    steps = range(1, min(LEFT_NEIGHBOURS_MAX, count - 1) + 1)
    backed = [(ref, tuple(refs[(place - step) % count] for step in steps)) for place, ref in enumerate(refs)]
    levels = range(top_level(count) + 1)
    for place, (me, lefts) in enumerate(backed):
        peer = peers[me.node]
        peer.fingers.preset(
            0.0,
            me,
            [backed[(place + 2**level) % count] for level in levels],
            [backed[(place - 2**level) % count] for level in levels],
        )
        link = Link(me, 0, Status.IN, left=refs[place - 1], right=refs[(place + 1) % count], lefts=lefts)
        peer.ring.adopt(0.0, link, Outbox())
    return peers


def whole_skipgraph(
    keys: Mapping[NodeId, Sequence[Key]],
    settings: Settings,
    seed: int = 0,
    vectors: Mapping[NodeId, int] | None = None,
) -> dict[NodeId, SkipGraph]:
    """A machine for each broker, its nodes in all the rings that their vectors make; ``vectors`` None: drawn, as ever."""
    peers = {node: SkipGraph(node, settings, seed, vector=None if vectors is None else vectors[node]) for node in keys}
    refs = {
        key: Ref(key, node, peers[node].local.next_incarnation())
        for node, held in sorted(keys.items())
        for key in sorted(held)
    }
    levels = static_levels(((key, peers[key.broker].vector) for key in refs), settings.membership_digits)
    for key, me in refs.items():
        for level, (left, right) in enumerate(levels[key]):
            lefts, at = [refs[left]], left
            while len(lefts) < LEFT_NEIGHBOURS_MAX and levels[at][level][0] != key:
                at = levels[at][level][0]
                lefts.append(refs[at])
            known = tuple(ref for ref in lefts if ref != me)
            link = Link(me, level, Status.IN, left=refs[left], right=refs[right], lefts=known)
            peers[me.node].levels.preset(0.0, link, Outbox())
    return peers
