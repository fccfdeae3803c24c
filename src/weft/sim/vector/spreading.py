"""Kernels of range multicast: what ``overlay/spread`` does on tables that are right, message by message (overlay §5).

This is ``planner`` and ``geometry`` again, with positions for keys and without what only faults bring about: a node that does
not answer, a left pointer that is wrong, an answer. ``tests/cross`` holds the two together, edge by edge; whoever changes a
strategy there changes it here.

A message is a broker with parts of the range in its charge; those not yet handled stand on a stack. Tables are either
``links`` (see ``skipgraph``) or, where ``base`` is empty, fingers up to level ``top``. Everything is in this one file because
numba's cache looks no farther.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from weft.core.limits import LEVELS_MAX, TTL_HOPS
from weft.overlay.spread.messages import PARTS_MAX
from weft.sim.vector.compiled import bare
from weft.sim.vector.layout import Ints, Longs, Span

BINARY, SPLIT, CLUSTER_FIRST = 0, 1, 2
CHARGES_PLAIN = 4 * LEVELS_MAX
"""Most charges of one message to a broker with one key: two gaps, two tables each."""


class Tables(NamedTuple):
    """What a kernel reads: a layout, and the tables of an overlay on it."""

    size: int
    owner: Ints
    first: Ints
    held: Ints
    run: Ints
    starts: Ints
    site: Ints
    base: Longs
    links: Ints
    top: int
    most: int


class Plan(NamedTuple):
    """Charges under way: taker, from, to, level; ``filled[0]`` of them. The rest is for sorting and gathering."""

    taker: Ints
    low: Ints
    high: Ints
    level: Ints
    filled: Longs
    known: Ints
    levels: Ints


class Room(NamedTuple):
    """Where a multicast works. The stack: parts, and (message, its first part) for each message not handled yet."""

    plan: Plan
    parts: npt.NDArray[np.int32]
    waiting: npt.NDArray[np.int32]


def room_for(tables: Tables, span: int) -> Room:
    """Room for one multicast to ``span`` positions."""
    charges, deepest = CHARGES_PLAIN + span, span
    if not tables.owner.size:
        charges, deepest = CHARGES_PLAIN, min(span, TTL_HOPS * CHARGES_PLAIN)
    room = CHARGES_PLAIN + 2 * LEVELS_MAX * tables.most
    fields = [np.empty(size, np.int32) for size in (charges, charges, charges, charges, room, room)]
    plan = Plan(fields[0], fields[1], fields[2], fields[3], np.zeros(1, np.int64), fields[4], fields[5])
    return Room(plan, np.empty((deepest + 2, 3), np.int32), np.empty((deepest + 2, 2), np.int32))


class Piece(NamedTuple):
    """Positions ``low`` … ``high − 1``, and the level over which they came."""

    low: int
    high: int
    level: int


class Gap(NamedTuple):
    """Positions ``low`` … ``high − 1`` between our own ``left`` and ``right`` (−1: not ours, or not known).

    ``own`` and ``following``: does the locality of left (of right) reach into it? ``known`` further contacts inside.
    """

    low: int
    high: int
    left: int
    right: int
    own: bool
    following: bool
    known: int


@bare
def _wide(number: int) -> int:
    """A number from a 32-bit array as one of 64 bits, which is what sums with constants are: one type for each variable."""
    return int(number) + 0


@bare
def _owner(tables: Tables, position: int) -> int:
    return position if tables.owner.size == 0 else _wide(tables.owner[position])


@bare
def _height(tables: Tables, position: int) -> int:
    if tables.base.size == 0:
        return tables.top + 1
    return int(tables.base[position + 1] - tables.base[position])


@bare
def _right(tables: Tables, position: int, level: int) -> int:
    if tables.base.size == 0:
        return (position + (1 << level)) % tables.size
    return _wide(tables.links[2 * (tables.base[position] + level) + 1])


@bare
def _left(tables: Tables, position: int, level: int) -> int:
    if tables.base.size == 0:
        return (position - (1 << level)) % tables.size
    return _wide(tables.links[2 * (tables.base[position] + level)])


@bare
def _run(tables: Tables, position: int) -> int:
    return 0 if tables.run.size == 0 else _wide(tables.run[position])


@bare
def _charge(plan: Plan, taker: int, low: int, high: int, level: int) -> None:
    at = plan.filled[0]
    plan.taker[at], plan.low[at], plan.high[at], plan.level[at] = taker, low, high, level
    plan.filled[0] = at + 1


@bare
def _binary(tables: Tables, plan: Plan, gap: Gap, level: int) -> None:
    """All of it to the farthest neighbour in it among levels up to ``level``: the highest such that is inside."""
    if gap.left >= 0:
        for at in range(min(level, _height(tables, gap.left) - 1), -1, -1):
            taker = _right(tables, gap.left, at)
            if gap.low <= taker < gap.high:
                _charge(plan, taker, gap.low, gap.high, at)
                return
    if gap.right >= 0:
        for at in range(min(level, _height(tables, gap.right) - 1), -1, -1):
            taker = _left(tables, gap.right, at)
            if gap.low <= taker < gap.high:
                _charge(plan, taker, gap.low, gap.high, at)
                return
    if gap.known:
        taker = plan.known[0] if gap.left < 0 else plan.known[gap.known - 1]
        _charge(plan, taker, gap.low, gap.high, LEVELS_MAX)


@bare
def _enter(plan: Plan, gap: Gap, count: int, taker: int, level: int) -> int:
    """Add an entry of a table to those in the gap; a contact that is one has its level."""
    if not gap.low <= taker < gap.high:
        return count
    for at in range(gap.known):
        if plan.known[at] == taker:
            above = plan.levels[at] == LEVELS_MAX or plan.levels[at] < level
            plan.levels[at] = level if above else plan.levels[at]
            return count
    plan.known[count], plan.levels[count] = taker, level
    return count + 1


@bare
def _entries(tables: Tables, plan: Plan, gap: Gap) -> int:
    """Write all entries in the gap behind the ``known`` contacts, with their levels; how many there are in all."""
    count = gap.known
    for at in range(count):
        plan.levels[at] = LEVELS_MAX
    if gap.left >= 0:
        for level in range(_height(tables, gap.left)):
            count = _enter(plan, gap, count, _right(tables, gap.left, level), level)
    if gap.right >= 0:
        for level in range(_height(tables, gap.right)):
            count = _enter(plan, gap, count, _left(tables, gap.right, level), level)
    return count


@bare
def _split(tables: Tables, plan: Plan, gap: Gap) -> None:
    """Cut at all entries at once."""
    count = _entries(tables, plan, gap)
    keys = plan.known
    _sort(keys, count)
    low = gap.low
    for at in range(count):
        following = at + 1
        while following < count and keys[following] == keys[at]:
            following += 1
        if at > 0 and keys[at - 1] == keys[at]:
            continue
        high = keys[following] if following < count else gap.high
        _charge(plan, keys[at], low, high, 0)
        low = high


@bare
def _far(plan: Plan, count: int, low: int, high: int, level: int, leftwards: bool) -> int:
    """Which entry in ``low`` … ``high − 1`` is farthest among levels up to ``level``, or at all; −1: there is none."""
    best, within = -1, False
    for at in range(count):
        key = plan.known[at]
        if not low <= key < high:
            continue
        fits = plan.levels[at] <= level
        if best < 0 or (fits and not within):
            best, within = at, fits
        elif fits == within:
            farther = key < plan.known[best] if leftwards else key > plan.known[best]
            if farther or (key == plan.known[best] and plan.levels[at] > plan.levels[best]):
                best = at
    return best


@bare
def _far_of_site(tables: Tables, plan: Plan, count: int, gap: Gap) -> int:
    """Who takes all of a gap that a sender outside it sees: somebody of its own site, if it knows one there."""
    best = -1
    if tables.site.size:
        for at in range(count):
            key = plan.known[at]
            ours = gap.left >= 0 and tables.site[key] == tables.site[gap.left]
            ours = ours or (gap.right >= 0 and tables.site[key] == tables.site[gap.right])
            if ours and (best < 0 or (key < plan.known[best] if gap.left < 0 else key > plan.known[best])):
                best = at
        if best >= 0:
            return best
    return _far(plan, count, gap.low, gap.high, LEVELS_MAX, gap.left < 0)


@bare
def _cluster_first(tables: Tables, plan: Plan, gap: Gap, level: int) -> None:
    """Three zones: left's locality, others, right's; a zone without a taker goes with another."""
    if gap.own and gap.following and _run(tables, gap.left) == _run(tables, gap.right):
        _binary(tables, plan, gap, level)
        return
    first, last = gap.low, gap.high
    if gap.own:
        first = min(gap.high, _wide(tables.starts[_run(tables, gap.left) + 1]))
    if gap.following:
        last = max(gap.low, _wide(tables.starts[_run(tables, gap.right)]))
    if gap.known == 0 and ((first >= gap.high and gap.right < 0) or (last <= gap.low and gap.left < 0)):
        _binary(tables, plan, gap, level)  # one zone, one table: what the rest would come to, quicker
        return
    count = _entries(tables, plan, gap)
    begin = plan.filled[0]
    low = gap.low
    for zone in range(3):
        if zone == 0:
            high, taker = first, _far(plan, count, gap.low, first, level, False)
        elif zone == 1:
            high = last
            if gap.own or gap.following:
                taker = _far(plan, count, first, last, LEVELS_MAX, gap.left < 0)
            else:
                taker = _far_of_site(tables, plan, count, gap)
        else:
            high, taker = gap.high, _far(plan, count, last, gap.high, level, True)
        if taker >= 0:
            _charge(plan, plan.known[taker], low, high, LEVELS_MAX if zone == 1 else plan.levels[taker])
        elif plan.filled[0] > begin:
            plan.high[plan.filled[0] - 1] = high
        if plan.filled[0] > begin:
            low = high


@bare
def _gap(tables: Tables, plan: Plan, strategy: int, gap: Gap, level: int) -> None:
    if strategy == BINARY:
        _binary(tables, plan, gap, level)
    elif strategy == SPLIT:
        _split(tables, plan, gap)
    else:
        _cluster_first(tables, plan, gap, level)


@bare
def _around(tables: Tables, broker: int, low: int) -> int:
    """Which of the broker's keys, counted in ``held``, is the first not below ``low``."""
    begin, end = _wide(tables.first[broker]), _wide(tables.first[broker + 1])
    while begin < end:
        middle = (begin + end) // 2
        if tables.held[middle] < low:
            begin = middle + 1
        else:
            end = middle
    return begin


