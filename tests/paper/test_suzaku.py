"""Suzaku (Abe & Teranishi) and Chord#, as SELECT §3.2 and §3.3 describe them, claim by claim."""

from math import ceil, log2

import numpy as np
import pytest

from rings import BARE, Net, grown, key, ref, whole
from weft.core.ids import NodeId
from weft.core.limits import LEFT_NEIGHBOURS_MAX
from weft.core.rand import Rng
from weft.overlay.api import Found
from weft.overlay.keys import number_key
from weft.overlay.settings import Settings
from weft.overlay.suzaku.geometry import hops_bound, top_level
from weft.overlay.suzaku.machine import Suzaku
from weft.overlay.suzaku.messages import Update, UpdateAck, UpdateDue
from weft.sim.convergence import suzaku_converged
from weft.sim.des.engine import Simulation
from weft.sim.des.network import Uniform
from weft.sim.whole import whole_suzaku

T = 60.0
REFRESHING = Settings(ping_interval_s=None, lost_interval_s=None, update_interval_s=T)
SIZES = [*range(2, 65), 100, *range(127, 131), *range(255, 258), *range(511, 514), 1000, 1023, 1024]


def fft(net: Net, broker: int) -> list[int]:
    return [entry.ref.node for entry in net.peers[broker].rights(key(broker))]


def bft(net: Net, broker: int) -> list[int]:
    return [entry.ref.node for entry in net.peers[broker].lefts(key(broker))]


def sweeping(count: int, seed: int = 1) -> Net:
    """Converged brokers, each with its periodic update at a random phase, announcing nothing yet."""
    net = whole(count, REFRESHING, seed)
    for broker, peer in net.peers.items():
        fingers = peer.fingers.tables[key(broker)]
        net.do(broker, lambda peer, now, out, fingers=fingers: peer.fingers._go_on(now, fingers, out))
    return net


def announce(net: Net, broker: int, value: float) -> None:
    net.do(broker, lambda peer, now, out: peer.aggregate(now, key(broker), {"free": value}, out))


# §3.2, the tables


def test_3_2_figure_5_the_fingers_of_n0_among_sixteen():
    """§3.2, figure 5: n is 16; N0's forward fingers are N1, N2, N4, N8. Broker b is the paper's N(b-1)."""
    net = whole(16)
    assert fft(net, 1) == [2, 3, 5, 9]
    assert bft(net, 1) == [16, 15, 13, 9]


@pytest.mark.parametrize("count", [2, 3, 5, 8, 13, 16])
def test_3_2_equation_1_each_finger_is_the_finger_of_a_finger(count):
    """§3.2, eq. 1: FFT[i] = FFT[i-1].node.getFFT(i-1); BFT mirrors it; i goes up to k = ceil(log2 n) - 1."""
    net = whole(count)
    for broker in net.peers:
        for table in (fft, bft):
            fingers = table(net, broker)
            assert len(fingers) == ceil(log2(count)), "levels 0…k"
            for level in range(1, len(fingers)):
                assert fingers[level] == table(net, fingers[level - 1])[level - 1]


@pytest.mark.parametrize("count", [2, 3, 4, 7, 8, 12, 20])
def test_3_2_joins_and_sweeps_make_these_tables_without_anybody_knowing_n(count):
    """§3.2: updates alone lead to the tables of eq. 1."""
    order = Rng(count).sample(range(1, count + 1), count)
    net = grown(order, Suzaku, REFRESHING)
    k = top_level(count)
    net.run(net.now + 4 * (k + 1) ** 2 * T)
    suzaku_converged(list(net.peers.values()))


# §3.2, updates


def test_3_2_a_newcomer_updates_fft_0_bft_0_fft_1_and_so_on():
    """§3.2: a joining node sends updates in the order FFT[0], BFT[0], FFT[1], BFT[1], …, FFT[k], BFT[k]."""
    net = grown(range(1, 16), Suzaku, REFRESHING)
    net.run(100 * T)
    mark = len(net.sent)
    net.join(16)
    net.settle()
    updates = [flight.message for flight in net.sent[mark:] if flight.kind == "Update" and flight.source == 16]
    assert [(update.forward, update.level) for update in updates] == [
        (forward, level) for level in range(4) for forward in (True, False)
    ]
    assert (fft(net, 16), bft(net, 16)) == ([1, 2, 4, 8], [15, 14, 12, 8]), "and has its tables at once"


