"""Faults as values: what goes wrong, from when to when. A plan is generated from a seed, printed, read back, replayed.

Faults on links strike messages as they leave (a message to oneself never leaves); faults on nodes strike the node. Every
fault ends at a stated time (``until``) except ``Crash`` and ``JoinStorm``, which are over as soon as they have happened.
Groups are tuples of node ids; an empty group on a link fault means everybody. Order overlay §11: drop, duplicate, reorder,
delay, one-way partition, crash, crash-and-restart, long pause, clock skew, join storm.
"""

from collections.abc import Callable, Sequence
from typing import ClassVar

import msgspec

from weft.core.errors import Misuse
from weft.core.ids import NodeId
from weft.core.rand import Rng

Group = tuple[NodeId, ...]


class Fault(msgspec.Struct, frozen=True, tag_field="kind", forbid_unknown_fields=True):
    """``at``: when it begins, in seconds."""

    at: float


class Lasting(Fault, frozen=True):
    until: float


class LinkFault(Lasting, frozen=True, kw_only=True):
    """Strikes a message from ``source`` to ``to`` with probability ``rate``."""

    rate: float = 1.0
    source: Group = ()
    to: Group = ()


class Drop(LinkFault, frozen=True, kw_only=True, tag="drop"):
    """The message is lost."""


class Duplicate(LinkFault, frozen=True, kw_only=True, tag="duplicate"):
    """A copy follows, up to ``within_s`` later."""

    within_s: float = 0.1


class Reorder(LinkFault, frozen=True, kw_only=True, tag="reorder"):
    """The message leaves up to ``within_s`` later, so that others overtake it."""

    within_s: float = 0.1


class Delay(LinkFault, frozen=True, kw_only=True, tag="delay"):
    """The message leaves ``extra_s`` later."""

    extra_s: float = 0.1


class Partition(LinkFault, frozen=True, kw_only=True, tag="partition"):
    """Nothing gets from ``source`` to ``to``; the other direction is another fault."""


class Crash(Fault, frozen=True, kw_only=True, tag="crash"):
    """``node`` is gone for good."""

    node: NodeId


class NodeFault(Lasting, frozen=True, kw_only=True):
    node: NodeId


class CrashRestart(NodeFault, frozen=True, kw_only=True, tag="crash-restart"):
    """``node`` crashes at ``at`` and is back at ``until``, with a higher run number."""


class Pause(NodeFault, frozen=True, kw_only=True, tag="pause"):
    """``node`` stands still; what comes for it waits."""


class Skew(NodeFault, frozen=True, kw_only=True, tag="skew"):
    """``node``'s clock runs at ``rate``."""

    rate: float


class JoinStorm(Fault, frozen=True, kw_only=True, tag="join-storm"):
    """``nodes`` all join at once."""

    nodes: Group


AnyFault = Drop | Duplicate | Reorder | Delay | Partition | Crash | CrashRestart | Pause | Skew | JoinStorm


class Bounds(msgspec.Struct, frozen=True):
    """What ``FaultPlan.random`` stays within."""

    faults_max: int = 6
    rate_max: float = 0.3
    delay_s_max: float = 0.5
    pause_s_max: float = 10.0
    skew_max: float = 1.5
    """A skewed clock's rate is between 1/skew_max and skew_max."""
    down_share_max: float = 0.25
    """At most this share of the nodes (rounded down) crashes, for good or for a while, in one plan."""


class FaultPlan(msgspec.Struct, frozen=True):
    """Faults in the order of their beginning. ``print`` it and ``read`` it: one JSON object a line, seed first."""

    seed: int
    faults: tuple[AnyFault, ...] = ()

    KINDS: ClassVar[tuple[str, ...]] = (
        "drop",
        "duplicate",
        "reorder",
        "delay",
        "partition",
        "crash",
        "crash-restart",
        "pause",
        "skew",
        "join-storm",
    )

    @property
    def over_at(self) -> float:
        """When the last fault has ended."""
        return max((fault.until if isinstance(fault, Lasting) else fault.at for fault in self.faults), default=0.0)

    def __str__(self) -> str:
        lines = [msgspec.json.encode({"seed": self.seed}), *(msgspec.json.encode(fault) for fault in self.faults)]
        return "\n".join(line.decode() for line in lines)

    @classmethod
    def read(cls, text: str) -> "FaultPlan":
        """The plan that ``str(plan)`` printed; ``Misuse`` names the line that is none."""
        seed, faults = 0, []
        for number, line in enumerate(text.strip().splitlines(), 1):
            try:
                if number == 1:
                    seed = msgspec.json.decode(line, type=dict[str, int])["seed"]
                else:
                    faults.append(check(msgspec.json.decode(line, type=AnyFault)))
            except (msgspec.DecodeError, KeyError, Misuse) as error:
                raise Misuse(f"line {number} of the fault plan: {error}") from error
        return cls(seed, tuple(faults))

    @classmethod
    def random(
        cls,
        seed: int,
        nodes: Sequence[NodeId],
        horizon_s: float,
        kinds: Sequence[str] = KINDS,
        bounds: Bounds | None = None,
        joiners: Sequence[NodeId] = (),
    ) -> "FaultPlan":
        """A plan for ``nodes`` whose faults have all ended by ``horizon_s``; a join storm, if any, is of ``joiners``."""
        unknown = [kind for kind in kinds if kind not in cls.KINDS]
        if unknown:
            raise Misuse(f"unknown fault {unknown[0]}; known: {', '.join(cls.KINDS)}")
        if not nodes or horizon_s <= 0:
            raise Misuse("a random fault plan needs nodes and a horizon above 0")
        usable = [kind for kind in kinds if kind != "join-storm" or joiners]
        maker = _Maker(Rng(seed, 3), nodes, horizon_s, bounds or Bounds(), tuple(joiners))
        count = 1 + maker.rng.below(maker.bounds.faults_max)
        drawn = [maker.make(maker.rng.choice(usable)) for _ in range(count)] if usable else []
        faults = [fault for fault in drawn if fault is not None]
        return cls(seed, tuple(sorted(faults, key=lambda fault: fault.at)))