@bare
def _inside(
    tables: Tables, plan: Plan, strategy: int, broker: int, piece: Piece, via: Ints, shift: int, message: int
) -> bool:
    """Deliver to the broker's keys in the piece, and plan the gaps between them; False: it has none there."""
    plain = tables.owner.size == 0
    at = 0 if plain else _around(tables, broker, piece.low)
    end = 1 if plain else _wide(tables.first[broker + 1])
    left, begin = -1, piece.low
    while at < end:
        key = broker if plain else _wide(tables.held[at])
        if not piece.low <= key < piece.high:
            break
        via[key - shift] = message
        if begin < key:
            _gap(tables, plan, strategy, Gap(begin, key, left, key, left >= 0, True, 0), piece.level)
        left, begin = key, key + 1
        at += 1
    if left < 0:
        return False
    if begin < piece.high:
        _gap(tables, plan, strategy, Gap(begin, piece.high, left, -1, True, False, 0), piece.level)
    return True


@bare
def _gather(tables: Tables, plan: Plan, broker: int, low: int, high: int) -> int:
    """The broker's contacts in the piece, in order, each once, into ``plan.known``; how many."""
    plain = tables.owner.size == 0
    begin, end = (0, 1) if plain else (_wide(tables.first[broker]), _wide(tables.first[broker + 1]))
    count = 0
    for at in range(begin, end):
        key = broker if plain else _wide(tables.held[at])
        for level in range(_height(tables, key)):
            for contact in (_left(tables, key, level), _right(tables, key, level)):
                if low <= contact < high:
                    plan.known[count] = contact
                    count += 1
    known = plan.known
    _sort(known, count)
    kept = 0
    for at in range(count):
        if at == 0 or known[at] != known[at - 1]:
            known[kept] = known[at]
            kept += 1
    return kept