def test_3_2_afterwards_one_forward_finger_is_refreshed_each_time():
    """§3.2: regular updates go to FFT[0], …, FFT[k], and start again; BFT is never asked: its nodes ask us."""
    net = sweeping(16)
    net.run(16 * T)
    for broker in net.peers:
        updates = [flight.message for flight in net.sent if flight.kind == "Update" and flight.source == broker]
        assert all(update.forward for update in updates)
        assert [update.level for update in updates] == [at % 4 for at in range(len(updates))]
        assert len(updates) in (15, 16)


def test_3_2_one_exchange_is_an_active_and_a_passive_update():
    """§3.2, figure 5: N0 updates FFT[2] by asking N4, and N4 updates its BFT[2], which points at N0."""
    net = whole(16)
    asker, asked = (net.peers[broker].fingers.tables[key(broker)] for broker in (1, 5))
    announce(net, 1, 1.0)
    announce(net, 5, 5.0)
    asked.put(False, 2, ref(16))
    net.do(1, lambda peer, now, out: peer.fingers._ask(now, asker, ref(5), 2, True, out))
    net.arrive(Update)
    assert asked.backward[2].ref == ref(1), "passive"
    assert asked.backward[2].values == {"free": 1.0}
    net.arrive(UpdateAck)
    assert asker.forward[2].values == {"free": 5.0}, "active"
    assert len(net.sent) == 2


def test_3_2_the_next_level_is_installed_when_it_has_answered_its_own_update():
    """§3.2: what FFT[i-1].node.getFFT(i-1) names becomes FFT[i] by an update of level i."""
    net = whole(16)
    fingers = net.peers[1].fingers.tables[key(1)]
    fingers.cut(True, 1)
    for level, answered in ((0, [2]), (1, [2, 3]), (2, [2, 3, 5]), (3, [2, 3, 5, 9])):
        at = fingers.following or ref(2)
        net.do(1, lambda peer, now, out, at=at, level=level: peer.fingers._ask(now, fingers, at, level, True, out))
        net.arrive(Update)
        assert fft(net, 1) == (answered[:-1] or [2])
        net.arrive(UpdateAck)
        assert fft(net, 1) == answered


def test_3_2_who_leaves_tells_those_who_point_at_it():
    """§3.2: the nodes with a pointer to a leaving one are told: their list travels with its SetR, its left neighbour tells."""
    net = sweeping(16)
    net.run(20 * T)
    net.leave(9)
    net.settle()
    told = {flight.to for flight in net.sent if flight.kind == "Replace"}
    assert told == {1, 5, 7, 10, 11, 13}, "8 itself takes its place"
    for broker in net.peers.keys() - {9}:
        assert 9 not in (*fft(net, broker), *bft(net, broker)), broker


def test_3_2_the_tables_heal_after_leaves_within_some_sweeps():
    """§3.2: updates fix the tables."""
    net = sweeping(16)
    net.run(10 * T)
    for broker in (4, 9, 14):
        net.leave(broker)
        net.settle()
    k = top_level(13)
    net.run(net.now + 4 * (k + 1) ** 2 * T)
    suzaku_converged([peer for peer in net.peers.values() if peer.keys()])


# Backups


def test_each_finger_has_up_to_four_backups_the_left_neighbours_of_its_node():
    """Suzaku: an entry holds the target's left neighbours, which stand nearest to where it stood."""
    net = sweeping(16)
    net.run(10 * T)
    for broker, peer in net.peers.items():
        for finger in peer.fingers.tables[key(broker)].forward[1:]:
            node = finger.ref.node
            assert [b.node for b in finger.backups] == [(node - 1 - step) % 16 + 1 for step in range(1, 5)]
            assert len(finger.backups) == LEFT_NEIGHBOURS_MAX


def test_when_a_fingers_node_dies_its_backup_stands_in():
    """Suzaku: lookups go on by the backup, until the next sweep."""
    net = sweeping(16)
    net.run(10 * T)
    net.do(1, lambda peer, now, out: peer.fingers.unreachable(now, ref(9), out))
    assert fft(net, 1) == [2, 3, 5, 8]
    net.do(1, lambda peer, now, out: peer.lookup(now, number_key(125, NodeId(1)), out))
    assert net.find("Seek").to == 8


