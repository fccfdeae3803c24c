"""A schedule is a function of its seed, really injects each kind of fault, and reports each planted bug."""

from collections.abc import Callable
from typing import Any

import msgspec
import pytest
from msgspec.structs import replace

from planted import LIES, falls_over, ignores_set_l, leaves_without_a_word, never_looks_left, planted
from weft.core.ids import NodeId
from weft.overlay.peer import Peer
from weft.overlay.settings import Settings
from weft.overlay.suzaku.machine import Suzaku
from weft.sim.des.engine import Simulation
from weft.sim.des.faults import (
    AnyFault,
    Crash,
    CrashRestart,
    Delay,
    Drop,
    Duplicate,
    FaultPlan,
    JoinStorm,
    Partition,
    Pause,
    Reorder,
    Skew,
)
from weft.sim.des.trace import Level, Note, Step
from weft.sim.invariants import Broken
from weft.sim.overlays import OVERLAYS
from weft.sim.schedule import CALM, SETTINGS, Bounds, Schedule

CALMEST = Bounds(("suzaku",), faults=())
SEEDS = 200
"""Tried in turn until one has what a test needs."""


def drawn(kind: type, nodes: int = 8, level: Level = Level.FULL, overlays: tuple[str, ...] = ("suzaku",)) -> Schedule:
    """The first schedule whose plan has a fault of ``kind``, and no other kind."""
    bounds = Bounds(overlays, nodes_max=nodes, faults=(kind.__struct_config__.tag,))
    for seed in range(SEEDS):
        schedule = Schedule(seed, bounds, level)
        if schedule.plan.faults and len(schedule.nodes) > 3:
            return schedule
    raise AssertionError(f"no schedule has a {kind.__name__}")


def first(schedule: Schedule) -> Any:
    return schedule.plan.faults[0]


def notes(schedule: Schedule) -> list[tuple[Step, Note]]:
    return [(step, note) for step in schedule.simulation.trace.steps() for note in step.notes]


def actions(schedule: Schedule) -> list[tuple[float, object]]:
    return [(step.time, step.what) for step in schedule.simulation.trace.steps() if step.kind == "action"]


# What is drawn


def test_the_same_seed_draws_the_same_schedule():
    one, other = Schedule(11), Schedule(11)
    assert (one.overlay, one.nodes, one.keys, one.plan) == (other.overlay, other.nodes, other.keys, other.plan)
    assert any(Schedule(seed).plan != one.plan for seed in range(5))


@pytest.mark.parametrize("overlay", OVERLAYS)
def test_the_same_seed_gives_the_same_trace_and_outcome(overlay):
    bounds = Bounds((overlay,), nodes_max=6)
    assert Schedule(5, bounds, Level.DIGEST).run() == Schedule(5, bounds, Level.DIGEST).run()


def test_other_seeds_give_other_traces():
    hashes = {Schedule(seed, Bounds(nodes_max=4), Level.DIGEST).run().trace_hash for seed in range(5)}
    assert len(hashes) == 5


def test_tracing_changes_nothing():
    """A campaign keeps no trace, a replay keeps all: they must be the same run."""
    off, full = Schedule(7).run(), Schedule(7, level=Level.FULL).run()
    assert (off.events, off.messages, off.queries) == (full.events, full.messages, full.queries)
    assert off.trace_hash == ""


def test_what_is_drawn_keeps_to_the_bounds():
    bounds = Bounds(("skipgraph",), nodes_max=5, keys_max=2, faults=("drop", "crash"), horizon_s=6.0)
    sizes = set()
    for seed in range(100):
        schedule = Schedule(seed, bounds)
        sizes.add(len(schedule.nodes))
        assert schedule.overlay == "skipgraph"
        assert all(1 <= len(keys) <= 2 for keys in schedule.keys.values())
        assert schedule.plan.over_at <= 6.0
        assert all(isinstance(fault, Drop | Crash) for fault in schedule.plan.faults)
    assert sizes == {2, 3, 4, 5}


def test_the_first_broker_is_never_crashed():
    """Whoever joins must find somebody."""
    faults = [fault for seed in range(300) for fault in Schedule(seed, Bounds(faults=("crash",))).plan.faults]
    assert faults
    assert all(fault.node != 1 for fault in faults)