@bare
def _floor(tables: Tables, broker: int, low: int) -> int:
    """The contact with the greatest key below ``low``, wrapping below the least; our own keys are contacts too."""
    plain = tables.owner.size == 0
    begin, end = (0, 1) if plain else (_wide(tables.first[broker]), _wide(tables.first[broker + 1]))
    nearest, floor = tables.size, 0
    for at in range(begin, end):
        key = broker if plain else _wide(tables.held[at])
        for level in range(-1, _height(tables, key)):
            for leftwards in (True, False):
                contact = key
                if level >= 0:
                    contact = _left(tables, key, level) if leftwards else _right(tables, key, level)
                away = (low - 1 - contact) % tables.size
                if away < nearest:
                    nearest, floor = away, contact
    return floor


@bare
def _outside(tables: Tables, plan: Plan, strategy: int, broker: int, span: Span, level: int) -> None:
    """The broker has no key in the piece, which is the whole range: hand over to who is known there, or go nearer."""
    low, high = span.low, span.high
    below, above = -1, -1
    if tables.owner.size == 0:
        below, above = (broker, -1) if broker < low else (-1, broker)
    else:
        at = _around(tables, broker, low)
        if at > tables.first[broker]:
            below = _wide(tables.held[at - 1])
        if at < tables.first[broker + 1]:
            above = _wide(tables.held[at])
    if below >= 0 and (below + 1 >= high or below + 1 == tables.size):
        return  # our right neighbour is beyond the range: nobody is in it
    known = _gather(tables, plan, broker, low, high)
    if known:
        own = below >= 0 and _run(tables, below) == span.low_run
        following = above >= 0 and _run(tables, above) == span.high_run
        _gap(tables, plan, strategy, Gap(low, high, below, above, own, following, known), level)
        return
    floor = _floor(tables, broker, low)
    if _owner(tables, floor) != broker:
        _charge(plan, floor, low, high, level)