def check(fault: AnyFault) -> AnyFault:
    """``fault`` itself, or ``Misuse`` if it cannot be."""
    if fault.at < 0 or (isinstance(fault, Lasting) and fault.until <= fault.at):
        raise Misuse(f"a fault begins at 0 or later and ends after its beginning: {fault}")
    if isinstance(fault, LinkFault) and not 0 < fault.rate <= 1:
        raise Misuse(f"rate is a probability above 0: {fault.rate}")
    if isinstance(fault, Skew) and fault.rate <= 0:
        raise Misuse(f"a clock's rate is above 0: {fault.rate}")
    if isinstance(fault, Duplicate | Reorder) and fault.within_s <= 0:
        raise Misuse(f"within_s is above 0: {fault.within_s}")
    if isinstance(fault, Delay) and fault.extra_s <= 0:
        raise Misuse(f"extra_s is above 0: {fault.extra_s}")
    return fault


class _Maker:
    """Draws faults; a node crashes at most once in a plan, and only as many as the bounds allow."""

    def __init__(self, rng: Rng, nodes: Sequence[NodeId], horizon_s: float, bounds: Bounds, joiners: Group) -> None:
        self.rng = rng
        self.nodes = nodes
        self.horizon_s = horizon_s
        self.bounds = bounds
        self.joiners = joiners
        self._victims = rng.sample(nodes, int(len(nodes) * bounds.down_share_max))
        self._makers: dict[str, Callable[[float, float], AnyFault | None]] = {
            "drop": lambda at, until: Drop(at, until, rate=self._rate()),
            "duplicate": lambda at, until: Duplicate(at, until, rate=self._rate(), within_s=self._delay()),
            "reorder": lambda at, until: Reorder(at, until, rate=self._rate(), within_s=self._delay()),
            "delay": lambda at, until: Delay(at, until, rate=self._rate(), extra_s=self._delay()),
            "partition": self._partition,
            "crash": self._crash,
            "crash-restart": self._crash_restart,
            "pause": self._pause,
            "skew": self._skew,
            "join-storm": lambda at, _: JoinStorm(at, nodes=self.joiners),
        }

    def make(self, kind: str) -> AnyFault | None:
        """A fault of ``kind``, or None if the bounds allow no more of it."""
        at = self._round(self.rng.uniform(0.0, self.horizon_s * 0.75))
        until = self._round(self.rng.uniform(at, self.horizon_s) + 0.001)
        return self._makers[kind](at, min(until, self.horizon_s))

    def _partition(self, at: float, until: float) -> AnyFault | None:
        group = self.rng.sample(self.nodes, 1 + self.rng.below(max(1, len(self.nodes) // 2)))
        rest = tuple(node for node in self.nodes if node not in group)
        return Partition(at, until, source=tuple(sorted(group)), to=rest) if rest else None

    def _crash(self, at: float, _: float) -> AnyFault | None:
        return Crash(at, node=self._victims.pop()) if self._victims else None

    def _crash_restart(self, at: float, until: float) -> AnyFault | None:
        return CrashRestart(at, until, node=self._victims.pop()) if self._victims else None

    def _pause(self, at: float, until: float) -> AnyFault | None:
        return Pause(at, min(until, self._round(at + self.bounds.pause_s_max)), node=self.rng.choice(self.nodes))

    def _skew(self, at: float, until: float) -> AnyFault | None:
        rate = self.rng.uniform(1.0, self.bounds.skew_max)
        rate = self._round(1 / rate if self.rng.below(2) else rate)
        return Skew(at, until, node=self.rng.choice(self.nodes), rate=rate)

    def _rate(self) -> float:
        return max(0.001, self._round(self.rng.uniform(0.0, self.bounds.rate_max)))

    def _delay(self) -> float:
        return max(0.001, self._round(self.rng.uniform(0.0, self.bounds.delay_s_max)))

    @staticmethod
    def _round(value: float) -> float:
        """Milliseconds: a plan is printed and typed again."""
        return round(value, 3)