def test_every_kind_of_fault_is_drawn():
    drawn_kinds = {type(fault).__struct_config__.tag for seed in range(SEEDS) for fault in Schedule(seed).plan.faults}
    assert drawn_kinds == set(FaultPlan.KINDS)


# Each kind of fault is injected, and the ring is right again after it


def drops(schedule: Schedule) -> bool:
    lost = [note.detail for _, note in notes(schedule) if note.kind == "dropped"]
    return sum(schedule.simulation.dropped.values()) > 0 and any(str(detail).endswith(": drop") for detail in lost)


def doubles(schedule: Schedule) -> bool:
    return sum(schedule.simulation.doubled.values()) > 0


def reorders(schedule: Schedule) -> bool:
    return any(note.kind == "reordered" for _, note in notes(schedule))


def delays(schedule: Schedule) -> bool:
    return any(note.kind == "delayed" for _, note in notes(schedule))


def cuts_one_way(schedule: Schedule) -> bool:
    """Somebody lost messages to the other side, and nobody of the other side to it."""
    ways = {(step.node, note.detail) for step, note in notes(schedule) if note.kind == "dropped"}
    cut = [(source, str(detail)) for source, detail in ways if str(detail).endswith(": partition")]
    allowed = {(s, f"to {t}: partition") for f in schedule.plan.faults for s in f.source for t in f.to}
    return bool(cut) and set(cut) <= allowed


def crashes(schedule: Schedule) -> bool:
    fault = first(schedule)
    return (fault.at, "crash begins") in actions(schedule) and fault.node not in schedule.peers


def comes_back(schedule: Schedule) -> bool:
    """A new life, whose incarnations are above all it had."""
    fault = first(schedule)
    marks = [what for at, what in actions(schedule) if at in (fault.at, fault.until)]
    incarnations = [ref.incarnation >> 32 for ref in schedule.peers[fault.node].contacts.own]
    return marks == ["crash-restart begins", "crash-restart ends"] and bool(incarnations) and min(incarnations) >= 1


def stands_still(schedule: Schedule) -> bool:
    fault = first(schedule)
    steps = [step for step in schedule.simulation.trace.steps() if step.node == fault.node]
    others = [step for step in schedule.simulation.trace.steps() if step.node not in (None, fault.node)]
    during = [step for step in steps if fault.at < step.time < fault.until]
    return not during and any(fault.at < s.time < fault.until for s in others) and steps[-1].time > fault.until


def bends_a_clock(schedule: Schedule) -> bool:
    """After the skew the broker's clock is off by what the rate made of the time it lasted."""
    simulation: Simulation = schedule.simulation
    told: list[float] = []
    simulation.do(first(schedule).node, lambda machine, now, out: told.append(now - simulation.now))
    simulation.run(until=simulation.now)
    return abs(told[0]) > 1e-3


def storms(schedule: Schedule) -> bool:
    fault = first(schedule)
    at_once = [step for step in schedule.simulation.trace.steps() if step.time == fault.at and step.kind == "command"]
    return {step.node for step in at_once} >= set(fault.nodes)


EVIDENCE: dict[type[AnyFault], Callable[[Schedule], bool]] = {
    Drop: drops,
    Duplicate: doubles,
    Reorder: reorders,
    Delay: delays,
    Partition: cuts_one_way,
    Crash: crashes,
    CrashRestart: comes_back,
    Pause: stands_still,
    Skew: bends_a_clock,
    JoinStorm: storms,
}


def test_there_is_evidence_for_each_kind():
    assert {kind.__struct_config__.tag for kind in EVIDENCE} == set(FaultPlan.KINDS)


@pytest.mark.parametrize("overlay", OVERLAYS)
@pytest.mark.parametrize("kind", EVIDENCE, ids=lambda kind: kind.__name__)
def test_a_fault_is_injected_and_survived(kind, overlay):
    schedule = drawn(kind, overlays=(overlay,))
    outcome = schedule.run()
    assert outcome.faults == (kind.__name__,)
    assert EVIDENCE[kind](schedule)
    assert outcome.healed_after_s <= schedule.bounds.settle_s
    assert outcome.converged_after_s <= schedule.bounds.settle_s
    assert outcome.queries >= 12, "each strategy and each selection was asked when all was over"


