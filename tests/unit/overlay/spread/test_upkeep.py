"""Answers on their way back: budgets, re-issue of just what is missing, late ones, the wait for the ring, limits."""

import pytest

from overlay_bench import Bench
from weft.core.limits import TTL_HOPS
from weft.overlay import hops
from weft.overlay.api import Condition, Query, Ref
from weft.overlay.keys import EVERYTHING, KeyRange, after, number_key
from weft.overlay.settings import Settings
from weft.overlay.spread import tables, upkeep
from weft.overlay.spread.messages import Asked, Gather, Part, Scatter
from weft.overlay.spread.upkeep import HEAL_TRIES_MAX

K = [number_key(number, number + 1) for number in range(16)]
COUNT = Query(EVERYTHING, "", "count", "binary")


def test_the_budget_shrinks_with_each_hop():
    bench = Bench("suzaku", K)
    bench.multicast(1, COUNT)
    bench.run()
    budgets: dict[int, float] = {1: bench.settings.query_timeout_s / 2}
    for source, to, scatter in bench.scatters():
        assert 0 < scatter.budget_s < budgets[source]
        budgets[to] = scatter.budget_s


def test_only_what_is_missing_is_asked_again():
    """One answer is lost: its sub-range, and no other, is asked for a second time; nobody delivers twice."""
    bench = Bench("suzaku", K)
    bench.multicast(1, COUNT)
    bench.run(until=0.015)
    (_, victim, scatter) = bench.scatters()[-1]
    bench.brokers[victim].spread.handlers[Scatter] = lambda *_: None
    lost = [part.piece for part in scatter.parts]
    bench.run(until=7.0)
    first_round = len(bench.scatters())
    del bench.brokers[victim].spread.handlers[Scatter]
    bench.brokers[victim].spread.handlers[Scatter] = bench.brokers[victim].spread.on_scatter
    bench.run()
    again = [part.piece for _, _, s in bench.scatters()[first_round:] for part in s.parts]
    assert again
    assert all(any(piece.low >= gap.low and piece.high <= gap.high for gap in lost) for piece in again)
    assert bench.keys_received() == K
    assert [(answer.keys, answer.value, answer.missing) for answer in bench.answered] == [(16, 16, ())]


def test_who_thinks_for_too_long_is_missing_and_its_late_reply_is_dropped():
    bench = Bench("suzaku", K[:4], settings=Settings(query_timeout_s=4.0, query_tries=1))
    bench.reply_delay_s = None
    bench.multicast(1, COUNT)
    bench.run(until=1.0)
    for node in (1, 2, 4):
        token = next(event.token for event in bench.received if event.key.broker == node)
        bench._do(node, lambda broker, out, token=token: broker.spread.reply(bench.now, token, 1, out))
    bench.run()
    assert [(answer.keys, answer.missing) for answer in bench.answered] == [(3, (KeyRange(K[2], after(K[2])),))]
    assert bench.keys_received() == K[:4], "asked again, but not delivered again"
    token = next(event.token for event in bench.received if event.key == K[2])
    bench._do(3, lambda broker, out: broker.spread.reply(bench.now, token, 1, out))
    assert bench.counts("spread.late") >= 1


def test_a_reply_between_two_tries_counts():
    bench = Bench("suzaku", K[:4], settings=Settings(query_timeout_s=4.0, query_tries=1))
    bench.reply_delay_s = 1.9
    bench.multicast(1, COUNT)
    bench.run()
    assert [(answer.keys, answer.missing) for answer in bench.answered] == [(4, ())]
    assert bench.keys_received() == K[:4]


def test_an_answer_that_does_not_combine_is_a_violation_and_its_range_missing():
    bench = Bench("suzaku", K[:2], settings=Settings(query_timeout_s=4.0, query_tries=1))
    bench.brokers[2].spread.handlers[Scatter] = lambda *_: None
    bench.multicast(1, COUNT)
    bench.run(until=0.05)
    (_, _, scatter) = bench.scatters()[0]
    bench.give(2, 1, Gather(scatter.ticket, "many", 1, ()))
    assert len(bench.violations()) == 1
    bench.run()
    (answer,) = bench.answered
    assert (answer.keys, answer.value) == (1, 1)
    assert any(K[1] in piece for piece in answer.missing)


def test_a_reply_that_does_not_combine_with_the_others_is_missing():
    bench = Bench("suzaku", K[:3], settings=Settings(query_timeout_s=4.0, query_tries=1))
    bench.reply = lambda node, event: "many" if node == 2 else 1
    bench.multicast(1, Query(EVERYTHING, "", "sum", "binary"))
    bench.run()
    (answer,) = bench.answered
    assert answer.missing != ()
    assert answer.keys + sum(key in piece for piece in answer.missing for key in K[:3]) == 3


# The ring heals


@pytest.mark.parametrize("strategy", ["binary", "split", "cluster-first"])
def test_the_piece_waits_until_the_ring_has_healed(strategy):
    bench = Bench("suzaku", K[:8], settings=Settings(shun_s=100.0))
    bench.kill(4)
    query = Query(KeyRange(K[2], K[4]), "", strategy=strategy, reliable=True)
    bench.multicast(3, query)
    bench.run(until=9.0)
    assert bench.counts("spread.waits") > 0
    sent = len(bench.scatters())
    bench.repair()
    bench.run()
    assert len(bench.scatters()) == sent, "the healed ring says that nobody is left there"
    assert bench.counts("spread.unhealed") == 0


