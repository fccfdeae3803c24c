"""SELECT: range queries, the two selection methods and the selection logics, as the paper's own examples show them."""

import pytest

from overlay_bench import Bench
from weft.overlay.api import Condition, Query, Ref
from weft.overlay.keys import ALM, Key, KeyRange, after, number_key
from weft.overlay.spread.geometry import arcs
from weft.overlay.spread.selection import Candidate, alone, weights

N = [number_key(number, number + 1) for number in range(16)]


def topic(name: str, cluster: str, broker: int) -> Key:
    """``c1|Edge1|B1`` of the paper; the brokers' own nodes B0…B6 sort below all topics."""
    return Key("L", name, ALM, 0, (cluster,) if cluster else (), broker)


# Figure 6's ring, in key order: the brokers' own nodes, then the components'. Broker Bi is our broker i + 1.
B = [topic("B", "", number + 1) for number in range(7)]
C1_CLOUD1_B6 = topic("c1", "Cloud1", 7)
C1_EDGE1 = {number: topic("c1", "Edge1", number + 1) for number in (1, 2, 3, 4)}
C1_EDGE2_B5 = topic("c1", "Edge2", 6)
REST = [topic("c2", "Edge1", 3), topic("c2", "Edge2", 6), topic("c3", "Cloud1", 7)]
FIGURE_6 = [*B, C1_CLOUD1_B6, *C1_EDGE1.values(), C1_EDGE2_B5, *REST]
LABELS = {key: f"{key.literals}|{key.cluster[0]}" for key in FIGURE_6 if key.cluster}
COUNTS = {key: {label: 1.0} for key, label in LABELS.items()}
EDGE1 = KeyRange(C1_EDGE1[1]._replace(broker=0), after(C1_EDGE1[4]))
IN_EDGE1 = Condition("c1|Edge1", ">=", 1)


def test_3_2_the_range_is_cut_at_the_keys_of_the_finger_table():
    """§3.2: N0 delivers to N2…N8; N2, N4 and N8 get [N2, N4), [N4, N8) and [N8, N9)."""
    bench = Bench("suzaku", N)
    bench.multicast(1, Query(KeyRange(N[2], N[9]), "", strategy="split"))
    first = [part for source, _, scatter in bench.scatters() for part in scatter.parts if source == 1]
    assert [(part.to.key, part.piece) for part in first] == [
        (N[2], KeyRange(N[2], N[4])),
        (N[4], KeyRange(N[4], N[8])),
        (N[8], KeyRange(N[8], N[9])),
    ]
    bench.run()
    assert bench.keys_received() == N[2:9]
    assert len(bench.scatters()) == 7


def test_3_2_the_reply_traces_back_the_path_of_the_query():
    """§3.2: the reply goes back to N0 along the delivery path, aggregated on the way: one answer for each message."""
    bench = Bench("suzaku", N)
    bench.multicast(1, Query(KeyRange(N[2], N[9]), "", "count", "split"))
    bench.run()
    there = sorted((source, to) for source, to, _ in bench.scatters())
    back = sorted((to, source) for source, to, _ in bench.gathers())
    assert there == back
    assert bench.answered[0].value == 7


def test_3_2_delegate_sends_once_into_the_cluster_and_spreads_from_there():
    """§3.2: B0 delegates to c1|Edge1|B1, which sends to B2 and B3; B3 sends to B4."""
    bench = Bench("suzaku", FIGURE_6)
    bench.multicast(1, Query(EDGE1, "", strategy="delegate"))
    bench.run()
    paths = [(source - 1, to - 1) for source, to, _ in bench.scatters()]
    assert paths == [(0, 1), (1, 2), (1, 3), (3, 4)]


def test_table_1_what_each_entry_speaks_for():
    """Table 1: the aggregation ranges and values of the finger table of c1|Edge1|B1."""
    bench = Bench("suzaku", FIGURE_6, values=COUNTS)
    key = C1_EDGE1[1]
    row = bench.brokers[2].rows[key]
    spoken = [
        (entry.ref.key, next((arc.low, arc.high) for arc in ranges))
        for entry, ranges in arcs(key, row.rights, row.lefts)
    ]
    assert spoken == [
        (C1_EDGE1[2], (C1_EDGE1[2], C1_EDGE1[3])),
        (C1_EDGE1[3], (C1_EDGE1[3], C1_EDGE2_B5)),
        (C1_EDGE2_B5, spoken[2][1]),  # up to B0, over the ring's end
        (B[0], (B[0], key)),
        (C1_CLOUD1_B6, (C1_CLOUD1_B6, key)),
        (B[6], (B[6], C1_CLOUD1_B6)),
        (B[4], (B[4], B[6])),
        (B[0], (B[0], B[4])),
    ]
    assert row.rights[1].values == {"c1|Edge1": 2}
    assert row.rights[2].values == {"c1|Edge2": 1, "c2|Edge1": 1, "c2|Edge2": 1, "c3|Cloud1": 1}
    assert row.rights[3].values == {"c1|Cloud1": 1}


