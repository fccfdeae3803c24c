"""What is refused: a case for each check."""

import msgspec
import pytest

from weft.core.errors import Violation
from weft.overlay.api import Condition, Ref
from weft.overlay.keys import KeyRange, after, number_key
from weft.overlay.spread.messages import (
    BUDGET_MAX_S,
    OFFERS_MAX,
    PARTS_MAX,
    RANGES_MAX,
    RULED_OUT_MAX,
    Asked,
    Gather,
    Offer,
    Part,
    Pick,
    Picked,
    Scatter,
    check_gather,
    check_pick,
    check_picked,
    check_scatter,
)

K = [number_key(number, number + 1) for number in range(10)]
TO = Ref(K[2], K[2].broker, 1)
PIECE = KeyRange(K[1], K[5])
ASKED = Asked(1, 1, "", "binary", "count")
CONDITION = Condition("free", ">=", 1)
SCATTER = Scatter(ASKED, (Part(TO, PIECE, 3), Part(TO, KeyRange(K[6], K[7]), 0)), 1, 5, 2.0)
PICK = Pick(Asked(1, 1, "", "binary", condition=CONDITION), "many", PIECE, KeyRange(K[2], K[3]), TO, 0, hops=1)


def changed(message, **changes):
    return msgspec.structs.replace(message, **changes)


def asked(**changes):
    return {"asked": changed(ASKED, **changes)}


def test_pieces_that_touch_may_be_missing_as_one():
    """Found by twelve seeds of a campaign: an answer that merges what is missing was refused."""
    pieces = (KeyRange(K[1], K[2]), KeyRange(K[2], K[3]))
    check_gather(Gather(5, None, 0, (KeyRange(K[1], K[3]),)), pieces)


def test_what_is_right_passes():
    check_scatter(SCATTER)
    check_gather(Gather(5, 3, 3, (KeyRange(K[1], K[2]),), (Offer(TO, 1.0),)), (PIECE,))
    check_pick(PICK)
    check_picked(Picked(1, 0, None, None, 0))


@pytest.mark.parametrize(
    "changes",
    [
        {"parts": ()},
        {"parts": (Part(TO, KeyRange(K[5], K[1]), 0),)},
        {"parts": (Part(TO, KeyRange(K[5], K[5]), 0),)},
        {"parts": (Part(TO, PIECE, -1),)},
        {"parts": (Part(TO, PIECE, 65),)},
        {"parts": (Part(TO, PIECE, 0), Part(TO, KeyRange(K[4], K[6]), 0))},
        {"parts": tuple(Part(TO, KeyRange(number_key(n, 1), number_key(n, 2)), 0) for n in range(PARTS_MAX + 1))},
        {"hops": 0},
        {"hops": -1},
        {"ticket": -1},
        {"ticket": 0},
        {"budget_s": 0.0},
        {"budget_s": -1.0},
        {"budget_s": float("nan")},
        {"budget_s": BUDGET_MAX_S * 2},
        asked(strategy="flood"),
        asked(reduce="eval"),
        asked(reduce=None),
        asked(origin=0),
        asked(origin=1 << 63),
        asked(request=-1),
        asked(condition=Condition("free", "~", 1)),
        asked(census=True),
    ],
)
def test_a_scatter_that_cannot_be(changes):
    with pytest.raises(Violation):
        check_scatter(changed(SCATTER, **changes))


@pytest.mark.parametrize(
    "changes",
    [
        {"keys": -1},
        {"missing": (KeyRange(K[2], K[1]),)},
        {"missing": (KeyRange(K[4], K[6]),)},
        {"missing": (KeyRange(K[2], K[4]), KeyRange(K[3], K[5]))},
        {"missing": (KeyRange(K[2], K[3]),) * (RANGES_MAX + 1)},
        {"offers": (Offer(Ref(K[5], 1, 1), 1.0),)},
        {"offers": (Offer(TO, 1.0),) * (OFFERS_MAX + 1)},
    ],
)
def test_an_answer_that_cannot_be(changes):
    with pytest.raises(Violation):
        check_gather(changed(Gather(5, 3, 3, ()), **changes), (PIECE,))


@pytest.mark.parametrize(
    "changes",
    [
        {"selection": "best"},
        {"asked": Asked(1, 1, "", "binary")},
        {"range": KeyRange(K[5], K[1])},
        {"scope": KeyRange(K[3], K[2])},
        {"scope": KeyRange(K[4], K[6])},
        {"hops": 0},
        {"steps": -1},
        {"phase": -1},
        {"ruled_out": (KeyRange(K[1], after(K[1])),) * (RULED_OUT_MAX + 1)},
    ],
)
def test_a_pick_that_cannot_be(changes):
    with pytest.raises(Violation):
        check_pick(changed(PICK, **changes))


@pytest.mark.parametrize("picked", [Picked(1, -1, None, None, 0), Picked(1, 0, None, None, -1)])
def test_a_picked_that_cannot_be(picked):
    with pytest.raises(Violation):
        check_picked(picked)


@pytest.mark.parametrize(
    "message", [SCATTER, PICK, Picked(1, 0, K[1], "x", 3), Gather(5, 3, 3, (PIECE,), (Offer(TO, 1.0),))]
)
def test_messages_survive_the_wire(message):
    assert msgspec.msgpack.decode(msgspec.msgpack.encode(message), type=type(message)) == message
