"""From a piece to a plan: routes from outside, nodes that do not answer, the ring's own word."""

import pytest

from overlay_bench import Bench
from weft.core.limits import LEVELS_MAX
from weft.overlay.api import Condition, Ref
from weft.overlay.keys import KeyRange, after, before, number_key
from weft.overlay.settings import Settings
from weft.overlay.spread.messages import Asked, Part
from weft.overlay.spread.planner import Plan, Planner, Way

K = [number_key(number, number + 1) for number in range(16)]
ASKED = Asked(1, 1, "", "binary")


def planner(bench: Bench, node: int) -> Planner:
    broker = bench.brokers[node]
    return Planner(broker.local, broker.contacts, bench.settings, broker)


def plan(bench: Bench, node: int, piece: KeyRange, **changes) -> Plan:
    return planner(bench, node).plan(0.0, ASKED, Part(Ref(K[0], 1, 1), piece, LEVELS_MAX, **changes))


def test_a_piece_without_a_known_member_is_routed_to_its_floor():
    bench = Bench("suzaku", K)
    assert planner(bench, 1).route(0.0, KeyRange(K[7], K[8])).key == K[4]
    assert planner(bench, 5).route(0.0, KeyRange(after(K[4]), K[5])) is Way.EMPTY


def test_a_member_known_only_round_the_rings_end_is_sent_to_at_once():
    bench = Bench("suzaku", K)
    far = KeyRange(K[14], K[15])  # 2 to the left of the first, 14 to its right
    assert plan(bench, 1, far).parts == [Part(Ref(K[14], 15, 1), far, LEVELS_MAX)]


def test_below_all_keys_the_floor_is_the_last():
    bench = Bench("suzaku", K)
    below = KeyRange(before(before(K[0])), before(K[0]))
    assert planner(bench, 16).route(0.0, below) is Way.EMPTY
    assert planner(bench, 1).route(0.0, below).key == K[15]


def test_alone_in_the_ring_everything_else_is_empty():
    bench = Bench("suzaku", K[:1])
    assert planner(bench, 1).route(0.0, KeyRange(K[1], K[2])) is Way.EMPTY
    assert plan(bench, 1, KeyRange(K[0], K[2])) == Plan([Ref(K[0], 1, 1)], [], [], [])


def test_a_neighbour_that_does_not_answer_is_gone_round_or_waited_for():
    bench = Bench("suzaku", K)
    bench.brokers[5].contacts.shun(6, 10.0)
    assert [part.to.key for part in plan(bench, 5, KeyRange(K[4], K[9])).parts] == [K[8]]
    stuck = plan(bench, 5, KeyRange(K[4], K[6])).stuck
    assert [(part.to.key, part.piece) for part in stuck] == [(K[5], KeyRange(after(K[4]), K[6]))]


def test_the_right_neighbour_says_that_a_gap_is_empty_whatever_older_entries_say():
    bench = Bench("suzaku", K)
    bench.brokers[5].rows[K[4]].right = Ref(K[7], 8, 1)
    assert plan(bench, 5, KeyRange(K[4], K[6])) == Plan([Ref(K[4], 5, 1)], [], [], [])


def test_first_is_used_when_no_entry_is_left():
    bench = Bench("suzaku", K[4:6])
    first = Ref(K[2], 3, 1)
    parts = plan(bench, 6, KeyRange(K[1], after(K[5])), first=first).parts
    assert [part.to.key for part in parts] == [K[4]], "there is a neighbour, who will look for it"
    assert parts[0].first == first
    bench.brokers[6].contacts.shun(5, 10.0)
    assert [part.to.key for part in plan(bench, 6, KeyRange(K[1], after(K[5])), first=first).parts] == [K[2]]


@pytest.mark.parametrize(("labels", "reached"), [(None, False), (("free",), False), (("cpu",), True)])
def test_values_that_do_not_travel_are_no_reason_to_skip_anybody(labels, reached):
    """K8's side says nothing of ``free``: that is an answer only if it would have been said."""
    bench = Bench("suzaku", K, settings=Settings(aggregate_labels=labels), values={key: {"cpu": 1.0} for key in K})
    broker = bench.brokers[1]
    asked = Asked(1, 1, "", "split", condition=Condition("free", ">=", 1), stale_ok=True)
    plan = Planner(broker.local, broker.contacts, bench.settings, broker).plan(
        0.0, asked, Part(Ref(K[0], 1, 1), KeyRange(K[0], after(K[15])), LEVELS_MAX)
    )
    assert bool(plan.parts) is reached
