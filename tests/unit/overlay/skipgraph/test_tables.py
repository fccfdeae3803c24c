"""A tower's bookkeeping."""

from weft.core.ids import NodeId
from weft.overlay.api import Ref
from weft.overlay.keys import number_key
from weft.overlay.ring.messages import FIRST, Seq, Status
from weft.overlay.ring.tables import Link
from weft.overlay.skipgraph.tables import Tower

ME = Ref(number_key(1, NodeId(1)), NodeId(1), 1)


def test_who_comes_back_to_a_level_starts_above_its_old_numbers():
    tower = Tower(ME)
    assert tower.rise() == (1, FIRST)
    tower.sink(Link(ME, 1, Status.OUT, ME, ME, left_seq=Seq(2, 7)))
    assert tower.top == 0
    assert tower.rise() == (1, Seq(3, 0))
    assert tower.rise() == (2, FIRST)


def test_a_left_neighbour_that_is_found_is_not_looked_for():
    tower = Tower(ME, top=2)
    tower.lost[2] = ME
    tower.refusals[1, False] = 3
    tower.refusals[1, True] = 1
    tower.found_left(2)
    assert tower.lost == {}
    assert tower.refusals == {(1, True): 1}
