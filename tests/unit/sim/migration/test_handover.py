"""The rename hand-over: who knows what when, the order of keys, ranks; message by message."""

import pytest

from weft.core.errors import Misuse
from weft.core.ids import NodeId
from weft.core.rand import Rng
from weft.overlay.keys import ALM, OFM, PUB, topic_key
from weft.sim.des.engine import Simulation
from weft.sim.des.network import Uniform
from weft.sim.migration.handover import Began, MovedOver, Stopped, ring_of


def run(keys, fitting=False, seed=0, jitter_s=0.0):
    """The migration of all in alm, and the simulation after it; the order is looked at between all steps."""
    simulation, members = Simulation(seed, Uniform(0.01, jitter_s)), ring_of(keys, fitting)
    order = [key.broker for key in sorted(keys)]

    def in_order(simulation):
        held = [members[broker].key for broker in order]
        assert held == sorted(held)

    simulation.observers.append(in_order)
    for node, member in members.items():
        simulation.add(node, member)
    begins = max(key for key in keys if key.segment == ALM)
    simulation.do(begins.broker, lambda member, now, out: member.begin(now, out))
    simulation.run_idle()
    return simulation, members


def keys(count, segment=ALM, first=1, cluster=lambda number: (), rank=0):
    return [topic_key("t", segment, NodeId(n), cluster(n), rank) for n in range(first, first + count)]


@pytest.mark.parametrize("count", [1, 2, 3, 8, 13])
def test_messages_and_times(count):
    """Allow relayed and confirmed, a turn for each further member, Stop relayed; nobody waits for Renamed."""
    simulation, members = run(keys(count))
    assert all(member.key.segment == OFM for member in members.values())
    assert not any(member.publishes_alm for member in members.values())
    assert all(member.publishes_ofm for member in members.values())
    sent = simulation.sent
    assert (sent["Allow"], sent["Turn"], sent["Stop"]) == (count - 1, count - 1, count - 1)
    in_a_row = 3 * (count - 1) + (count > 1)
    last = max(at for at, _, event in simulation.upward if isinstance(event, Stopped))
    assert last == pytest.approx(0.01 * in_a_row)


def test_nobody_renames_before_all_may_publish_to_ofm():
    simulation, _ = run(keys(8), jitter_s=0.05)
    kinds = [type(event) for _, _, event in simulation.upward]
    assert kinds[0] is Began
    moved = [node for _, node, event in simulation.upward if isinstance(event, MovedOver)]
    assert moved == list(range(8, 0, -1))
    assert [node for _, node, event in simulation.upward if isinstance(event, Stopped)] == list(range(1, 9))


def test_ranks_keep_every_place_in_later_rounds():
    """Newcomers of any PeerID, before and after those that are in ofm."""
    rng = Rng(4)
    brokers = list(range(1, 31))
    rng.shuffle(brokers)
    for fitting in (False, True):
        ofm = []
        for number in range(5):
            alm = [topic_key("t", ALM, NodeId(b), (f"c{rng.below(3)}",)) for b in brokers[6 * number : 6 * number + 6]]
            _, members = run([*alm, *ofm], fitting, jitter_s=0.03)
            ofm = [member.key for member in members.values()]
        ranks = {key.rank for key in ofm}
        assert len(ranks) == (5 if fitting else 30)


def test_a_round_that_fits_takes_one_rank():
    _, members = run(keys(6, cluster=lambda number: (f"c{number // 3}",)), fitting=True)
    assert {member.key.rank for member in members.values()} == {0}


def test_other_topics_and_segments_are_not_taken_for_ours():
    others = [topic_key("s", ALM, NodeId(21)), topic_key("u", OFM, NodeId(22)), topic_key("t", PUB, NodeId(23))]
    simulation, members = run([*keys(3), *others])
    assert [members[NodeId(n)].key for n in (21, 22, 23)] == others
    assert simulation.sent["Turn"] == 2


def test_tables_hear_the_new_key_and_neighbours_keep_it():
    simulation, members = run(keys(8))
    assert simulation.sent["Renamed"] == sum(len(member.pointing) for member in members.values())
    for member in members.values():
        assert member.left.key == members[member.left.node].key
        assert member.right.key == members[member.right.node].key


def test_only_the_right_end_begins():
    members = ring_of(keys(3))
    simulation = Simulation(0)
    simulation.add(NodeId(2), members[NodeId(2)])
    simulation.do(NodeId(2), lambda member, now, out: member.begin(now, out))
    with pytest.raises(Misuse, match="right end"):
        simulation.run_idle()
    with pytest.raises(Misuse, match="one member"):
        ring_of([topic_key("t", ALM, NodeId(1)), topic_key("t", OFM, NodeId(1))])
