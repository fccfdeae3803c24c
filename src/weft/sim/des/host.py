"""Where a machine runs: its clock, its pause, and its one timer.

Invariant: ``armed`` is the (simulation) time of the only live timer event of this host; a timer event that surfaces at
any other time is dead. It may be earlier than the machine's deadline, never later: then it looks again and is set anew.
"""

from collections.abc import Callable
from math import inf, nextafter, ulp
from typing import Any

from weft.core.errors import Misuse
from weft.core.ids import NodeId
from weft.core.machine import Machine, Message, Outbox


class Clock:
    """A host's idea of time: continuous, always forward, at a rate of its own; ``set_rate`` bends it."""

    __slots__ = ("_at", "_local", "rate")

    def __init__(self, offset_s: float = 0.0, rate: float = 1.0) -> None:
        if not 0.0 < rate < inf:
            raise Misuse(f"a clock's rate is above 0, not {rate}")
        self._at = 0.0
        self._local = offset_s
        self.rate = rate

    def local(self, at: float) -> float:
        """What this clock shows at simulation time ``at``."""
        return self._local + (at - self._at) * self.rate

    def when(self, local: float) -> float:
        """The simulation time at which this clock shows ``local``, rounded so that it shows no less."""
        at = self._at + (local - self._local) / self.rate
        step = (ulp(local) + ulp(self._local)) / self.rate
        while self.local(at) < local:
            at = max(at + step, nextafter(at, inf))
        return at

    def set_rate(self, at: float, rate: float) -> None:
        """From ``at`` on, run at ``rate``; what the clock shows at ``at`` does not change."""
        if not 0.0 < rate < inf:
            raise Misuse(f"a clock's rate is above 0, not {rate}")
        self._local, self._at, self.rate = self.local(at), at, rate


class Host:
    """One life of one node. ``backlog`` holds what came while it was paused, as (lane, entry)."""

    __slots__ = (
        "armed",
        "backlog",
        "cause",
        "clock",
        "deadline",
        "fired_at",
        "machine",
        "node",
        "paused",
        "receive",
        "spins",
    )

    def __init__(self, node: NodeId, machine: Machine, clock: Clock | None) -> None:
        self.node = node
        self.machine = machine
        self.receive: Callable[[float, NodeId, Message, Outbox], None] = machine.receive
        self.clock = clock
        self.deadline: float | None = None
        self.cause = 0
        self.armed: float | None = None
        self.paused = False
        self.backlog: list[tuple[int, Any]] = []
        self.fired_at = -inf
        self.spins = 0

    def local(self, at: float) -> float:
        """What the machine takes for ``now`` at simulation time ``at``."""
        return at if self.clock is None else self.clock.local(at)

    def when(self, deadline: float) -> float:
        """The simulation time of the machine's ``deadline``."""
        return deadline if self.clock is None else self.clock.when(deadline)
