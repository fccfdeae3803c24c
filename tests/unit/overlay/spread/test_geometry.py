"""The strategies as functions: what each makes of a gap, and what aggregated values cut away."""

from weft.core.limits import LEVELS_MAX
from weft.overlay.api import Condition, Entry, Ref
from weft.overlay.keys import ALM, EVERYTHING, Key, KeyRange, after, number_key
from weft.overlay.spread.geometry import (
    STRATEGIES,
    Charge,
    Gap,
    arcs,
    binary,
    cluster_first,
    contains,
    cut,
    matches,
    merge,
    split,
    subtract,
    worthwhile,
)

K = [number_key(number, number + 1) for number in range(20)]


def entry(key: Key, level: int, **values: float) -> Entry:
    return Entry(Ref(key, key.broker, 1), level, values or None)


def site(cluster: str, broker: int) -> Key:
    return Key("L", "t", ALM, 0, (cluster,), broker)


def shape(charges: list[Charge]) -> list[tuple[Key, KeyRange, int]]:
    return [(charge.to.key, charge.piece, charge.level) for charge in charges]


# Cutting


def test_a_piece_is_cut_at_our_keys():
    gaps = list(cut(KeyRange(K[1], K[9]), [K[1], K[4], K[5]]))
    assert gaps == [
        Gap(KeyRange(after(K[1]), K[4]), K[1], K[4]),
        Gap(KeyRange(after(K[4]), K[5]), K[4], K[5]),
        Gap(KeyRange(after(K[5]), K[9]), K[5], None),
    ]


def test_a_piece_before_our_first_key_has_nobody_of_ours_on_its_left():
    assert list(cut(KeyRange(K[1], after(K[4])), [K[4]])) == [Gap(KeyRange(K[1], K[4]), None, K[4])]


def test_ranges_are_merged_and_subtracted():
    assert merge([KeyRange(K[5], K[7]), KeyRange(K[1], K[3]), KeyRange(K[3], K[4])]) == [
        KeyRange(K[1], K[4]),
        KeyRange(K[5], K[7]),
    ]
    assert subtract(KeyRange(K[1], K[9]), [KeyRange(K[0], K[2]), KeyRange(K[4], K[5]), KeyRange(K[8], K[12])]) == [
        KeyRange(K[2], K[4]),
        KeyRange(K[5], K[8]),
    ]
    assert subtract(KeyRange(K[1], K[2]), [KeyRange(K[0], K[3])]) == []
    assert contains([KeyRange(K[1], K[4])], KeyRange(K[2], K[4]))
    assert not contains([KeyRange(K[1], K[4])], KeyRange(K[2], K[5]))


# binary


def test_binary_takes_the_farthest_among_the_levels_allowed():
    rights = (entry(K[2], 0), entry(K[3], 1), entry(K[5], 2))
    gap = Gap(KeyRange(after(K[1]), K[9]), K[1], None, rights=rights)
    assert shape(binary(gap, LEVELS_MAX)) == [(K[5], gap.piece, 2)]
    assert shape(binary(gap, 1)) == [(K[3], gap.piece, 1)]


def test_binary_to_the_left_takes_the_lowest_key():
    lefts = (entry(K[8], 0), entry(K[7], 1), entry(K[5], 2))
    gap = Gap(KeyRange(K[1], K[9]), None, K[9], lefts=lefts)
    assert shape(binary(gap, 1)) == [(K[7], gap.piece, 1)]


def test_binary_of_several_links_to_one_node_uses_the_highest():
    gap = Gap(KeyRange(after(K[1]), K[9]), K[1], None, rights=(entry(K[2], 0), entry(K[2], 1), entry(K[2], 2)))
    assert shape(binary(gap, LEVELS_MAX)) == [(K[2], gap.piece, 2)]


def test_binary_between_two_keys_of_ours_sends_one_message():
    gap = Gap(KeyRange(after(K[1]), K[9]), K[1], K[9], rights=(entry(K[3], 0),), lefts=(entry(K[8], 0),))
    assert shape(binary(gap, LEVELS_MAX)) == [(K[3], gap.piece, 0)]


def test_if_only_higher_levels_are_left_they_are_used():
    """The ring neighbour does not answer: better a longer leap than none."""
    gap = Gap(KeyRange(after(K[1]), K[9]), K[1], None, rights=(entry(K[5], 3),))
    assert shape(binary(gap, 0)) == [(K[5], gap.piece, 3)]


def test_nobody_known_no_charge():
    for strategy in STRATEGIES.values():
        assert strategy(Gap(KeyRange(K[1], K[9]), K[0], None), LEVELS_MAX) == []


# split


def test_split_cuts_at_every_entry_of_both_sides():
    gap = Gap(
        KeyRange(after(K[1]), K[9]), K[1], K[9], (entry(K[2], 0), entry(K[4], 1)), (entry(K[8], 0), entry(K[4], 2))
    )
    assert [charge[:2] for charge in shape(split(gap, 0))] == [
        (K[2], KeyRange(after(K[1]), K[4])),
        (K[4], KeyRange(K[4], K[8])),
        (K[8], KeyRange(K[8], K[9])),
    ]


# cluster-first

A, B, C = (
    [site(name, broker) for broker in range(first, first + 4)] for name, first in (("a", 1), ("b", 11), ("c", 21))
)
END = site("d", 1)


def test_own_cluster_and_the_other_clusters_go_separately():
    rights = (entry(A[1], 0), entry(A[2], 1), entry(B[0], 2), entry(C[1], 3))
    gap = Gap(KeyRange(after(A[0]), END), A[0], None, rights=rights)
    border = Key("L", "t", ALM, 0, ("a", ""), -1)
    assert shape(cluster_first(gap, LEVELS_MAX)) == [
        (A[2], KeyRange(after(A[0]), border), 1),
        (C[1], KeyRange(border, END), LEVELS_MAX),
    ]


