"""Answers on their way back, and pieces that wait (overlay §5).

The reply tree is the query tree reversed. A ``Duty`` is opened for each Scatter that wants an answer; each Scatter it sends
on is a child, each of its own keys that the layer above has not answered for is awaited. It ends when both are empty or
its time is over; what has not answered by then is reported missing. Children get less time than their parent, so that a
late leaf costs its own sub-range and not the whole tree. The root asks again for just what is missing, then with each hop
acknowledged; nobody delivers twice (``Memory``), and an answer to a ticket that is over is counted and dropped.

A piece whose only known taker does not answer is held until the ring has healed (``HealDue``), a bounded number of times.
"""

from collections.abc import Callable, Sequence
from typing import Any

import msgspec

from weft.core.errors import Violation
from weft.core.ids import NodeId
from weft.core.limits import LEVELS_MAX
from weft.core.machine import Handlers, Outbox, TimerHandlers
from weft.overlay.api import Ref
from weft.overlay.hops import Hops
from weft.overlay.keys import Key, KeyRange, after
from weft.overlay.local import Local
from weft.overlay.settings import Settings
from weft.overlay.spread.geometry import merge
from weft.overlay.spread.messages import (
    BUDGET_MAX_S,
    OFFERS_MAX,
    RANGES_MAX,
    Asked,
    Gather,
    Offer,
    Part,
    Scatter,
    check_gather,
)
from weft.overlay.spread.tables import DUTIES_MAX, HELD_MAX, Child, Duty, Errand, Held
from weft.overlay.values import reduce

BUDGET_SHARE = 0.9
"""A child's time, of what its parent has left: ten hops down a third remains."""

BUDGET_MIN_S = 1e-6

HEAL_TRIES_MAX = 7
"""Waits for the ring to heal: with the default retry_wait_s 0.5 + 1 + 2 + … + 32 s, well past a repair."""


class DutyDue(msgspec.Struct, frozen=True, gc=False):
    """Timer: the duty's time is over."""

    number: int


class HealDue(msgspec.Struct, frozen=True, gc=False):
    """Timer: look whether the ring has healed around a held piece."""

    number: int


Cover = Callable[[float, Errand, Sequence[Part], Outbox, int], None]
Conclude = Callable[[float, Duty, Outbox], None]