def test_who_joins_while_the_piece_waits_is_reached():
    bench = Bench("suzaku", [*K[:3], *K[4:8]], settings=Settings(shun_s=100.0))
    bench.ring = sorted([*bench.ring, *Bench("suzaku", [K[3]._replace(broker=99)]).ring], key=lambda ref: ref.key)
    ghost, joined = bench.ring[3], bench.ring[3].key._replace(broker=8)
    bench.load(bench.ring)
    bench.strangers_ok = True
    bench.multicast(3, Query(KeyRange(K[2], K[4]), "", reliable=True))
    bench.run(until=5.0)
    bench.load([*bench.ring[:3], type(ghost)(joined, 8, 1), *bench.ring[4:]])
    bench.run()
    assert bench.keys_received() == [K[2], joined]


def test_the_wait_is_bounded():
    bench = Bench("suzaku", K[:8], settings=Settings(shun_s=1000.0))
    bench.kill(4)
    bench.multicast(3, Query(KeyRange(K[2], K[4]), "", reliable=True))
    bench.run()
    assert bench.counts("spread.waits") == HEAL_TRIES_MAX
    assert bench.counts("spread.unhealed") == 1
    assert not bench.brokers[3].spread._upkeep._held


# Limits


def test_too_many_pieces_wait(monkeypatch):
    monkeypatch.setattr(upkeep, "HELD_MAX", 0)
    bench = Bench("suzaku", K[:8])
    bench.kill(4)
    bench.multicast(3, Query(KeyRange(K[2], K[4]), "", "count", reliable=True))
    bench.run()
    assert bench.counts("spread.held_full") > 0
    assert bench.answered[0].missing == (KeyRange(after(K[2]), K[4]),)


def test_too_many_duties_are_an_answer_at_once(monkeypatch):
    bench = Bench("suzaku", K[:2], settings=Settings(query_tries=1))
    bench.multicast(1, COUNT)
    monkeypatch.setattr(upkeep, "DUTIES_MAX", 0)
    bench.run()
    assert bench.counts("spread.duties_full") == 2
    assert bench.answered[0].keys == 1
    request = bench.multicast(1, COUNT)
    assert bench.answered[1].request == request
    assert bench.answered[1].missing == (EVERYTHING,)


def test_more_missing_ranges_than_fit_become_the_whole_piece(monkeypatch):
    monkeypatch.setattr(upkeep, "RANGES_MAX", 0)
    bench = Bench("suzaku", K[:3], settings=Settings(query_timeout_s=4.0, query_tries=0))
    bench.reply_delay_s = None
    bench.multicast(1, COUNT)
    bench.run()
    assert bench.counts("spread.missing_full") > 0
    assert bench.answered[0].keys == 0


def test_the_tables_are_empty_afterwards():
    bench = Bench("skipgraph", K, drop=0.1, jitter_s=0.2, seed=3)
    for reliable in (False, True):
        bench.multicast(1, Query(EVERYTHING, "", "count", reliable=reliable))
    bench.run()
    for broker in bench.brokers.values():
        kept = broker.spread._upkeep
        assert (kept._duties, kept._tickets, kept._held) == ({}, {}, {})
    assert tables.DUTIES_MAX > 0


def test_two_keys_of_one_broker_whose_replies_do_not_combine():
    keys = [number_key(number, 1) for number in range(2)]
    bench = Bench("suzaku", keys, settings=Settings(query_tries=0))
    bench.reply = lambda node, event: 1 if event.key == keys[0] else "many"
    bench.multicast(1, Query(EVERYTHING, "", "sum"))
    bench.run()
    assert [(a.value, a.keys, a.missing) for a in bench.answered] == [(1, 1, (KeyRange(keys[1], after(keys[1])),))]
    assert bench.counts("spread.uncombinable") == 1


def test_numbers_that_cannot_be_added_are_a_violation():
    bench = Bench("suzaku", K[:2], settings=Settings(query_tries=0))
    bench.reply = lambda node, event: 10**400 if node == 1 else 0.5
    bench.multicast(1, Query(EVERYTHING, "", "sum"))
    bench.run()
    assert bench.violations() == ["cannot reduce by sum"]
    assert bench.answered[0].keys == 1


@pytest.mark.parametrize("reduce", [None, "count"])
def test_no_room_to_acknowledge_is_waited_for_and_not_retried_at_once(monkeypatch, reduce):
    bench = Bench("suzaku", K[:8])
    monkeypatch.setattr(hops, "PENDING_MAX", 0)
    bench.multicast(1, Query(EVERYTHING, "", reduce, reliable=True))
    assert bench.counts("hops.refused") > 0
    assert bench.scatters() == []
    monkeypatch.undo()
    bench.run()
    assert bench.keys_received() == K[:8]


def test_a_piece_that_failed_too_often_is_given_up():
    bench = Bench("suzaku", K[:8])
    bench.kill(6)
    asked = Asked(1, 77, "", "binary", reliable=True)
    part = Part(Ref(K[4], 5, 1), KeyRange(K[4], K[6]), 64)
    bench.give(1, 5, Scatter(asked, (part,), TTL_HOPS - 1))
    bench.run()
    assert bench.counts("spread.ttl") == 1


def test_a_census_brings_a_bounded_number_home(monkeypatch):
    monkeypatch.setattr(upkeep, "OFFERS_MAX", 3)
    bench = Bench("skipgraph", K, values={key: {"free": 1.0} for key in K[1:]})
    bench.anycast(1, Query(EVERYTHING, "", condition=Condition("free", ">=", 1)))
    bench.run()
    assert bench.counts("spread.offers_full") > 0
    assert bench.selected[0].key in K[1:]


def test_forgetting_is_counted(monkeypatch):
    monkeypatch.setattr(tables, "DELIVERIES_MAX", 1)
    bench = Bench("suzaku", K[:2])
    for _ in range(2):
        bench.multicast(1, Query(EVERYTHING, "", reliable=True))
        bench.run()
    assert bench.counts("spread.forgotten") > 0
    assert len(bench.received) == 4
