"""Machines with one bug each: what the simulator's checks must find.

Each plant changes one thing in a real machine, so that a test fails when the check that should have seen it has gone blind.
``planted(bug, base)`` is the class; ``LIES`` are about what applications hear, the other plants about what a ring does.
"""

from collections.abc import Callable
from typing import Any

from msgspec.structs import replace

from weft.core.ids import NodeId
from weft.core.machine import Deliver, Event, Outbox
from weft.overlay.api import Found, Joined, Left, Received, Selected
from weft.overlay.keys import number_key
from weft.overlay.peer import Peer
from weft.overlay.ring.messages import Kind, PingDue, Seq, SetL, SetR, SetRAck, SetRNak, Status
from weft.overlay.settings import Settings

NOWHERE = number_key(999, NodeId(1))
"""A key outside every range that a schedule draws."""

Plant = Callable[[Any], None]


def planted(bug: Plant, base: type[Peer] = Peer) -> type[Peer]:
    """``base`` with ``bug`` in it."""

    class Planted(base):  # type: ignore[misc, valid-type]
        def __init__(self, node: NodeId, settings: Settings, seed: int = 0, run: int = 0) -> None:
            super().__init__(node, settings, seed, run)
            bug(self)

    return Planted


def ignores_set_l(peer: Any) -> None:
    """A new left neighbour is not noticed."""
    peer._handlers[SetL] = lambda now, source, message, out: None


def takes_old_set_l(peer: Any) -> None:
    """The number of a SetL is not looked at: the last to arrive wins."""
    ring = peer.ring

    def on_set_l(now: float, source: NodeId, message: SetL, out: Outbox) -> None:
        link = ring.find(message.at, message.level)
        if link is not None:
            link.left, link.left_seq = message.new, message.seq
            ring.take_lefts(now, link, message.neighbours, out, changed=True)

    peer._handlers[SetL] = on_set_l


def never_counts(peer: Any) -> None:
    """The left neighbour does not number what it decides: every newcomer gets the number (0, 1)."""
    ring, decide = peer.ring, peer.ring._decide

    def decided(now: float, link: Any, asker: Any, message: SetR, out: Outbox) -> Any:
        link.right_seq = Seq(0, 0)
        return decide(now, link, asker, message, out)

    ring._decide = decided


def takes_anybody_in(peer: Any) -> None:
    """``p.r = cur`` is not asked: whoever wants to be inserted here is, whatever came between."""
    ring, decide = peer.ring, peer.ring._decide

    def decided(now: float, link: Any, asker: Any, message: SetR, out: Outbox) -> Any:
        if message.kind is Kind.INSERT and link.status is Status.IN:
            message = replace(message, cur=link.right)
        return decide(now, link, asker, message, out)

    ring._decide = decided


def leaves_without_a_word(peer: Any) -> None:
    ring = peer.ring
    ring.delete = ring._gone


def believes_it_is_in(peer: Any) -> None:
    """Who is refused takes the refusal for an answer to its liking."""
    ring = peer.ring

    def on_nak(now: float, source: NodeId, message: SetRNak, out: Outbox) -> None:
        link = ring.find(message.at, message.level)
        if link is not None and link.status is Status.INS:
            ring.enter(now, link, b"", out)

    peer._handlers[SetRNak] = on_nak


def points_before_it_accepts(peer: Any) -> None:
    """A refused newcomer is pointed at all the same."""
    ring, decide = peer.ring, peer.ring._decide

    def decided(now: float, link: Any, asker: Any, message: SetR, out: Outbox) -> Any:
        answer = decide(now, link, asker, message, out)
        if not isinstance(answer, SetRAck) and message.kind is Kind.INSERT:
            link.right = asker
        return answer

    ring._decide = decided


def never_looks_left(peer: Any) -> None:
    """No failure detection: a dead left neighbour is never noticed."""
    peer._timers[PingDue] = lambda now, due, out: None


def sends_what_is_refused(peer: Any) -> None:
    """Its SetRs carry numbers below zero."""
    send = peer.ring._send_request

    def send_request(now: float, link: Any, request: Any, out: Outbox) -> None:
        request.seq = Seq(-1, 0)
        send(now, link, request, out)

    peer.ring._send_request = send_request


def falls_over(peer: Any) -> None:
    """It raises at a message that it should be able to take."""

    def on_set_l(now: float, source: NodeId, message: SetL, out: Outbox) -> None:
        raise KeyError("a bug of the machine")

    peer._handlers[SetL] = on_set_l


def tells(lie: Callable[[Event], list[Event]]) -> Plant:
    """The application hears ``lie(event)`` instead of ``event``."""

    def bug(peer: Any) -> None:
        for verb in ("receive", "timeout", "join", "leave", "lookup", "multicast", "anycast", "reply"):
            setattr(peer, verb, _bent(getattr(peer, verb), lie))

    return bug


def _bent(verb: Callable[..., Any], lie: Callable[[Event], list[Event]]) -> Callable[..., Any]:
    def called(*arguments: Any) -> Any:
        out = arguments[-1]
        told = len(out.effects)
        answer = verb(*arguments)
        effects = out.effects[told:]
        del out.effects[told:]
        for effect in effects:
            if isinstance(effect, Deliver):
                out.effects += [Deliver(event) for event in lie(effect.event)]
            else:
                out.effects.append(effect)
        return answer

    return called


def instead(kind: type[Event], what: Callable[[Any], list[Event]]) -> Plant:
    """``what(event)`` for events of a kind, all others as they are."""
    return tells(lambda event: what(event) if isinstance(event, kind) else [event])


LIES: dict[str, tuple[Plant, str]] = {
    "twice": (instead(Received, lambda e: [e, e]), "reached .* twice"),
    "outside": (instead(Received, lambda e: [replace(e, key=NOWHERE)]), "outside its range"),
    "not at all": (instead(Received, lambda e: []), "wanted"),
    "another place": (instead(Found, lambda e: [replace(e, at=None)]), "lookup of .* wanted"),
    "the long way": (instead(Found, lambda e: [replace(e, hops=99)]), "took 99 hops"),
    "nobody": (instead(Selected, lambda e: [replace(e, key=None)]), "anycast .* free are"),
    "left unasked": (instead(Joined, lambda e: [e, Left(e.key)]), "nobody told it to"),
    "joined already": (instead(Left, lambda e: [e, Joined(e.key, b"")]), "is not there"),
}
"""What a broker's application may be told wrongly, and what the schedule says of it."""
