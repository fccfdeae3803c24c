"""Frames in any pieces, and a bound that bites before the body has come."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from weft.core.errors import Violation
from weft.node.wire.frames import HEAD_BYTES, Splitter, frame

FRAMES = st.lists(st.tuples(st.integers(1, 9), st.binary(max_size=40)), max_size=6)


@given(FRAMES, st.lists(st.integers(0, 300), max_size=8))
def test_frames_come_out_however_their_bytes_are_cut(frames, cuts):
    data = b"".join(frame(kind, body) for kind, body in frames)
    places = [0, *sorted(min(cut, len(data)) for cut in cuts), len(data)]
    splitter, found = Splitter(), []
    for start, end in pairwise(places):
        splitter.feed(data[start:end])
        found += splitter.frames()
    assert found == frames


def test_a_length_beyond_the_bound_is_refused_before_its_body():
    splitter = Splitter(10)
    splitter.feed(frame(1, b"x" * 10) + frame(1, b"x" * 11)[:4])
    frames = splitter.frames()
    assert next(frames) == (1, b"x" * 10)
    with pytest.raises(Violation, match="11 bytes"):
        next(frames)


def test_the_bound_may_grow_between_two_frames():
    splitter = Splitter(4)
    splitter.feed(frame(1, b"abcd") + frame(2, b"x" * 100))
    found = []
    for kind, body in splitter.frames():
        found.append((kind, len(body)))
        splitter.bytes_max = 100
    assert found == [(1, 4), (2, 100)]
    assert HEAD_BYTES == 5
