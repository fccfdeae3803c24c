"""The driver, with machines that are no protocol (``toys``)."""

import pytest

from weft.core.errors import Misuse
from weft.core.ids import NodeId
from weft.core.machine import Event, Message, Outbox
from weft.sim.des.engine import Simulation
from weft.sim.des.host import Clock
from weft.sim.des.network import Uniform
from weft.sim.des.steps import Stuck
from weft.sim.des.toys import Beat, Counted, Flood, Heard, Relay, Ticker, Token, start
from weft.sim.des.trace import Level, Trace

A, B, C = NodeId(1), NodeId(2), NodeId(3)


def tell(to: NodeId, number: int = 1):
    return lambda machine, now, out: out.send(to, Token(number))


class Diary:
    """Writes down what it gets, and answers nothing."""

    def __init__(self) -> None:
        self.deadline: float | None = None
        self.lines: list[tuple[float, object]] = []

    def receive(self, now: float, source: NodeId, message: Message, out: Outbox) -> None:
        self.lines.append((now, message))

    def timeout(self, now: float, out: Outbox) -> None:
        self.lines.append((now, "timeout"))
        self.deadline = None


def pair(**options) -> tuple[Simulation, Diary, Diary]:
    simulation = Simulation(1, Uniform(0.5), **options)
    a, b = Diary(), Diary()
    simulation.add(A, a)
    simulation.add(B, b)
    return simulation, a, b


def test_a_message_arrives_after_the_delay_and_is_counted() -> None:
    simulation, _, b = pair()
    simulation.do(A, tell(B), at=1.0)
    assert simulation.run(until=1.4) == 1
    assert simulation.now == 1.4
    assert simulation.in_flight == [(A, B, Token(1))]
    assert simulation.run() == 1
    assert b.lines == [(1.5, Token(1))]
    assert simulation.sent == simulation.delivered == simulation.links_crossed == {"Token": 1}
    assert simulation.in_flight == []


def test_a_message_to_oneself_takes_no_time_and_no_link() -> None:
    simulation, a, _ = pair()
    simulation.do(A, tell(A), at=1.0)
    simulation.run()
    assert a.lines == [(1.0, Token(1))]
    assert simulation.delivered == {"Token": 1}
    assert simulation.links_crossed == {}


def test_a_message_to_nobody_is_dropped_and_counted() -> None:
    simulation, _, _ = pair()
    simulation.do(A, tell(C))
    simulation.run()
    assert simulation.dropped == {"Token": 1}


def test_events_max_cuts_a_turn_and_the_next_run_goes_on_where_it_was() -> None:
    simulation, _, b = pair()
    for number in range(5):
        simulation.do(A, tell(B, number))
    simulation.run(events_max=7)
    assert [message.number for _, message in b.lines] == [0, 1]
    assert [message.number for _, _, message in simulation.in_flight] == [2, 3, 4]
    simulation.run(until=3.0)
    assert [message.number for _, message in b.lines] == [0, 1, 2, 3, 4]
    assert simulation.now == 3.0


def test_an_event_at_until_is_run_and_one_after_it_is_not() -> None:
    simulation, _, b = pair()
    simulation.do(A, tell(B), at=0.5)
    simulation.do(A, tell(B), at=0.6)
    simulation.run(until=1.0)
    assert len(b.lines) == 1


def test_a_command_given_during_a_turn_comes_before_the_messages_of_that_instant() -> None:
    simulation, _, _ = pair()
    order: list[str] = []
    for number in range(3):
        simulation.do(A, tell(B, number))

    def observe(seen: Simulation) -> None:
        if seen.now == 0.5 and seen.node == B:
            order.append("message")
            if order.count("message") == 1:
                seen.do(A, lambda machine, now, out: order.append("command"))

    simulation.observers.append(observe)
    simulation.run()
    assert order == ["message", "command", "message", "message"]


def test_timers_fire_when_due() -> None:
    simulation = Simulation(1, Uniform(0.25))
    ticker = Ticker(B, 1.0, 3)
    simulation.add(A, ticker)
    simulation.add(B, Ticker(A, 1.0, 0))
    simulation.do(A, start)
    simulation.run_idle()
    assert ticker.times == [1.0, 2.0, 3.0]
    assert simulation.disk[A] == [Counted(1), Counted(2), Counted(3)]
    assert [(at, node, event.number) for at, node, event in simulation.upward] == [
        (1.5, A, 1),
        (2.5, A, 2),
        (3.5, A, 3),
    ]