@bare
def _sort(keys: Ints, count: int) -> None:
    """In place, the first ``count``: mostly a handful, and mostly in order already."""
    for at in range(1, count):
        key, hole = keys[at], at
        while hole > 0 and keys[hole - 1] > key:
            keys[hole] = keys[hole - 1]
            hole -= 1
        keys[hole] = key


@bare
def _after(tables: Tables, plan: Plan, one: int, broker: int, low: int) -> bool:
    other = _owner(tables, _wide(plan.taker[one]))
    return other > broker or (other == broker and plan.low[one] > low)


@bare
def _by_broker(tables: Tables, plan: Plan) -> None:
    """Order the charges by their takers' broker, then by their place: one message per broker. A shell sort."""
    count = plan.filled[0]
    step = 1
    while 3 * step + 1 < count:
        step = 3 * step + 1
    while step > 0:
        for at in range(step, count):
            taker, low, high, level = plan.taker[at], plan.low[at], plan.high[at], plan.level[at]
            broker, hole = _owner(tables, _wide(taker)), at
            while hole >= step and _after(tables, plan, hole - step, broker, _wide(low)):
                plan.taker[hole], plan.low[hole] = plan.taker[hole - step], plan.low[hole - step]
                plan.high[hole], plan.level[hole] = plan.high[hole - step], plan.level[hole - step]
                hole -= step
            plan.taker[hole], plan.low[hole], plan.high[hole], plan.level[hole] = taker, low, high, level
        step //= 3


@bare
def spread(
    tables: Tables, strategy: int, sender: int, span: Span, via: Ints, messages: npt.NDArray[np.int32], room: Room
) -> tuple[int, int]:
    """One multicast; fills ``via`` and the rows (source, target, hops, cause) of ``messages``; (messages, lost by TTL).

    ``via[p − span.low]`` becomes the message by which position p was reached, −1 for the sender's own.
    """
    plain = tables.owner.size == 0
    plan, parts, waiting = room.plan, room.parts, room.waiting
    parts[0, 0], parts[0, 1], parts[0, 2] = span.low, span.high, LEVELS_MAX
    waiting[0, 0], waiting[0, 1] = -1, 0
    open_messages, open_parts, sent, lost = 1, 1, 0, 0
    while open_messages:
        open_messages -= 1
        message, begin = _wide(waiting[open_messages, 0]), _wide(waiting[open_messages, 1])
        broker = sender if message < 0 else _wide(messages[message, 1])
        hops = 0 if message < 0 else _wide(messages[message, 2])
        plan.filled[0] = 0
        if hops >= TTL_HOPS:
            lost += 1
        else:
            for part in range(begin, open_parts):
                piece = Piece(_wide(parts[part, 0]), _wide(parts[part, 1]), _wide(parts[part, 2]))
                if not _inside(tables, plan, strategy, broker, piece, via, span.low, message):
                    _outside(tables, plan, strategy, broker, span, piece.level)
        open_parts = begin
        if not plain and plan.filled[0] > 1:
            _by_broker(tables, plan)
        held = 0
        for at in range(plan.filled[0]):
            target = _owner(tables, _wide(plan.taker[at]))
            if at == 0 or held == PARTS_MAX or target != messages[sent - 1, 1]:
                messages[sent, 0], messages[sent, 1] = broker, target
                messages[sent, 2], messages[sent, 3] = hops + 1, message
                waiting[open_messages, 0], waiting[open_messages, 1] = sent, open_parts
                sent += 1
                open_messages += 1
                held = 0
            parts[open_parts, 0], parts[open_parts, 1] = plan.low[at], plan.high[at]
            parts[open_parts, 2] = plan.level[at]
            open_parts += 1
            held += 1
    return sent, lost
