"""What a scenario file may say: one struct per table, fields by the names they have in the file.

Brokers are numbered from 1. Where brokers are named, ``"all"``, a number, ``"2-8"`` or a list of numbers will do.
"""

from typing import Literal

import msgspec

from weft.core.errors import Misuse
from weft.core.ids import NodeId
from weft.overlay.api import Condition
from weft.overlay.settings import Settings
from weft.sim.des.faults import AnyFault

BROKERS_MAX = 100_000

Who = int | str | list[int]


class SettingsPart(Settings, frozen=True, forbid_unknown_fields=True):
    """[overlay.settings]: overlay/settings.py says what each one means."""


class OverlayPart(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """[overlay]. Brokers are dealt to the clusters in turn; a broker has a key per topic, or its number (``keys = "number"``).

    Without ``upkeep`` nothing happens by itself: no pings, no refreshed tables, no search for lost nodes.
    """

    brokers: int
    kind: str = "suzaku"
    clusters: int | list[str] = 1
    keys: Literal["topic", "number"] = "topic"
    topics: list[str] = msgspec.field(default_factory=lambda: ["demo"])
    upkeep: bool = True
    settings: SettingsPart = SettingsPart()

    @property
    def effective_settings(self) -> Settings:
        """``settings``, with every interval off if there is no upkeep."""
        if self.upkeep:
            return self.settings
        intervals = [name for name in self.settings.__struct_fields__ if name.endswith("_interval_s")]
        return msgspec.structs.replace(self.settings, **dict.fromkeys(intervals))

    @property
    def cluster_names(self) -> list[str]:
        if isinstance(self.clusters, list):
            return self.clusters
        return [f"site{number}" for number in range(1, self.clusters + 1)]


class NetworkPart(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """[network]: everybody one link from everybody."""

    delay_ms: float = 10.0
    jitter_ms: float = 0.0


class TopologyPart(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """[topology]. ``place``: a broker per place in turn, or each cluster at a place of its own."""

    kind: Literal["line", "ring", "star", "tree", "fat-tree", "file"]
    switches: int = 4
    height: int = 2
    fan_out: int = 2
    k: int = 4
    hosts_each: int = 0
    delay_ms: float = 1.0
    bandwidth_mbps: float | None = None
    file: str | None = None
    place: Literal["in-turn", "by-cluster"] = "by-cluster"


class Step(msgspec.Struct, frozen=True, kw_only=True, tag_field="do", forbid_unknown_fields=True):
    at: float


class Join(Step, frozen=True, kw_only=True, tag="join"):
    """Through broker ``via``; the first of all founds the ring. ``every_s`` apart."""

    brokers: Who = "all"
    via: int = 1
    every_s: float = 0.0


class Leave(Step, frozen=True, kw_only=True, tag="leave"):
    brokers: Who
    every_s: float = 0.0


class Reached(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What must have come of a multicast or an anycast, as far as it is said here."""

    reached: Who | None = None
    value: float | None = None
    missing: int | None = None
    hand_overs_max: int | None = None
    between_clusters_max: int | None = None
    links_max: int | None = None


class ConditionPart(Condition, frozen=True, gc=False, forbid_unknown_fields=True):
    """``label`` ``op`` ``bound`` on what brokers announced by ``aggregate``."""


class Multicast(Step, frozen=True, kw_only=True, tag="multicast"):
    """To all keys, or those of ``topic``, or the numbers ``between`` two (the second excluded)."""

    broker: int
    text: str = ""
    topic: str | None = None
    between: list[int] | None = None
    strategy: str = "cluster-first"
    reduce: Literal["count", "sum", "min", "max", "union", "first"] | None = "count"
    reliable: bool = True
    condition: ConditionPart | None = None
    expect: Reached = Reached()


class Anycast(Step, frozen=True, kw_only=True, tag="anycast"):
    """To one key of the range that satisfies ``condition``."""

    condition: ConditionPart
    broker: int
    text: str = ""
    topic: str | None = None
    between: list[int] | None = None
    selection: str = "random"
    expect: Reached = Reached()


class Found(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    broker: int | None = None
    hops_max: int | None = None


class Lookup(Step, frozen=True, kw_only=True, tag="lookup"):
    """Of the key of broker ``of`` (its first)."""

    broker: int
    of: int
    expect: Found = Found()


class Aggregate(Step, frozen=True, kw_only=True, tag="aggregate"):
    brokers: Who
    values: dict[str, float]


class Crash(Step, frozen=True, kw_only=True, tag="crash"):
    brokers: Who


class Restart(Step, frozen=True, kw_only=True, tag="restart"):
    """With a higher run number; then it joins again, through ``via``."""

    brokers: Who
    via: int = 1


class Pause(Step, frozen=True, kw_only=True, tag="pause"):
    brokers: Who
    until: float


class Partition(Step, frozen=True, kw_only=True, tag="partition"):
    """Nothing gets from ``source`` to ``to``, nor back if ``both_ways``, until ``until`` or a ``heal``."""

    source: Who
    to: Who
    until: float
    both_ways: bool = False


class Heal(Step, frozen=True, kw_only=True, tag="heal"):
    """All partitions end."""


class Whole(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """``ring``: is it whole; ``members``: how many keys are in it; ``dropped_max``: messages lost so far."""

    ring: Literal["whole"] | None = None
    members: int | None = None
    dropped_max: int | None = None
    in_flight_max: int | None = None


class Check(Step, frozen=True, kw_only=True, tag="check"):
    expect: Whole


AnyStep = Join | Leave | Multicast | Anycast | Lookup | Aggregate | Crash | Restart | Pause | Partition | Heal | Check


class Scenario(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The whole file; the run ends at ``until``."""

    seed: int
    until: float
    overlay: OverlayPart
    title: str = ""
    network: NetworkPart | None = None
    topology: TopologyPart | None = None
    fault: list[AnyFault] = []
    step: list[AnyStep] = []


def numbered(who: Who, count: int) -> list[NodeId]:
    """The brokers that ``who`` names, out of ``count``; ``Misuse`` if it names none of them."""
    if isinstance(who, str):
        first, _, last = who.partition("-")
        if who == "all":
            numbers = list(range(1, count + 1))
        elif first.strip().isdecimal() and (not last or last.strip().isdecimal()):
            numbers = list(range(int(first), int(last or first) + 1))
        else:
            raise Misuse(f'\'{who}\' names no brokers; say "all", a number, "2-8" or a list of numbers')
    else:
        numbers = [who] if isinstance(who, int) else list(who)
    outside = [number for number in numbers if not 0 < number <= count]
    if outside or not numbers:
        raise Misuse(f"there is no broker {outside[0] if outside else who}: the scenario has 1…{count}")
    return [NodeId(number) for number in numbers]
