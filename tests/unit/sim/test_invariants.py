"""Each of I1–I5 holds for a ring of real machines, and says who is concerned once a pointer or a number is bent."""

import pytest

from rings import Net, grown, key, ref
from weft.core.ids import NodeId
from weft.core.machine import Outbox
from weft.overlay.ring.messages import Seq, SetL, SetRAck, Status
from weft.overlay.ring.tables import Link
from weft.sim.invariants import Broken, RingCheck, describe, no_violations, short


@pytest.fixture
def net() -> Net:
    """Brokers 1, 2, 3, 4, joined one after the other."""
    return grown([1, 3, 2, 4])


def unfailed(net: Net) -> None:
    RingCheck().unfailed(net.peers.values(), [(NodeId(f.source), NodeId(f.to), f.message) for f in net.flying])


def newcomer(net: Net, broker: int, left: int, right: int) -> Link:
    """Broker ``broker`` is on its way in, and nobody has heard of it."""
    net.add(broker)
    link = Link(ref(broker), 0, Status.INS, left=net.link(left).me, right=net.link(right).me)
    net.peers[broker].ring.links[0, key(broker)] = link
    return link


def test_a_ring_that_grew_has_all_of_them(net):
    unfailed(net)
    RingCheck().at_rest(net.peers.values())
    check = RingCheck()
    for node in net.peers:
        check.always(net.peers, NodeId(node))


def test_nobody_and_a_ring_of_one_are_rings():
    RingCheck().at_rest([])
    RingCheck().at_rest(grown([1]).peers.values())


def test_i1_a_pointer_at_somebody_who_is_not_there(net):
    net.link(2).right = ref(9)
    with pytest.raises(Broken, match=r"I1: 20@2#1 points at 90@9#1, which is not there"):
        unfailed(net)


def test_i1_a_pointer_that_passes_somebody_by(net):
    net.link(2).right = net.link(4).me
    net.link(2).right_seq = net.link(4).left_seq
    with pytest.raises(Broken, match="I1: not on the cycle: 30@3#1"):
        unfailed(net)


def test_i1_pointers_that_go_round_twice(net):
    for broker, right in ((1, 3), (3, 2), (2, 4), (4, 1)):
        net.link(broker).right = net.link(right).me
    with pytest.raises(Broken, match="I1: right pointers go round 2 times"):
        unfailed(net)


def test_i1_pointers_that_never_come_back(net):
    net.link(4).right = net.link(3).me
    with pytest.raises(Broken, match="I1: right pointers never come back to 10@1#1"):
        unfailed(net)


def test_i2_a_number_below_the_right_neighbours(net):
    net.link(3).left_seq = net.link(2).right_seq.next()
    with pytest.raises(Broken, match=r"I2: 20@2#1\.rseq < 30@3#1\.lseq"):
        unfailed(net)


def test_i2_numbers_that_differ_though_no_set_l_is_under_way(net):
    net.link(2).right_seq = net.link(3).left_seq.next()
    with pytest.raises(Broken, match="I2: SetL to 30@3#1 and its numbers disagree"):
        unfailed(net)


def test_i2_numbers_that_agree_though_a_newer_set_l_is_under_way(net):
    set_l = SetL(net.link(3).me, 0, net.link(2).me, net.link(3).left_seq.next(), ())
    flying = [(NodeId(2), NodeId(3), set_l)]
    with pytest.raises(Broken, match="I2: SetL to 30@3#1"):
        RingCheck().unfailed(net.peers.values(), flying)
    old = [(NodeId(2), NodeId(3), SetL(net.link(3).me, 0, net.link(2).me, Seq(0, 0), ()))]
    RingCheck().unfailed(net.peers.values(), old)


def test_i2_numbers_that_agree_on_another_left_neighbour(net):
    net.link(3).left = net.link(1).me
    with pytest.raises(Broken, match="I2: 30@3#1 took another SetL for 20@2#1's"):
        unfailed(net)