class Upkeep:
    """In: Gather, DutyDue, HealDue, what ``Spread`` opens. Out: Gather to parents; ``conclude`` hears of each query of ours."""

    def __init__(self, local: Local, hops: Hops, settings: Settings, cover: Cover, conclude: Conclude) -> None:
        self._local = local
        self._hops = hops
        self._settings = settings
        self._cover = cover
        self._conclude = conclude
        self._duties: dict[int, Duty] = {}
        self._tickets: dict[int, int] = {}
        self._held: dict[int, Held] = {}
        self.handlers: Handlers = {Gather: self.on_gather}
        self.timers: TimerHandlers = {DutyDue: self.on_duty_due, HealDue: self.on_heal_due}

    # Duties

    def open_root(self, now: float, asked: Asked, piece: KeyRange, time_s: float) -> Duty:
        """A query of our own. Each try but the last gets half of what time is left: the first reaches the most."""
        duty = self._open(now, asked, (piece,), time_s / 2 if self._settings.query_tries else time_s)
        duty.end = now + time_s
        return duty

    def open(self, now: float, source: NodeId, message: Scatter, out: Outbox) -> Duty | None:
        """Our share of a peer's query; None (and an answer that all is missing) if there are too many."""
        pieces = tuple(part.piece for part in message.parts)
        if len(self._duties) >= DUTIES_MAX:
            self._local.count("spread.duties_full", out, source)
            out.send(source, Gather(message.ticket, None, 0, pieces))
            return None
        duty = self._open(now, message.asked, pieces, message.budget_s)
        duty.parent, duty.ticket, duty.hops, duty.careful = source, message.ticket, message.hops, message.careful
        return duty

    def _open(self, now: float, asked: Asked, pieces: tuple[KeyRange, ...], time_s: float) -> Duty:
        duty = Duty(self._local.next_request(), asked, pieces, 0, now + time_s, None, 0, False)
        self._duties[duty.number] = duty
        self._local.timers.set(DutyDue(duty.number), duty.due)
        return duty

    def over_full(self) -> bool:
        return len(self._duties) > DUTIES_MAX

    def refuse(self, now: float, duty: Duty, out: Outbox) -> None:
        """No room for a query of our own: all of it is missing."""
        self._local.count("spread.duties_full", out, duty.asked.request)
        duty.missing = list(duty.pieces)
        self._end(now, duty, out)

    def busy(self, number: int, change: int) -> None:
        """The duty is being worked on: it does not end between two of its pieces."""
        if number:
            self._duties[number].busy += change

    def expect(self, now: float, number: int, node: NodeId, parts: Sequence[Part]) -> tuple[int, float]:
        """A Scatter is about to go to ``node``: its ticket, and the time it may take."""
        duty = self._duties[number]
        ticket = self._local.next_request()
        duty.children[ticket] = Child(node, tuple(part.piece for part in parts))
        self._tickets[ticket] = number
        return ticket, min(max((duty.due - now) * BUDGET_SHARE, BUDGET_MIN_S), BUDGET_MAX_S)

    def release(self, ticket: int) -> Duty | None:
        """The Scatter ``ticket`` will not be answered: its duty, or None if that is over."""
        duty = self._duties.get(self._tickets.pop(ticket, 0))
        if duty is not None:
            del duty.children[ticket]
        return duty

    def owes(self, ticket: int, node: NodeId) -> bool:
        """Is ``node`` to answer for ``ticket``?"""
        duty = self._duties.get(self._tickets.get(ticket, 0))
        return duty is not None and duty.children[ticket].node == node

    def on_gather(self, now: float, source: NodeId, message: Gather, out: Outbox) -> None:
        duty = self._duties.get(self._tickets.get(message.ticket, 0))
        if duty is None:
            self._local.count("spread.late", out, source, message.ticket)
            return
        child = duty.children[message.ticket]
        if child.node != source:
            raise Violation("answer from a broker that was not asked")
        check_gather(message, child.pieces)
        value = self._reduced(duty, message.value)
        self.release(message.ticket)
        duty.value = value
        duty.keys += message.keys
        duty.missing.extend(message.missing)
        self._offer(duty, message.offers, out)
        self.settle(now, duty.number, out)

    def _reduced(self, duty: Duty, value: Any) -> Any:
        if duty.asked.reduce is None:
            return None
        try:
            return reduce(duty.asked.reduce, duty.value, value)
        except (ArithmeticError, ValueError) as error:
            raise Violation(f"cannot reduce by {duty.asked.reduce}") from error

    def _offer(self, duty: Duty, offers: tuple[Offer, ...], out: Outbox) -> None:
        room = OFFERS_MAX - len(duty.offers)
        duty.offers += offers[:room]
        if len(offers) > room:
            self._local.count("spread.offers_full", out, duty.asked.request)

    def offer(self, number: int, offer: Offer, out: Outbox) -> None:
        """One of our keys matches a census."""
        self._offer(self._duties[number], (offer,), out)

    def wait_for(self, number: int, key: Key) -> None:
        """``key``'s answer is due from the layer above."""
        self._duties[number].awaited[key] = None

    def answered(self, now: float, number: int, key: Key, value: Any, out: Outbox) -> None:
        """The layer above has answered for ``key``, now or earlier. A value that does not fit the others' is missing."""
        duty = self._duties.get(number)
        if duty is None:
            self._local.count("spread.late", out, key, number)
            return
        duty.awaited.pop(key, None)
        try:
            duty.value = self._reduced(duty, value)
            duty.keys += 1
        except Violation as violation:
            self._local.count("spread.uncombinable", out, key, str(violation))
            duty.missing.append(KeyRange(key, after(key)))

    def on_duty_due(self, now: float, due: DutyDue, out: Outbox) -> None:
        duty = self._duties.get(due.number)
        if duty is None or now < duty.due:
            return  # over, or given more time, by a handler of the same instant
        self._local.count("spread.timeout", out, duty.asked.request, len(duty.children))
        for ticket, child in list(duty.children.items()):
            duty.missing.extend(child.pieces)
            self._drop(ticket)
        duty.children.clear()
        duty.missing.extend(KeyRange(key, after(key)) for key in duty.awaited)
        duty.awaited.clear()
        self.settle(now, duty.number, out)

    def _drop(self, ticket: int) -> None:
        self._tickets.pop(ticket, None)
        if self._held.pop(ticket, None) is not None:
            self._local.timers.cancel(HealDue(ticket))

    def settle(self, now: float, number: int, out: Outbox) -> None:
        """End the duty if nothing is open: answer the parent; at the root ask again for what is missing, or conclude."""
        duty = self._duties.get(number)
        while duty is not None and duty.complete:
            duty.missing = merge(duty.missing)
            again = duty.parent is None and duty.missing and duty.tries <= self._settings.query_tries and now < duty.end
            if not again:
                self._end(now, duty, out)
                return
            self._ask_again(now, duty, out)

    def _end(self, now: float, duty: Duty, out: Outbox) -> None:
        del self._duties[duty.number]
        self._local.timers.cancel(DutyDue(duty.number))
        if duty.parent is None:
            self._conclude(now, duty, out)
            return
        answer = Gather(duty.ticket, duty.value, duty.keys, tuple(duty.missing), duty.offers)
        if len(duty.missing) > RANGES_MAX:
            self._local.count("spread.missing_full", out, duty.asked.request)
            answer = Gather(duty.ticket, None, 0, duty.pieces)
        if duty.careful or duty.asked.reliable:
            self._hops.send(now, duty.parent, answer, out)
        else:
            out.send(duty.parent, answer)

    def _ask_again(self, now: float, duty: Duty, out: Outbox) -> None:
        duty.tries += 1
        self._local.count("spread.again", out, duty.asked.request, len(duty.missing))
        missing, duty.missing = duty.missing, []
        last = duty.tries > self._settings.query_tries
        duty.due = duty.end if last else now + (duty.end - now) / 2
        self._local.timers.set(DutyDue(duty.number), duty.due)
        errand = Errand(duty.asked, 0, duty.number, careful=True)
        nobody = Ref(missing[0].low, self._local.node, 0)
        self._cover(now, errand, [Part(nobody, piece, LEVELS_MAX) for piece in missing], out, 0)

    # Held pieces

    def hold(self, errand: Errand, part: Part, tries: int, out: Outbox) -> int | None:
        """Keep ``part`` for later: its number, or None (and the piece missing) if there are too many."""
        if len(self._held) >= HELD_MAX:
            self.abandon("spread.held_full", errand, part, out)
            return None
        number = self._local.next_request()
        self._held[number] = Held(errand, part, tries)
        if errand.duty:
            self._duties[errand.duty].children[number] = Child(None, (part.piece,))
            self._tickets[number] = errand.duty
        return number

    def unhold(self, number: int) -> Held | None:
        """Take a held piece back; None if its query is over."""
        held = self._held.pop(number, None)
        if held is not None and held.errand.duty:
            self.release(number)
        return held

    def wait(self, now: float, errand: Errand, part: Part, tries: int, out: Outbox) -> None:
        """Hand ``part`` on once the ring has healed."""
        if tries >= HEAL_TRIES_MAX:
            self.abandon("spread.unhealed", errand, part, out)
            return
        number = self.hold(errand, part, tries, out)
        if number is not None:
            self._local.count("spread.waits", out, part.to)
            self._local.timers.set(HealDue(number), now + self._settings.retry_wait_s * (1 << tries))

    def abandon(self, what: str, errand: Errand, part: Part, out: Outbox) -> None:
        """Nothing more can be done for ``part``: counted, and missing if an answer is wanted."""
        self._local.count(what, out, part.to)
        if errand.duty:
            self._duties[errand.duty].missing.append(part.piece)

    def on_heal_due(self, now: float, due: HealDue, out: Outbox) -> None:
        held = self.unhold(due.number)
        if held is not None:
            self._cover(now, held.errand, [held.part], out, held.tries + 1)
            self.settle(now, held.errand.duty, out)