def test_a_deadline_that_moves_earlier_or_later_or_away_is_obeyed() -> None:
    simulation, a, _ = pair()

    def set_deadline(at: float | None):
        return lambda machine, now, out: setattr(machine, "deadline", at)

    simulation.do(A, set_deadline(5.0), at=0.0)
    simulation.do(A, set_deadline(2.0), at=1.0)
    simulation.run(until=3.0)
    assert a.lines == [(2.0, "timeout")]
    simulation.do(A, set_deadline(4.0))
    simulation.do(A, set_deadline(6.0), at=3.5)
    simulation.run(until=7.0)
    assert a.lines == [(2.0, "timeout"), (6.0, "timeout")]
    simulation.do(A, set_deadline(8.0))
    simulation.do(A, set_deadline(None), at=7.5)
    simulation.run(until=9.0)
    assert len(a.lines) == 2


def test_a_message_at_the_deadline_comes_before_the_timeout() -> None:
    simulation, _, b = pair()
    b.deadline = 1.5
    simulation.do(B, lambda machine, now, out: None)
    simulation.do(A, tell(B), at=1.0)
    simulation.run()
    assert b.lines == [(1.5, Token(1)), (1.5, "timeout")]


def test_a_machine_with_a_deadline_when_added_gets_its_timeout() -> None:
    simulation = Simulation(1)
    diary = Diary()
    diary.deadline = 2.0
    simulation.add(A, diary)
    simulation.run()
    assert diary.lines == [(2.0, "timeout")]


def test_a_machine_that_never_stops_wanting_its_timeout_is_stuck() -> None:
    class Greedy(Diary):
        def timeout(self, now: float, out: Outbox) -> None:
            pass

    simulation = Simulation(1)
    greedy = Greedy()
    greedy.deadline = 1.0
    simulation.add(A, greedy)
    with pytest.raises(Stuck, match="node 1"):
        simulation.run()


def test_a_crash_loses_messages_and_timers_but_not_the_disk() -> None:
    simulation = Simulation(1, Uniform(0.5))
    simulation.add(A, Ticker(B, 1.0, 9))
    simulation.add(B, Diary())
    simulation.do(A, start)
    simulation.do(B, tell(A), at=1.8)
    simulation.at(2.0, lambda: simulation.crash(A))
    simulation.do(A, start, at=2.1)
    simulation.run(until=10.0)
    assert A not in simulation.machines
    assert simulation.disk[A] == [Counted(1)], "at 2.0 the crash comes before the timer"
    assert simulation.dropped == {"Token": 1}
    assert simulation.commands_lost == 1
    last = simulation.disk[A][-1]
    assert isinstance(last, Counted)
    simulation.restart(A, Ticker(B, 1.0, 3, last.number))
    simulation.do(A, start)
    simulation.run()
    assert simulation.disk[A] == [Counted(1), Counted(2), Counted(3)]
    with pytest.raises(Misuse, match="there already"):
        simulation.restart(A, Diary())
    with pytest.raises(Misuse, match="never ran"):
        simulation.restart(C, Diary())


def test_the_old_life_s_timer_does_not_fire_in_the_new_one() -> None:
    simulation = Simulation(1)
    old, new = Diary(), Diary()
    old.deadline = 1.0
    simulation.add(A, old)
    simulation.crash(A)
    simulation.restart(A, new)
    simulation.run()
    assert old.lines == new.lines == []


def test_a_paused_node_handles_on_resume_what_came_in_the_meantime() -> None:
    simulation, _, b = pair()
    b.deadline = 1.6
    simulation.do(B, lambda machine, now, out: None)
    simulation.at(1.0, lambda: simulation.pause(B))
    for number in range(3):
        simulation.do(A, tell(B, number), at=1.0 + number)
    simulation.do(B, lambda machine, now, out: machine.lines.append((now, "command")), at=2.0)
    simulation.run(until=4.0)
    assert b.lines == []
    assert len(simulation.in_flight) == 3
    simulation.resume(B)
    simulation.run()
    assert b.lines == [(4.0, "command"), *((4.0, Token(number)) for number in range(3)), (4.0, "timeout")]


def test_a_crash_during_a_pause_loses_what_waited() -> None:
    simulation, _, _ = pair()
    simulation.pause(B)
    simulation.do(A, tell(B))
    simulation.do(B, tell(A))
    simulation.run()
    simulation.crash(B)
    assert simulation.dropped == {"Token": 1}
    assert simulation.commands_lost == 1
    assert simulation.in_flight == []


def test_an_application_answers_in_the_same_step() -> None:
    simulation = Simulation(1, Uniform(0.5), trace=Trace(Level.FULL))
    for node, neighbours in ((A, [B]), (B, [A, C]), (C, [B])):
        simulation.add(node, Flood(neighbours))

    def on_deliver(now: float, node: NodeId, event: Event, out: Outbox) -> None:
        assert isinstance(event, Heard)
        if node == C and event.number == 1:
            machine = simulation.machines[C]
            machine.receive(now, C, Token(2), out)

    simulation.on_deliver = on_deliver
    simulation.do(A, lambda machine, now, out: machine.receive(now, A, Token(1), out))
    simulation.run()
    heard = [(at, node, event.number) for at, node, event in simulation.upward]
    assert heard == [(0.0, A, 1), (0.5, B, 1), (1.0, C, 1), (1.0, C, 2), (1.5, B, 2), (2.0, A, 2)]
    assert [step.kind for step in simulation.trace.steps()] == ["command", *["message"] * 4]


