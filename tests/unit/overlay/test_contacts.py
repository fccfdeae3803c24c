"""Contacts against a list of all that was ever added: same order, same answers, whatever the tables do."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rings import key, ref
from weft.core.ids import NodeId
from weft.overlay.api import Ref
from weft.overlay.contacts import MET_MAX, SHUNNED_MAX, Contacts
from weft.overlay.keys import before

ME = NodeId(1)
REFS = [ref(broker, life) for broker in (2, 3, 4) for life in (1, 2)] + [ref(2, number=25), ref(1), ref(1, number=35)]
OWN = [ref(1, life, number) for number in (10, 35, 60) for life in (1, 2)]


class Model:
    """What contacts should do, in the most naive way."""

    def __init__(self) -> None:
        self.held: list[Ref] = []
        self.own: dict = {}
        self.shunned: dict[int, float] = {}

    # the same move for both

    def add(self, contacts: Contacts, one: Ref, now: float) -> None:
        contacts.add(one)
        self.held.append(one)

    def drop(self, contacts: Contacts, one: Ref, now: float) -> None:
        if one in self.held and (self.held.count(one) > 1 or self.own.get(one.key) != one):
            contacts.drop(one)
            self.held.remove(one)

    def settle(self, contacts: Contacts, one: Ref, now: float) -> None:
        if one.key not in self.own:
            contacts.settle(one)
            self.own[one.key] = one
            self.held.append(one)

    def unsettle(self, contacts: Contacts, one: Ref, now: float) -> None:
        contacts.unsettle(one)
        if self.own.get(one.key) == one:
            del self.own[one.key]
            self.held.remove(one)

    def shun(self, contacts: Contacts, one: Ref, now: float) -> None:
        contacts.shun(one.node, now + 2.0)
        self.shunned[one.node] = now + 2.0

    def heard(self, contacts: Contacts, one: Ref, now: float) -> None:
        contacts.heard(one.node)
        self.shunned.pop(one.node, None)

    # what it should say

    def usable(self, one: Ref, now: float) -> bool:
        if one.node == ME:
            return self.own.get(one.key) == one
        return now >= self.shunned.get(one.node, now)

    def floor(self, wanted, now: float) -> set[Ref]:
        """The answers that are right: several lives of one key are equally near."""
        usable = [one for one in self.held if self.usable(one, now)]
        below = [one for one in usable if one.key <= wanted] or usable
        nearest = max((one.key for one in below), default=None)
        return {one for one in below if one.key == nearest}

    def inside(self, low, high, now: float) -> list[Ref]:
        found = {one for one in self.held if low <= one.key < high and self.usable(one, now)}
        return sorted(found, key=lambda one: (one.key, one.incarnation))


others = st.sampled_from([one for one in REFS if one.node != ME])
steps = st.lists(
    st.one_of(
        st.tuples(st.just("add"), st.sampled_from(REFS)),
        st.tuples(st.just("drop"), st.sampled_from(REFS)),
        st.tuples(st.just("settle"), st.sampled_from(OWN)),
        st.tuples(st.just("unsettle"), st.sampled_from(OWN)),
        st.tuples(st.just("shun"), others),
        st.tuples(st.just("heard"), others),
        st.tuples(st.just("time"), st.just(None)),
    ),
    max_size=40,
)
points = [key(1, number) for number in range(0, 75, 5)]


@given(steps)
@settings(max_examples=300)
def test_as_a_naive_list_would(moves):
    contacts, model, now = Contacts(ME), Model(), 0.0
    for what, one in moves:
        if what == "time":
            now += 1.0
        else:
            getattr(model, what)(contacts, one, now)
    assert len(contacts) == len(set(model.held))
    assert contacts.own == [model.own[key] for key in sorted(model.own)]
    for point in points:
        found = contacts.floor(point, now)
        assert ({found} if found else set()) <= model.floor(point, now)
        assert (found is None) == (not model.floor(point, now))
    for low in points[::2]:
        for high in points[::3]:
            inside = contacts.inside(low, high, now)
            assert sorted(inside, key=lambda one: (one.key, one.incarnation)) == model.inside(low, high, now)
            assert [one.key for one in inside] == sorted(one.key for one in inside)
            own = [one for one in contacts.own if low <= one.key < high]
            assert contacts.own_inside(low, high) == own
            if low <= high:
                below = [one for one in contacts.own if one.key < low]
                above = [one for one in contacts.own if one.key >= high]
                assert contacts.own_around(low, high) == (
                    below[-1] if below else None,
                    above[0] if above else None,
                )


def test_floor_wraps_below_the_least():
    contacts = Contacts(ME)
    contacts.add(ref(2))
    contacts.add(ref(5))
    assert contacts.floor(key(3), 0.0) == ref(2)
    assert contacts.floor(key(5), 0.0) == ref(5)
    assert contacts.floor(before(key(5)), 0.0) == ref(2)
    assert contacts.floor(key(1), 0.0) == ref(5)


def test_a_pointer_is_kept_while_any_table_holds_it():
    contacts = Contacts(ME)
    contacts.add(ref(2))
    contacts.add(ref(2))
    contacts.drop(ref(2))
    assert contacts.floor(key(9), 0.0) == ref(2)
    contacts.drop(ref(2))
    assert contacts.floor(key(9), 0.0) is None
    with pytest.raises(KeyError):
        contacts.drop(ref(2))


def test_our_own_nodes_are_used_only_while_they_are_in_the_ring():
    contacts = Contacts(ME)
    contacts.add(ref(1))
    assert contacts.floor(key(9), 0.0) is None, "another broker still points at it, but it is not there"
    contacts.settle(ref(1))
    assert contacts.is_own(ref(1))
    assert not contacts.is_own(ref(1, 2))
    assert contacts.floor(key(9), 0.0) == ref(1)
    contacts.unsettle(ref(1))
    assert contacts.floor(key(9), 0.0) is None
    assert len(contacts) == 1


def test_unsettling_a_former_life_does_nothing():
    contacts = Contacts(ME)
    contacts.settle(ref(1, 2))
    contacts.unsettle(ref(1, 1))
    assert contacts.own == [ref(1, 2)]


def test_the_shunned_are_passed_over_until_heard_or_the_time_is_over():
    contacts = Contacts(ME)
    contacts.add(ref(2))
    contacts.add(ref(3))
    contacts.shun(NodeId(3), until=10.0)
    assert contacts.floor(key(9), 9.9) == ref(2)
    assert contacts.inside(key(1), key(9), 9.9) == [ref(2)]
    assert contacts.floor(key(9), 10.0) == ref(3)
    contacts.heard(NodeId(3))
    assert contacts.floor(key(9), 5.0) == ref(3)
    assert not contacts.is_shunned(NodeId(3), 5.0)


def test_if_all_are_shunned_nobody_is_usable():
    contacts = Contacts(ME)
    contacts.add(ref(2))
    contacts.shun(NodeId(2), until=1.0)
    assert contacts.floor(key(9), 0.0) is None


def test_the_shunned_are_bounded():
    contacts = Contacts(ME)
    for number in range(2, SHUNNED_MAX + 3):
        contacts.shun(NodeId(number), until=1.0)
    assert not contacts.is_shunned(NodeId(2), 0.0), "the oldest is forgotten"
    assert contacts.is_shunned(NodeId(SHUNNED_MAX + 2), 0.0)
    assert sum(contacts.is_shunned(NodeId(n), 0.0) for n in range(2, SHUNNED_MAX + 3)) == SHUNNED_MAX


def test_shunning_again_extends():
    contacts = Contacts(ME)
    for number in range(2, SHUNNED_MAX + 2):
        contacts.shun(NodeId(number), until=1.0)
    contacts.shun(NodeId(9), until=5.0)
    assert contacts.is_shunned(NodeId(9), 4.0)
    assert contacts.is_shunned(NodeId(2), 0.0), "nobody has to go for one who is there already"


def test_whom_we_met_is_bounded_the_latest_last_and_not_ourselves():
    contacts = Contacts(ME)
    contacts.meet(ME)
    assert contacts.met == {}
    for number in range(2, MET_MAX + 4):
        contacts.meet(NodeId(number))
    contacts.meet(NodeId(10))
    assert len(contacts.met) == MET_MAX
    assert list(contacts.met)[-1] == 10
    assert 2 not in contacts.met
    assert 3 not in contacts.met


def test_who_is_in_a_table_has_been_met_and_stays_so():
    contacts = Contacts(ME)
    contacts.add(ref(2))
    contacts.drop(ref(2))
    assert list(contacts.met) == [2]
