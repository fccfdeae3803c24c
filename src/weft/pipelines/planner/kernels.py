"""The planner's inner loops; in one file because they call each other, and numba's cache looks no farther.

``free`` is what is left of each switch's table.
"""

from typing import NamedTuple

from weft.pipelines.planner.demands import Bools, Floats, Ints, Longs, Needs
from weft.sim.vector.compiled import bare

SCAN_MAX = 256
"""Planned topics of one switch that an exchange looks at to make room on it."""
OUT_MAX = 64
"""Topics that one exchange takes out."""
REFILL_MAX = 64
"""Topics that may come in for them."""
JOURNAL = 2 * (OUT_MAX + 2) + REFILL_MAX
GAIN_LEAST = 1e-9
"""Less is rounding."""


@bare
def has_room(topic: int, needs: Needs, free: Longs) -> bool:
    for at in range(needs.start[topic], needs.start[topic + 1]):  # noqa: SIM110  numba compiles no all() of a generator
        if needs.entries[at] > free[needs.switch[at]]:
            return False
    return True


@bare
def take(topic: int, sign: int, needs: Needs, free: Longs) -> None:
    """Its entries out of what is free; ``sign`` −1: back."""
    for at in range(needs.start[topic], needs.start[topic + 1]):
        free[needs.switch[at]] -= sign * needs.entries[at]


@bare
def fill(order: Longs, chosen: Bools, needs: Needs, free: Longs) -> None:
    """Choose in this order whatever still fits."""
    for topic in order:
        if not chosen[topic] and has_room(topic, needs, free):
            chosen[topic] = True
            take(topic, 1, needs, free)


@bare
def charge(price: Floats, weight: Floats, needs: Needs, cost: Floats, used: Floats) -> float:
    """``cost``: of each topic's entries at these prices. ``used``: entries of all that are worth it. Returns their gain."""
    gain = 0.0
    used[:] = 0.0
    for topic in range(weight.size):
        total = 0.0
        for at in range(needs.start[topic], needs.start[topic + 1]):
            total += price[needs.switch[at]] * needs.entries[at]
        cost[topic] = total
        if weight[topic] > total:
            gain += weight[topic] - total
            for at in range(needs.start[topic], needs.start[topic + 1]):
                used[needs.switch[at]] += needs.entries[at]
    return gain


@bare
def by_switch(order: Longs, needs: Needs, first: Longs, listed: Ints) -> None:
    """``listed[first[s]:first[s + 1]]``: the topics of ``order`` with entries on s, in this order.

    ``first`` comes as where each switch's list begins, one place further on, and is where it ends when this is done.
    """
    for topic in order:
        for at in range(needs.start[topic], needs.start[topic + 1]):
            place = needs.switch[at] + 1
            listed[first[place]] = topic
            first[place] += 1


class Draft(NamedTuple):
    """A plan that is being changed. ``journal[:written[0]]``: topics that have changed sides since it was last judged."""

    chosen: Bools
    free: Longs
    journal: Longs
    written: Longs


@bare
def _turn(topic: int, weight: Floats, needs: Needs, draft: Draft) -> float:
    """To the other side; what that gains."""
    draft.journal[draft.written[0]] = topic
    draft.written[0] += 1
    into = not draft.chosen[topic]
    draft.chosen[topic] = into
    take(topic, 1 if into else -1, needs, draft.free)
    return float(weight[topic]) if into else -float(weight[topic])


@bare
def _judge(gain: float, weight: Floats, needs: Needs, draft: Draft) -> bool:
    """Keep what was written, or take it back."""
    kept = gain > GAIN_LEAST
    if not kept:
        for at in range(draft.written[0] - 1, -1, -1):
            topic = draft.journal[at]
            into = not draft.chosen[topic]
            draft.chosen[topic] = into
            take(topic, 1 if into else -1, needs, draft.free)
    draft.written[0] = 0
    return kept


@bare
def _make_room(switch: int, weight: Floats, needs: Needs, draft: Draft, first: Longs, listed: Ints) -> float:
    """Take topics out until nothing is owed on this switch, the least worth keeping first; what that gains."""
    gain = 0.0
    for place in range(first[switch], min(first[switch + 1], first[switch] + SCAN_MAX)):
        if draft.free[switch] >= 0 or draft.written[0] > OUT_MAX:
            break
        if draft.chosen[listed[place]]:
            gain += _turn(listed[place], weight, needs, draft)
    return gain


@bare
def _refill(except_for: int, refill: Longs, weight: Floats, needs: Needs, draft: Draft) -> float:
    """What was taken out, the last first, and ``refill``, as far as there is room; what that gains."""
    gain = 0.0
    for at in range(draft.written[0] - 1, -1, -1):
        topic = draft.journal[at]
        if topic != except_for and not draft.chosen[topic] and has_room(topic, needs, draft.free):
            gain += _turn(topic, weight, needs, draft)
    for topic in refill:
        if topic != except_for and not draft.chosen[topic] and has_room(topic, needs, draft.free):
            gain += _turn(topic, weight, needs, draft)
    return gain


@bare
def exchange(
    candidates: Longs, refill: Longs, weight: Floats, needs: Needs, draft: Draft, first: Longs, listed: Ints
) -> int:
    """For each candidate: in, if it is outside, and what stands in its way out; or out. Then refill, and keep what gains.

    ``listed[first[s]:first[s + 1]]`` has the plan's topics on switch s, the least worth keeping first. Returns how many it
    kept.
    """
    kept = 0
    for candidate in candidates:
        gain = _turn(candidate, weight, needs, draft)
        owed = False
        for at in range(needs.start[candidate], needs.start[candidate + 1]):
            switch = needs.switch[at]
            if draft.free[switch] < 0:
                gain += _make_room(switch, weight, needs, draft, first, listed)
                owed = owed or draft.free[switch] < 0
        if owed:
            gain = 0.0
        else:
            gain += _refill(candidate, refill, weight, needs, draft)
        kept += _judge(gain, weight, needs, draft)
    return kept
