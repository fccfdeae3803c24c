"""Sums over all sessions, for whoever looks: exact while that is quick, and counted round by round beyond.

A million sessions take a good part of a second to add up, and nobody may wait for that. Past ``AT_ONCE_MAX`` sessions each look
counts on for so many, and answers with the sums of the last whole round; only the first look, if there are that many already,
counts them all.
"""

from collections.abc import Iterable, Iterator

import msgspec

from weft.mqtt.session.session import Session

AT_ONCE_MAX = 50_000


class Sums(msgspec.Struct):
    """Of sessions and what they hold."""

    online: int = 0
    queued: int = 0
    inflight: int = 0

    def add(self, session: Session) -> None:
        outgoing = session.outgoing
        self.queued += len(outgoing.queue)
        self.inflight += len(outgoing.inflight)
        if session.link is not None:
            self.online += 1


class Census:
    """In: the sessions. Out: ``Sums``."""

    def __init__(self) -> None:
        self._known: Sums | None = None
        self._growing = Sums()
        self._left: Iterator[Session] | None = None
        """Of the round under way."""

    def take(self, sessions: dict[str, Session]) -> Sums:
        if self._known is None or len(sessions) <= AT_ONCE_MAX:
            self._left = None
            self._known = _sum(sessions.values())
            return self._known
        if self._left is None:
            self._growing, self._left = Sums(), iter(list(sessions.values()))
        for counted, session in enumerate(self._left, 1):
            self._growing.add(session)
            if counted >= AT_ONCE_MAX:
                return self._known
        self._known, self._left = self._growing, None
        return self._known


def _sum(sessions: Iterable[Session]) -> Sums:
    sums = Sums()
    for session in sessions:
        sums.add(session)
    return sums