def test_the_evidence_is_of_the_fault_and_not_of_what_happens_anyway():
    """What a schedule without faults did is no evidence for any plan."""
    for kind in (kind for kind in EVIDENCE if kind is not JoinStorm):  # joining at the start is a storm of its own
        calm = Schedule(drawn(kind).seed, CALMEST, Level.FULL)
        calm.run()
        calm.plan = drawn(kind).plan
        assert not EVIDENCE[kind](calm), kind


# Planted bugs


@pytest.fixture
def plant(monkeypatch):
    """Suzaku with a bug, in place of Suzaku."""

    def put(bug, base: type[Peer] = Suzaku) -> None:
        monkeypatch.setitem(OVERLAYS, "suzaku", planted(bug, base))

    return put


def run_some(bounds: Bounds, level: Level = Level.OFF, seeds: int = 20) -> None:
    for seed in range(seeds):
        Schedule(seed, bounds, level).run()


def first_violation(bounds: Bounds) -> str:
    with pytest.raises(Broken) as caught:
        run_some(bounds, seeds=40)
    return str(caught.value)


BARE = Bounds(("suzaku",), nodes_max=4, faults=())
HASTY = Bounds(("suzaku",), nodes_max=6, faults=("crash",), settle_s=20.0)


@pytest.mark.parametrize("lie", LIES)
def test_a_wrong_word_to_the_application_is_found(plant, lie):
    bug, said = LIES[lie]
    plant(bug)
    with pytest.raises(Broken, match=said):
        run_some(BARE)


def test_a_ring_that_ignores_set_l_breaks_i2(plant):
    plant(ignores_set_l)
    assert first_violation(BARE).startswith("I2")


def test_a_leave_without_a_word_breaks_i1(plant):
    plant(leaves_without_a_word)
    assert first_violation(BARE).startswith("I1")


def test_a_ring_that_is_never_repaired_is_not_whole_in_time(plant):
    plant(never_looks_left)
    said = first_violation(HASTY)
    assert said.startswith("not whole 20.0 s after the last fault: ")


def test_tables_that_nobody_updates_do_not_converge_in_time(monkeypatch):
    def forgetful(node: NodeId, settings: Settings, seed: int, run: int) -> Suzaku:
        return Suzaku(node, Settings(ping_interval_s=1.0, ping_timeout_s=0.5, update_interval_s=None), seed, run)

    monkeypatch.setitem(OVERLAYS, "suzaku", forgetful)
    said = first_violation(Bounds(("suzaku",), faults=(), settle_s=20.0))
    assert said.startswith("not converged 20.0 s after the last fault: ")


def test_a_machine_that_raises_ends_the_schedule_with_the_step(plant):
    plant(falls_over)
    with pytest.raises(KeyError, match="a bug of the machine") as caught:
        run_some(BARE, Level.FULL)
    assert any("SetL" in note for note in caught.value.__notes__), "the story of the step comes with it"


def test_a_storm_at_rest_is_found(monkeypatch):
    """Fifty pings a second are no fault of the ring, and no rest either."""

    def restless(node: NodeId, settings: Settings, seed: int, run: int) -> Suzaku:
        return Suzaku(node, replace(settings, ping_interval_s=0.02), seed, run)

    monkeypatch.setitem(OVERLAYS, "suzaku", restless)
    assert "messages per link and second at rest" in first_violation(Bounds(("suzaku",), 2, 1, ("duplicate",)))


def test_what_must_be_answered_by_everybody_is_only_asked_in_calm_schedules():
    """Where somebody may be taken for dead, an answer that lacks it is right."""
    assert set(CALM) < {kind.__name__ for kind in EVIDENCE}
    assert not set(CALM) & {"Crash", "CrashRestart", "Pause", "Partition", "Drop", "Skew"}


def test_a_schedule_has_no_time_longer_than_the_defaults():
    usual, quick = msgspec.structs.asdict(Settings()), msgspec.structs.asdict(SETTINGS)
    assert [name for name in usual if name.endswith("_s") and quick[name] > usual[name]] == []
