"""Trace hash, records and stories."""

import pytest

from weft.core.errors import Misuse
from weft.core.ids import NodeId
from weft.core.machine import Message
from weft.sim.des.brief import brief
from weft.sim.des.encoding import append, size_of
from weft.sim.des.engine import Simulation
from weft.sim.des.network import Uniform
from weft.sim.des.toys import Flood, Ticker, Token, start
from weft.sim.des.trace import Level, Trace
from weft.sim.des.transcript import transcript

A, B, C, D = (NodeId(number) for number in range(1, 5))


class Odd(Message, frozen=True, gc=False):
    """A message that msgspec cannot encode in a stable order by itself."""

    sets: frozenset[object]
    table: dict[tuple[int, str], object]
    big: int


def flooded(level: Level = Level.FULL, number: int = 1, **options) -> Simulation:
    """A square A B C D: the token goes both ways round."""
    simulation = Simulation(5, Uniform(0.25, options.pop("jitter_s", 0.0)), trace=Trace(level, **options))
    for node, neighbours in ((A, [B, D]), (B, [A, C]), (C, [B, D]), (D, [A, C])):
        simulation.add(node, Flood(neighbours))
    simulation.do(A, lambda machine, now, out: machine.receive(now, A, Token(number), out), at=1.0)
    simulation.run()
    return simulation


def test_the_hash_depends_on_contents_and_times_and_on_nothing_else() -> None:
    plain = flooded(Level.DIGEST).trace.hash()
    assert len(plain) == 32
    assert flooded(Level.DIGEST).trace.hash() == plain
    assert flooded(Level.FULL).trace.hash() == plain
    assert flooded(Level.FULL, steps_max=2).trace.hash() == plain
    assert flooded(Level.DIGEST, number=2).trace.hash() != plain
    assert flooded(Level.DIGEST, jitter_s=0.001).trace.hash() != plain


def test_the_hash_can_be_read_at_any_time() -> None:
    simulation = flooded(Level.DIGEST)
    first = simulation.trace.hash()
    assert simulation.trace.hash() == first
    simulation.do(A, lambda machine, now, out: None)
    simulation.run()
    assert simulation.trace.hash() != first


def test_causes_lead_back_to_the_command() -> None:
    trace = flooded().trace
    assert [(step.id, step.cause, step.node) for step in trace.steps()] == [
        (1, 0, A),
        (2, 1, B),
        (3, 1, D),
        (4, 2, C),
        (5, 3, C),
        (6, 4, D),
    ]
    assert [note.kind for step in trace.steps() for note in step.notes] == ["delivered"] * 4 + ["repeat"] * 2


def test_a_story_has_the_ancestors_and_the_descendants() -> None:
    assert flooded().story(2) == [
        "  #1 1.000000  1  command",
        "    · delivered: Heard(source=1, number=1)",
        "> #2 1.250000  1 → 2  Token(number=1)",
        "    · delivered: Heard(source=1, number=1)",
        "    #4 1.500000  2 → 3  Token(number=1)",
        "      · delivered: Heard(source=2, number=1)",
        "      #6 1.750000  3 → 4  Token(number=1)",
        "        · repeat: 1 (3)",
    ]


def test_a_full_trace_keeps_its_last_steps_and_says_so() -> None:
    simulation = flooded(steps_max=3)
    assert [step.id for step in simulation.trace.steps()] == [4, 5, 6]
    assert simulation.trace.get(3) is None
    assert simulation.story(6)[0] == "… caused by #2, which is no longer kept"
    assert simulation.story(1) == ["step 1 is not kept: the trace holds steps 4…6"]
    assert flooded(Level.DIGEST).story(1) == ["step 1 is not kept: the trace holds no steps (it needs a full trace)"]
    with pytest.raises(Misuse):
        Trace(Level.FULL, steps_max=0)


def test_a_timer_s_cause_is_the_step_that_set_it() -> None:
    simulation = Simulation(1, Uniform(0.25), trace=Trace(Level.FULL))
    simulation.add(A, Ticker(B, 1.0, 2))
    simulation.add(B, Ticker(A, 1.0, 0))
    simulation.do(A, start)
    simulation.run()
    steps = simulation.trace.steps()
    assert [(step.kind, step.cause) for step in steps] == [
        ("command", 0),
        ("timer", 1),
        ("message", 2),
        ("message", 3),
        ("timer", 2),
        ("message", 5),
        ("message", 6),
    ]


def test_a_dropped_message_is_told_in_the_step_that_sent_it() -> None:
    simulation = flooded()
    simulation.do(A, lambda machine, now, out: out.send(NodeId(9), Token(3)))
    simulation.run()
    assert simulation.story(simulation.steps)[-1] == "    · dropped: Token(number=3) (to 9: nobody there)"


def test_a_transcript_is_one_line_a_message() -> None:
    simulation = flooded()
    simulation.at(2.0, lambda: None, "checked")
    simulation.run()
    assert transcript(simulation.trace, notes=("repeat",)) == [
        "1.250000      1 → 2           Token(number=1)",
        "1.250000      1 → 4           Token(number=1)",
        "1.500000      2 → 3           Token(number=1)",
        "1.500000      4 → 3           Token(number=1)",
        "-- 1.500000 3 repeat 1 (4)",
        "1.750000      3 → 4           Token(number=1)",
        "-- 1.750000 4 repeat 1 (3)",
        "-- 2.000000 checked",
    ]


def test_bytes_do_not_depend_on_the_order_in_which_things_were_put_in() -> None:
    def written(value: object) -> bytes:
        buffer = bytearray(b"kept")
        append(buffer, value)
        assert buffer.startswith(b"kept")
        assert len(buffer) - 4 == size_of(value)
        return bytes(buffer)

    one = Odd(frozenset({1, "a", (2, "b")}), {(2, "y"): {1, 2}, (1, "x"): None}, 1 << 80)
    other = Odd(frozenset({(2, "b"), 1, "a"}), {(1, "x"): None, (2, "y"): {2, 1}}, 1 << 80)
    assert written(one) == written(other)
    assert written(one) != written(Odd(one.sets, one.table, -(1 << 80)))
    assert written({"a": 1, "b": {2.0, 1.0}}) == written({"b": {1.0, 2.0}, "a": 1})
    with pytest.raises(Misuse, match="no stable bytes"):
        written([object()])


def test_brief_is_stable_and_short() -> None:
    odd = Odd(frozenset({"b", "a"}), {(2, "y"): 0.1, (1, "x"): None}, 7)
    assert brief(odd) == "Odd(sets={a, b}, table={(1, x): None, (2, y): 0.1}, big=7)"
    assert brief(odd, lambda value: "seven" if value == 7 else None).endswith("big=seven)")
    assert len(brief("x" * 1000)) == 160