# §3.3, values


@pytest.mark.parametrize("count", [4, 6, 8, 11, 16])
def test_3_3_converged_values_are_those_of_their_ranges(count):
    """§3.3: FFT[i] stands for the 2**i nodes from its own on, BFT[i] for 2**(i-1), one if i is 0."""
    net = sweeping(count)
    for broker in net.peers:
        announce(net, broker, float(1 << broker))
    k = top_level(count)
    net.run(net.now + ((k + 1) ** 2 + k + 1) * T)

    def total(start: int, length: int) -> float:
        return sum(float(1 << ((start - 1 + step) % count + 1)) for step in range(length))

    for broker, peer in net.peers.items():
        for entry in peer.rights(key(broker)):
            assert entry.values == {"free": total(entry.ref.node, 2**entry.level)}, (broker, entry)
        for entry in peer.lefts(key(broker)):
            assert entry.values == {"free": total(entry.ref.node, max(1, 2 ** (entry.level - 1)))}, (broker, entry)


@pytest.mark.parametrize("count", [2, 3, 5, 8, 9, 16])
def test_3_3_a_sweep_takes_k_plus_1_intervals(count):
    """§3.3: all of one node's FFT values are refreshed within (k+1)T."""
    net = sweeping(count)
    net.run(5 * T)
    mark, start, k = len(net.sent), net.now, top_level(count)
    net.run(start + (k + 1) * T)
    for broker in net.peers:
        levels = [f.message.level for f in net.sent[mark:] if f.kind == "Update" and f.source == broker]
        assert sorted(levels) == list(range(k + 1)), broker


@pytest.mark.parametrize("count", [2, 4, 8, 13, 16, 32])
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_3_3_a_changed_value_is_known_everywhere_within_k_plus_1_squared_intervals(count, seed):
    """§3.3: at worst (k+1)²T from a change until all values of all nodes are right."""
    net = sweeping(count, seed)
    k = top_level(count)
    for broker in net.peers:
        announce(net, broker, 1.0)
    net.run(2 * (k + 1) ** 2 * T)
    changed = 1 + Rng(seed, count).below(count)
    announce(net, changed, 1000.0)
    net.run(net.now + (k + 1) ** 2 * T)
    for broker, peer in net.peers.items():
        for entry in peer.rights(key(broker)):
            reach = [(entry.ref.node - 1 + step) % count + 1 for step in range(2**entry.level)]
            assert entry.values == {"free": sum(1000.0 if node == changed else 1.0 for node in reach)}, (broker, entry)


def test_3_3_a_value_that_has_not_come_yet_is_old_and_not_wrong_in_kind():
    """§3.3: values are hints: right after a change only the node itself knows."""
    net = sweeping(16)
    for broker in net.peers:
        announce(net, broker, 1.0)
    net.run(40 * T)
    announce(net, 9, 1000.0)
    assert net.peers[9].values(key(9)) == {"free": 1000.0}
    assert {value for entry in net.peers[1].rights(key(1)) for value in entry.values.values()} == {1.0, 2.0, 4.0, 8.0}


def test_3_3_the_examples_levels_are_off_by_one_its_ranges_are_not():
    """§3.3 says that the query for FFT[2] carries FFT[-1], FFT[0] and FFT[1]; by the definition of BFT[2], which stands for
    two nodes, it carries FFT[-1] and FFT[0], and it is the answer that goes up to FFT[1].
    """
    net = sweeping(16)
    for broker in net.peers:
        announce(net, broker, 1.0)
    net.run(40 * T)
    updates = [flight.message for flight in net.sent if flight.kind == "Update" and flight.message.level == 2]
    acks = {flight.message.number: flight.message for flight in net.sent if flight.kind == "UpdateAck"}
    assert updates[-1].values == {"free": 2.0}
    assert acks[updates[-1].number].values == {"free": 4.0}


