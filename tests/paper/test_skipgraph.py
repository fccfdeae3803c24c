"""Skip Graph (Aspnes & Shah), multi-key (Konishi et al.), as RELAY §5.1 and §5.2 describe it, claim by claim."""

from itertools import product
from math import log2

import pytest

from rings import Net, key, ref
from skipgraph_bench import BARE, QUICK, Rings
from weft.core.ids import NodeId
from weft.overlay.keys import number_key
from weft.overlay.ring.messages import Kind, SetR
from weft.overlay.skipgraph.geometry import common_prefix, prefix
from weft.overlay.skipgraph.machine import SkipGraph
from weft.overlay.skipgraph.messages import Met, Standing, Step, Stepped
from weft.sim.des.trace import Level

TOP = BARE.membership_digits


def vector(digits: str) -> int:
    """A membership vector that begins with ``digits``."""
    return int(digits.ljust(TOP, "0"), 2)


def said(rings: Rings, kind: type) -> list[object]:
    """The messages of a kind, in the order in which they arrived."""
    return [step.what for step in rings.simulation.trace.steps() if isinstance(step.what, kind)]


def members(rings: Rings, level: int) -> dict[int, set[int]]:
    """The rings of a level, by their prefix: which keys, found by right pointers."""
    found: dict[int, set[int]] = {}
    for peer in rings.peers.values():
        for (at, held), link in peer.ring.links.items():
            if at == level:
                found.setdefault(prefix(peer.vector, level), set()).update({held, link.right.key, link.left.key})
    return found


# RELAY §5.1


def test_5_1_level_0_links_all_in_key_order():
    """§5.1: level 0 is a doubly linked list of all nodes, sorted by key."""
    rings = Rings(12, seed=1, settings=BARE).join_all(0.5)
    every = sorted(rings.keys)
    for place, held in enumerate(every):
        link = rings.peers[held.broker].ring.links[0, held]
        assert (link.left.key, link.right.key) == (every[place - 1], every[(place + 1) % len(every)])


def test_5_1_figure_4_level_i_links_those_who_share_i_digits():
    """§5.1, figure 4: in level i a node is linked with those whose vectors have the same first i digits."""
    vectors = [vector("".join(digits)) for digits in product("01", repeat=3)]
    rings = Rings(8, seed=2, settings=BARE, vectors=vectors).join_all(0.5)
    for level in range(1, 3):
        for shared, keys in members(rings, level).items():
            assert keys == {held for held in rings.keys if prefix(rings.peers[held.broker].vector, level) == shared}
            assert len(keys) == 8 >> level
    assert members(rings, 3) == {}, "nobody shares three digits with anybody"


def test_5_1_tables_grow_with_the_logarithm_of_the_nodes():
    """§5.1: the size of the routing table is O(log N)."""
    for nodes in (16, 64, 256):
        rings = Rings(nodes, seed=nodes, settings=BARE).join_all(0.2)
        heights = [peer.height(held) for peer in rings.peers.values() for held in peer.keys()]
        assert sum(heights) / nodes < 1.5 * log2(nodes) + 2
        assert max(heights) < 3 * log2(nodes) + 3


def test_5_1_paths_grow_with_the_logarithm_of_the_nodes():
    """§5.1: the path length of a query is O(log N)."""
    for nodes in (16, 64, 256):
        rings = Rings(nodes, seed=nodes, settings=BARE).join_all(0.2)
        hops = [found.hops for found in rings.lookups(60)]
        assert sum(hops) / len(hops) < 1.2 * log2(nodes)
        assert max(hops) < 3 * log2(nodes)


# Insertion and deletion


