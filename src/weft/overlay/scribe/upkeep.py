"""Beats: the root tells its tree that it is there; who misses it joins anew.

This heals what a crash tears off, and the one race of joins: two that enter an empty ring at once may stop at each other
before either has come round. RELAY's experiments have neither, so Beats are off unless an interval is given.
"""

from collections.abc import Callable, Mapping

from weft.core.errors import Misuse, Violation
from weft.core.ids import NodeId
from weft.core.machine import Handlers, Outbox, TimerHandlers
from weft.overlay.groups import heard_topic
from weft.overlay.local import Local
from weft.overlay.scribe.messages import Beat, BeatDue, Join, SilentDue
from weft.overlay.scribe.tables import Branch

MISSED_MAX = 3
"""Beats that may be missed; half an interval more, as they are spread out."""


class Upkeep:
    """In: Beat. Out: Beat, and joins anew through ``climb``."""

    def __init__(
        self,
        local: Local,
        branches: Mapping[str, Branch],
        owned: set[str],
        climb: Callable[[float, Join, Outbox], None],
        interval_s: float | None,
    ) -> None:
        if interval_s is not None and interval_s <= 0:
            raise Misuse(f"an interval is above 0, not {interval_s}")
        self._local = local
        self._branches = branches
        self._owned = owned
        self._climb = climb
        self._interval_s = interval_s
        self.handlers: Handlers = {Beat: self.on_beat}
        self.timers: TimerHandlers = {BeatDue: self.on_beat_due, SilentDue: self.on_silent_due}

    def arm(self, now: float) -> None:
        """We are a root."""
        if self._interval_s is not None and BeatDue() not in self._local.timers:
            self._local.timers.set(BeatDue(), now + self._interval_s)

    def expect(self, now: float, topic: str) -> None:
        """We have a parent: a Beat should come."""
        if self._interval_s is not None:
            self._local.timers.set(SilentDue(topic), now + self._interval_s * (MISSED_MAX + 0.5))

    def forget(self, topic: str) -> None:
        """We have no parent any more."""
        self._local.timers.cancel(SilentDue(topic))

    def on_beat_due(self, now: float, due: BeatDue, out: Outbox) -> None:
        for topic, branch in self._branches.items():
            if topic in self._owned:
                for child in branch.children:
                    out.send(child, Beat(topic))
        self.arm(now)

    def on_beat(self, now: float, source: NodeId, message: Beat, out: Outbox) -> None:
        heard_topic(message.topic)
        branch = self._branches.get(message.topic)
        if branch is None or branch.parent != source:
            raise Violation("a beat from no parent")
        branch.settled = True
        self.expect(now, message.topic)
        for child in branch.children:
            out.send(child, message)

    def on_silent_due(self, now: float, due: SilentDue, out: Outbox) -> None:
        branch = self._branches[due.topic]
        branch.settled = False
        self._local.count("scribe.silent", out, due.topic, branch.parent)
        self._climb(now, Join(due.topic, 0, None, anew=True), out)
