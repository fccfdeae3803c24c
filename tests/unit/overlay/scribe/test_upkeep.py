"""Beats: silent in experiments; where they are on, a torn tree and a ring without a root heal."""

import pytest

from groups_bench import TREES, Meeting, vectors
from weft.core.errors import Misuse
from weft.core.ids import NodeId
from weft.sim.baselines import numeric, over


def beating(nodes: int, seed: int) -> Meeting:
    return Meeting.trees("scribe", nodes, seed, beat_interval_s=1.0)


def receivers(meeting: Meeting, publisher: int) -> list[int]:
    return sorted(node for node, _ in meeting.publish(publisher))


def test_without_an_interval_nothing_beats():
    meeting = Meeting.trees("scribe", 30, seed=2)
    meeting.subscribe(1, 2, 3)
    assert {machine.deadline for machine in meeting.machines.values()} == {None}


def test_beats_run_down_the_tree_and_cost_a_message_per_edge():
    meeting = beating(60, seed=2)
    meeting.subscribe(1, 2, 3)
    edges = sum(len(machine.branches["t"].children) for machine in meeting.machines.values() if machine.branches)
    meeting.simulation.run(until=10.0)
    assert 8 * edges <= meeting.sent()["Beat"] <= 11 * edges
    assert meeting.counts() == {}


def test_two_joins_into_an_empty_ring_at_once_end_in_one_tree():
    silent = 0
    for seed in range(60):
        meeting = beating(30, seed)
        meeting.subscribe(*range(1, 31), settle=False)
        meeting.simulation.run(until=30.0)
        silent += meeting.counts()["scribe.silent"]
        assert sum(len(machine.owned) for machine in meeting.machines.values()) == 1, "before anybody publishes"
        assert receivers(meeting, 9) == list(range(1, 31))
    assert silent > 0, "the race did happen"


def test_without_beats_that_race_leaves_a_ring_without_a_root():
    rootless = 0
    for seed in range(60):
        meeting = Meeting.trees("scribe", 30, seed)
        meeting.subscribe(*range(1, 31), settle=False)
        rootless += not any(machine.owned for machine in meeting.machines.values())
    assert rootless > 0


def test_who_has_lost_its_branch_joins_anew():
    meeting = beating(80, seed=5)
    meeting.subscribe(1, 2, 3, 4, 5)
    node = next(n for n in meeting.machines if n not in range(1, 6) and "t" in meeting.machines[n].branches)
    if "t" not in meeting.machines[node].owned:
        meeting.machines[node].branches.clear()  # as after a restart
        meeting.machines[node].local.timers.cancel(next(iter(meeting.machines[node].local.timers.armed())))
    meeting.simulation.run(until=30.0)
    assert receivers(meeting, 40) == [1, 2, 3, 4, 5]


def test_an_interval_is_above_zero():
    with pytest.raises(Misuse, match="above 0"):
        over(numeric(vectors(1, 0)), lambda node, route: TREES["scribe"](NodeId(1), route, beat_interval_s=0.0))
