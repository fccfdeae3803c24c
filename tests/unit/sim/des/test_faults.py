"""Fault plans as values, and what each fault does to a run."""

import pytest

from weft.core.errors import Misuse
from weft.core.ids import NodeId
from weft.core.machine import Machine, Message, Outbox
from weft.sim.des.engine import Simulation
from weft.sim.des.faults import (
    AnyFault,
    Bounds,
    Crash,
    CrashRestart,
    Delay,
    Drop,
    Duplicate,
    FaultPlan,
    JoinStorm,
    Lasting,
    LinkFault,
    Partition,
    Pause,
    Reorder,
    Skew,
)
from weft.sim.des.injection import Injector
from weft.sim.des.network import Uniform
from weft.sim.des.toys import Counted, Ticker, Token, start

A, B, C = NodeId(1), NodeId(2), NodeId(3)
NODES = tuple(NodeId(number) for number in range(1, 9))


class Diary:
    def __init__(self) -> None:
        self.deadline: float | None = None
        self.got: list[tuple[float, NodeId, int]] = []

    def receive(self, now: float, source: NodeId, message: Message, out: Outbox) -> None:
        assert isinstance(message, Token)
        self.got.append((round(now, 6), source, message.number))

    def timeout(self, now: float, out: Outbox) -> None:
        raise AssertionError


def run(
    *faults: AnyFault, seed: int = 1, messages: int = 10, both_ways: bool = False, **options
) -> dict[NodeId, Diary]:
    """One message a second from A to B, to C, and to itself (B to A too, if ``both_ways``), each 0.25 s on its way."""
    simulation = Simulation(seed, Uniform(0.25), Injector(FaultPlan(seed, faults), **options))
    diaries = {node: Diary() for node in (A, B, C)}
    for node, diary in diaries.items():
        simulation.add(node, diary)

    def tell(number: int, *targets: NodeId):
        return lambda machine, now, out: [out.send(target, Token(number)) for target in targets]

    for second in range(messages):
        simulation.do(A, tell(second, A, B, C), at=float(second))
        if both_ways:
            simulation.do(B, tell(second, A), at=float(second))
    simulation.run()
    assert len([line for line in diaries[A].got if line[1] == A]) == messages, "what one sends oneself always arrives"
    sent, doubled = simulation.sent["Token"], simulation.doubled["Token"]
    assert sent + doubled == simulation.delivered["Token"] + simulation.dropped["Token"]
    return diaries


def numbers(diary: Diary, source: NodeId = A) -> list[int]:
    return [number for _, sender, number in diary.got if sender == source]


def test_drop_loses_what_it_strikes_while_it_lasts() -> None:
    diaries = run(Drop(2.0, 5.0, to=(B,)))
    assert numbers(diaries[B]) == [0, 1, 5, 6, 7, 8, 9], "a fault ends before the commands of that instant"
    assert numbers(diaries[C]) == list(range(10))


def test_drop_at_a_rate_loses_about_that_share() -> None:
    lost = 2000 - len(run(Drop(0.0, 5000.0, rate=0.3, to=(B,)), messages=2000)[B].got)
    assert 500 < lost < 700


def test_a_partition_is_one_way() -> None:
    diaries = run(Partition(0.0, 5.0, source=(A, C), to=(B,)), both_ways=True)
    assert numbers(diaries[B]) == [5, 6, 7, 8, 9]
    assert numbers(diaries[A], B) == list(range(10))
    assert numbers(diaries[C]) == list(range(10))


def test_a_duplicate_arrives_twice_the_second_time_later() -> None:
    got = run(Duplicate(0.0, 3.0, within_s=0.1, to=(B,)), messages=5)[B].got
    assert sorted(number for _, _, number in got) == [0, 0, 1, 1, 2, 2, 3, 4]
    for number in range(3):
        first, second = sorted(at for at, _, other in got if other == number)
        assert first == number + 0.25
        assert first < second <= first + 0.1


