"""RELAY §5.2: multi-range forwarding on the multi-key Skip Graph."""

from itertools import count
from math import log2

from overlay_bench import Bench
from weft.core.rand import Rng, mix
from weft.overlay.api import Query
from weft.overlay.keys import KeyRange, after, number_key


def with_vector(digits: str) -> int:
    """A broker whose membership vector starts with ``digits``."""
    return next(node for node in count(1) if f"{mix(node):064b}".startswith(digits))


def test_figure_5_one_message_per_broker_carries_all_its_sub_ranges():
    """Node 00 cuts 0 ≤ key ≤ 6 at its keys into A, B, C; B and C go to 01 in one message; 01 hands C2 to 10, and it ends."""
    first, second, third = (with_vector(digits) for digits in ("00", "01", "10"))
    owner = {0: first, 1: first, 2: second, 3: first, 4: second, 5: third}
    key = {number: number_key(number, node) for number, node in owner.items()}
    end = number_key(7, 0)
    bench = Bench("skipgraph", key.values())
    bench.multicast(first, Query(KeyRange(key[0], end), "", strategy="binary"))
    bench.run()
    assert [(source, to, [part.piece for part in scatter.parts]) for source, to, scatter in bench.scatters()] == [
        (first, second, [KeyRange(after(key[1]), key[3]), KeyRange(after(key[3]), end)]),
        (second, third, [KeyRange(after(key[4]), end)]),
    ]
    assert bench.keys_received() == sorted(key.values())


def test_5_2_with_one_key_each_every_node_receives_the_query_once():
    """§5.2: each physical node receives the same query only once; footnote 5: and forwards it twice at most."""
    keys = [number_key(number, node + 1) for node, number in enumerate(range(0, 400, 4))]
    for sender in (1, 50, 100):
        bench = Bench("skipgraph", keys)
        bench.multicast(sender, Query(KeyRange(keys[10], keys[90]), "", strategy="binary"))
        bench.run()
        sources, targets = zip(*[(source, to) for source, to, _ in bench.scatters()], strict=True)
        assert len(set(targets)) == len(targets)
        assert max(map(sources.count, sources)) <= 2


def test_5_2_the_path_grows_with_the_logarithm_of_the_brokers():
    """§5.2: the path length is O(log N) of the physical nodes, whatever the number of virtual nodes."""
    rng = Rng(11)
    for brokers in (16, 64):
        for keys_each in (1, 4):
            numbers = rng.sample(range(10_000), brokers * keys_each)
            keys = [number_key(number, 1 + at % brokers) for at, number in enumerate(numbers)]
            bench = Bench("skipgraph", keys)
            bench.multicast(1, Query(KeyRange(number_key(0, 0), number_key(10_000, 0)), "", strategy="binary"))
            bench.run()
            assert bench.keys_received() == sorted(keys)
            assert max(event.hops for event in bench.received) <= 3 * log2(brokers)