def test_6_levels_that_no_query_uses_carry_no_values():
    """§6: a query over Nr nodes never uses level log2 Nr or above, so values stop there."""
    net = whole(32, Settings(ping_interval_s=None, lost_interval_s=None, update_interval_s=T, aggregate_levels=3))
    for broker, peer in net.peers.items():
        announce(net, broker, 1.0)
        fingers = peer.fingers.tables[key(broker)]
        net.do(broker, lambda peer, now, out, fingers=fingers: peer.fingers._go_on(now, fingers, out))
    net.run(30 * T)
    for broker, peer in net.peers.items():
        values = [entry.values for entry in peer.rights(key(broker))]
        assert values == [{"free": 1.0}, {"free": 2.0}, {"free": 4.0}, None, None]


# Lookups


def hops_of_all_pairs(count: int) -> "np.ndarray[tuple[int, int], np.dtype[np.int64]]":
    """``[asker, sought]`` → hops: each broker's own ``Contacts.floor``, which is what a Seek goes by, followed to the end."""
    peers = whole_suzaku({NodeId(b): [key(b)] for b in range(1, count + 1)}, BARE)
    keys = [key(b) for b in range(1, count + 1)]
    towards = np.empty((count, count), dtype=np.int64)
    for asker in range(count):
        floor = peers[NodeId(asker + 1)].contacts.floor
        towards[asker] = [floor(sought, 0.0).node - 1 for sought in keys]
    sought = np.arange(count)
    at = np.repeat(sought[:, None], count, axis=1)
    hops = np.zeros((count, count), dtype=np.int64)
    for _ in range(count):
        under_way = at != sought
        if not under_way.any():
            return hops
        hops += under_way
        at = towards[at, sought]
    raise AssertionError(f"lookups among {count} go round in circles")


@pytest.mark.parametrize("count", SIZES)
def test_a_converged_lookup_takes_at_most_ceil_log2_n_minus_1_hops(count):
    """Suzaku: lookups between all pairs of n nodes need ceil(log2 n) - 1 hops at most (n = 2: the other is one hop away)."""
    bound = ceil(log2(count)) - 1 if count > 2 else 1
    most = hops_of_all_pairs(count).max()
    assert most <= bound == hops_bound(count)


@pytest.mark.parametrize("count", [16, 64, 256, 1024])
def test_the_bound_is_met_and_one_table_alone_would_not_keep_it(count):
    """Suzaku beside Chord#: with the backward table the worst of 2**m nodes is m - 1 hops; forward alone it is m."""
    assert hops_of_all_pairs(count).max() == log2(count) - 1
    steps = [2**level for level in range(top_level(count) + 1)]
    forward = [0] * count
    for distance in range(1, count):
        forward[distance] = 1 + forward[distance - max(step for step in steps if step <= distance)]
    assert max(forward) == log2(count)


@pytest.mark.parametrize("count", [2, 3, 5, 16, 33, 64, 129, 512])
def test_lookups_in_the_simulator_keep_the_bound_and_find_the_place(count):
    """The same by messages: real machines, keys between keys too, and the hops that the answer counts."""
    simulation = Simulation(count, Uniform(0.01, 0.01))
    for node, peer in whole_suzaku({NodeId(b): [key(b)] for b in range(1, count + 1)}, BARE).items():
        simulation.add(node, peer)
    rng = Rng(count, 5)
    wanted = {}
    for _ in range(200):
        asker, place, offset = NodeId(1 + rng.below(count)), 1 + rng.below(count), rng.below(10)
        sought = number_key(10 * place + offset, NodeId(place))
        simulation.do(
            asker,
            lambda peer, now, out, asker=asker, sought=sought, place=place: wanted.update(
                {(asker, peer.lookup(now, sought, out)): place}
            ),
        )
    simulation.run_idle(timers=False)
    found = {(node, event.request): event for _, node, event in simulation.upward if isinstance(event, Found)}
    assert found.keys() == wanted.keys()
    assert {asked: event.at.node for asked, event in found.items()} == wanted
    assert max(event.hops for event in found.values()) <= hops_bound(count)
    assert simulation.sent["Seek"] == sum(event.hops for event in found.values())


def test_an_update_is_due_once_per_interval_whatever_happens():
    """§3.2: T is the interval of one node's updates: a failed one costs its turn, no more."""
    net = sweeping(8)
    net.run(2 * T)
    net.crash(5)
    net.run(12 * T)
    rounds = [at for at in net.peers[1].local.timers.armed() if isinstance(at, UpdateDue)]
    assert len(rounds) == 1