def test_insertion_is_ddll_at_level_0_then_walk_and_ddll_at_each_level():
    """Aspnes & Shah, with DDLL: at level i walk until somebody of level i+1 is met, and insert beside that one there."""
    vectors = [vector("000"), vector("111"), vector("001"), vector("110"), vector("000001")]
    keys = [number_key(10 * node, NodeId(node)) for node in range(1, 6)]
    rings = Rings(5, keys, settings=BARE, vectors=vectors, trace=Level.FULL).join_all(0.5)
    newcomer = keys[4]
    ours = [step.what for step in rings.simulation.trace.steps() if step.source == 5 or touches(step.what, newcomer)]
    inserted = [m.level for m in ours if isinstance(m, SetR) and m.new.key == newcomer and m.kind is Kind.INSERT]
    assert inserted == list(range(common_prefix(vectors[4], vectors[0]) + 1)), "level 0 up to what is shared with 1"
    for level in inserted[1:]:
        met = next(m for m in ours if isinstance(m, Stepped) and m.level == level - 1 and m.met is Met.MATE)
        walked = [m for m in ours if isinstance(m, Step) and m.origin.key == newcomer and m.level == level - 1]
        beside = next(m for m in ours if isinstance(m, SetR) and m.level == level and m.new.key == newcomer)
        assert walked, "one level below"
        assert beside.cur == met.source, "the mate becomes the right neighbour"


def touches(message: object, key: object) -> bool:
    return isinstance(message, Stepped) and message.at.key == key


def test_a_walk_ends_at_the_first_who_shares_more():
    """Aspnes & Shah: over 2, 3 and 4, who do not share the first digit, to 5, who does."""
    vectors = [vector(digits) for digits in ("0", "1", "10", "11", "01")]
    keys = [number_key(10 * node, NodeId(node)) for node in (2, 3, 4, 5, 1)]
    rings = Rings(5, keys, settings=BARE, vectors=vectors, trace=Level.FULL).join_all(0.5)
    steps = [step for step in said(rings, Step) if step.origin.key.broker == 1 and step.level == 0]
    assert [step.at.key.broker for step in steps] == [2, 3, 4, 5]
    assert [step.hops for step in steps] == [1, 2, 3, 4]
    assert [answer.met for answer in said(rings, Stepped) if answer.at.key.broker == 1 and answer.level == 0] == [
        Met.NOBODY,
        Met.NOBODY,
        Met.NOBODY,
        Met.MATE,
    ]


def test_deletion_is_ddll_from_the_top_level_down():
    """Aspnes & Shah: a node that leaves is never in a level above one that it has left: a walk does not end in nothing."""
    rings = Rings(16, seed=7, settings=BARE, trace=Level.FULL).join_all(0.5)
    leaving = max(rings.keys, key=lambda held: rings.peers[held.broker].height(held))
    height = rings.peers[leaving.broker].height(leaving)
    assert height > 2
    rings.leave(leaving)
    rings.run(10)
    levels = [m.level for m in said(rings, SetR) if m.kind is Kind.DELETE and m.cur.key == leaving]
    assert levels == list(range(height, -1, -1))
    assert rings.wrong() == []


# Two walkers


def walking(hops: int) -> Net:
    """Broker 1 is on its way along level 0, and has asked ``hops`` nodes in vain but for the last, which has not answered."""
    net = Net(lambda node, settings, seed, run: SkipGraph(node, settings, seed, run, vector=vector("10")))
    net.join(1, None)
    link = net.link(1)
    link.left, link.right = ref(9), ref(2)
    tower = net.peers[1].levels.towers.by_key[key(1)]
    net.do(1, lambda peer, now, out: peer.levels._walks.right(now, tower, 0, out))
    for _ in range(hops - 1):
        step = net.lose(Step).message
        following = ref(step.at.node + 1)
        net.give(step.at.node, 1, Stepped(step.origin, 0, True, step.number, step.at, Met.NOBODY, following))
    return net


def meet(net: Net, hops: int) -> Met:
    """Broker 9, of the same first digit, comes to broker 1 on a walk of its own; what it is told."""
    step = Step(ref(1), 0, ref(9), vector("11"), Standing.NONE, True, hops, 1)
    (answer,) = [flight.message for flight in net.give(9, 1, step) if flight.kind == "Stepped"]
    return answer.met


