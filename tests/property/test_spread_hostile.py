"""Whatever a peer sends that is well typed: it is handled or it violates, nothing else is raised, and all comes to rest."""

from hypothesis import given, settings
from hypothesis import strategies as st

from overlay_bench import OVERLAYS, Bench
from weft.core.ids import NodeId
from weft.core.machine import Message
from weft.overlay.api import Condition, Query, Ref
from weft.overlay.hops import Hop
from weft.overlay.keys import EVERYTHING, KeyRange, after, number_key
from weft.overlay.spread.messages import Asked, Astray, Gather, Offer, Part, Pick, Picked, Returned, Scatter

RING = [number_key(number, 1 + number % 5) for number in range(10)]
BORDERS = [EVERYTHING.low, EVERYTHING.high, *RING, *(after(key) for key in RING)]

numbers = st.one_of(st.integers(-2, 70), st.integers(-(2**70), 2**70))
nodes = st.one_of(st.integers(1, 6), numbers).map(NodeId)
words = st.sampled_from(
    ["binary", "split", "cluster-first", "delegate", "count", "union", "min", "first", "many", "few", "close", "random"]
)
names = st.one_of(words, st.text(max_size=3))
keys = st.sampled_from(BORDERS)
pieces = st.builds(KeyRange, keys, keys)
refs = st.one_of(st.builds(Ref, keys, nodes, st.integers(0, 2)), st.sampled_from([Ref(k, k.broker, 1) for k in RING]))
payloads = st.recursive(
    st.one_of(st.none(), st.integers(), st.floats(), st.text(max_size=3)),
    lambda inner: st.one_of(
        st.lists(inner, max_size=2), st.lists(inner, max_size=2).map(tuple), st.dictionaries(st.text(max_size=2), inner)
    ),
    max_leaves=4,
)
floats = st.floats()
conditions = st.builds(Condition, st.sampled_from(["free", "x"]), st.sampled_from([">=", "<", "!=", "~"]), floats)
askeds = st.builds(
    Asked,
    nodes,
    numbers,
    payloads,
    names,
    st.none() | names,
    st.booleans(),
    st.none() | conditions,
    st.booleans(),
    st.booleans(),
)
parts = st.builds(Part, refs, pieces, numbers, st.none() | refs)
scatters = st.builds(
    Scatter, askeds, st.lists(parts, max_size=3).map(tuple), numbers, numbers, floats | st.just(5.0), st.booleans()
)
messages: st.SearchStrategy[Message] = st.one_of(
    scatters,
    st.builds(Returned, scatters),
    st.builds(
        Gather,
        numbers,
        payloads,
        numbers,
        st.lists(pieces, max_size=2).map(tuple),
        st.lists(st.builds(Offer, refs, floats), max_size=2).map(tuple),
    ),
    st.builds(Astray, refs),
    st.builds(
        Pick,
        askeds,
        names,
        pieces,
        pieces,
        refs,
        numbers,
        numbers,
        numbers,
        st.booleans(),
        st.booleans(),
        st.lists(pieces, max_size=3).map(tuple),
    ),
    st.builds(Picked, numbers, numbers, st.none() | keys, payloads, numbers, st.booleans()),
)
likely = st.builds(
    Scatter,
    st.builds(
        Asked,
        st.integers(1, 5).map(NodeId),
        st.integers(0, 20),
        payloads,
        st.sampled_from(["binary", "split", "cluster-first", "delegate"]),
        st.sampled_from(["count", "min"]),
        st.booleans(),
        st.none() | st.just(Condition("free", ">=", 1)),
        st.booleans(),
        st.just(False),
    ),
    st.lists(st.builds(Part, refs, pieces.map(lambda p: KeyRange(*sorted(p))), st.integers(0, 64)), max_size=1).map(
        tuple
    ),
    st.integers(1, 70),
    st.integers(1, 20),
    st.sampled_from([1e-9, 1.0, 80000.0]),
)


mail_bags = st.lists(
    st.tuples(st.integers(1, 5), st.integers(1, 5), messages | likely | st.builds(Returned, likely), st.booleans()),
    min_size=1,
    max_size=8,
)


@given(st.sampled_from(sorted(OVERLAYS)), mail_bags, st.booleans())
@settings(max_examples=1_500)
def test_nothing_but_violations(overlay, mail, reliable):
    bench = Bench(overlay, RING, values={key: {"free": float(key.broker % 2)} for key in RING})
    bench.strangers_ok = True
    bench.multicast(1, Query(EVERYTHING, "", "count", reliable=reliable))
    bench.anycast(1, Query(EVERYTHING, "", condition=Condition("free", ">=", 1)), "many")
    for turn, (source, to, message, wrapped) in enumerate(mail):
        if source != to:
            bench.give(source, to, Hop(turn, message) if wrapped else message)
        bench.run(until=bench.now + 0.005)
    bench.run(until=1e6)
    assert len(bench.answered) == 1
    assert len(bench.selected) == 1