def test_clusters_of_which_nobody_is_known_travel_with_our_own():
    gap = Gap(KeyRange(after(A[0]), END), A[0], None, rights=(entry(A[1], 0), entry(A[2], 1)))
    assert shape(cluster_first(gap, LEVELS_MAX)) == [(A[2], gap.piece, 1)]


def test_to_the_left_it_is_the_mirror_image():
    lefts = (entry(C[1], 0), entry(C[0], 1), entry(B[2], 2))
    gap = Gap(KeyRange(A[0], C[2]), None, C[2], lefts=lefts)
    border = Key("L", "t", ALM, 0, ("c",), -1)
    assert shape(cluster_first(gap, LEVELS_MAX)) == [
        (B[2], KeyRange(A[0], border), LEVELS_MAX),
        (C[0], KeyRange(border, C[2]), 1),
    ]
    gap = gap._replace(lefts=lefts[:2])
    assert shape(cluster_first(gap, LEVELS_MAX)) == [(C[0], gap.piece, 1)]


def test_between_two_clusters_of_ours_there_are_three_parts():
    gap = Gap(KeyRange(after(A[1]), C[2]), A[1], C[2], (entry(A[2], 0), entry(B[1], 1)), (entry(C[1], 0),))
    charges = cluster_first(gap, LEVELS_MAX)
    assert [charge.to.key for charge in charges] == [A[2], B[1], C[1]]
    assert [charge.piece.low for charge in charges[1:]] == [charge.piece.high for charge in charges[:-1]]
    assert (charges[0].piece.low, charges[-1].piece.high) == gap.piece


def test_a_sender_outside_prefers_its_own_site():
    """From the ``pub`` segment, or another topic, of site b: the copy that stays at home costs nothing between sites."""
    left = Key("L", "s", ALM, 0, ("b",), 99)
    others = tuple(entry(key, LEVELS_MAX) for key in (A[0], B[0], B[2], C[1]))
    gap = Gap(KeyRange(A[0], END), left, None, others=others)
    assert [charge.to.key for charge in cluster_first(gap, LEVELS_MAX)] == [B[2]]
    gap = gap._replace(left=left._replace(cluster=("z",)))
    assert [charge.to.key for charge in cluster_first(gap, LEVELS_MAX)] == [C[1]]


# Aggregated values


def test_conditions():
    assert matches({"free": 2}, Condition("free", ">=", 2))
    assert not matches({"free": 2}, Condition("free", ">", 2))
    assert matches({}, Condition("free", "==", 0)), "a label that is absent counts as 0"
    assert not matches(None, Condition("free", "==", 0)), "no values at all match nothing"
    assert matches({"load": 0.1}, Condition("load", "<", 0.5))
    assert matches({"load": 0.1}, Condition("load", "<=", 0.5))
    assert matches({"load": 0.1}, Condition("load", "!=", 0.5))


def test_arcs_reach_to_the_next_entry_and_round_the_end():
    found = arcs(K[5], [entry(K[6], 0), entry(K[8], 1), entry(K[1], 2)], [entry(K[4], 0), entry(K[2], 1)])
    assert [(e.ref.key, ranges) for e, ranges in found] == [
        (K[6], [KeyRange(K[6], K[8])]),
        (K[8], [KeyRange(K[8], EVERYTHING.high), KeyRange(EVERYTHING.low, K[1])]),
        (K[1], [KeyRange(K[1], K[5])]),
        (K[4], [KeyRange(K[4], K[5])]),
        (K[2], [KeyRange(K[2], K[4])]),
    ]


def test_an_entry_out_of_order_speaks_for_nothing():
    found = arcs(K[5], [entry(K[8], 0), entry(K[6], 1)], [entry(K[2], 0), entry(K[4], 1), entry(K[5], 2)])
    assert [e.ref.key for e, _ in found] == [K[6], K[2]]


def test_arcs_without_a_match_are_cut_away():
    rights = (entry(K[6], 0, free=0), entry(K[7], 1, free=1), entry(K[9], 2, free=0))
    gap = Gap(KeyRange(after(K[5]), K[12]), K[5], None, rights=rights, near=rights[0].ref)
    parts = worthwhile(gap, arcs(K[5], rights, []), Condition("free", ">=", 1))
    assert [(part.piece, part.rights) for part in parts] == [(KeyRange(K[7], K[9]), rights[1:2])]


def test_what_lies_beyond_our_farthest_entry_stays_with_it():
    lefts = (entry(K[8], 0, free=1), entry(K[7], 1, free=0))
    gap = Gap(KeyRange(K[1], K[9]), None, K[9], lefts=lefts, near=lefts[0].ref)
    parts = worthwhile(gap, arcs(K[9], [], lefts), Condition("free", ">=", 1))
    assert [part.piece for part in parts] == [KeyRange(K[1], after(K[7])), KeyRange(K[8], K[9])]


def test_nothing_is_cut_away_where_a_part_would_have_no_taker():
    """K7's arc matches, but K7 does not answer: whoever answers beside it gets the whole gap."""
    rights = (entry(K[6], 0, free=0), entry(K[7], 1, free=1), entry(K[9], 2, free=0))
    gap = Gap(KeyRange(after(K[5]), K[12]), K[5], None, rights=(rights[0], rights[2]), near=rights[0].ref)
    assert worthwhile(gap, arcs(K[5], rights, []), Condition("free", ">=", 1)) == [gap]
