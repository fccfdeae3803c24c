"""One connection: silence, pauses, frames that may not be. The other side's frames are made by hand where it lies."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from meshed import Pipe, Side, join, settle
from weft.node.wire.conversation import WAITING_MAX, State
from weft.node.wire.frames import ADOPTED, BYE, HELLO, MESSAGE, PING, PROOF, frame
from weft.node.wire.settings import Settings
from weft.overlay.hops import HopAck

SETTINGS = Settings()


def opened() -> tuple[Side, Side, Pipe]:
    one, other = Side(1), Side(2)
    pipe = join(one, other)
    settle(pipe)
    return one, other, pipe


def test_messages_go_both_ways_once_it_is_open():
    one, other, pipe = opened()
    one.mesh.send(1.0, 2, HopAck(5))
    other.mesh.send(1.0, 1, HopAck(6))
    settle(pipe)
    assert other.heard == [(1, HopAck(5))]
    assert one.heard == [(2, HopAck(6))]
    assert one.changes == [(2, True)]


def test_who_says_nothing_is_cut_off():
    one = Side(1)
    conversation = join(one, Side(2)).ends[0]
    assert one.mesh.deadline == SETTINGS.handshake_s
    one.mesh.timeout(SETTINGS.handshake_s)
    assert conversation.is_over
    assert one.mesh.counts["refused.late"] == 1
    assert one.mesh.deadline is None


def test_a_quiet_link_is_asked_and_answers():
    one, other, pipe = opened()
    now = 0.0
    for _ in range(100):
        now += SETTINGS.ping_s
        one.mesh.timeout(now)
        other.mesh.timeout(now)
        settle(pipe, now=now)
    assert (one.changes, other.changes) == ([(2, True)], [(1, True)])


def test_a_peer_that_is_paused_for_half_a_minute_keeps_its_link():
    one, _other, pipe = opened()
    for second in range(1, 31):
        one.mesh.timeout(float(second))
    settle(pipe, now=31.0)  # it wakes up and reads what was said meanwhile
    assert one.changes == [(2, True)]
    assert pipe.ends[0].state is State.OPEN


def test_a_peer_that_stays_silent_is_lost():
    one, _, pipe = opened()
    for second in range(1, int(SETTINGS.silence_s + SETTINGS.ping_s) + 1):
        one.mesh.timeout(float(second))
    assert one.changes == [(2, True), (2, False)]
    assert "silent for 45 s" in pipe.ends[0].ended.why


def test_our_own_pause_is_not_held_against_the_peer():
    one, _other, pipe = opened()
    one.mesh.timeout(500.0)
    assert one.changes == [(2, True)]
    settle(pipe, now=500.0)
    assert pipe.ends[0].state is State.OPEN


def test_who_asks_and_does_not_read_gets_no_more_answers():
    one, _, pipe = opened()
    one.mesh.receive(1.0, pipe.ends[0], frame(PING) * (WAITING_MAX + 500))
    assert len(pipe.ends[0].out) == WAITING_MAX


@pytest.mark.parametrize(
    "bad",
    [
        frame(99),
        frame(0),
        frame(HELLO, b"again"),
        frame(PROOF, b"again"),
        frame(MESSAGE, b"\xff\xff"),
        frame(MESSAGE),
        frame(ADOPTED, b"short"),
        (SETTINGS.message_bytes_max + 1).to_bytes(4, "big"),
        b"\xff\xff\xff\xff",
    ],
)
def test_a_frame_that_may_not_be_ends_this_link_only(bad):
    one, _, pipe = opened()
    third = Side(3)
    settle(join(one, third))
    one.mesh.receive(1.0, pipe.ends[0], bad)
    assert pipe.ends[0].is_over
    assert list(one.mesh.links()) == [3]
    assert one.mesh.counts["refused.malformed"] == 1


@pytest.mark.parametrize(
    "bad", [b"GET / HTTP/1.1\r\n\r\n", frame(PING), frame(MESSAGE, b"x"), frame(BYE), b"\x00\x01\x00\x00"]
)
def test_a_stranger_gets_nowhere(bad):
    one = Side(1)
    conversation = join(one, Side(2)).ends[0]
    one.mesh.receive(0.0, conversation, bad)
    assert conversation.is_over
    assert one.mesh.counts["refused.malformed"] == 1
    one.mesh.receive(0.0, conversation, bad)  # whatever else it says is not heard
    assert one.mesh.counts["refused.malformed"] == 1


@given(
    st.lists(st.binary(max_size=40) | st.builds(frame, st.integers(0, 12), st.binary(max_size=40)), max_size=6),
    st.booleans(),
)
def test_no_bytes_raise(pieces, is_open):
    """Before the proofs and after them; what has not ended the link has left it in order."""
    one, _, pipe = opened()
    conversation = pipe.ends[0] if is_open else join(one, Side(3)).ends[0]
    for piece in pieces:
        one.mesh.receive(1.0, conversation, piece)
    assert conversation.is_over or conversation.ended is None
    assert is_open or not one.mesh.has_link(3)
