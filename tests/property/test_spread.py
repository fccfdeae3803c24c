"""Spread over exact tables: every key in the range once, nobody else, whoever asks, however (overlay §4, §5, §11)."""

from hypothesis import given, settings
from hypothesis import strategies as st

from overlay_bench import OVERLAYS, Bench
from weft.overlay.api import Condition, Query
from weft.overlay.keys import ALM, EVERYTHING, Key, KeyRange, after, before, locality_range
from weft.overlay.spread.geometry import merge

STRATEGY_NAMES = ("binary", "split", "cluster-first", "delegate")
SITES = (("jp",), ("jp", "kyoto"), ("jp", "osaka"), ("us",))
LABEL = "free"


@st.composite
def rings(draw, keys_max: int = 3, brokers_max: int = 14) -> list[Key]:
    """Brokers at sites; each holds one or several keys over two topics and two ranks."""
    brokers = draw(st.lists(st.integers(1, 99), min_size=1, max_size=brokers_max, unique=True))
    places = st.sampled_from([(topic, rank) for topic in "ab" for rank in (-1, 0)])
    keys = []
    for broker in brokers:
        site = draw(st.sampled_from(SITES))
        for topic, rank in draw(st.lists(places, min_size=1, max_size=keys_max, unique=True)):
            keys.append(Key("L", topic, ALM, rank, site, broker))
    return sorted(keys)


@st.composite
def ranges(draw, keys: list[Key]) -> KeyRange:
    """Borders at, just below and just above keys, so that empty ranges and ranges of one are common."""
    borders = sorted({border for key in keys for border in (before(key), key, after(key))})
    low, high = sorted((draw(st.sampled_from(borders)), draw(st.sampled_from(borders))))
    return KeyRange(low, high)


@st.composite
def cases(draw, keys_max: int = 3) -> tuple[list[Key], KeyRange, int]:
    keys = draw(rings(keys_max))
    return keys, draw(ranges(keys)), draw(st.sampled_from(keys)).broker


overlays = st.sampled_from(sorted(OVERLAYS))
strategies = st.sampled_from(STRATEGY_NAMES)


def inside(keys: list[Key], piece: KeyRange) -> list[Key]:
    return [key for key in keys if key in piece]


@given(cases(), overlays, strategies, st.booleans())
@settings(max_examples=500)
def test_every_key_in_the_range_exactly_once(case, overlay, strategy, reliable):
    keys, piece, sender = case
    bench = Bench(overlay, keys)
    bench.multicast(sender, Query(piece, "hello", strategy=strategy, reliable=reliable))
    bench.run()
    assert bench.keys_received() == inside(keys, piece)
    assert {event.origin for event in bench.received} <= {sender}
    assert bench.violations() == []


@given(cases(), overlays, strategies, st.booleans(), st.sampled_from([0.0, 2.0]))
@settings(max_examples=500)
def test_answers_are_complete_and_counted_once(case, overlay, strategy, reliable, think_s):
    keys, piece, sender = case
    bench = Bench(overlay, keys)
    bench.reply_delay_s = think_s
    bench.reply = lambda node, event: (str(event.key),)
    request = bench.multicast(sender, Query(piece, "how are you", "union", strategy, reliable))
    bench.run()
    expected = inside(keys, piece)
    assert bench.keys_received() == expected
    (answer,) = bench.answered
    assert (answer.request, answer.keys, answer.missing) == (request, len(expected), ())
    assert sorted(answer.value or ()) == sorted(map(str, expected))
    assert bench.violations() == []
    assert bench.counts("spread.late") == 0


@given(cases(keys_max=1), overlays)
@settings(max_examples=300)
def test_binary_costs_a_single_key_node_two_messages_at_most(case, overlay):
    keys, piece, sender = case
    bench = Bench(overlay, keys)
    bench.multicast(sender, Query(piece, "", strategy="binary"))
    bench.run()
    sources = [source for source, _, _ in bench.scatters()]
    assert all(sources.count(source) <= 2 for source in set(sources))
    if not any(key.broker == sender and key in piece for key in keys):
        assert sources.count(sender) <= 1


@given(cases(keys_max=1), overlays)
@settings(max_examples=400)
def test_cluster_first_enters_each_other_cluster_exactly_once(case, overlay):
    keys, piece, sender = case
    bench = Bench(overlay, keys)
    bench.multicast(sender, Query(piece, "", strategy="cluster-first"))
    bench.run()
    place = {key.broker: key.locality for key in keys}
    clusters = {key.locality for key in inside(keys, piece)}
    entered = [place[to] for source, to, _ in bench.scatters() if place[source] != place[to] and place[to] in clusters]
    if place[sender] in clusters and any(key.broker == sender for key in inside(keys, piece)):
        assert len(entered) == len(clusters) - 1
    assert len(set(entered)) == len(entered)


