"""The times and counts of pub/sub, as one value; every number has its reason beside it."""

import msgspec


class Settings(msgspec.Struct, frozen=True):
    """Seconds and counts."""

    strategy: str = "cluster-first"
    """How a publication spreads over its segment (overlay §5)."""
    join_after: int = 2
    """The publication of a topic with which its publisher joins ``pub``: who publishes once never does."""
    idle_s: float = 600.0
    """A publisher that was silent for so long leaves ``pub``, or is forgotten if it never joined."""
    check_s: float = 60.0
    """How often a suspended publisher compares with its neighbour (RELAY §5.3.6 ii; the paper prints no number)."""
    check_first_s: float = 2.0
    """The first comparison after being suspended: a signal to resume may have overtaken the one to suspend."""
    rejoin_s: float = 5.0
    """How long after the overlay gave up a join it is tried again."""
    announce_s: float = 60.0
    """How often a live shape is announced to all brokers: one multicast for each shape with wildcards; there are few."""
    expire_s: float = 210.0
    """A shape that was not announced for so long is not live: three announcements may be lost."""
    shapes_max: int = 1_024
    """Live shapes that a broker knows; past it new ones are counted and not published to."""
    publishers_max: int = 65_536
    """Places whose publishers are remembered; past it, publications go from outside, and nothing is remembered."""
    subscriptions_max: int = 1_000_000
    """Virtual nodes of one broker: past it a subscription is misuse, and publishers stay outside."""
