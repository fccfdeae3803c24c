"""Finger tables and the broker's contacts go in step."""

import pytest

from rings import key, ref
from weft.core.ids import NodeId
from weft.overlay.api import Entry
from weft.overlay.contacts import Contacts
from weft.overlay.suzaku.tables import REVERSE_MAX, Fingers


@pytest.fixture
def fingers() -> Fingers:
    return Fingers(ref(1), Contacts(NodeId(1)))


def held(fingers: Fingers) -> list[int]:
    return [each.node for each in fingers.contacts.inside(key(0), key(1000), 0.0)]


def filled(fingers: Fingers, forward: tuple[int, ...], backward: tuple[int, ...] = ()) -> Fingers:
    for side, brokers in ((True, forward), (False, backward)):
        for level, broker in enumerate(brokers):
            fingers.put(side, level, ref(broker))
    return fingers


def test_a_finger_put_is_a_contact(fingers):
    filled(fingers, (2, 3, 5), (9, 8))
    assert held(fingers) == [2, 3, 5, 8, 9]
    assert [finger.ref for finger in fingers.side(True)] == [ref(2), ref(3), ref(5)]
    assert [finger.ref for finger in fingers.side(False)] == [ref(9), ref(8)]


def test_a_node_in_two_places_is_held_until_it_has_left_both(fingers):
    filled(fingers, (2, 3), (4, 3))
    fingers.put(True, 1, ref(5))
    assert held(fingers) == [2, 3, 4, 5]
    fingers.cut(False, 1)
    assert held(fingers) == [2, 4, 5]


def test_values_belong_to_the_node_they_came_from(fingers):
    filled(fingers, (2, 3))
    fingers.forward[1].values = {"free": 1.0}
    assert fingers.put(True, 1, ref(3)).values == {"free": 1.0}, "the same node"
    assert fingers.put(True, 1, ref(4)).values is None
    assert fingers.put(True, 1, ref(4, incarnation=2)).values is None, "another life is another node"


def test_a_table_has_no_holes(fingers):
    filled(fingers, (2,))
    with pytest.raises(AssertionError):
        fingers.put(True, 2, ref(5))


def test_a_cut_takes_all_beyond(fingers):
    filled(fingers, (2, 3, 5), (9,))
    fingers.cut(True, 1)
    assert held(fingers) == [2, 9]
    fingers.cut(True, 1)
    fingers.cut(True, 0)
    assert held(fingers) == [9]


def test_a_finger_taken_out_brings_the_others_down(fingers):
    filled(fingers, (2, 3, 5))
    for finger in fingers.forward:
        finger.values = {"free": 1.0}
    fingers.remove(True, 1)
    assert [finger.ref for finger in fingers.forward] == [ref(2), ref(5)]
    assert fingers.forward[0].values is None, "it stood for the nodes up to the one taken out, now for more"
    assert held(fingers) == [2, 5]


def test_pointers_at_us_are_known_once_each(fingers):
    for broker in (4, 5, 4):
        fingers.pointed_by(ref(broker))
    assert list(fingers.reverse) == [ref(5), ref(4)], "the latest last"


def test_of_too_many_pointers_the_newest_are_kept(fingers):
    for broker in range(REVERSE_MAX + 10):
        fingers.pointed_by(ref(broker))
    assert len(fingers.reverse) == REVERSE_MAX
    assert ref(9) not in fingers.reverse
    assert ref(10) in fingers.reverse


def test_entries_say_level_and_values(fingers):
    filled(fingers, (2, 3), (9,))
    fingers.forward[1].values = {"free": 2.0}
    assert fingers.entries(forward=True) == [Entry(ref(2), 0), Entry(ref(3), 1, {"free": 2.0})]
    assert fingers.entries(forward=False) == [Entry(ref(9), 0)]
