"""The order of keys, part by part, and the ranges cut out of it: each holds exactly what it says."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from weft.core.errors import Misuse
from weft.core.ids import NODE_ID_MAX, NodeId
from weft.overlay.keys import (
    ALM,
    CLUSTER_DEPTH_MAX,
    EVERYTHING,
    OFM,
    PUB,
    RANK_LIMIT,
    TOPIC_BYTES_MAX,
    Key,
    KeyRange,
    after,
    before,
    between,
    check_key,
    filter_parts,
    locality_range,
    number_key,
    segment_range,
    share,
    topic_key,
)

A, B = NodeId(1), NodeId(2)


def at(topic: str, segment=ALM, broker: int = 1, cluster: tuple[str, ...] = (), rank: int = 0) -> Key:
    return topic_key(topic, segment, NodeId(broker), cluster, rank)


def in_order(*keys: Key) -> bool:
    return list(keys) == sorted(keys) and len(set(keys)) == len(keys)


# shape and literals


@pytest.mark.parametrize(
    ("topic", "shape", "literals"),
    [
        ("a", "L", "a"),
        ("a/b", "L/L", "a\0b"),
        ("a/+/c/#", "L/+/L/#", "a\0c"),
        ("#", "#", ""),
        ("+", "+", ""),
        ("a/", "L/L", "a\0"),
        ("a//", "L/L/L", "a\0\0"),
        ("/a", "L/L", "\0a"),
        ("/", "L/L", "\0"),
        ("$SYS/a", "$L/L", "$SYS\0a"),
        ("$SYS/#", "$L/#", "$SYS"),
        ("a/$b", "L/L", "a\0$b"),
    ],
)
def test_a_filter_is_its_shape_and_its_literals(topic, shape, literals):
    assert filter_parts(topic) == (shape, literals)


levels = st.lists(
    st.sampled_from(["", "a", "b", "ab", "a-", "+", "#", "$x", "é", "\U0010fffe"]), min_size=1, max_size=5
)


@given(levels, levels)
def test_different_filters_have_different_keys(one, other):
    assert (filter_parts("/".join(one)) == filter_parts("/".join(other))) == (one == other)


literal = st.lists(st.sampled_from(["", "a", "b", "a-", "a!", "ab", "\x01", "é"]), min_size=2, max_size=2)


@given(literal, literal)
def test_topics_of_one_depth_are_ordered_level_by_level(one, other):
    assert (at("/".join(one)) < at("/".join(other))) == (one < other)


def test_the_separator_is_below_every_character_of_a_topic():
    assert in_order(at("a/b"), at("a-/a"), at("a-/b")), "as text, a-/a would come before a/b"
    assert in_order(at("a/z"), at("a!/a"), at("ab/a"))


def test_dollar_topics_stand_apart():
    assert not any(key in KeyRange(at("$SYS/a"), at("$SYS/z")) for key in (at("a"), at("+/a"), at("#"), at("a/$SYS")))
    shapes = {filter_parts(topic)[0] for topic in ("+/a", "#", "+")}
    assert filter_parts("$SYS/a")[0] not in shapes


# part by part


def test_each_part_decides_before_the_next():
    assert in_order(
        at("a/b", PUB, 9, ("z",), 9),
        at("a/b", ALM, 9, ("z",), -1),
        at("a/b", ALM, 9, ("y",), 0),
        at("a/b", ALM, 1, ("z",), 0),
        at("a/b", ALM, 2, ("z",), 0),
        at("a/b", ALM, 1, ("a",), 1),
        at("a/b", OFM, 1, ("a",), -5),
        at("a/c", PUB, 1, ("a",), -9),
    )


def test_segments_are_ordered_by_role():
    assert in_order(*(at("a", segment) for segment in (PUB, ALM, OFM, share(""), share("x"), share("y"))))


def test_clusters_are_ordered_by_component_the_prefix_first():
    clusters = [(), ("jp",), ("jp", "kyoto"), ("jp", "osaka"), ("jp-east",), ("us",)]
    assert in_order(*(at("a", cluster=cluster) for cluster in clusters))


def test_rank_before_cluster():
    assert in_order(at("a", rank=-1, cluster=("z",)), at("a", cluster=("a",)), at("a", rank=1, cluster=("a",)))


def test_number_keys_sort_as_their_numbers():
    assert in_order(*(number_key(number, A) for number in (0, 2, 10, 99, 100, 10**11)))


# limits


def test_the_longest_topic_is_allowed_and_no_longer():
    assert at("a" * TOPIC_BYTES_MAX).literals
    with pytest.raises(Misuse, match="65535 bytes"):
        at("a" * (TOPIC_BYTES_MAX + 1))


def test_length_is_in_bytes():
    assert at("é" * (TOPIC_BYTES_MAX // 2)).literals
    with pytest.raises(Misuse, match="bytes"):
        at("é" * (TOPIC_BYTES_MAX // 2 + 1))


def test_a_topic_of_separators_is_as_long_as_it_looks():
    assert at("/" * (TOPIC_BYTES_MAX // 2)).shape
    with pytest.raises(Misuse, match="bytes"):
        at("/" * (TOPIC_BYTES_MAX + 1))


@pytest.mark.parametrize(
    ("changes", "text"),
    [
        ({"cluster": ("a",) * (CLUSTER_DEPTH_MAX + 1)}, "cluster path deeper than 8"),
        ({"broker": 0}, "broker id 0"),
        ({"broker": -1}, "broker id -1"),
        ({"broker": NODE_ID_MAX + 1}, "broker id"),
        ({"rank": RANK_LIMIT}, "rank"),
        ({"rank": -RANK_LIMIT}, "rank"),
    ],
)
def test_what_cannot_be_a_key_is_misuse(changes, text):
    key = at("a")._replace(**changes)
    with pytest.raises(Misuse, match=text):
        check_key(key)


def test_the_limits_themselves_are_fine():
    key = at("a", cluster=("a",) * CLUSTER_DEPTH_MAX, broker=NODE_ID_MAX, rank=RANK_LIMIT - 1)
    assert check_key(key) is key
    assert key in EVERYTHING


# ranges, against brute force: a small world with every part varied

WORLD = sorted(
    Key(shape, literals, segment, rank, cluster, NodeId(broker))
    for shape, literals in (("#", ""), ("$L", "$a"), ("L", ""), ("L", "a"), ("L/L", "a\0"), ("L/L", "a\0b"))
    for segment in (PUB, ALM, OFM, share("x"))
    for rank in (-RANK_LIMIT + 1, 0, RANK_LIMIT - 1)
    for cluster in ((), ("",), ("c",), ("c", ""), ("c", "d"), ("c\0",), ("cc",))
    for broker in (1, 2, NODE_ID_MAX)
)
some = st.sampled_from(WORLD)


def inside(piece: KeyRange) -> list[Key]:
    return [key for key in WORLD if key in piece]


def test_everything_holds_everything():
    assert inside(EVERYTHING) == WORLD
    assert at("\U0010ffff" * 10) in EVERYTHING
    assert not EVERYTHING.is_empty


@given(some)
def test_after_bounds_a_key_from_above(key):
    assert inside(KeyRange(key, after(key))) == [key]
    assert not any(key < other < after(key) for other in WORLD)


@given(some)
def test_before_bounds_a_key_from_below(key):
    """What lies below ``before(key)`` or on it is all that lies below ``key``: no other broker's key is between."""
    assert [other for other in WORLD if other < key] == [
        other for other in WORLD if other <= before(key) or (other.broker == key.broker - 1 and other < key)
    ]
    assert before(key) < key


@given(some)
def test_the_segment_range_holds_the_segment(key):
    piece = segment_range(key.shape, key.literals, key.segment)
    assert inside(piece) == [other for other in WORLD if other[:3] == key[:3]]


@given(some)
def test_the_locality_range_holds_the_cluster_alone(key):
    assert inside(locality_range(key)) == [other for other in WORLD if other.locality == key.locality]


@given(some, some)
def test_a_range_is_half_open_and_never_wraps(low, high):
    piece = KeyRange(low, high)
    assert inside(piece) == WORLD[WORLD.index(low) : WORLD.index(high)]
    assert piece.is_empty == (low >= high)


# the circle

points = st.integers(0, 9).map(lambda number: number_key(number, A))


@given(points, points, points)
def test_between_is_what_one_meets_walking_upwards(low, key, high):
    circle = [number_key(number, A) for number in range(10)]
    start = circle.index(low) + 1
    walk = [circle[(start + step) % 10] for step in range(10)]
    assert between(low, key, high) == (key in walk[: walk.index(high)])


def test_from_a_point_round_to_itself_is_everybody_else():
    low = number_key(5, A)
    assert between(low, number_key(6, A), low)
    assert between(low, number_key(4, A), low)
    assert not between(low, low, low)
