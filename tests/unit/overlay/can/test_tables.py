"""A member's neighbours and its sequence cache."""

from weft.core.ids import NodeId
from weft.overlay.can import tables
from weft.overlay.can.messages import Place, Zone
from weft.overlay.can.tables import Member
from weft.overlay.groups import Publication

LOW, HIGH = Zone.whole(1).halves()
ONE, TWO, THREE, FOUR = (*LOW.halves(), *HIGH.halves())
"""The quarters of a circle."""


def test_only_neighbours_are_kept_and_old_news_changes_nothing():
    member = Member(TWO)
    member.note(Place(NodeId(3), THREE, 1))
    member.note(Place(NodeId(3), FOUR, 0))  # older than what is known
    member.note(Place(NodeId(2), ONE, 0))
    member.note(Place(NodeId(4), FOUR, 0))  # no neighbour
    assert [(place.node, place.zone) for place in member.places()] == [(2, ONE), (3, THREE)]


def test_who_is_no_neighbour_any_more_is_forgotten():
    member = Member(TWO)
    member.note(Place(NodeId(3), THREE, 1))
    member.note(Place(NodeId(2), ONE, 1))
    member.note(Place(NodeId(3), FOUR, 2))
    assert list(member.neighbours) == [2]
    member.zone = THREE
    member.prune()
    assert member.neighbours == {}


def test_the_cache_knows_which_sides_are_new_and_forgets_the_oldest(monkeypatch):
    monkeypatch.setattr(tables, "SEEN_MAX", 1)
    member, one, other = Member(LOW), Publication("t", 0, NodeId(1), 1), Publication("t", 0, NodeId(1), 2)
    assert member.newly(one, 0b0011) is None
    assert member.newly(one, 0b0110) == 0b0100
    assert member.newly(one, 0b0110) == 0
    assert member.newly(other, 0b0001) is None
    assert member.newly(one, 0b0001) is None
