"""What an answer to a Ping means: pure functions of positions on the circle.

``me`` looked at ``seen``, which says that its right neighbour is ``right``:

    right is me                      HELD      nothing to do but agree on numbers
    right is a former life of me     REPAIR    it points at a ghost: take the ghost's place
    right is known dead              REPAIR    the dead node's right neighbour repairs, nobody else: repairs never duel
    right lies between seen and me   WALK      somebody is nearer: look at it
    otherwise                        REINSERT  seen's ring has no place for me (it took me for dead, or it is another
                                               ring that has met ours): insert me behind it
"""

from collections.abc import Container
from enum import Enum

from weft.overlay.api import Ref
from weft.overlay.keys import between


class Verdict(Enum):
    HELD = "held"
    WALK = "walk"
    REPAIR = "repair"
    REINSERT = "reinsert"


def judge(me: Ref, seen: Ref, right: Ref, dead: Container[Ref]) -> Verdict:
    """See the module."""
    if right == me:
        return Verdict.HELD
    if right.key == me.key or right in dead:
        return Verdict.REPAIR
    if between(seen.key, right.key, me.key):
        return Verdict.WALK
    return Verdict.REINSERT


def fits(left: Ref, new: Ref, right: Ref) -> bool:
    """May ``new`` stand between the neighbours ``left`` and ``right``?"""
    return new.key != left.key and between(left.key, new.key, right.key)


def nearer_left(me: Ref, candidate: Ref, left: Ref) -> bool:
    """Is ``candidate`` a nearer left neighbour of ``me`` than ``left``?"""
    return candidate.key != me.key and between(left.key, candidate.key, me.key)


def leftwards(me: Ref, refs: tuple[Ref, ...]) -> tuple[Ref, ...]:
    """``refs`` as far as each lies further left, without coming round to ``me``.

    In a ring smaller than the list, what comes after ourselves is our own old knowledge: passed on, it would never die.
    """
    last = me.key
    for count, ref in enumerate(refs):
        if ref.key == me.key or not between(me.key, ref.key, last):
            return refs[:count]
        last = ref.key
    return refs