def test_3_4_1_multicast_asks_each_candidate_once_and_reserves_one():
    """§3.4.1: InfoReq to all candidates once, aggregated InfoRep, then one reservation request."""
    bench = Bench(
        "skipgraph", FIGURE_6, values=COUNTS
    )  # no aggregated values there: Anycast has no candidate but itself
    bench.values = {**COUNTS, C1_EDGE1[1]: {}}
    bench.repair()
    bench.anycast(2, Query(EDGE1, "reserve", condition=IN_EDGE1), "many")
    bench.run()
    (selected,) = bench.selected
    assert selected.by == "multicast"
    assert selected.key in C1_EDGE1.values()
    assert sorted(to - 1 for _, to, _ in bench.scatters()) == [2, 3, 4]
    assert len(bench.picks()) == 1


@pytest.mark.parametrize("seed", range(30))
def test_figure_7_anycast_delivers_in_two_hops(seed):
    """§3.4.2, figure 7: c1|Edge1|B1 picks FFT[0] or FFT[1], and there B3 picks itself or B4: two hops at most."""
    bench = Bench("suzaku", FIGURE_6, values={**COUNTS, C1_EDGE1[1]: {}}, seed=seed)
    bench.anycast(2, Query(EDGE1, "reserve", condition=IN_EDGE1), "many")
    bench.run()
    (selected,) = bench.selected
    assert selected.by == "anycast"
    assert selected.key in {C1_EDGE1[2], C1_EDGE1[3], C1_EDGE1[4]}
    assert selected.hops == {2: 1, 3: 1, 4: 2}[selected.key.broker - 1]
    assert next(pick.scope for _, _, pick in bench.picks()) in (
        KeyRange(C1_EDGE1[2], C1_EDGE1[3]),
        KeyRange(C1_EDGE1[3], EDGE1.high),
    )


def test_figure_7_the_larger_value_is_picked_more_often():
    """§3.4.2: FFT[1] speaks for two candidates, FFT[0] for one: Many goes there two times in three."""
    first = []
    for seed in range(300):
        bench = Bench("suzaku", FIGURE_6, values={**COUNTS, C1_EDGE1[1]: {}}, seed=seed)
        bench.anycast(2, Query(EDGE1, "", condition=IN_EDGE1), "many")
        first.append(bench.picks()[0][1] - 1)
    assert 170 < first.count(3) < 230
    assert first.count(2) + first.count(3) == 300


def test_3_4_2_a_sender_outside_delegates_first():
    """§3.4: in both methods a sender first hands the selection to a node in the search range."""
    bench = Bench("suzaku", FIGURE_6, values=COUNTS)
    bench.anycast(1, Query(EDGE1, "", condition=IN_EDGE1), "close")
    (_, to, pick) = bench.picks()[0]
    assert (to - 1, pick.scope) == (1, EDGE1)
    bench.run()
    assert bench.selected[0].by == "anycast"


def candidates(*rows: tuple[int, float]) -> list[Candidate]:
    return [Candidate(Ref(N[0], N[0].broker, 1), level, value, alone(N[0])) for level, value in rows]


@pytest.mark.parametrize(
    ("selection", "expected"),
    [("many", [1, 0, 4, 2]), ("few", [4, 5, 1, 3]), ("close", [4, 3, 2, 1]), ("random", [1, 1, 1, 1])],
)
def test_algorithm_2_weights(selection, expected):
    """§4.2: Many by value; Few by (max + 1) − value; Close by (maxLevel + 1) − level, ourselves at level −1."""
    assert weights(selection, candidates((-1, 1), (0, 0), (1, 4), (2, 2))) == expected


def test_4_2_random_does_not_look_at_values():
    """§4.2: MATCH does not filter for Random; every entry that meets the range may be picked."""
    nothing = {key: {"c1|Edge1": 0.0} for key in FIGURE_6}
    picked = set()
    for seed in range(40):
        bench = Bench("suzaku", FIGURE_6, values=nothing, seed=seed)
        bench.anycast(2, Query(EDGE1, "", condition=IN_EDGE1), "random")
        picked.update(to - 1 for _, to, _ in bench.picks()[:1])
    assert picked >= {2, 3}