def test_a_skewed_clock_is_the_machine_s_time_and_its_deadlines_are_converted_back() -> None:
    simulation = Simulation(1, Uniform(0.1), clocks={A: Clock(offset_s=100.0, rate=2.0)})
    ticker = Ticker(B, 1.0, 3)
    simulation.add(A, ticker)
    simulation.add(B, Ticker(A, 1.0, 0))
    simulation.do(A, start, at=1.0)
    at: list[float] = []
    simulation.observers.append(lambda seen: at.append(seen.now) if seen.node == B else None)
    simulation.run()
    assert ticker.times == pytest.approx([103.0, 104.0, 105.0])
    assert at == pytest.approx([1.6, 2.1, 2.6])


def test_a_clock_bends_without_a_jump() -> None:
    simulation = Simulation(1)
    ticker = Ticker(A, 1.0, 4)
    simulation.add(A, ticker)
    simulation.do(A, start)
    simulation.at(1.5, lambda: simulation.set_clock_rate(A, 0.5))
    simulation.at(4.5, lambda: simulation.set_clock_rate(A, 1.0))
    at: list[float] = []
    simulation.observers.append(lambda seen: at.append(seen.now) if len(ticker.times) > len(at) else None)
    simulation.run()
    assert ticker.times == pytest.approx([1.0, 2.0, 3.0, 4.0])
    assert at == pytest.approx([1.0, 2.5, 4.5, 5.5])


@pytest.mark.parametrize("offset", [0.0, 1e9, -5.0])
@pytest.mark.parametrize("rate", [1.0, 0.999, 1.5, 3.7])
def test_a_clock_shows_no_less_than_what_was_waited_for(offset: float, rate: float) -> None:
    clock = Clock(offset, rate)
    for number in range(200):
        local = offset + number * 0.1
        at = clock.when(local)
        assert clock.local(at) >= local
        assert clock.local(at) == pytest.approx(local, rel=1e-12, abs=1e-6)


def test_what_a_machine_raises_says_where_and_tells_its_story() -> None:
    class Fragile(Diary):
        def receive(self, now: float, source: NodeId, message: Message, out: Outbox) -> None:
            raise KeyError("broken")

    simulation = Simulation(42, Uniform(0.5), trace=Trace(Level.FULL))
    simulation.add(A, Relay(B))
    simulation.add(B, Fragile())
    simulation.do(A, lambda machine, now, out: machine.receive(now, A, Token(7), out), at=1.0)
    with pytest.raises(KeyError) as raised:
        simulation.run()
    where, story = raised.value.__notes__
    assert where == "weft: in step 2 at time 1.500000 of node 2; seed 42"
    assert "#1 1.000000  1  command" in story
    assert "> #2 1.500000  1 → 2  Token(number=7)" in story


def test_an_observer_that_raises_stops_the_run_and_nothing_is_lost() -> None:
    simulation, _, b = pair()
    for number in range(3):
        simulation.do(A, tell(B, number))

    def observe(seen: Simulation) -> None:
        assert seen.node != B or len(b.lines) != 1

    simulation.observers.append(observe)
    with pytest.raises(AssertionError):
        simulation.run()
    simulation.observers.clear()
    simulation.run()
    assert len(b.lines) == 3


def test_run_idle_without_timers_leaves_them_be_and_says_when_it_never_ends() -> None:
    simulation = Simulation(1, Uniform(0.1))
    simulation.add(A, Ticker(B, 1.0, 1000))
    simulation.add(B, Ticker(A, 1.0, 0))
    simulation.do(A, start)
    simulation.do(A, lambda machine, now, out: out.send(B, Beat(0)))
    assert simulation.run_idle(timers=False) == 4
    assert simulation.delivered == {"Beat": 1, "Echo": 1}
    with pytest.raises(Misuse, match="not idle after 50 events"):
        simulation.run_idle(events_max=50)
    assert simulation.delivered["Echo"] > 1


def test_misuse_is_said_at_once() -> None:
    simulation, _, _ = pair()
    simulation.run(until=1.0)
    with pytest.raises(Misuse, match="not between now"):
        simulation.do(A, tell(B), at=0.5)
    with pytest.raises(Misuse, match="there already"):
        simulation.add(A, Diary())
    with pytest.raises(Misuse, match="not in 1…"):
        simulation.add(NodeId(0), Diary())
    with pytest.raises(Misuse, match="node 3 is not running"):
        simulation.pause(C)


def test_machines_is_what_runs() -> None:
    simulation, a, b = pair()
    assert simulation.machines == {A: a, B: b}
    simulation.crash(A)
    assert simulation.machines == {B: b}
