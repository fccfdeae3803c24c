"""One of a range: handed on, refused, stale, and always at an end."""

import pytest

from overlay_bench import Bench
from weft.overlay.api import Condition, Query, Ref
from weft.overlay.keys import EVERYTHING, KeyRange, after, number_key
from weft.overlay.settings import Settings
from weft.overlay.spread.messages import Asked, Astray, Pick, Picked
from weft.overlay.spread.selection import alone

K = [number_key(number, number + 1) for number in range(16)]
FREE = Condition("free", ">=", 1)
ANY = Query(KeyRange(K[4], K[12]), "take this", condition=FREE)
ALL_FREE = {key: {"free": 1.0} for key in K}


def free(*numbers: int) -> dict:
    return {key: {"free": float(number in numbers)} for number, key in enumerate(K)}


def believe(bench: Bench, *numbers: int) -> None:
    """The aggregated values stay; only these are free by now."""
    for broker in bench.brokers.values():
        broker.attributes = {key: {"free": float(K.index(key) in numbers)} for key in broker.attributes}


def test_one_takes_it_and_its_reply_comes_back():
    bench = Bench("suzaku", K, values=ALL_FREE)
    bench.reply = lambda node, event: f"taken by {node}"
    request = bench.anycast(1, ANY)
    bench.run()
    (event,) = bench.received
    (selected,) = bench.selected
    assert (event.payload, event.origin) == ("take this", 1)
    assert (selected.request, selected.key, selected.by) == (request, event.key, "anycast")
    assert selected.value == f"taken by {event.key.broker}"
    assert selected.hops == len(bench.picks())


def test_our_own_node_may_be_picked_without_a_message():
    bench = Bench("suzaku", K, values=free(6))
    bench.anycast(7, ANY, "close")
    bench.run()
    assert (bench.selected[0].key, bench.selected[0].hops, bench.sent) == (K[6], 0, [])


def test_who_refuses_is_asked_once_and_the_search_goes_on_from_there():
    bench = Bench("suzaku", K, values=ALL_FREE, seed=2)
    bench.reply = lambda node, event: "mine" if node == 9 else None
    bench.anycast(5, ANY)
    bench.run()
    assert bench.selected[0].key == K[8]
    assert len(bench.keys_received()) == len(set(bench.keys_received()))


def test_stale_values_cost_detours_and_not_the_answer():
    for seed in range(20):
        bench = Bench("suzaku", K, values=ALL_FREE, seed=seed)
        believe(bench, 10)
        bench.anycast(5, ANY, "few")
        bench.run()
        assert bench.selected[0].key == K[10]
        assert bench.keys_received() == [K[10]]


def test_past_its_ttl_it_falls_back_to_multicast():
    bench = Bench("suzaku", K, values=ALL_FREE, settings=Settings(anycast_ttl=0))
    believe(bench, 10)
    bench.anycast(5, ANY)
    bench.run()
    assert (bench.selected[0].key, bench.selected[0].by) == (K[10], "multicast")
    assert bench.counts("spread.census") == 1


def test_nobody_free_is_an_answer():
    bench = Bench("suzaku", K, values=ALL_FREE)
    believe(bench)
    bench.anycast(5, ANY)
    bench.run()
    assert [(selected.key, selected.value) for selected in bench.selected] == [(None, None)]
    assert bench.received == []


def test_all_who_are_free_refuse():
    bench = Bench("suzaku", K, values=ALL_FREE)
    bench.reply = lambda node, event: None
    bench.anycast(5, ANY)
    bench.run()
    assert bench.selected[0].key is None
    assert set(bench.keys_received()) == set(K[4:12])


@pytest.mark.parametrize("piece", [KeyRange(K[3], K[3]), KeyRange(after(K[3]), K[4]), KeyRange(after(K[10]), K[11])])
def test_an_empty_range_is_an_answer_and_no_loop(piece):
    bench = Bench("suzaku", K, values=ALL_FREE)
    bench.anycast(4, Query(piece, "", condition=FREE))
    bench.run()
    assert bench.selected[0].key is None
    assert bench.counts("spread.census") == 0


def test_a_reservation_asks_again_whether_it_matches_now():
    bench = Bench("skipgraph", K, values=ALL_FREE)
    believe(bench, 5, 9)
    bench.anycast(5, ANY)
    bench.run(until=0.12)
    assert bench.counts("spread.census") == 1
    believe(bench, 9)
    bench.run()
    assert bench.selected[0].key == K[9]