@given(cases(), overlays, strategies, st.integers(0, 2**32), st.booleans())
@settings(max_examples=150)
def test_reliable_is_exactly_once_over_a_bad_network(case, overlay, strategy, seed, answers):
    keys, piece, sender = case
    bench = Bench(overlay, keys, seed=seed, drop=0.2, double=0.1, jitter_s=0.3)
    bench.multicast(sender, Query(piece, "", "count" if answers else None, strategy, reliable=True))
    bench.run()
    expected = inside(keys, piece)
    assert len(set(bench.keys_received())) == len(bench.received), "delivered twice"
    assert bench.violations() == []
    if answers:
        (answer,) = bench.answered
        reached = [key for key in expected if not any(key in gone for gone in answer.missing)]
        assert answer.keys == len(reached)
        assert (answer.value or 0) == len(reached)
        assert set(reached) <= set(bench.keys_received())
    if not answers or not answer.missing:
        assert bench.keys_received() == expected


@given(cases(), overlays, strategies, st.integers(0, 2**32))
@settings(max_examples=100)
def test_answers_count_nobody_twice_over_a_bad_network(case, overlay, strategy, seed):
    keys, piece, sender = case
    bench = Bench(overlay, keys, seed=seed, drop=0.1, double=0.1, jitter_s=0.3)
    bench.multicast(sender, Query(piece, "", "count", strategy))
    bench.run()
    (answer,) = bench.answered
    assert len(set(bench.keys_received())) == len(bench.received)
    covered = [key for key in inside(keys, piece) if not any(key in gone for gone in answer.missing)]
    assert (answer.value or 0) == answer.keys == len(covered)


@given(cases(), overlays, strategies, st.booleans(), st.data())
@settings(max_examples=200)
def test_dead_nodes_are_all_that_is_missing(case, overlay, strategy, reliable, data):
    keys, piece, sender = case
    others = sorted({key.broker for key in keys} - {sender})
    dead = data.draw(st.lists(st.sampled_from(others), max_size=3, unique=True)) if others else []
    bench = Bench(overlay, keys)
    bench.kill(*dead)
    bench.multicast(sender, Query(piece, "", "count", strategy, reliable))
    bench.run()
    alive = [key for key in inside(keys, piece) if key.broker not in dead]
    (answer,) = bench.answered
    assert list(answer.missing) == merge(answer.missing)
    lost = [key for key in alive if any(key in gone for gone in answer.missing)]
    assert answer.keys == len(alive) - len(lost)
    assert bench.keys_received() == sorted(set(bench.keys_received()))
    if overlay == "suzaku" and len([key for key in keys if key.broker in dead]) <= 1:  # else the ring may be cut in two
        assert lost == [], "a live node reported missing"
        assert bench.keys_received() == alive
    for key in inside(keys, piece):
        if key.broker in dead:
            assert any(key in gone for gone in answer.missing), "a dead node reported as answered"


@given(cases(), overlays, strategies, st.data())
@settings(max_examples=150)
def test_once_the_ring_has_healed_nothing_is_missing(case, overlay, strategy, data):
    keys, piece, sender = case
    others = sorted({key.broker for key in keys} - {sender})
    dead = data.draw(st.lists(st.sampled_from(others), max_size=2, unique=True)) if others else []
    bench = Bench(overlay, keys)
    bench.kill(*dead)
    bench.at(8.0, sender, lambda out: bench.repair())
    bench.multicast(sender, Query(piece, "", strategy=strategy, reliable=True))
    bench.run()
    assert bench.keys_received() == [key for key in inside(keys, piece) if key.broker not in dead]


@given(cases(), overlays, strategies, st.booleans())
@settings(max_examples=200)
def test_a_piece_never_leaves_its_range_and_never_goes_round_the_end(case, overlay, strategy, everything):
    """Wrap-around is never forwarded: whoever is asked has a key in his piece, or routes towards it by his floor."""
    keys, piece, sender = case
    span = EVERYTHING if everything else piece
    bench = Bench(overlay, keys)
    bench.multicast(sender, Query(span, "", "count", strategy))
    bench.run()
    for _, _, scatter in bench.scatters():
        for part in scatter.parts:
            assert span.low <= part.piece.low < part.piece.high <= span.high


@given(cases(), overlays, strategies, st.booleans(), st.data())
@settings(max_examples=200)
def test_only_those_who_satisfy_the_condition_deliver(case, overlay, strategy, stale_ok, data):
    keys, piece, sender = case
    free = data.draw(st.lists(st.integers(0, 2), min_size=len(keys), max_size=len(keys)))
    values = {key: {LABEL: float(value)} for key, value in zip(keys, free, strict=True)}
    bench = Bench(overlay, keys, values=values)
    query = Query(piece, "", "count", strategy, condition=Condition(LABEL, ">=", 1), stale_ok=stale_ok)
    bench.multicast(sender, query)
    bench.run()
    expected = [key for key in inside(keys, piece) if values[key][LABEL] >= 1]
    assert bench.keys_received() == expected
    (answer,) = bench.answered
    assert (answer.keys, answer.missing) == (len(expected), ())


