"""Sums over sessions: exact while they are few, whole rounds when they are many."""

from weft.broker import census
from weft.broker.census import Census
from weft.mqtt.session.session import Session


def sessions(count, online=0):
    made = {str(number): Session(str(number), 10) for number in range(count)}
    for number in range(online):
        made[str(number)].link = object()
    return made


def test_few_are_counted_at_once():
    assert Census().take(sessions(7, 3)).online == 3
    assert Census().take({}).online == 0


def test_many_are_counted_in_rounds(monkeypatch):
    monkeypatch.setattr(census, "AT_ONCE_MAX", 10)
    table, counting = sessions(35, 12), Census()
    assert counting.take(table).online == 12  # the first look
    table["30"].link = object()
    assert [counting.take(table).online for _ in range(8)] == [12, 12, 12, 13, 13, 13, 13, 13]