def test_the_reply_may_take_its_time_or_never_come():
    bench = Bench("suzaku", K, values=free(6))
    bench.reply_delay_s = 6.0
    bench.anycast(1, ANY)
    bench.run()
    assert (bench.selected[0].key, bench.selected[0].by) == (K[6], "anycast")
    bench.reply_delay_s = None
    bench.anycast(1, ANY)
    bench.run()
    assert bench.selected[1].key is None
    assert bench.now < 80


def test_a_late_taker_is_believed_while_others_are_being_asked():
    """The layer above the first taker thinks for longer than the first phase: its yes still counts."""
    bench = Bench("suzaku", K, values=free(6))
    bench.reply_delay_s = 12.0
    bench.anycast(1, ANY)
    bench.run()
    assert [selected.key for selected in bench.selected] == [K[6]]
    assert bench.keys_received() == [K[6]]


def test_a_hop_that_fails_is_gone_round():
    for seed in range(10):
        bench = Bench("suzaku", K, values=free(6, 7, 8, 9), seed=seed)
        bench.kill(9)
        bench.anycast(5, ANY)
        bench.run()
        assert bench.selected[0].key in {K[6], K[7], K[9]}


def test_where_it_went_astray_the_search_goes_on_from_a_neighbour():
    bench = Bench("suzaku", K, values=ALL_FREE)
    gone = Ref(K[5]._replace(broker=7), 7, 1)
    asked = Asked(1, 1, "", "binary", condition=FREE)
    bench.give(1, 7, Pick(asked, "many", ANY.range, alone(gone.key), gone, 0, hops=1, inside=True))
    bench.run()
    assert [(source, to) for source, to, _ in bench.bodies(Astray)] == [(7, 1)]
    assert len(bench.received) == 1
    assert bench.counts("spread.late") == 1, "broker 1 never asked"


def test_two_copies_of_one_request_are_one_at_a_node():
    bench = Bench("suzaku", K, values=ALL_FREE)
    asked = Asked(1, 1, "", "binary", condition=FREE)
    to = Ref(K[5], 6, 1)
    bench.reply_delay_s = 0.5
    for source in (2, 3):
        bench.give(source, 6, Pick(asked, "many", ANY.range, alone(K[5]), to, 0, hops=1, inside=True))
    bench.run()
    bench.give(4, 6, Pick(asked, "many", ANY.range, alone(K[5]), to, 0, hops=1, inside=True))
    bench.run()
    assert bench.keys_received() == [K[5]]
    assert [picked.value for _, _, picked in bench.bodies(Picked)] == [1, 1]


def test_it_works_from_and_to_brokers_with_many_keys():
    keys = [number_key(number, 1 + number % 3) for number in range(12)]
    bench = Bench("suzaku", keys, values={key: {"free": 1.0} for key in keys})
    for selection in ("many", "few", "close", "random"):
        bench.anycast(2, Query(KeyRange(keys[2], keys[9]), "", condition=FREE), selection)
    bench.run()
    assert all(selected.key in keys[2:9] for selected in bench.selected)
    assert len(bench.selected) == 4


def test_a_picked_key_outside_the_range_violates():
    bench = Bench("skipgraph", K, values=ALL_FREE)
    request = bench.anycast(1, ANY)
    bench.give(2, 1, Picked(request, 0, K[14], "mine", 1))
    assert bench.violations() == ["picked a key outside the range"]
    bench.run()
    assert bench.selected[0].key in K[4:12]


def test_a_sender_far_outside_routes_towards_the_range():
    keys = [number_key(number, number + 1) for number in range(64)]
    bench = Bench("suzaku", keys, values={key: {"free": 1.0} for key in keys})
    bench.anycast(1, Query(KeyRange(keys[27], keys[29]), "", condition=FREE))
    bench.run()
    assert bench.selected[0].key in keys[27:29]
    assert bench.selected[0].by == "anycast"


def test_everything_is_a_range_too():
    bench = Bench("suzaku", K, values=free(15))
    bench.anycast(3, Query(EVERYTHING, "", condition=FREE))
    bench.run()
    assert bench.selected[0].key == K[15]