@given(cases(keys_max=2))
@settings(max_examples=100)
def test_stale_values_save_messages_and_nothing_else(case):
    keys, piece, sender = case
    values = {key: {LABEL: float(key.broker % 3 == 0)} for key in keys}
    sent = []
    for stale_ok in (False, True):
        bench = Bench("suzaku", keys, values=values)
        condition = Condition(LABEL, ">=", 1)
        bench.multicast(sender, Query(piece, "", strategy="split", condition=condition, stale_ok=stale_ok))
        bench.run()
        sent.append(len(bench.scatters()))
    assert sent[1] <= sent[0]


@given(cases(), overlays, st.sampled_from(["many", "few", "close", "random"]), st.integers(0, 9), st.data())
@settings(max_examples=400)
def test_anycast_picks_one_that_matches_if_there_is_one(case, overlay, selection, seed, data):
    keys, piece, sender = case
    free = data.draw(st.lists(st.integers(0, 2), min_size=len(keys), max_size=len(keys)))
    values = {key: {LABEL: float(value)} for key, value in zip(keys, free, strict=True)}
    bench = Bench(overlay, keys, values=values, seed=seed)
    bench.reply = lambda node, event: str(event.key)
    request = bench.anycast(sender, Query(piece, "take this", condition=Condition(LABEL, ">=", 1)), selection)
    bench.run()
    matching = [key for key in inside(keys, piece) if values[key][LABEL] >= 1]
    (chosen,) = bench.selected
    assert chosen.request == request
    assert bench.violations() == []
    if matching:
        assert chosen.key in matching
        assert chosen.value == str(chosen.key)
        assert bench.keys_received() == [chosen.key]
    else:
        assert (chosen.key, bench.received) == (None, [])


@given(cases(), overlays, st.sampled_from(["many", "few", "close", "random"]), st.integers(0, 9), st.data())
@settings(max_examples=200)
def test_anycast_ends_whatever_the_values_say_and_whoever_refuses(case, overlay, selection, seed, data):
    keys, piece, sender = case
    believed = {key: {LABEL: 1.0} for key in keys}
    bench = Bench(overlay, keys, values=believed, seed=seed)
    free = data.draw(st.sets(st.sampled_from(keys)))
    willing = data.draw(st.sets(st.sampled_from(keys)))
    for broker in bench.brokers.values():
        broker.attributes = {key: {LABEL: float(key in free)} for key in broker.attributes}
    bench.reply = lambda node, event: "taken" if event.key in willing else None
    bench.anycast(sender, Query(piece, "", condition=Condition(LABEL, ">=", 1)), selection)
    bench.run()
    (chosen,) = bench.selected
    takers = [key for key in inside(keys, piece) if key in free and key in willing]
    assert chosen.key in takers if takers else chosen.key is None


@given(cases(), overlays, st.sampled_from(["many", "random"]), st.integers(0, 2**32), st.data())
@settings(max_examples=150)
def test_anycast_ends_when_brokers_die_and_messages_are_lost(case, overlay, selection, seed, data):
    keys, piece, sender = case
    others = sorted({key.broker for key in keys} - {sender})
    dead = data.draw(st.lists(st.sampled_from(others), max_size=len(others), unique=True)) if others else []
    bench = Bench(overlay, keys, values={key: {LABEL: 1.0} for key in keys}, seed=seed, drop=0.1, double=0.1)
    bench.kill(*dead)
    bench.anycast(sender, Query(piece, "", condition=Condition(LABEL, ">=", 1)), selection)
    bench.run()
    (chosen,) = bench.selected
    assert chosen.key is None or (chosen.key in piece and chosen.key.broker not in dead)


@given(cases(), overlays)
@settings(max_examples=100)
def test_the_same_seed_gives_the_same_messages(case, overlay):
    keys, piece, sender = case
    logs = []
    for _ in range(2):
        bench = Bench(overlay, keys, seed=5, drop=0.1, jitter_s=0.2)
        bench.multicast(sender, Query(piece, "", "count", reliable=True))
        bench.run()
        logs.append([repr(sent) for sent in bench.sent])
    assert logs[0] == logs[1]


def test_locality_is_what_the_tests_above_take_it_for():
    key = Key("L", "a", ALM, 0, ("jp",), 7)
    assert key in locality_range(key)
    assert key._replace(cluster=("jp", "kyoto")) not in locality_range(key)
