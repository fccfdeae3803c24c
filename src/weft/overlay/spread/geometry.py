"""The strategies: pure functions of keys, entries and levels. No state, no time, no messages.

A piece is cut at our own keys (``cut``); a strategy turns each gap between them into charges, who takes which part
(``STRATEGIES``). Two laws hold for each of them, and tests/property holds them to it:

    a gap with at least one entry is tiled: every key in it is in exactly one charge
    the taker of a charge has a key inside it, so each hand-over is progress

``arcs`` says for which part of the ring an entry's aggregated value speaks; ``worthwhile`` cuts away what it rules out.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from weft.core.limits import LEVELS_MAX
from weft.overlay.api import Condition, Entry, Ref
from weft.overlay.keys import EVERYTHING, Key, KeyRange, after, between, locality_range
from weft.overlay.values import Attributes

OPERATORS: dict[str, Callable[[float, float], bool]] = {
    ">=": lambda value, bound: value >= bound,
    ">": lambda value, bound: value > bound,
    "<=": lambda value, bound: value <= bound,
    "<": lambda value, bound: value < bound,
    "==": lambda value, bound: value == bound,
    "!=": lambda value, bound: value != bound,
}


class Gap(NamedTuple):
    """A stretch without keys of ours, between ``left`` and ``right`` where those are ours and known.

    ``rights`` are the usable entries of ``left`` inside it, ``lefts`` those of ``right``, nearest first. ``others`` are
    further contacts inside it, of unknown level, for when those tables know none, or for a sender outside the range.
    ``near`` is the ring neighbour inside it, whether it answers or not.
    """

    piece: KeyRange
    left: Key | None
    right: Key | None
    rights: tuple[Entry, ...] = ()
    lefts: tuple[Entry, ...] = ()
    others: tuple[Entry, ...] = ()
    near: Ref | None = None

    def entries(self) -> list[Entry]:
        return [*self.rights, *self.lefts, *self.others]

    def within(self, piece: KeyRange) -> "Gap":
        """The part of the gap that is in ``piece``."""
        kept = [tuple(e for e in each if e.ref.key in piece) for each in (self.rights, self.lefts, self.others)]
        near = self.near if self.near is not None and self.near.key in piece else None
        return self._replace(piece=piece, rights=kept[0], lefts=kept[1], others=kept[2], near=near)


class Charge(NamedTuple):
    """``to`` takes ``piece``; it came over a link of ``level``."""

    to: Ref
    piece: KeyRange
    level: int


class Zone(NamedTuple):
    """Part of a gap and who takes it; ``level`` is a fresh start in a new cluster, None: that of the link."""

    low: Key
    high: Key
    taker: Entry | None
    level: int | None


Strategy = Callable[[Gap, int], list[Charge]]


def cut(piece: KeyRange, own: Sequence[Key]) -> Iterator[Gap]:
    """The gaps of ``piece`` between ``own`` keys, which are inside it and in order (RELAY §5.2)."""
    low, left = piece.low, None
    for key in own:
        if low < key:
            yield Gap(KeyRange(low, key), left, key)
        low, left = after(key), key
    if low < piece.high:
        yield Gap(KeyRange(low, piece.high), left, None)


def meet(one: KeyRange, other: KeyRange) -> KeyRange:
    """What two ranges share; it may be empty."""
    return KeyRange(max(one.low, other.low), min(one.high, other.high))


def contains(ranges: Sequence[KeyRange], inner: KeyRange) -> bool:
    """Is ``inner`` inside one of ``ranges``?"""
    return any(outer.low <= inner.low and inner.high <= outer.high for outer in ranges)


def merge(ranges: Sequence[KeyRange]) -> list[KeyRange]:
    """In order, those that touch or overlap as one."""
    merged: list[KeyRange] = []
    for each in sorted(ranges):
        if merged and each.low <= merged[-1].high:
            merged[-1] = KeyRange(merged[-1].low, max(merged[-1].high, each.high))
        else:
            merged.append(each)
    return merged


def subtract(piece: KeyRange, holes: Sequence[KeyRange]) -> list[KeyRange]:
    """``piece`` without ``holes``."""
    left: list[KeyRange] = []
    low = piece.low
    for hole in merge([hole for hole in holes if not meet(piece, hole).is_empty]):
        if low < hole.low:
            left.append(KeyRange(low, hole.low))
        low = max(low, hole.high)
    if low < piece.high:
        left.append(KeyRange(low, piece.high))
    return left


# Aggregated values (SELECT §3.3)


def matches(values: Attributes | None, condition: Condition) -> bool:
    """A label that is absent counts as 0; no values at all match nothing."""
    return values is not None and OPERATORS[condition.op](values.get(condition.label, 0), condition.bound)


def arcs(key: Key, rights: Sequence[Entry], lefts: Sequence[Entry]) -> list[tuple[Entry, list[KeyRange]]]:
    """For which ranges each entry of the node ``key`` speaks: FFT[i] up to FFT[i+1], BFT[i] up to BFT[i−1] (SELECT §3.3).

    The last of FFT speaks up to ourselves, and so does BFT[0]. An arc over the ring's end is two ranges. An entry that is
    out of order (a stale table) speaks for nothing.
    """
    found: list[tuple[Entry, Key]] = []
    ends = [*(entry.ref.key for entry in rights[1:]), key][: len(rights)]
    for entry, end in zip(rights, ends, strict=True):
        if entry.ref.key != end and between(key, entry.ref.key, end):
            found.append((entry, end))
    ends = [key, *(entry.ref.key for entry in lefts)][: len(lefts)]
    for entry, end in zip(lefts, ends, strict=True):
        if entry.ref.key not in {end, key} and (end == key or between(entry.ref.key, end, key)):
            found.append((entry, end))
    return [(entry, _unroll(entry.ref.key, end)) for entry, end in found]


def _unroll(low: Key, high: Key) -> list[KeyRange]:
    if low < high:
        return [KeyRange(low, high)]
    return [KeyRange(low, EVERYTHING.high), KeyRange(EVERYTHING.low, high)]


def worthwhile(gap: Gap, spoken: Sequence[tuple[Entry, list[KeyRange]]], condition: Condition) -> list[Gap]:
    """``gap`` without the arcs whose value says that nobody there matches; where nothing is known, all stays.

    What stays must have a taker: what lies beyond our farthest entry on the left stays together with that entry, and if a
    part still has none (its entry does not answer), nothing is cut away.
    """
    if not gap.entries():
        return [gap]
    silent = [ranges for entry, ranges in spoken if entry.values is not None and not matches(entry.values, condition)]
    pieces = subtract(gap.piece, [arc for ranges in silent for arc in ranges])
    if pieces and not gap.within(pieces[0]).entries() and gap.left is None:
        farthest = min(entry.ref.key for entry in gap.entries())
        pieces = merge([*pieces, KeyRange(pieces[0].low, after(farthest))])
    parts = [gap.within(piece) for piece in pieces]
    if parts and gap.left is not None and not parts[0].entries() and parts[0].near is None:
        del parts[0]  # it ends before our right neighbour
    return parts if all(part.entries() for part in parts) else [gap]


# Strategies (overlay §5)


def _far(entries: Sequence[Entry], level: int, leftwards: bool) -> Entry | None:
    """The farthest entry among levels ≤ ``level``; of several links to one node the highest, which leaves most choice."""
    reach = [entry for entry in entries if entry.level <= level] or entries
    if not reach:
        return None
    if leftwards:
        return min(reach, key=lambda entry: (entry.ref.key, -entry.level))
    return max(reach, key=lambda entry: (entry.ref.key, entry.level))


def _farthest(gap: Gap, level: int) -> Entry | None:
    return _far(gap.rights, level, False) or _far(gap.lefts, level, True) or _far(gap.others, level, gap.left is None)


def binary(gap: Gap, level: int) -> list[Charge]:
    """Multi-range forwarding: all of the gap to the farthest neighbour in it (RELAY §5.2; at most two per single-key node)."""
    entry = _farthest(gap, level)
    return [] if entry is None else [Charge(entry.ref, gap.piece, entry.level)]


def split(gap: Gap, _level: int) -> list[Charge]:
    """Cut at all entries at once (SELECT §3.2's example); the level has no say."""
    entries = {entry.ref.key: entry for entry in gap.entries()}
    keys = sorted(entries)
    if not keys:
        return []
    lows = [gap.piece.low, *keys[1:]]
    highs = [*keys[1:], gap.piece.high]
    return [
        Charge(entries[key].ref, KeyRange(low, high), entries[key].level)
        for key, low, high in zip(keys, lows, highs, strict=True)
    ]


def cluster_first(gap: Gap, level: int) -> list[Charge]:
    """One piece for what is left of our neighbours' clusters, one for each of those clusters (docs/adr/0004).

    The gap has up to three zones: the rest of ``left``'s cluster, other clusters, the start of ``right``'s. Each goes as
    one piece to its farthest known node; a zone where none is known travels with the zone beside it, so that in the end the
    last node of a cluster, which knows its neighbour, lets the message into the next: each cluster is entered once.
    """
    nobody = KeyRange(gap.piece.low, gap.piece.low)
    own = meet(gap.piece, locality_range(gap.left)) if gap.left is not None else nobody
    next_own = meet(gap.piece, locality_range(gap.right)) if gap.right is not None else nobody
    if not own.is_empty and own == next_own:
        return binary(gap, level)
    first = own.high if not own.is_empty else gap.piece.low
    last = next_own.low if not next_own.is_empty else gap.piece.high
    entries = gap.entries()
    middle = _far(_kin(gap, first, last, entries), LEVELS_MAX, gap.left is None)
    return _tile(
        [
            Zone(gap.piece.low, first, _far([e for e in entries if e.ref.key < first], level, False), None),
            Zone(first, last, middle, LEVELS_MAX),
            Zone(last, gap.piece.high, _far([e for e in entries if e.ref.key >= last], level, True), None),
        ]
    )


def _kin(gap: Gap, first: Key, last: Key, entries: Sequence[Entry]) -> list[Entry]:
    """Who may take the middle; a sender outside the range prefers its own site, which costs no message between sites."""
    middle = [entry for entry in entries if first <= entry.ref.key < last]
    if gap.piece != KeyRange(first, last):
        return middle
    sites = [key.cluster for key in (gap.left, gap.right) if key is not None]
    return [entry for entry in middle if entry.ref.key.cluster in sites] or middle


def _tile(zones: Sequence[Zone]) -> list[Charge]:
    """One charge per zone with a taker; a zone without one goes with the charge on its left, else on its right."""
    charges: list[Charge] = []
    low = zones[0].low
    for zone in zones:
        if zone.taker is not None and zone.low < zone.high:
            level = zone.taker.level if zone.level is None else zone.level
            charges.append(Charge(zone.taker.ref, KeyRange(low, zone.high), level))
        elif charges:
            charges[-1] = charges[-1]._replace(piece=KeyRange(charges[-1].piece.low, zone.high))
        if charges:
            low = zone.high
    return charges


STRATEGIES: dict[str, Strategy] = {
    "binary": binary,
    "split": split,
    "cluster-first": cluster_first,
    "delegate": split,  # from the delegate on; how a sender outside hands over is the machine's business
}
