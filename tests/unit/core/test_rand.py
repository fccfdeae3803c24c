"""The stream of numbers is part of the format: a seed printed today must replay tomorrow."""

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from weft.core.rand import Rng, mix

seeds = st.integers(0, (1 << 64) - 1)


def test_the_stream_is_splitmix64() -> None:
    """The reference implementation's first three outputs for state 0."""
    rng = Rng(0)
    rng.state = 0
    assert [rng.bits() for _ in range(3)] == [0xE220A8397B1DCDAF, 0x6E789E6AA1B965F4, 0x06C45D188009454F]


def test_the_stream_of_a_seed_never_changes() -> None:
    rng = Rng(1)
    assert [rng.bits() for _ in range(3)] == [0xBFEF8030DDC2D772, 0x5F552CE482F2AA47, 0x70335FC3DAF3D8A7]
    sub = Rng(1, 2, 3)
    assert [sub.bits() for _ in range(3)] == [0x1FC6A3C45DFA58C4, 0x84DF8BDF6FDAFA41, 0x818975F98BE1CE7C]


def test_what_is_drawn_from_a_seed_never_changes() -> None:
    rng = Rng(1)
    assert (rng.random(), rng.below(10), rng.uniform(2, 3)) == (0.7497482413580301, 5, 2.438283906284553)
    assert (rng.choice("abcdef"), rng.weighted("abc", [1, 0, 2])) == ("a", "a")
    assert rng.sample(range(10), 4) == [7, 4, 5, 1]
    items = list(range(8))
    rng.shuffle(items)
    assert items == [1, 4, 6, 0, 7, 5, 2, 3]


def test_sub_streams_differ_from_each_other_and_from_their_parent() -> None:
    streams = [Rng(7), Rng(7, 0), Rng(7, 1), Rng(7, 0, 0), Rng(7, 0, 1), Rng(7, 1, 0), Rng(8), Rng(8, 0)]
    firsts = {tuple(rng.bits() for _ in range(4)) for rng in streams}
    assert len(firsts) == len(streams)


def test_drawing_from_one_stream_does_not_move_another() -> None:
    one, other = Rng(3, 1), Rng(3, 2)
    for _ in range(10):
        one.bits()
    assert other.bits() == Rng(3, 2).bits()


def test_a_state_is_all_there_is() -> None:
    rng = Rng(5)
    rng.bits()
    copy = Rng(0)
    copy.state = rng.state
    assert [copy.bits() for _ in range(5)] == [rng.bits() for _ in range(5)]


@given(st.lists(seeds, unique=True, max_size=50))
def test_mix_is_a_permutation(values) -> None:
    mixed = [mix(value) for value in values]
    assert len(set(mixed)) == len(values)
    assert all(0 <= value < 1 << 64 for value in mixed)


@given(seeds, st.integers(1, 1_000), st.floats(-1e6, 1e6), st.floats(0, 1e6))
def test_bounds_are_kept(seed, bound, low, width) -> None:
    rng = Rng(seed)
    assert 0 <= rng.random() < 1
    assert 0 <= rng.below(bound) < bound
    assert low <= rng.uniform(low, low + width) <= low + width


def test_below_is_even() -> None:
    rng = Rng(1)
    counts = Counter(rng.below(8) for _ in range(8_000))
    assert set(counts) == set(range(8))
    assert all(850 < count < 1_150 for count in counts.values()), counts


def test_weights_are_shares() -> None:
    rng = Rng(2)
    counts = Counter(rng.weighted("abcd", [1, 0, 3, 4]) for _ in range(8_000))
    assert counts["b"] == 0
    assert [round(counts[item] / 1_000) for item in "acd"] == [1, 3, 4]


def test_the_only_weight_wins() -> None:
    rng = Rng(3)
    assert {rng.weighted("abc", [0, 5, 0]) for _ in range(100)} == {"b"}


@given(seeds, st.lists(st.integers(), max_size=20), st.integers(0, 25))
def test_a_sample_is_of_different_items(seed, items, count) -> None:
    taken = Rng(seed).sample(items, count)
    assert len(taken) == min(count, len(items))
    assert not Counter(taken) - Counter(items)


def test_samples_are_even() -> None:
    rng = Rng(4)
    counts = Counter(item for _ in range(2_000) for item in rng.sample(range(10), 4))
    assert all(700 < counts[item] < 900 for item in range(10)), counts


@given(seeds, st.lists(st.integers(), max_size=20))
def test_a_shuffle_loses_nothing(seed, items) -> None:
    shuffled = list(items)
    Rng(seed).shuffle(shuffled)
    assert Counter(shuffled) == Counter(items)
