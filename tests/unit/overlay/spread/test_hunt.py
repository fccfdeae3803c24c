"""The origin's side of Anycast: phases, late answers, limits."""

from overlay_bench import Bench
from weft.overlay.api import Condition, Query
from weft.overlay.keys import KeyRange, number_key
from weft.overlay.settings import Settings
from weft.overlay.spread import hunt
from weft.overlay.spread.messages import Picked

K = [number_key(number, number + 1) for number in range(16)]
FREE = Condition("free", ">=", 1)
ANY = Query(KeyRange(K[4], K[12]), "", condition=FREE)
ALL_FREE = {key: {"free": 1.0} for key in K}


def test_a_nobody_of_an_earlier_phase_is_late():
    bench = Bench("skipgraph", K, values=ALL_FREE)
    request = bench.anycast(5, Query(ANY.range, "", condition=Condition("free", ">=", 2)))
    bench.give(9, 5, Picked(request, 0, None, None, 1))
    bench.give(9, 5, Picked(request, 99, None, None, 1))
    assert bench.counts("spread.late") == 2
    bench.run()
    assert bench.selected[0].key is None


def test_a_silent_network_ends_in_nobody_within_the_time_of_a_query():
    bench = Bench("suzaku", K, values=ALL_FREE, settings=Settings(query_timeout_s=12.0))
    bench.kill(*(key.broker for key in K[1:]))
    bench.anycast(1, ANY)
    bench.run(until=200.0)
    assert [selected.key for selected in bench.selected] == [None]


def test_a_taker_that_dies_is_followed_by_the_next():
    bench = Bench("skipgraph", K, values=ALL_FREE)
    for broker in bench.brokers.values():
        broker.attributes = {key: {"free": float(key in (K[6], K[9]))} for key in broker.attributes}
    bench.anycast(5, ANY)
    bench.run(until=0.07)
    while not bench.picks():
        bench.run(until=bench.now + 0.01)
    first = bench.picks()[0][1]
    bench.kill(first)
    bench.run()
    assert bench.selected[0].key == {7: K[9], 10: K[6]}[first]


def test_own_nodes_that_refuse_are_asked_one_after_the_other():
    keys = [number_key(number, 1) for number in range(40)]
    bench = Bench("suzaku", keys, values={key: {"free": 1.0} for key in keys}, settings=Settings(anycast_ttl=0))
    bench.reply = lambda node, event: "mine" if event.key == keys[33] else None
    bench.anycast(1, Query(KeyRange(keys[0], keys[39]), "", condition=FREE))
    bench.run()
    assert bench.selected[0].key == keys[33]


def test_too_many_at_once_are_refused(monkeypatch):
    monkeypatch.setattr(hunt, "PENDING_MAX", 1)
    bench = Bench("suzaku", K, values=ALL_FREE)
    bench.anycast(1, ANY)
    request = bench.anycast(1, ANY)
    assert [(selected.request, selected.key) for selected in bench.selected] == [(request, None)]
    assert bench.counts("spread.hunts_full") == 1
