"""What one broker's parts share: numbers that never repeat, in one run or the next."""

from weft.core.ids import NodeId
from weft.core.machine import Outbox, Trace
from weft.overlay.local import INCARNATION_STEPS, Local


def test_numbers_only_rise():
    local = Local(NodeId(1))
    assert [local.next_incarnation() for _ in range(3)] == [1, 2, 3]
    assert [local.next_request() for _ in range(3)] == [1, 2, 3]


def test_the_next_run_starts_above_the_last():
    last, following = Local(NodeId(1), run=4), Local(NodeId(1), run=5)
    assert following.next_incarnation() > last.next_incarnation() + INCARNATION_STEPS - 2
    assert following.next_request() > last.next_request() + INCARNATION_STEPS - 2


def test_brokers_and_runs_draw_different_numbers():
    streams = {Local(NodeId(node), seed, run).rng.bits() for node in (1, 2) for seed in (0, 1) for run in (0, 1)}
    assert len(streams) == 8
    assert Local(NodeId(1), 3, 2).rng.bits() == Local(NodeId(1), 3, 2).rng.bits()


def test_what_is_counted_is_traced():
    local, out = Local(NodeId(1)), Outbox()
    local.count("odd", out, 5, "why")
    local.count("odd", out)
    assert local.counts["odd"] == 2
    assert out.effects == [Trace("odd", 5, "why"), Trace("odd", None, None)]
