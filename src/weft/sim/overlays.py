"""The overlays that scenarios and campaigns run, by name."""

from weft.core.errors import Misuse
from weft.core.ids import NodeId
from weft.overlay.peer import Peer
from weft.overlay.settings import Settings
from weft.overlay.skipgraph.machine import SkipGraph
from weft.overlay.suzaku.machine import Suzaku

OVERLAYS: dict[str, type[Peer]] = {"suzaku": Suzaku, "skipgraph": SkipGraph}


def make(kind: str, node: NodeId, settings: Settings, seed: int, run: int) -> Peer:
    """A broker's overlay machine; ``run`` is 0 for its first life and rises with each restart."""
    overlay = OVERLAYS.get(kind)
    if overlay is None:
        raise Misuse(f"unknown overlay {kind}; known: {', '.join(OVERLAYS)}")
    return overlay(node, settings, seed, run)
