"""The subscription table."""

from weft.core.ids import NodeId
from weft.overlay.shg.patterns import Predicate, pattern
from weft.overlay.shg.tables import Table

WARM, HOT = pattern(Predicate("t", ">", 20)), pattern(Predicate("t", ">", 30))


def test_a_pattern_stays_while_somebody_wants_it():
    table = Table()
    assert table.install(WARM, NodeId(2))
    assert not table.install(WARM, None)
    assert not table.install(WARM, NodeId(3))
    assert WARM in table
    assert not table.remove(WARM, NodeId(2))
    assert not table.remove(WARM, None)
    assert table.remove(WARM, NodeId(3))
    assert len(table) == 0


def test_a_child_gets_an_event_once_however_many_of_its_patterns_match():
    table = Table()
    for pattern_, child in ((WARM, 5), (HOT, 5), (HOT, 4), (WARM, None)):
        table.install(pattern_, None if child is None else NodeId(child))
    assert table.wanting({"t": 35}) == (True, [5, 4])
    assert table.wanting({"t": 25}) == (True, [5])
    assert table.wanting({"t": 15}) == (False, [])