def test_i2_while_a_node_joins(net):
    """Between a SetR's arrival and that of its SetL the numbers differ, and that is right."""
    net.join(5)
    net.arrive("Seek")
    while "SetL" not in net.kinds():
        net.deliver(net.flying.pop(0))
        unfailed(net)
    net.lose("SetL")
    net.settle()
    with pytest.raises(Broken, match="I2: SetL to 10@1#1 and its numbers disagree"):
        unfailed(net)


def test_i3_a_number_that_falls(net):
    check = RingCheck()
    link = net.link(2)
    link.left_seq = Seq(1, 4)
    check.always(net.peers, NodeId(2))
    link.left_seq = Seq(2, 0)
    check.always(net.peers, NodeId(2))
    link.left_seq = Seq(1, 9)
    with pytest.raises(Broken, match=r"I3: lseq of 20@2#1 fell from \(2, 0\) to \(1, 9\)"):
        check.always(net.peers, NodeId(2))


def test_i3_is_about_one_life(net):
    """Who comes back after a crash is another node, and counts from the start."""
    check = RingCheck()
    net.link(2).left_seq = Seq(7, 7)
    check.always(net.peers, NodeId(2))
    net.peers[2].ring.links[0, key(2)] = Link(ref(2, 2), 0, Status.IN, left=net.link(1).me, right=net.link(3).me)
    check.always(net.peers, NodeId(2))


def test_i4_neighbours_that_disagree(net):
    net.link(3).left = net.link(1).me
    with pytest.raises(Broken, match="I4: 20@2#1 and 30@3#1 disagree"):
        RingCheck().at_rest(net.peers.values())


def test_i4_numbers_that_disagree(net):
    net.link(3).left_seq = Seq(5, 0)
    with pytest.raises(Broken, match="I4: 20@2#1 and 30@3#1 disagree"):
        RingCheck().at_rest(net.peers.values())


def test_at_rest_nobody_is_on_the_way(net):
    newcomer(net, 5, left=4, right=1)
    with pytest.raises(Broken, match="at rest 50@5#1 is ins"):
        RingCheck().at_rest(net.peers.values())


def test_i5_a_newcomer_that_is_reached_though_nobody_accepted_it(net):
    link = newcomer(net, 5, left=4, right=1)
    check = RingCheck()
    for node in net.peers:
        check.always(net.peers, NodeId(node))
    net.link(4).right = link.me
    with pytest.raises(Broken, match="I5: 50@5#1 is reached from 40@4#1, but nobody accepted it"):
        check.always(net.peers, NodeId(4))


def test_i5_who_was_accepted_may_be_reached(net):
    link = newcomer(net, 5, left=4, right=1)
    net.link(4).remember(link.me, 1, SetRAck(link.me, 0, 1, Seq(0, 1), (), b""))
    net.link(4).right = link.me
    RingCheck().always(net.peers, NodeId(4))


def test_a_level_is_checked_by_itself(net):
    net.link(3).left = net.link(1).me
    RingCheck(level=1).at_rest(net.peers.values())


def test_a_node_that_is_down_is_not_looked_at(net):
    net.crash(2)
    RingCheck().always(net.peers, NodeId(2))


def test_links_are_described_in_key_order(net):
    text = describe(net.peers[node].ring.links[0, key(node)] for node in (3, 1))
    assert text.splitlines() == [
        f"  40@4#1 ← 10@1#1 → 20@2#1  in lseq={tuple(net.link(1).left_seq)} rseq={tuple(net.link(1).right_seq)}",
        f"  20@2#1 ← 30@3#1 → 40@4#1  in lseq={tuple(net.link(3).left_seq)} rseq={tuple(net.link(3).right_seq)}",
    ]
    assert short(ref(2, incarnation=(3 << 32) + 4)) == "20@2#4", "the run is left out"


def test_a_message_refused_among_our_own_machines_is_a_bug(net):
    no_violations(net.peers.values())
    net.peers[3].local.count("violation", Outbox(), 1, "a SetR on behalf of somebody else")
    with pytest.raises(Broken, match="broker 3 refused a message of a peer that keeps the protocol"):
        no_violations(net.peers.values())
