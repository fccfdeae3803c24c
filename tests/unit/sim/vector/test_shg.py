"""SHG in bulk: tables and costs; what cannot be is refused."""

import numpy as np
import pytest

from weft.core.errors import Misuse
from weft.overlay.shg import geometry
from weft.sim.vector.shg import Shg


@pytest.mark.parametrize("variant", ["corrected", "literal"])
@pytest.mark.parametrize(("n", "k"), [(2, 1), (5, 3), (8, 4), (8, 7)])
def test_tables_are_the_pure_functions(n, k, variant):
    model, step = Shg(n, k, variant), geometry.literal_onward if variant == "literal" else geometry.onward
    for corner in range(1 << n):
        at, steps = corner, 0
        while step(at, k) != at:
            at, steps = step(at, k), steps + 1
        assert (model.top[corner], model.distance[corner]) == (at, steps)
    if variant == "corrected":
        assert model.dominates.sum() == 2 << (n - k)


def test_an_event_that_nobody_wants_crosses_the_event_partition_and_no_more():
    model = Shg(6, 3)
    own = np.zeros((2, 64), np.bool_)
    own[0, 9] = True
    events = model.events(own, np.array([[False, True], [False, False]]), [0, 1])
    assert events.messages.tolist() == [15, 16]
    assert (events.served == 0).all()
    assert (events.hops == -1).all()


def test_as_printed_it_costs_more_for_the_same_and_loses_some():
    rng = np.random.Generator(np.random.PCG64(1))
    own = rng.random((100, 256)) < 0.0065
    matching, publishers = rng.random((200, 100)) < 0.15, rng.integers(0, 256, 200)
    fine, printed = (Shg(8, 4, variant) for variant in ("corrected", "literal"))
    assert fine.subscriptions(own).sum() < printed.subscriptions(own).sum()
    one, other = fine.events(own, matching, publishers), printed.events(own, matching, publishers)
    assert one.served.max() == 1
    assert other.served.max() > 1
    assert ((one.served > 0) & (other.served == 0)).any()
    assert not ((other.served > 0) & (one.served == 0)).any()
    assert one.messages.sum() < other.messages.sum()


def test_what_cannot_be_is_refused():
    for arguments, text in (((3, 3), "low bits"), ((60, 3), "low bits"), ((5, 3, "better"), "unknown variant")):
        with pytest.raises(Misuse, match=text):
            Shg(*arguments)
    with pytest.raises(Misuse, match="do not fit"):
        Shg(3, 2).events(np.zeros((2, 8), np.bool_), np.zeros((1, 3), np.bool_), [0])
    with pytest.raises(Misuse, match="do not fit"):
        Shg(3, 2).bill(np.zeros((2, 8), np.bool_), np.zeros((1, 3), np.bool_), [0], [0])


@pytest.mark.parametrize("variant", ["corrected", "literal"])
@pytest.mark.parametrize(("n", "k"), [(5, 3), (8, 4), (9, 5)])
def test_a_bill_has_the_sums_of_the_events(n, k, variant):
    rng, model = np.random.Generator(np.random.PCG64(n)), Shg(n, k, variant)
    own, matching = rng.random((40, 1 << n)) < 0.01, rng.random((10, 40)) < 0.25
    kinds, publishers = rng.integers(0, 10, 200), rng.integers(0, 1 << n, 200)
    events, bill = model.events(own, matching[kinds], publishers), model.bill(own, matching, kinds, publishers)
    for one, other in ((bill.up, events.up), (bill.across, events.across), (bill.down, events.down)):
        assert np.array_equal(one, other)
    assert np.array_equal(bill.messages, events.messages)
    assert np.array_equal(bill.handed, events.served.sum(axis=1))
    assert np.array_equal(bill.reached, (events.served > 0).sum(axis=1))
    assert np.array_equal(bill.wanted, ((matching[kinds].astype(int) @ own) > 0).sum(axis=1))
