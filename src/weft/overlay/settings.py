"""The times and counts of the overlay protocols, as one value; every number has its reason beside it."""

import msgspec


class Settings(msgspec.Struct, frozen=True):
    """Seconds and counts. A None interval switches that activity off (tests of the bare protocol do)."""

    ping_interval_s: float | None = 5.0
    """How often a virtual node looks at its left (overlay §2)."""
    ping_timeout_s: float = 2.0
    ping_tries: int = 3
    """A peer that pauses for less than about ping_tries × ping_timeout is not suspected."""
    request_timeout_s: float = 2.0
    """SetR, Seek and Update: how long before it is sent again."""
    request_tries: int = 3
    join_tries: int = 10
    """Overlay §2: ≤ 10."""
    leave_tries: int = 10
    retry_wait_s: float = 0.5
    """Mean of the random wait after a refused SetR; doubled at each further refusal, at most 64-fold."""
    hop_timeout_s: float = 1.0
    hop_tries: int = 3
    shun_s: float = 10.0
    """How long a broker that failed a hop is routed around, unless it is heard before."""
    lost_interval_s: float | None = 10.0
    """How often one of the nodes we lost is tried again: how two halves of a healed partition meet."""
    lost_max: int = 16
    update_interval_s: float | None = 60.0
    """T of Suzaku: one level of the finger table is refreshed each T (SELECT §3.3)."""
    aggregate_levels: int = 64
    """Values travel for levels below this. A query over Nr nodes uses forward levels below log2 Nr and backward ones up to it,
    as BFT[i] stands for half as many nodes as FFT[i]: log2 Nr + 1 is enough (overlay §4)."""
    aggregate_labels: tuple[str, ...] | None = None
    """The labels whose values travel: those that queries use; None: all that are announced (overlay §4)."""
    query_timeout_s: float = 30.0
    """A query with answers is over after this, complete or not."""
    query_tries: int = 3
    """How often the root re-issues the sub-ranges that nobody answered for."""
    anycast_ttl: int = 32
    """Hand-overs of one Anycast before it falls back to Multicast (docs/adr/0005)."""
    membership_digits: int = 48
    """Digits of a Skip Graph membership vector (base 2)."""
    walk_timeout_s: float = 2.0
    """One step along a level of a Skip Graph: how long before it is sent again."""
    walk_interval_s: float | None = 30.0
    """How often a node looks, at each of its levels, whether the next level still takes in everybody it should."""
