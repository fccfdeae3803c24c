"""The front: misuse, routing from outside, delegates, copies, and what is delivered with what."""

import pytest

from overlay_bench import Bench
from weft.core.errors import Misuse
from weft.core.limits import TTL_HOPS
from weft.overlay.api import Condition, Missed, Query, Ref
from weft.overlay.keys import EVERYTHING, KeyRange, after, number_key
from weft.overlay.spread.messages import Asked, Astray, Gather, Part, Returned, Scatter

K = [number_key(number, number + 1) for number in range(32)]
FREE = Condition("free", ">=", 1)


def part(number: int, low: int, high: int) -> Part:
    return Part(Ref(K[number], K[number].broker, 1), KeyRange(K[low], K[high]), 64)


# Misuse


@pytest.mark.parametrize(
    "query",
    [
        Query(KeyRange(K[3], K[1]), ""),
        Query(EVERYTHING, "", strategy="flood"),
        Query(EVERYTHING, "", reduce="average"),
        Query(EVERYTHING, "", condition=Condition("free", "~", 1)),
    ],
)
def test_a_query_that_makes_no_sense_is_refused_at_once(query):
    bench = Bench("suzaku", K[:4])
    with pytest.raises(Misuse):
        bench.multicast(1, query)


def test_anycast_needs_a_condition_and_a_known_selection():
    bench = Bench("suzaku", K[:4])
    with pytest.raises(Misuse, match="condition"):
        bench.anycast(1, Query(EVERYTHING, ""))
    with pytest.raises(Misuse, match="selection"):
        bench.anycast(1, Query(EVERYTHING, "", condition=FREE), "best")


def test_a_reply_that_the_reducer_cannot_take_is_refused_at_once():
    bench = Bench("suzaku", K[:1])
    bench.reply_delay_s = None
    bench.multicast(1, Query(EVERYTHING, "", "union"))
    token = bench.received[0].token
    with pytest.raises(Misuse, match="union"):
        bench._do(1, lambda broker, out: broker.spread.reply(0.0, token, 3, out))


def test_a_reply_nobody_waits_for_is_counted():
    bench = Bench("suzaku", K[:1])
    bench._do(1, lambda broker, out: broker.spread.reply(0.0, 99, 3, out))
    assert bench.counts("spread.late") == 1


# Empty ranges, and who says so


def test_an_empty_range_is_answered_without_a_message():
    bench = Bench("suzaku", K)
    request = bench.multicast(1, Query(KeyRange(K[9], K[9]), "", "count"))
    assert [(a.request, a.keys, a.missing) for a in bench.answered] == [(request, 0, ())]
    assert bench.sent == []


def test_our_right_neighbour_tells_that_nobody_is_in_the_range_next_to_us():
    """Relay-free: a publisher left of an empty segment sends nothing at all."""
    bench = Bench("suzaku", K)
    bench.multicast(4, Query(KeyRange(after(K[3]), K[4]), "", "count"))
    assert bench.answered[0].keys == 0
    assert bench.sent == []


def test_an_empty_range_elsewhere_is_found_out_by_its_floor():
    bench = Bench("suzaku", K)
    bench.multicast(1, Query(KeyRange(after(K[20]), K[21]), "", "count"))
    bench.run()
    assert (bench.answered[0].keys, bench.answered[0].missing) == (0, ())
    assert bench.scatters()[-1][1] == K[20].broker


@pytest.mark.parametrize("sender", [1, 21])
def test_who_stands_below_an_empty_range_is_told_what_was_for_it(sender):
    """RELAY §5.3.6 (i): a publication for nobody is certain to meet the rendezvous point."""
    bench = Bench("suzaku", K)
    bench.multicast(sender, Query(KeyRange(after(K[20]), K[21]), "for nobody"))
    bench.run()
    assert bench.missed == [Missed(K[20], "for nobody", sender)]


def test_a_range_with_somebody_in_it_is_not_missed():
    bench = Bench("skipgraph", K)
    bench.multicast(1, Query(KeyRange(K[20], after(K[21])), ""))
    bench.run()
    assert bench.missed == []


def test_a_key_at_the_low_end_is_inside():
    bench = Bench("skipgraph", K)
    bench.multicast(1, Query(KeyRange(K[20], after(K[20])), ""))
    bench.run()
    assert bench.keys_received() == [K[20]]


def test_a_broker_that_knows_nobody_says_that_all_is_missing():
    bench = Bench("suzaku", K[:2])
    bench.load([])
    bench.multicast(1, Query(EVERYTHING, "", "count"))
    bench.run()
    assert bench.answered[0].missing == (EVERYTHING,)
    bench.multicast(1, Query(EVERYTHING, ""))
    assert bench.counts("spread.stranded") == 1


# What is kept


def test_fire_and_forget_keeps_nothing():
    bench = Bench("suzaku", K)
    bench.multicast(1, Query(EVERYTHING, ""))
    bench.run()
    for broker in bench.brokers.values():
        assert len(broker.spread._memory) == 0
        assert len(broker.local.timers) == 0


