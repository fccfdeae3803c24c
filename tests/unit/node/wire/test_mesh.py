"""One connection per pair however they were dialled, queues with their bounds, the book."""

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from meshed import Pipe, Side, join, settle
from weft.core.ids import NodeId
from weft.node.wire.conversation import WAITING_MAX
from weft.node.wire.frames import BOOK, frame
from weft.node.wire.mesh import PAGE_ENTRIES, Place
from weft.node.wire.settings import Settings
from weft.overlay.api import Ref
from weft.overlay.hops import HopAck
from weft.overlay.keys import EVERYTHING, number_key
from weft.overlay.spread.messages import Asked, Part, Scatter

SMALL = Settings(queue_bytes=1_000, queue_bytes_max=2_000, queues_bytes=3_000)


def scatter(payload: bytes) -> Scatter:
    ref = Ref(number_key(1, NodeId(2)), NodeId(2), 1)
    return Scatter(Asked(NodeId(1), 1, payload, "split"), (Part(ref, EVERYTHING, 0),), 1)


def alive(*pipes: Pipe) -> list[int]:
    return [number for number, pipe in enumerate(pipes) if not (pipe.ends[0].is_over or pipe.ends[1].is_over)]


@given(st.lists(st.integers(0, 3), max_size=60))
def test_of_two_that_dial_at_once_one_connection_stays(order):
    """Whatever arrives first: both use the same one, and neither has lost a message."""
    one, other = Side(1), Side(2)
    pipes = [join(one, other), join(other, one)]
    sent = 0
    for step in order:
        pipe, end = pipes[step // 2], step % 2
        side = pipe.meshes[end].mesh
        data = side.take(pipe.ends[end])
        if data:
            pipe.waiting[1 - end].append(data)
        queue = pipe.waiting[end]
        if queue:
            side.receive(0.0, pipe.ends[end], queue.popleft())
        for here, there in ((one, 2), (other, 1)):
            here.mesh.send(0.0, NodeId(there), HopAck(sent))
            sent += 1
    settle(*pipes)
    lost = one.mesh.counts["dropped.unknown"] + other.mesh.counts["dropped.unknown"]
    assert len(one.heard) + len(other.heard) == sent - lost
    assert len(alive(*pipes)) == 1
    (pipe,) = [pipes[number] for number in alive(*pipes)]
    for here, there in ((one, 2), (other, 1)):
        assert here.mesh.pairs[there].link in pipe.ends
    before = len(one.heard), len(other.heard)
    one.mesh.send(0.0, NodeId(2), HopAck(77))
    other.mesh.send(0.0, NodeId(1), HopAck(78))
    settle(*pipes)
    assert (len(one.heard), len(other.heard)) == (before[0] + 1, before[1] + 1)


@given(st.lists(st.tuples(st.sampled_from(["dial", "move", "cut"]), st.integers(0, 7), st.integers(0, 1)), max_size=40))
def test_whoever_dials_and_whatever_breaks_both_use_the_same_connection(steps):
    """Once all has been said: either both have a link, and it is the same, or one more try makes it so."""
    sides = (Side(1), Side(2))
    pipes: list[Pipe] = []
    for what, which, end in steps:
        if what == "dial":
            pipes.append(join(sides[end], sides[1 - end]))
        elif pipes:
            pipe = pipes[which % len(pipes)]
            if what == "cut":
                pipe.ends[end].lost(0.0, "cut")
                pipe.waiting[end].clear()
            else:
                pipe.move(0.0)
    settle(*pipes)
    pipes.append(join(sides[0], sides[1]))
    settle(*pipes)
    used = [side.mesh.pairs[other].link for side, other in zip(sides, (2, 1), strict=True)]
    assert [pipe for pipe in pipes if set(used) == set(pipe.ends)] == [pipes[number] for number in alive(*pipes)]
    assert len(alive(*pipes)) == 1


@pytest.mark.parametrize(("first", "second"), [(1, 2), (2, 1)])
def test_who_dials_and_has_a_link_already_changes_nothing(first, second):
    one, other = Side(first), Side(second)
    pipe = join(one, other)
    settle(pipe)
    again = join(one, other)
    settle(pipe, again)
    assert alive(pipe, again) == [0]
    assert one.mesh.counts["refused.duplicate"] == 1
    assert one.mesh.notices.pending == []
    assert (one.changes, other.changes) == ([(second, True)], [(first, True)])


@pytest.mark.parametrize(("first", "second"), [(1, 2), (2, 1)])
def test_a_connection_that_only_one_side_knows_to_be_dead_is_replaced(first, second):
    one, other = Side(first), Side(second)
    old = join(one, other)
    settle(old)
    old.ends[0].lost(1.0, "reset")  # the other side has not noticed
    new = join(one, other, 1.0)
    settle(new, now=1.0)
    other.mesh.send(1.0, NodeId(first), HopAck(1))
    settle(new, now=1.0)
    assert one.heard == [(second, HopAck(1))]


@pytest.mark.parametrize(("first", "second"), [(1, 2), (2, 1)])
def test_a_broker_that_was_started_again_is_its_new_life(first, second):
    one = Side(first)
    settle(join(one, Side(second)))
    reborn = Side(second, incarnation=2)
    pipe = join(reborn, one)
    settle(pipe)
    one.mesh.send(0.0, NodeId(second), HopAck(1))
    settle(pipe)
    assert reborn.heard == [(first, HopAck(1))]
    late = join(Side(second), one)  # a copy of its old data
    settle(late)
    assert one.mesh.counts["refused.stale"] == 1
    assert alive(pipe, late) == [0]


def test_what_waits_survives_a_change_of_connection():
    one, other = Side(1), Side(2)
    first = join(one, other)
    settle(first)
    first.ends[0].lost(1.0, "reset")
    first.ends[1].lost(1.0, "reset")
    one.mesh.send(1.0, NodeId(2), HopAck(1))
    assert list(one.mesh.wanted) == [2]
    second = join(one, other, 1.0)
    settle(second, now=1.0)
    assert other.heard == [(1, HopAck(1))]
    assert not one.mesh.wanted
    assert one.mesh.queued == 0


def test_what_may_be_dropped_is_dropped_first():
    one, other = Side(1, settings=SMALL), Side(2)
    pipe = join(one, other)
    settle(pipe)
    for _ in range(20):
        one.mesh.send(0.0, NodeId(2), scatter(b"x" * 100))
    dropped = one.mesh.counts["dropped.slow"]
    assert 0 < dropped < 20
    assert one.mesh.pairs[2].queued <= SMALL.queue_bytes
    for number in range(300):
        one.mesh.send(0.0, NodeId(2), HopAck(number))
    assert one.mesh.counts["dropped.full"] > 0
    assert one.mesh.counts["dropped.slow"] == dropped
    assert SMALL.queue_bytes < one.mesh.pairs[2].queued <= SMALL.queue_bytes_max
    settle(pipe)
    assert one.mesh.queued == 0
    assert len(other.heard) == 320 - dropped - one.mesh.counts["dropped.full"]


def test_the_layers_above_are_pressed_until_half_is_left():
    hub = Side(1, settings=SMALL)
    pipes = [join(hub, Side(node)) for node in (2, 3, 4)]
    settle(*pipes)
    for _ in range(20):
        for node in (2, 3, 4):
            hub.mesh.send(0.0, NodeId(node), HopAck(1))
    assert not hub.mesh.is_pressed
    for _ in range(300):
        for node in (2, 3, 4):
            hub.mesh.send(0.0, NodeId(node), HopAck(1))
    assert hub.mesh.is_pressed
    settle(pipes[0])
    assert hub.mesh.is_pressed
    settle(*pipes)
    assert not hub.mesh.is_pressed


def test_who_is_nowhere_cannot_be_sent_to():
    one = Side(1)
    one.mesh.send(0.0, NodeId(9), HopAck(1))
    assert one.mesh.counts["dropped.unknown"] == 1
    assert not one.mesh.pairs


def test_what_waits_for_who_cannot_be_reached_is_dropped():
    one, other = Side(1), Side(2)
    pipe = join(one, other)
    settle(pipe)
    pipe.ends[0].lost(1.0, "reset")
    one.mesh.send(1.0, NodeId(2), HopAck(1))
    one.mesh.unreachable(2.0, NodeId(2))
    assert one.mesh.counts["dropped.unreachable"] == 1
    assert one.mesh.queued == 0
    assert not one.mesh.wanted


def test_what_does_not_fit_is_counted_and_not_raised():
    one, other = Side(1), Side(2)
    settle(join(one, other))
    one.mesh.send(0.0, NodeId(2), HopAck(1 << 70))
    assert one.mesh.counts["unsendable"] == 1


def test_everybody_learns_where_everybody_is():
    """3 has met 1 alone, and 1 tells what it knows, and what it learns later."""
    hub, second, third, fourth = Side(1), Side(2), Side(3), Side(4)
    pipes = [join(second, hub), join(third, hub)]
    settle(*pipes)
    pipes.append(join(fourth, hub))
    settle(*pipes)
    assert third.mesh.book[NodeId(2)].addresses == ("h2:1",)
    assert third.mesh.book[NodeId(4)].addresses == ("h4:1",)
    assert fourth.mesh.book[NodeId(2)].addresses == ("h2:1",)
    third.mesh.send(0.0, NodeId(4), HopAck(1))
    assert list(third.mesh.wanted) == [4]


def test_who_does_not_read_the_book_loses_the_link_and_gets_all_of_it_with_the_next():
    hub, deaf, gossip = Side(1), Side(2), Side(3)
    pipes = [join(deaf, hub), join(gossip, hub)]
    settle(*pipes)
    for incarnation in range(WAITING_MAX + 1):
        place = Place(NodeId(9), incarnation, ("h9:1",))
        hub.mesh.receive(0.0, pipes[1].ends[1], frame(BOOK, msgspec.msgpack.encode([place])))
        hub.mesh.take(pipes[1].ends[1])
    assert not hub.mesh.has_link(NodeId(2))
    assert pipes[0].ends[1].ended.why == "it does not read"
    settle(join(Side(2, incarnation=2), hub), *pipes)
    assert hub.mesh.has_link(NodeId(2))


@pytest.mark.parametrize(
    "page",
    [
        b"junk",
        msgspec.msgpack.encode([(0, 1, ())]),
        msgspec.msgpack.encode([(5, -1, ())]),
        msgspec.msgpack.encode([(5, 1, ("h:1",) * 9)]),
        msgspec.msgpack.encode([(5, 1, ())] * (PAGE_ENTRIES + 1)),
    ],
)
def test_a_page_that_is_none_ends_the_link(page):
    one, other = Side(1), Side(2)
    pipe = join(one, other)
    settle(pipe)
    one.mesh.receive(0.0, pipe.ends[0], frame(BOOK, page))
    assert one.mesh.counts["refused.malformed"] == 1
    assert NodeId(5) not in one.mesh.book


def test_the_number_of_peers_is_bounded_and_the_absent_make_room():
    hub = Side(1, settings=Settings(peers_max=2))
    pipes = [join(Side(node), hub) for node in (2, 3)]
    settle(*pipes)
    late = join(Side(4), hub)
    settle(late)
    assert hub.mesh.counts["refused.full"] == 1
    pipes[0].ends[1].lost(1.0, "reset")
    later = join(Side(4), hub)
    settle(later)
    assert set(hub.mesh.links()) == {3, 4}


def test_a_refusal_is_said_once_a_minute():
    one = Side(1)
    for second in range(0, 120, 10):
        pipe = join(Side(2, cluster="away"), one, float(second))
        settle(pipe, now=float(second))
    said = one.mesh.notices.take()
    assert one.mesh.counts["refused.cluster"] == 12
    assert [notice.fields.get("left_out") for notice in said] == [None, 5]
    assert said[0].fields["why"] == "another cluster's name"


def test_bye_is_said_to_all():
    one, other = Side(1), Side(2)
    pipe = join(one, other)
    settle(pipe)
    one.mesh.close(1.0)
    settle(pipe, now=1.0)
    assert other.changes == [(1, True), (1, False)]
    assert pipe.ends[1].ended.why == "the other side said bye"
