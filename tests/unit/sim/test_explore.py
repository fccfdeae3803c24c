"""The explorer visits every order, once, and reports each planted bug with the way to it."""

import pytest

from planted import (
    believes_it_is_in,
    falls_over,
    ignores_set_l,
    leaves_without_a_word,
    never_counts,
    never_looks_left,
    planted,
    points_before_it_accepts,
    sends_what_is_refused,
    takes_anybody_in,
    takes_old_set_l,
)
from weft.core.ids import NodeId
from weft.core.machine import Outbox
from weft.overlay.keys import number_key
from weft.overlay.peer import Peer
from weft.sim.explore import ROLES, SETTINGS, Case, Explored, Explorer, cases, run_quietly
from weft.sim.invariants import Broken, RingCheck


def explore(*roles: str, bug=None, **more: int) -> Explored:
    kind = Peer if bug is None else planted(bug)
    return Explorer(Case(roles, **more), lambda node: kind(node, SETTINGS, 1)).run()


def test_a_case_says_what_it_is():
    assert str(Case(("stay", "join"))) == "stay-join"
    assert str(Case(("stay", "crash"), timers=14, losses=1, doubles=2)) == "stay-crash+14t+1lost+2twice"


def test_the_cases_are_all_assignments_of_roles_in_which_the_first_stays():
    found = [case.roles for case in cases(3)]
    assert len(found) == len(set(found)) == len(ROLES) ** 2
    assert all(roles[0] == "stay" for roles in found)


def test_nothing_to_do_is_one_state_and_one_order():
    found = explore("stay", "stay")
    assert (found.states, found.ends, found.orders) == (1, 1, 1)


def test_a_leave_has_the_orders_that_three_messages_allow():
    """SetR; then SetL and SetRAck, either first: two orders over five states, with one end."""
    found = explore("stay", "leave")
    assert (found.states, found.ends, found.orders) == (5, 1, 2)


def test_a_crash_may_come_at_every_moment():
    found = explore("stay", "crash")
    assert (found.states, found.ends, found.orders) == (2, 1, 1)
    leaving = explore("stay", "leave", "stay")
    assert explore("stay", "leave", "crash").orders > leaving.orders


@pytest.mark.parametrize("more", [{"losses": 1, "timers": 6}, {"doubles": 1}])
def test_losses_and_doubles_add_orders(more):
    assert explore("stay", "join", **more).orders > explore("stay", "join").orders


def test_the_same_case_is_explored_the_same_way_each_time():
    assert explore("stay", "join", "leave") == explore("stay", "join", "leave")


def test_timers_are_explored_in_their_order_until_they_are_used_up():
    quiet, woken = explore("stay", "stay"), explore("stay", "stay", timers=4)
    assert quiet.states < woken.states
    assert woken.ends == 1


@pytest.mark.parametrize(
    ("bug", "roles", "said"),
    [
        (ignores_set_l, ("stay", "join"), "I2"),
        (never_counts, ("stay", "join", "join"), "I2|I4"),
        (takes_old_set_l, ("stay", "join", "join"), "I3"),
        (takes_anybody_in, ("stay", "join", "join"), "I1|I2|I4"),
        (leaves_without_a_word, ("stay", "leave", "stay"), "I1"),
        (believes_it_is_in, ("stay", "join", "join"), "I1"),
        (points_before_it_accepts, ("stay", "join", "join"), "I5"),
        (never_looks_left, ("stay", "crash", "stay"), "I1|I4"),
        (sends_what_is_refused, ("stay", "join"), "refused a message"),
    ],
)
def test_each_planted_bug_is_found_and_the_way_to_it_told(bug, roles, said):
    with pytest.raises(Broken, match=said) as caught:
        explore(*roles, bug=bug)
    (note,) = caught.value.__notes__
    assert note.startswith(f"case {'-'.join(roles)}, after:")


@pytest.mark.parametrize("roles", [("stay", "join", "join"), ("stay", "leave", "stay"), ("stay", "crash", "stay")])
def test_the_same_cases_without_a_bug_are_right(roles):
    assert explore(*roles).violation == ""


def test_the_way_to_a_violation_is_a_list_of_messages():
    with pytest.raises(Broken) as caught:
        explore("stay", "join", bug=ignores_set_l)
    steps = [step.strip() for step in caught.value.__notes__[0].splitlines()[1:]]
    assert [step.partition("(")[0] for step in steps] == [
        "2→1 Seek",
        "1→2 Sought",
        "2→1 SetR",
        "1→1 SetL",
        "1→2 SetRAck",
    ]
    assert steps[2].startswith("2→1 SetR(at=1@1#1, level=0, new=2@2#1, cur=1@1#1"), "references are short"


def test_what_a_machine_raises_comes_out_with_the_way_to_it():
    with pytest.raises(KeyError, match="a bug of the machine") as caught:
        explore("stay", "join", bug=falls_over)
    assert "2→1 SetR(" in caught.value.__notes__[0]


def test_a_ring_let_alone_does_what_its_timers_want_until_the_time_is_over():
    peers = {number: Peer(NodeId(number), SETTINGS, 1) for number in (1, 2)}
    out = Outbox()
    peers[1].join(0.0, number_key(1, NodeId(1)), None, out)
    peers[2].join(0.0, number_key(2, NodeId(2)), NodeId(1), out)
    run_quietly(peers, 0.0, 1.0)
    assert peers[2].keys() == [], "what left before is lost"
    run_quietly(peers, 1.0, 30.0)
    assert peers[2].keys() == [number_key(2, NodeId(2))], "it asked again"
    RingCheck().at_rest(peers.values())
    assert all(peer.deadline is not None and peer.deadline > 30.0 for peer in peers.values())
