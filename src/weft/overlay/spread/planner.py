"""From a piece to a plan: what our tables and contacts say now, put before the strategies of ``geometry``.

A piece with keys of ours inside is cut at them. One without is *outside*: a strategy may still know nodes in it; if not, it
is routed towards its low end (the greatest contact not above it), and whoever owns that floor knows by its right pointer
whether anybody is inside at all. Left pointers are hints (overlay §2): a gap whose first member a right pointer has named
(``Part.first``) is empty only if that agrees.
"""

from collections.abc import Mapping, Sequence
from enum import Enum
from typing import NamedTuple

from weft.core.limits import LEVELS_MAX
from weft.overlay.api import Entry, Ref
from weft.overlay.contacts import Contacts
from weft.overlay.keys import Key, KeyRange, after, between
from weft.overlay.local import Local
from weft.overlay.settings import Settings
from weft.overlay.spread.geometry import STRATEGIES, Charge, Gap, arcs, cut, worthwhile
from weft.overlay.spread.messages import Asked, Part
from weft.overlay.spread.tables import Tables


class Plan(NamedTuple):
    """``mine`` deliver, ``parts`` travel, ``stuck`` wait: all that is known of them is a node that does not answer.

    ``missed``: our keys whose right neighbour lies beyond a piece that begins after them: nobody is in it.
    """

    mine: list[Ref]
    parts: list[Part]
    stuck: list[Part]
    missed: list[Key]


class Way(Enum):
    """Where a route ends without a next node."""

    EMPTY = "nobody is in the range"
    STRANDED = "we know no node that answers"


class Planner:
    """In: a piece. Out: a ``Plan``. Never state of its own."""

    def __init__(self, local: Local, contacts: Contacts, settings: Settings, tables: Tables) -> None:
        self._labels = settings.aggregate_labels
        self._node = local.node
        self._contacts = contacts
        self._tables = tables

    def plan(self, now: float, asked: Asked, part: Part) -> Plan:
        mine = self._contacts.own_inside(*part.piece)
        plan = Plan(mine, [], [], [])
        if not mine:
            self._plan_outside(now, asked, part, plan)
            return plan
        firsts = {after(ref.key): self._tables.neighbours(ref.key)[1] for ref in mine}
        if part.first is not None:
            firsts[part.piece.low] = part.first
        for gap in cut(part.piece, [ref.key for ref in mine]):
            if gap.left is not None and firsts[gap.piece.low].key not in gap.piece:
                continue  # the right pointer says that nobody is in there
            for part_of in self._worthwhile(asked, self._fill(now, gap, firsts.get(gap.piece.low))):
                if part_of.entries():
                    plan.parts.extend(self._charges(asked, part_of, part, firsts))
                elif part_of.near is not None:
                    plan.stuck.append(Part(part_of.near, part_of.piece, part.level, firsts.get(part_of.piece.low)))
        return plan

    def _plan_outside(self, now: float, asked: Asked, part: Part, plan: Plan) -> None:
        below, above = self._contacts.own_around(*part.piece)
        first = part.first
        if below is not None:
            first = self._tables.neighbours(below.key)[1]
            if first.key not in part.piece and between(below.key, part.piece.low, first.key):
                plan.missed.append(below.key)
                return
        left = None if below is None else below.key
        gap = self._fill(now, Gap(part.piece, left, None if above is None else above.key))
        known = {entry.ref for entry in (*gap.rights, *gap.lefts)}
        gap = gap._replace(others=tuple(entry for entry in self._others(now, part.piece) if entry.ref not in known))
        if gap.entries() and asked.strategy == "delegate":
            delegate = gap.entries()[0]
            plan.parts.append(Part(delegate.ref, part.piece, LEVELS_MAX))
            return
        if gap.entries():
            plan.parts.extend(self._charges(asked, gap, part, {part.piece.low: first}))
            return
        way = self.route(now, part.piece)
        if way is Way.STRANDED:
            plan.stuck.append(part)
        elif way is Way.EMPTY:
            floor = self._contacts.floor(part.piece.low, now)
            assert floor is not None, "who says that a piece is empty stands below it"
            plan.missed.append(floor.key)
        elif isinstance(way, Ref):
            silent = way.node == self._node or self._contacts.is_shunned(way.node, now)
            (plan.stuck if silent else plan.parts).append(Part(way, part.piece, part.level))

    def route(self, now: float, piece: KeyRange) -> Ref | Way:
        """The next node towards ``piece``, none of whose members we know; its owner's right pointer decides if it is empty."""
        floor = self._contacts.floor(piece.low, now)
        if floor is None:
            return Way.STRANDED
        if floor.node != self._node:
            return floor
        right = self._tables.neighbours(floor.key)[1]
        if right.key not in piece and between(floor.key, piece.low, right.key):
            return Way.EMPTY
        return right

    def _fill(self, now: float, gap: Gap, first: Ref | None = None) -> Gap:
        """``gap`` with the usable entries of our nodes beside it; what else we know inside it if they have none."""
        rights: tuple[Entry, ...] = ()
        lefts: tuple[Entry, ...] = ()
        near: Ref | None = None
        if gap.right is not None:
            near = self._tables.neighbours(gap.right)[0]
            lefts = self._usable(now, gap.piece, self._tables.lefts(gap.right), near)
        if gap.left is not None:
            near = self._tables.neighbours(gap.left)[1]
            rights = self._usable(now, gap.piece, self._tables.rights(gap.left), near)
        others: tuple[Entry, ...] = ()
        if not rights and not lefts:
            others = self._others(now, gap.piece)
            if not others and first is not None and self._useful(now, gap.piece, first):
                others = (Entry(first, 0),)
        inside = near is not None and near.key in gap.piece
        return gap._replace(rights=rights, lefts=lefts, others=others, near=near if inside else None)

    def _others(self, now: float, piece: KeyRange) -> tuple[Entry, ...]:
        inside = self._contacts.inside(*piece, now)
        return tuple(Entry(ref, LEVELS_MAX) for ref in inside if ref.node != self._node)

    def _usable(self, now: float, piece: KeyRange, entries: Sequence[Entry], near: Ref) -> tuple[Entry, ...]:
        found = [entry for entry in entries if self._useful(now, piece, entry.ref)]
        if self._useful(now, piece, near) and all(entry.ref != near for entry in found):
            found.insert(0, Entry(near, 0))
        return tuple(found)

    def _useful(self, now: float, piece: KeyRange, ref: Ref) -> bool:
        return ref.key in piece and ref.node != self._node and not self._contacts.is_shunned(ref.node, now)

    def _worthwhile(self, asked: Asked, gap: Gap) -> list[Gap]:
        if asked.condition is None or not asked.stale_ok:
            return [gap]
        if self._labels is not None and asked.condition.label not in self._labels:
            return [gap]  # its values do not travel: that none is known does not mean that nobody matches
        spoken = []
        if gap.left is not None:
            spoken += arcs(gap.left, self._tables.rights(gap.left), ())
        if gap.right is not None:
            spoken += arcs(gap.right, (), self._tables.lefts(gap.right))
        return worthwhile(gap, spoken, asked.condition)

    def _charges(self, asked: Asked, gap: Gap, part: Part, firsts: Mapping[Key, Ref | None]) -> list[Part]:
        charges: list[Charge] = STRATEGIES[asked.strategy](gap, part.level)
        parts = []
        for charge in charges:
            first = firsts.get(charge.piece.low)
            if first is not None and (first == charge.to or first.key not in charge.piece):
                first = None
            parts.append(Part(charge.to, charge.piece, charge.level, first))
        return parts