def test_a_copy_made_by_the_network_is_dropped():
    bench = Bench("suzaku", K)
    copy = Scatter(Asked(1, 77, "", "binary", "count"), (part(5, 5, 6),), 1, 9, 1.0)
    bench.give(1, 6, copy)
    bench.give(1, 6, copy)
    bench.run()
    assert bench.keys_received() == [K[5]]
    assert len(bench.gathers()) == 1
    assert bench.counts("spread.repeat") == 1


def test_a_second_way_to_a_key_is_answered_from_memory():
    bench = Bench("suzaku", K)
    asked = Asked(1, 77, "", "binary", "sum")
    bench.reply = lambda node, event: 42
    bench.give(1, 6, Scatter(asked, (part(5, 5, 6),), 1, 9, 1.0))
    bench.run()
    bench.give(2, 6, Scatter(asked, (part(5, 5, 6),), 3, 4, 1.0))
    bench.run()
    assert bench.keys_received() == [K[5]]
    assert [(to, gather.value, gather.keys) for _, to, gather in bench.gathers()] == [(1, 42, 1), (2, 42, 1)]


def test_a_second_way_waits_for_the_one_reply():
    bench = Bench("suzaku", K)
    asked = Asked(1, 77, "", "binary", "sum")
    bench.reply_delay_s = 0.5
    bench.give(1, 6, Scatter(asked, (part(5, 5, 6),), 1, 9, 1.0))
    bench.give(2, 6, Scatter(asked, (part(5, 5, 6),), 3, 4, 1.0))
    bench.run()
    assert [(to, gather.keys) for _, to, gather in bench.gathers()] == [(1, 1), (2, 1)]


def test_a_query_in_circles_ends():
    bench = Bench("suzaku", K)
    bench.give(1, 6, Scatter(Asked(1, 77, "", "binary", "sum"), (part(5, 5, 8),), TTL_HOPS, 9, 1.0))
    assert bench.received == []
    assert [gather.missing for _, _, gather in bench.gathers()] == [(KeyRange(K[5], K[8]),)]
    assert bench.counts("spread.ttl") == 1


def test_where_it_went_astray_the_sender_is_told_and_the_piece_goes_on():
    bench = Bench("suzaku", K)
    gone = Ref(K[5]._replace(broker=7), 7, 1)
    bench.brokers[2].rows[K[1]].rights.clear()
    bench.give(2, 7, Scatter(Asked(2, 77, "", "binary"), (Part(gone, KeyRange(K[5], after(K[5])), 64),), 1))
    bench.run()
    assert [(source, to) for source, to, _ in bench.bodies(Astray)] == [(7, 2)]
    assert bench.keys_received() == [K[5]]


@pytest.mark.parametrize("reliable", [False, True])
@pytest.mark.parametrize("reduce", [None, "count"])
def test_a_broker_that_has_left_returns_the_piece(reliable, reduce):
    """Its tables are gone, so it cannot hand anything on; the sender learns that and goes round it at once."""
    bench = Bench("suzaku", K)
    bench.brokers[17].load([], {})
    bench.multicast(1, Query(KeyRange(K[0], K[31]), "", reduce, "binary", reliable))
    bench.run(until=0.5)
    assert bench.keys_received() == [*K[:16], *K[17:31]]
    assert len(bench.bodies(Returned)) > 0


def test_returned_is_believed_of_whom_we_sent_to():
    bench = Bench("suzaku", K)
    bench.multicast(1, Query(EVERYTHING, "", "count"))
    sent = bench.scatters()[0][2]
    stranger = next(n for n in bench.brokers if n not in {1, bench.scatters()[0][1]})
    bench.give(stranger, 1, Returned(sent))
    assert bench.counts("spread.late") == 1
    bench.run()
    assert bench.keys_received() == K
    assert bench.answered[0].keys == len(K)


def test_astray_is_believed_of_its_own_nodes_only():
    bench = Bench("suzaku", K)
    bench.give(2, 1, Astray(Ref(K[2], K[2].broker, 1)))
    assert bench.violations() == ["astray said of another broker's node"]


def test_what_the_right_pointer_says_of_a_piece_travels_with_it():
    """K5 has just joined: K4 knows, K6's left pointer does not yet. It is reached all the same (overlay §2, left is a hint)."""
    bench = Bench("suzaku", K[:8])
    for key in K[6:8]:
        row = bench.brokers[key.broker].rows[key]
        row.left = Ref(K[4], 5, 1)
        row.lefts = [entry for entry in row.lefts if entry.ref.key != K[5]]
    row = bench.brokers[5].rows[K[4]]
    row.rights = [entry for entry in row.rights if entry.ref.key != K[5]]
    bench.multicast(5, Query(KeyRange(K[4], K[8]), "", strategy="cluster-first"))
    bench.run()
    assert bench.keys_received() == K[4:8]


def test_a_gather_from_somebody_else_violates():
    bench = Bench("suzaku", K)
    bench.multicast(1, Query(EVERYTHING, "", "count"))
    ticket = bench.scatters()[0][2].ticket
    stranger = next(n for n in bench.brokers if n not in {1, bench.scatters()[0][1]})
    bench.give(stranger, 1, Gather(ticket, 5, 5, ()))
    assert bench.violations() == ["answer from a broker that was not asked"]
    bench.run()
    assert bench.answered[0].keys == len(K)
