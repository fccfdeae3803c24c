"""The messages that travel between brokers, each with its number.

A number's meaning never changes. A new message gets a new number; a message gets a new field at its end and with a default,
so that older and newer brokers understand each other; anything else is a new protocol version (``handshake.VERSIONS``).

The baselines (scribe, bayeux, can, shg) are not here: they run in the simulator only, and what cannot be said cannot be abused.
"""

from weft.core.machine import Message
from weft.overlay.hops import Hop, HopAck
from weft.overlay.lookup import Gone, Seek, Sought
from weft.overlay.ring.messages import Candidate, Ping, Pong, PropagateNeighbours, SetL, SetR, SetRAck, SetRNak
from weft.overlay.skipgraph.messages import Step, Stepped
from weft.overlay.spread.messages import Astray, Gather, Pick, Picked, Returned, Scatter
from weft.overlay.suzaku.messages import Handover, Replace, Update, UpdateAck

OVERLAY: dict[int, type[Message]] = {
    1: Hop,
    2: HopAck,
    3: Seek,
    4: Sought,
    5: Gone,
    16: SetR,
    17: SetRAck,
    18: SetRNak,
    19: SetL,
    20: PropagateNeighbours,
    21: Candidate,
    22: Ping,
    23: Pong,
    32: Update,
    33: UpdateAck,
    34: Replace,
    35: Handover,
    48: Step,
    49: Stepped,
    64: Scatter,
    65: Gather,
    66: Astray,
    67: Returned,
    68: Pick,
    69: Picked,
}
"""1–15 what all overlays share, 16–31 ring, 32–47 suzaku, 48–63 skipgraph, 64–79 spread."""


def may_drop(message: Message) -> bool:
    """Is ``message`` of a query that nobody waits for? Its loss is what a loaded network does to it anyway (overlay §5)."""
    return type(message) is Scatter and not (message.careful or message.ticket or message.asked.reliable)
