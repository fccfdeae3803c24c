"""Delegates: looked up once, sent to straight, dropped when they do not answer or have left."""

from overlay_bench import Bench
from weft.overlay.api import Query
from weft.overlay.keys import KeyRange, after, number_key
from weft.overlay.lookup import Seek

K = [number_key(number, number + 1) for number in range(32)]


def seen(bench: Bench, kind: type) -> int:
    return len(bench.bodies(kind))


def test_a_delegate_is_looked_up_once_and_then_sent_to_straight():
    bench = Bench("suzaku", K)
    query = Query(KeyRange(K[20], K[24]), "", strategy="delegate")
    bench.multicast(1, query)
    bench.run()
    sought = seen(bench, Seek)
    assert sought > 0
    bench.sent.clear()
    bench.multicast(1, query)
    bench.run()
    assert seen(bench, Seek) == 0
    assert next((source, to) for source, to, _ in bench.scatters()) == (1, K[20].broker)
    assert sorted(to for _, to, _ in bench.scatters()) == [key.broker for key in K[20:24]]
    assert bench.keys_received() == sorted(K[20:24] * 2)


def test_a_delegate_that_does_not_answer_is_dropped():
    bench = Bench("suzaku", K)
    query = Query(KeyRange(K[20], K[24]), "", strategy="delegate")
    bench.multicast(1, query)
    bench.run()
    bench.received.clear()
    bench.kill(K[20].broker)
    bench.repair()
    bench.multicast(1, query)
    bench.run()
    assert bench.keys_received() == K[21:24]
    assert bench.brokers[1].spread._entrance.delegates.get(query.range) is None
    bench.multicast(1, query)
    bench.run()
    assert bench.brokers[1].spread._entrance.delegates.get(query.range).key == K[21]


def test_a_delegate_that_has_left_is_dropped():
    bench = Bench("suzaku", K)
    query = Query(KeyRange(K[20], K[24]), "", strategy="delegate")
    bench.multicast(1, query)
    bench.run()
    bench.received.clear()
    bench.load([*bench.ring[:20], *bench.ring[21:]])
    bench.multicast(1, query)
    bench.run()
    assert bench.keys_received() == K[21:24]
    assert bench.brokers[1].spread._entrance.delegates.get(query.range) is None


def test_in_the_range_we_are_our_own_delegate():
    bench = Bench("suzaku", K)
    bench.multicast(21, Query(KeyRange(K[20], K[24]), "", strategy="delegate"))
    bench.run()
    assert bench.keys_received() == K[20:24]
    assert seen(bench, Seek) == 0


def test_with_answers_the_lookup_is_part_of_the_query():
    bench = Bench("suzaku", K)
    bench.multicast(1, Query(KeyRange(K[20], K[24]), "", "count", "delegate"))
    bench.run()
    assert [(answer.keys, answer.missing) for answer in bench.answered] == [(4, ())]


def test_an_empty_range_has_no_delegate():
    bench = Bench("suzaku", K)
    query = Query(KeyRange(after(K[20]), K[21]), "", "count", "delegate")
    bench.multicast(1, query)
    bench.run()
    assert [(answer.keys, answer.missing) for answer in bench.answered] == [(0, ())]
    assert bench.scatters() == []


def test_if_the_lookup_finds_nothing_the_query_goes_without():
    bench = Bench("suzaku", K[:4])
    query = Query(KeyRange(after(K[2]), K[3]), "", "count", "delegate")
    bench.kill(2, 3, 4)
    bench.multicast(1, query)
    bench.run()
    assert [(answer.keys, answer.missing) for answer in bench.answered] == [(0, (query.range,))]