def test_delay_and_reorder() -> None:
    assert run(Delay(1.0, 2.0, extra_s=0.5, to=(B,)), messages=3)[B].got == [(0.25, A, 0), (1.75, A, 1), (2.25, A, 2)]
    shuffled = numbers(run(Reorder(0.0, 60.0, within_s=5.0, to=(B,)), messages=50)[B])
    assert shuffled != sorted(shuffled)
    assert sorted(shuffled) == list(range(50))


def test_faults_on_links_add_up() -> None:
    got = run(Duplicate(0.0, 1.0, within_s=0.1, to=(B,)), Delay(0.0, 1.0, extra_s=0.5, to=(B,)), messages=1)[B].got
    assert len(got) == 2
    assert got[0] == (0.75, A, 0)
    assert run(Duplicate(0.0, 1.0), Drop(0.0, 1.0), messages=1)[B].got == []


def test_pauses_may_overlap() -> None:
    diaries = run(Pause(0.5, 3.5, node=B), Pause(2.5, 5.5, node=B), messages=7)
    assert [at for at, _, _ in diaries[B].got] == [0.25, 5.5, 5.5, 5.5, 5.5, 5.5, 6.25]


def test_a_crash_is_for_good_and_a_crash_restart_is_not() -> None:
    lives: list[tuple[NodeId, int]] = []
    reborn = Diary()

    def make(node: NodeId, number: int) -> Machine:
        lives.append((node, number))
        return reborn

    diaries = run(Crash(2.0, node=C), CrashRestart(2.0, 5.0, node=B), make=make)
    assert numbers(diaries[C]) == numbers(diaries[B]) == [0, 1]
    assert lives == [(B, 1)]
    assert numbers(reborn) == [5, 6, 7, 8, 9]


def test_a_restarted_node_reads_its_disk_and_gets_its_first_command() -> None:
    plan = FaultPlan(1, (CrashRestart(2.5, 4.0, node=A), CrashRestart(5.5, 7.0, node=A)))
    runs: list[int] = []

    def make(node: NodeId, number: int) -> Machine:
        runs.append(number)
        last = simulation.disk[node][-1]
        assert isinstance(last, Counted)
        return Ticker(B, 1.0, 6, last.number)

    simulation = Simulation(1, faults=Injector(plan, make, rejoin=start))
    simulation.add(A, Ticker(B, 1.0, 6))
    simulation.add(B, Ticker(A, 1.0, 0))
    simulation.do(A, start)
    simulation.run()
    assert runs == [1, 2]
    assert simulation.disk[A] == [Counted(number) for number in range(1, 7)]
    assert simulation.now == pytest.approx(10.02)


def test_skew_bends_a_clock_for_a_while() -> None:
    simulation = Simulation(1, faults=Injector(FaultPlan(1, (Skew(0.0, 2.0, node=A, rate=2.0),))))
    ticker = Ticker(A, 1.0, 6)
    simulation.add(A, ticker)
    simulation.do(A, start)
    at: list[float] = []
    simulation.observers.append(lambda seen: at.append(seen.now) if len(ticker.times) > len(at) else None)
    simulation.run()
    assert at == pytest.approx([0.5, 1.0, 1.5, 2.0, 3.0, 4.0])


def test_a_join_storm_tells_all_at_once() -> None:
    told: list[float] = []
    run(JoinStorm(3.0, nodes=(B, C)), storm=lambda machine, now, out: told.append(now))
    assert told == [3.0, 3.0]


def test_heal_ends_partitions_and_nothing_else() -> None:
    injector = Injector(FaultPlan(1, (Partition(0.0, 99.0, to=(B,)), Drop(0.0, 99.0, to=(C,)))))
    simulation = Simulation(1, Uniform(0.25), injector)
    diaries = {node: Diary() for node in (A, B, C)}
    for node, diary in diaries.items():
        simulation.add(node, diary)
    simulation.at(1.0, injector.heal)
    for second in (0.0, 2.0):
        simulation.do(A, lambda machine, now, out: [out.send(node, Token(1)) for node in (B, C)], at=second)
    simulation.run()
    assert len(diaries[B].got) == 1
    assert diaries[C].got == []