def test_of_two_walkers_that_meet_the_one_that_has_walked_further_wins():
    """Ours has walked three steps: one of two is turned away; to one of four we give in, found the ring, and take it in."""
    net = walking(3)
    assert meet(net, 2) is Met.RIVAL
    assert (1, key(1)) not in net.peers[1].ring.links
    assert meet(net, 4) is Met.MATE
    assert net.link(1, level=1).right == ref(1), "founded, for the winner to insert itself"
    assert not net.peers[1].levels.towers.by_key[key(1)].walks, "our own walk is over"


def test_the_other_backs_off_doubling_with_jitter():
    """A walker that is turned away waits for about twice as long each time."""
    net = walking(1)
    waits = []
    for _ in range(6):
        step = net.lose(Step).message
        net.give(step.at.node, 1, Stepped(step.origin, 0, True, step.number, step.at, Met.RIVAL, step.at))
        waits.append(net.peers[1].deadline - net.now)
        net.pass_time(net.peers[1].deadline)
    means = [BARE.retry_wait_s * 2**n for n in range(6)]
    assert all(0.5 * mean <= wait <= 1.5 * mean for wait, mean in zip(waits, means, strict=True)), waits
    assert len({wait / mean for wait, mean in zip(waits, means, strict=True)}) == 6, "jitter"


@pytest.mark.parametrize("seed", range(8))
def test_two_who_look_for_each_other_found_one_ring(seed):
    """Both are the first of their prefix and walk at once: there is one ring of the two, not two rings of one."""
    vectors = [vector("0"), vector("10"), vector("0001"), vector("11")]
    keys = [number_key(10 * node, NodeId(node)) for node in (1, 3, 2, 4)]
    rings = Rings(4, keys, seed=seed, vectors=vectors, trace=Level.FULL).join_all(0.0)
    rings.settle(30)
    assert set(map(len, members(rings, 1).values())) == {2}
    assert rings.wrong() == []


# RELAY §5.2


def test_5_2_all_keys_of_a_broker_have_its_one_vector():
    """§5.2: virtual nodes of one physical node have the same vector, so they are in the same rings."""
    rings = Rings(4, 5, seed=3, settings=BARE).join_all(1.0)
    for peer in rings.peers.values():
        heights = {peer.height(held) for held in peer.keys()}
        assert len(heights) == 1
        (height,) = heights
        for level in range(height + 1):
            assert {held for at, held in peer.ring.links if at == level} == set(peer.keys())


def test_5_2_a_ring_of_our_own_keys_only_ends_our_height():
    """§5.2: two brokers that share three digits have three levels, however many keys: above them each would be by itself."""
    rings = Rings(2, 6, seed=4, vectors=[vector("0110"), vector("0111")]).join_all(0.5)
    rings.settle(60)
    assert {peer.height(held) for peer in rings.peers.values() for held in peer.keys()} == {3}


def test_5_2_who_is_alone_has_level_0_and_nothing_else():
    """§5.2: one broker with many keys is a ring of its own keys at level 0 already; it walks nowhere."""
    rings = Rings(1, 10, seed=5, settings=QUICK).join_all(0.5)
    rings.settle(30)
    assert {level for level, _ in rings.peers[NodeId(1)].ring.links} == {0}
    assert rings.simulation.sent["SetL"] > 0, "they are inserted beside each other all the same"


def test_5_2_the_height_falls_again_when_the_company_has_gone():
    """§5.2, after a leave: level i is kept only as long as it holds a second broker."""
    rings = Rings(3, 2, seed=6, vectors=[vector("00"), vector("001"), vector("1")]).join_all(0.5)
    rings.settle(60)
    assert {rings.peers[NodeId(1)].height(held) for held in rings.peers[NodeId(1)].keys()} == {2}
    for held in [held for held in rings.keys if held.broker == 2]:
        rings.leave(held)
    rings.run(30)
    rings.settle(60)
    assert {rings.peers[NodeId(1)].height(held) for held in rings.peers[NodeId(1)].keys()} == {0}
