"""The times and bounds of peer links, as one value; every number has its reason beside it."""

import msgspec

from weft.core.rand import Rng
from weft.node.wire.codec import MESSAGE_BYTES_MAX


class Settings(msgspec.Struct, frozen=True):
    """Seconds, counts, bytes."""

    handshake_s: float = 10.0
    """From the connection to both proofs; whoever takes longer costs a socket and nothing else."""
    ping_s: float = 5.0
    """A link that has been quiet for this long is asked whether it is alive."""
    silence_s: float = 45.0
    """A link that has been quiet for this long is dead. A broker that is paused for half a minute keeps its links."""
    retire_s: float = 5.0
    """How long a link that was replaced may still bring what was under way on it."""
    message_bytes_max: int = MESSAGE_BYTES_MAX
    queue_bytes: int = 8 << 20
    """What waits for one peer. From here on messages that may be dropped are dropped …"""
    queue_bytes_max: int = 16 << 20
    """… and from here on all are: the overlay takes the peer for lost, and routes around it."""
    queues_bytes: int = 64 << 20
    """What waits for all peers together before the layers above are told to slow down, until half of it is left."""
    peers_max: int = 4_096
    retry_min_s: float = 0.25
    retry_max_s: float = 30.0
    """A seed that stays away is tried about twice a minute."""

    def retry_s(self, failures: int, rng: Rng) -> float:
        """The wait after the ``failures``-th failure in a row: doubled each time, and spread over half of it."""
        wait_s: float = min(self.retry_max_s, self.retry_min_s * 2.0 ** min(max(failures, 1) - 1, 30))
        return wait_s * rng.uniform(0.5, 1.0)