def test_the_same_plan_and_seed_have_the_same_fates() -> None:
    plan = (Drop(0.0, 99.0, rate=0.5), Reorder(0.0, 99.0, rate=0.5, within_s=3.0))
    assert run(*plan, messages=50)[B].got == run(*plan, messages=50)[B].got
    assert run(*plan, messages=50)[B].got != run(*plan, messages=50, seed=2)[B].got


def test_random_plans_keep_to_their_bounds_and_are_over_in_time() -> None:
    bounds = Bounds(faults_max=9, rate_max=0.2, delay_s_max=0.3, pause_s_max=5.0, skew_max=1.25, down_share_max=0.25)
    seen: set[str] = set()
    for seed in range(300):
        plan = FaultPlan.random(seed, NODES, 60.0, bounds=bounds, joiners=(NodeId(9),))
        assert 0 <= len(plan.faults) <= 9
        assert plan.over_at <= 60.0
        assert [fault.at for fault in plan.faults] == sorted(fault.at for fault in plan.faults)
        down = [fault.node for fault in plan.faults if isinstance(fault, Crash | CrashRestart)]
        assert len(down) == len(set(down)) <= 2
        for fault in plan.faults:
            seen.add(str(type(fault).__struct_config__.tag))
            if isinstance(fault, Lasting):
                assert fault.until > fault.at
            if isinstance(fault, LinkFault) and not isinstance(fault, Partition):
                assert 0 < fault.rate <= 0.2
            if isinstance(fault, Pause):
                assert fault.until - fault.at <= 5.0001
            if isinstance(fault, Skew):
                assert 0.8 <= fault.rate <= 1.25
            if isinstance(fault, Partition):
                assert fault.source
                assert fault.to
                assert not {*fault.source} & {*fault.to}
    assert seen == set(FaultPlan.KINDS)


def test_plans_are_printed_and_read_back() -> None:
    for seed in range(50):
        plan = FaultPlan.random(seed, NODES, 60.0, joiners=(NodeId(9), NodeId(10)))
        assert FaultPlan.read(str(plan)) == plan
        assert FaultPlan.random(seed, NODES, 60.0, joiners=(NodeId(9), NodeId(10))) == plan
    assert str(FaultPlan(7, (Crash(1.5, node=A),))) == '{"seed":7}\n{"kind":"crash","at":1.5,"node":1}'


def test_only_the_kinds_asked_for() -> None:
    for seed in range(50):
        plan = FaultPlan.random(seed, NODES, 60.0, ("drop", "pause"))
        assert all(isinstance(fault, Drop | Pause) for fault in plan.faults)
    assert FaultPlan.random(1, NODES, 60.0, ("join-storm",)).faults == (), "nobody to join"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('{"seed":1}\n{"kind":"explode","at":1}', "line 2 .*explode"),
        ('{"seed":1}\n{"kind":"drop","at":1,"until":2,"rat":0.5}', "line 2 .*unknown field `rat`"),
        ('{"seed":1}\n{"kind":"drop","at":2,"until":1}', "line 2 .*ends after its beginning"),
        ('{"seed":1}\n{"kind":"drop","at":1,"until":2,"rate":1.5}', "line 2 .*probability"),
        ('{"seed":1}\n{"kind":"skew","at":1,"until":2,"node":1,"rate":0}', "line 2 .*above 0"),
        ('{"sed":1}', "line 1 "),
    ],
)
def test_what_is_no_plan_is_refused_with_its_line(text: str, said: str) -> None:
    with pytest.raises(Misuse, match=said):
        FaultPlan.read(text)


def test_misuse_is_said_at_once() -> None:
    with pytest.raises(Misuse, match="who builds the next life"):
        Injector(FaultPlan(1, (CrashRestart(1.0, 2.0, node=A),)))
    with pytest.raises(Misuse, match="what are the nodes told"):
        Injector(FaultPlan(1, (JoinStorm(1.0, nodes=(A,)),)))
    with pytest.raises(Misuse, match="unknown fault earthquake"):
        FaultPlan.random(1, NODES, 60.0, ("earthquake",))
    injector = Injector(FaultPlan(1))
    Simulation(1, faults=injector)
    with pytest.raises(Misuse, match="belongs to one simulation"):
        Simulation(1, faults=injector)
