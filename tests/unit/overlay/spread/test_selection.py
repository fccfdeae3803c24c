"""Which candidates there are, and how one is drawn."""

from weft.core.rand import Rng
from weft.overlay.api import Condition, Entry, Ref
from weft.overlay.keys import EVERYTHING, KeyRange, after, number_key
from weft.overlay.spread.messages import Asked, Pick
from weft.overlay.spread.selection import WEIGHT_MAX, Candidate, alone, candidates_at, choose, weights

K = [number_key(number, number + 1) for number in range(10)]
REFS = [Ref(key, key.broker, 1) for key in K]
FREE = Condition("free", ">=", 1)
HERE = REFS[3]


def pick(scope: KeyRange = EVERYTHING, selection: str = "many", ruled_out: tuple[KeyRange, ...] = ()) -> Pick:
    asked = Asked(HERE.node, 1, "", "binary", condition=FREE)
    return Pick(asked, selection, EVERYTHING, scope, HERE, 0, ruled_out=ruled_out)


RIGHTS = [Entry(REFS[4], 0, {"free": 1}), Entry(REFS[5], 1, {"free": 0}), Entry(REFS[7], 2, None)]
LEFTS = [Entry(REFS[2], 0, {"free": 2})]


def keys(found: list[Candidate]) -> list[int]:
    return [K.index(candidate.ref.key) for candidate in found]


def test_what_matches_and_meets_the_scope():
    assert keys(candidates_at(HERE, {"free": 1}, RIGHTS, LEFTS, pick(), FREE)) == [3, 4, 2]
    assert keys(candidates_at(HERE, {"free": 0}, RIGHTS, LEFTS, pick(), FREE)) == [4, 2]
    assert keys(candidates_at(HERE, {"free": 1}, RIGHTS, LEFTS, pick(KeyRange(K[4], K[9])), FREE)) == [4]


def test_random_asks_for_no_match():
    assert keys(candidates_at(HERE, {}, RIGHTS, LEFTS, pick(selection="random"), FREE)) == [3, 4, 5, 7, 2]


def test_the_scope_of_a_candidate_is_its_range_within_ours():
    found = candidates_at(HERE, {}, RIGHTS, LEFTS, pick(KeyRange(K[0], after(K[4]))), FREE)
    assert [candidate.scope for candidate in found] == [KeyRange(K[4], after(K[4])), KeyRange(K[2], K[3])]


def test_what_is_ruled_out_is_no_candidate():
    out = (alone(K[3]), KeyRange(K[4], K[5]))
    assert keys(candidates_at(HERE, {"free": 1}, RIGHTS, LEFTS, pick(ruled_out=out), FREE)) == [2]
    half = (KeyRange(K[4], after(K[4])),)
    assert keys(candidates_at(HERE, {}, RIGHTS, LEFTS, pick(ruled_out=half), FREE)) == [4, 2], "the rest of it may do"


def test_weights_stay_numbers():
    def shares(*values: float) -> list[float]:
        return weights("many", [Candidate(HERE, 0, value, alone(HERE.key)) for value in values])

    assert shares(float("inf"), float("nan"), -5.0) == [WEIGHT_MAX, 0.0, 0.0]


def test_without_any_weight_all_are_equal():
    found = [Candidate(ref, 0, 0.0, alone(ref.key)) for ref in REFS[:3]]
    rng = Rng(1)
    assert {choose(rng, "many", found).ref for _ in range(50)} == set(REFS[:3])
