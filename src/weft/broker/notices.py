"""What the operator should read in the log: once per minute and subject, however often it happens.

A hostile client can cause the same line a million times; the counters count each one, the log says the first of each minute
and how many were like it. The driver empties ``notices`` and writes them.
"""

from typing import Any

import msgspec

EVERY_S = 60.0
SUBJECTS_MAX = 10_000
"""Subjects remembered; when there are more, all are forgotten, and at worst a line comes early."""


class Notice(msgspec.Struct, frozen=True):
    """``level`` is debug, info, warning or error; ``event`` a few fixed words; ``fields`` what it happened to."""

    level: str
    event: str
    fields: dict[str, Any]


class Notices:
    """In: ``say`` and ``say_seldom``. Out: ``pending``, in order."""

    def __init__(self) -> None:
        self.pending: list[Notice] = []
        self._said: dict[tuple[str, str], tuple[float, int]] = {}

    def say(self, level: str, event: str, **fields: Any) -> None:
        self.pending.append(Notice(level, event, fields))

    def say_seldom(self, now: float, level: str, event: str, subject: str, **fields: Any) -> None:
        """At most once per minute for ``event`` and ``subject``, with the number of those left out."""
        key = (event, subject)
        at, left_out = self._said.get(key, (-EVERY_S, 0))
        if now - at < EVERY_S:
            self._said[key] = (at, left_out + 1)
            return
        if len(self._said) >= SUBJECTS_MAX:
            self._said.clear()
        self._said[key] = (now, 0)
        if left_out:
            fields["left_out"] = left_out
        self.say(level, event, **fields)

    def take(self) -> list[Notice]:
        """What is to be written now."""
        taken, self.pending = self.pending, []
        return taken
