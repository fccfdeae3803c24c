"""The order of events: the unit tests of what tests/property/test_engine_order.py says about all orders."""

from math import inf

from weft.sim.des.agenda import ACTION, COMMAND, HOP, LANES, MESSAGE, TIMER, Agenda


def drain(agenda: Agenda) -> list[tuple[float, int, str]]:
    order = []
    while agenda.take(inf):
        order += [(agenda.at, agenda.lane, name) for (name,) in agenda.current]
    return order


def test_time_then_lane_then_order_of_arrival() -> None:
    agenda = Agenda()
    for at, lane, name in [
        (2.0, MESSAGE, "late"),
        (1.0, TIMER, "timer"),
        (1.0, MESSAGE, "first"),
        (1.0, ACTION, "action"),
        (1.0, MESSAGE, "second"),
        (1.0, COMMAND, "command"),
        (1.0, HOP, "hop"),
    ]:
        agenda.push(at, lane, (name,))
    assert [name for _, _, name in drain(agenda)] == [
        "hop",
        "action",
        "command",
        "first",
        "second",
        "timer",
        "late",
    ]


def test_what_comes_during_a_turn_comes_after_it() -> None:
    agenda = Agenda()
    agenda.push(1.0, MESSAGE, ("a",))
    agenda.push(1.0, MESSAGE, ("b",))
    assert agenda.take(inf)
    assert next(agenda.current) == ("a",)
    agenda.push(1.0, MESSAGE, ("c",))
    assert not agenda.interrupted
    assert agenda.waiting(MESSAGE) == [("b",), ("c",)]
    assert next(agenda.current) == ("b",), "looking at what waits does not take it"
    assert drain(agenda) == [(1.0, MESSAGE, "c")]


def test_a_more_urgent_entry_interrupts_and_the_rest_goes_back_in_front() -> None:
    agenda = Agenda()
    for name in "abc":
        agenda.push(1.0, MESSAGE, (name,))
    agenda.take(inf)
    assert next(agenda.current) == ("a",)
    agenda.push(1.0, MESSAGE, ("d",))
    agenda.push(1.0, COMMAND, ("now",))
    assert agenda.interrupted
    agenda.put_back()
    assert [name for _, _, name in drain(agenda)] == ["now", "b", "c", "d"]


def test_take_stops_at_until() -> None:
    agenda = Agenda()
    agenda.push(1.0, MESSAGE, ("a",))
    agenda.push(1.5, TIMER, ("b",))
    assert agenda.take(1.0)
    assert list(agenda.current) == [("a",)]
    assert not agenda.take(1.49)
    assert agenda.is_idle(TIMER)
    assert not agenda.is_idle(LANES)
