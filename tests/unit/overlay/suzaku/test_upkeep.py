"""How fingers come, are kept true, and go: asked for, learnt in passing, swapped, bypassed, left to expire."""

import pytest

from rings import BARE, Net, grown, key, ref, whole
from weft.core.ids import NodeId
from weft.core.limits import LEFT_NEIGHBOURS_MAX
from weft.core.machine import Message
from weft.overlay.settings import Settings
from weft.overlay.suzaku.machine import Suzaku
from weft.overlay.suzaku.messages import Replace, Update, UpdateAck, UpdateDue
from weft.overlay.suzaku.tables import Fingers
from weft.overlay.suzaku.upkeep import STALE_SWEEPS
from weft.sim.convergence import suzaku_converged

T = 60.0
REFRESHING = Settings(ping_interval_s=None, lost_interval_s=None, update_interval_s=T)
PATIENCE = BARE.request_timeout_s * BARE.request_tries


def table(net: Net, broker: int) -> Fingers:
    return net.peers[broker].fingers.tables[key(broker)]


def fft(net: Net, broker: int) -> list[int]:
    return [finger.ref.node for finger in table(net, broker).forward]


def bft(net: Net, broker: int) -> list[int]:
    return [finger.ref.node for finger in table(net, broker).backward]


def ask(net: Net, broker: int, to: int, level: int, forward: bool = True) -> Message:
    """``broker`` asks for its finger at ``level``; the Update that flies."""
    fingers = table(net, broker)
    net.do(broker, lambda peer, now, out: peer.fingers._ask(now, fingers, ref(to), level, forward, out))
    return net.find(Update).message


def announce(net: Net, **values: float) -> None:
    """``b2=3`` announces ``{"free": 3}`` at broker 2."""
    for name, value in values.items():
        broker = int(name[1:])
        net.do(broker, lambda peer, now, out, b=broker, v=value: peer.aggregate(now, key(b), {"free": v}, out))


# One exchange


def test_one_exchange_updates_both_sides():
    net = whole(8)
    announce(net, b1=1, b5=5)
    table(net, 1).forward[0].values = {"free": 20.0}  # of 2
    table(net, 1).forward[1].values = {"free": 300.0}  # of 3 and 4
    table(net, 5).forward[0].values = {"free": 60.0}  # of 6
    table(net, 5).forward[1].values = {"free": 700.0}  # of 7 and 8
    ask(net, 1, 5, level=2)
    net.arrive(Update)
    assert table(net, 5).backward[2].values == {"free": 1 + 20}, "the asker and one more: BFT[2] stands for two nodes"
    net.arrive(UpdateAck)
    assert table(net, 1).forward[2].values == {"free": 5 + 60 + 700}, "FFT[2] stands for four nodes"
    assert net.flying == []


def test_at_level_0_each_lends_itself_alone():
    net = whole(8)
    announce(net, b1=1, b2=2)
    for broker in (1, 2):
        table(net, broker).forward[0].values = {"free": 99.0}
    ask(net, 1, 2, level=0)
    net.settle()
    assert table(net, 2).backward[0].values == {"free": 1.0}
    assert table(net, 1).forward[0].values == {"free": 2.0}


def test_a_backward_exchange_is_the_mirror_image():
    net = whole(8)
    announce(net, b5=5)
    table(net, 5).forward[0].values = {"free": 60.0}
    table(net, 5).forward[1].values = {"free": 700.0}
    ask(net, 5, 1, level=2, forward=False)
    net.arrive(Update)
    assert table(net, 1).forward[2].ref == ref(5)
    assert table(net, 1).forward[2].values == {"free": 765.0}
    announce(net, b1=1)
    table(net, 1).forward[0].values = {"free": 20.0}
    net.flying.clear()
    ask(net, 5, 1, level=2, forward=False)
    net.settle()
    assert table(net, 5).backward[2].values == {"free": 21.0}


def test_the_answer_names_the_next_levels_node_and_backups():
    net = whole(16)
    ask(net, 1, 3, level=1)
    net.arrive(Update)
    answer = net.find(UpdateAck).message
    assert answer.next == ref(5)
    assert answer.backups == (ref(2), ref(1), ref(16), ref(15)), "the left neighbours of the one asked"
    assert len(answer.backups) == LEFT_NEIGHBOURS_MAX
    net.arrive(UpdateAck)
    assert table(net, 1).forward[1].backups == answer.backups


def test_the_next_levels_node_is_installed_only_once_it_has_answered():
    net = whole(16)
    fingers = table(net, 1)
    fingers.cut(True, 2)
    ask(net, 1, 3, level=1)
    net.settle()
    assert fft(net, 1) == [2, 3]
    assert fingers.following == ref(5)
    assert fingers.cursor == 2
    ask(net, 1, 5, level=2)
    net.arrive(Update)
    assert fft(net, 1) == [2, 3]
    net.arrive(UpdateAck)
    assert fft(net, 1) == [2, 3, 5]


def test_an_answer_that_names_nobody_further_ends_the_table():
    net = whole(5)
    fingers = table(net, 1)
    fingers.put(True, 3, ref(5))
    ask(net, 1, 5, level=2)
    net.settle()
    assert fft(net, 1) == [2, 3, 5], "5's FFT[2] has come round past us"
    assert fingers.following is None
    assert fingers.cursor == 0


def test_both_know_afterwards_who_points_at_them():
    net = whole(8)
    ask(net, 1, 5, level=2)
    net.settle()
    assert ref(1) in table(net, 5).reverse
    assert ref(5) in table(net, 1).reverse


@pytest.mark.parametrize(("level", "told"), [(0, True), (1, True), (2, False), (3, False)])
def test_values_do_not_travel_above_the_levels_that_queries_use(level, told):
    net = whole(16, Settings(ping_interval_s=None, lost_interval_s=None, update_interval_s=None, aggregate_levels=2))
    announce(net, **{f"b{b}": 1 for b in range(1, 17)})
    to = 1 + 2**level
    assert (ask(net, 1, to, level).values is not None) is told
    net.settle()
    assert (table(net, 1).forward[level].values is not None) is told, "not told is not zero"
    assert (table(net, to).backward[level].values is not None) is told


def test_only_labels_that_queries_use_travel():
    settings = Settings(
        ping_interval_s=None, lost_interval_s=None, update_interval_s=None, aggregate_labels=("free", "max:cpu")
    )
    net = whole(4, settings)
    values = {"free": 1.0, "max:cpu": 0.5, "secret": 7.0}
    net.do(1, lambda peer, now, out: peer.aggregate(now, key(1), values, out))
    assert ask(net, 1, 2, level=0).values == {"free": 1.0, "max:cpu": 0.5}
    assert net.peers[1].values(key(1)) == values, "the node itself still knows"


# The newcomer


def test_a_newcomer_asks_in_zig_zag_and_each_answer_leads_on():
    net = grown([10, 20, 30, 40, 50, 60, 70, 80], Suzaku)
    suzaku_refresh(net)
    net.join(5, 10)
    asked = []
    while net.flying:
        flight = net.flying.pop(0)
        if flight.source == 5 and isinstance(flight.message, Update):
            asked.append(("F" if flight.message.forward else "B", flight.message.level, flight.to))
        net.deliver(flight)
    assert asked == [
        ("F", 0, 10),
        ("B", 0, 80),
        ("F", 1, 20),
        ("B", 1, 70),
        ("F", 2, 40),
        ("B", 2, 50),
        ("F", 3, 80),
        ("B", 3, 10),
    ]
    assert table(net, 5).joining is None


def suzaku_refresh(net: Net) -> None:
    """Every finger as it should be."""
    ring = sorted(net.peers)
    for at, broker in enumerate(ring):
        fingers = table(net, broker)
        for forward, sign in ((True, 1), (False, -1)):
            for level in range((len(ring) - 1).bit_length()):
                fingers.put(forward, level, ref(ring[(at + sign * 2**level) % len(ring)]))


def test_who_is_asked_by_a_newcomer_learns_it_in_passing():
    net = grown([10, 20, 30, 40], Suzaku)
    suzaku_refresh(net)
    net.join(25, 10)
    net.settle()
    assert fft(net, 25) == [30, 40, 20]
    assert bft(net, 40)[1] == 25
    assert fft(net, 10)[1] == 25, "25 has it for BFT[1]"


def test_who_was_alone_begins_to_ask_when_somebody_comes():
    net = grown([1], Suzaku)
    net.join(2)
    net.settle()
    assert fft(net, 1) == bft(net, 1) == [2]
    assert fft(net, 2) == bft(net, 2) == [1]


def test_an_update_that_comes_before_the_table_is_not_answered():
    """The node is in the ring, or nearly; the asker will ask again."""
    net = grown([1, 3], Suzaku)
    net.join(2)
    while "SetRAck" not in net.kinds():
        net.deliver(net.flying.pop(0))
    assert net.give(3, 2, Update(ref(2), ref(3), 0, False, 1, {})) == []
    assert net.count("violation") == 0


# Sweeps


def test_the_periodic_update_goes_through_the_forward_fingers_one_each_time():
    net = whole(16, REFRESHING)
    fingers = table(net, 1)
    levels = []
    for _ in range(9):
        net.do(1, lambda peer, now, out: peer.fingers.on_update_due(now, UpdateDue(key(1)), out))
        sent = net.find(Update).message
        assert sent.forward
        levels.append(sent.level)
        net.settle()
    assert levels == [0, 1, 2, 3, 0, 1, 2, 3, 0]
    assert fingers.asked is None


def test_an_update_is_due_each_interval():
    net = whole(4, REFRESHING)
    net.do(1, lambda peer, now, out: peer.fingers.on_update_due(now, UpdateDue(key(1)), out))
    assert net.peers[1].deadline == min(net.now + BARE.request_timeout_s, net.now + T)
    net.settle()
    assert net.peers[1].deadline == net.now + T


def test_a_sweep_repairs_fingers_that_are_wrong():
    net = whole(16, REFRESHING)
    net.peers[1].fingers.tables[key(1)].put(True, 3, ref(7))
    for broker in net.peers:
        net.do(broker, lambda peer, now, out: peer.fingers._go_on(now, next(iter(peer.fingers.tables.values())), out))
    net.run(30 * T)  # those whom the wrong one misled are told nothing any more, and expire
    suzaku_converged(list(net.peers.values()))


def test_no_interval_no_sweep():
    net = whole(8)
    assert all(peer.deadline is None for peer in net.peers.values())
    net.do(1, lambda peer, now, out: peer.fingers.on_update_due(now, UpdateDue(key(1)), out))
    assert net.flying == []


def test_a_table_that_ends_too_soon_does_not_end_that_of_who_asks():
    """Found by the churn experiment: one short table (a newcomer's) cut all that asked it, and those cut others."""
    net = whole(16)
    fingers = table(net, 1)
    table(net, 3).cut(True, 1)
    ask(net, 1, 3, level=1)
    net.settle()
    assert fft(net, 1) == [2, 3, 5, 9]
    assert (fingers.following, fingers.cursor) == (None, 2), "we go on with our own"


def test_of_backward_fingers_only_those_that_nobody_confirms_expire():
    net = whole(8, REFRESHING)
    net.now = STALE_SWEEPS * (3 + 1) * T + 1.0
    table(net, 1).backward[2].heard = net.now - T
    net.do(1, lambda peer, now, out: peer.fingers.on_update_due(now, UpdateDue(key(1)), out))
    assert bft(net, 1) == [8, 5]


def test_a_backward_finger_that_nobody_confirms_expires():
    net = whole(8, REFRESHING)
    net.now = STALE_SWEEPS * (3 + 1) * T + 1.0
    net.do(1, lambda peer, now, out: peer.fingers.on_update_due(now, UpdateDue(key(1)), out))
    assert bft(net, 1) == [8], "level 0 is the ring's"
    assert fft(net, 1) == [2, 3, 5], "forward fingers are asked, and need no confirmation"


def test_a_confirmed_backward_finger_stays():
    net = whole(8, REFRESHING)
    net.now = STALE_SWEEPS * (3 + 1) * T + 1.0
    for source, level in ((7, 1), (5, 2)):
        net.give(source, 1, Update(ref(1), ref(source), level, True, 1, {}))
    net.flying.clear()
    net.do(1, lambda peer, now, out: peer.fingers.on_update_due(now, UpdateDue(key(1)), out))
    assert bft(net, 1) == [8, 7, 5]


# The ring changes


def test_level_0_follows_the_ring():
    net = whole(4)
    net.join(25, 1, number=25)
    net.settle()
    assert fft(net, 2)[0] == 25
    assert bft(net, 3)[0] == 25


def test_fingers_that_no_longer_lie_beyond_are_dropped():
    net = whole(8)
    link = net.link(1)
    link.right = ref(4)
    net.do(1, lambda peer, now, out: peer.ring_changed(now, link, out))
    assert fft(net, 1) == [4, 5], "3 is not beyond 4; 5 still is, and known until its level is refreshed"


def test_an_answer_about_a_neighbour_that_was_is_dropped():
    net = whole(8)
    ask(net, 1, 2, level=0)
    net.arrive(Update)
    link = net.link(1)
    link.right = ref(9, number=15)
    net.do(1, lambda peer, now, out: peer.ring_changed(now, link, out))
    net.arrive(UpdateAck)
    assert table(net, 1).forward[0].ref.node == 9
    assert table(net, 1).forward[0].values is None


def test_a_newcomers_neighbour_that_leaves_while_it_is_asked_leaves_no_finger_twice():
    """25 asks 20 for BFT[0]; 20 names 10 as the next level's node and leaves; by then 10 is the neighbour itself."""
    net = grown([10, 20, 30, 40], Suzaku)
    suzaku_refresh(net)
    net.join(25, 10)
    while not (net.flying and net.flying[0].kind == "UpdateAck" and net.flying[0].source == 20):
        net.deliver(net.flying.pop(0))
    answer = net.flying.pop(0)
    assert answer.message.next == ref(10)
    net.leave(20)
    net.settle()
    assert bft(net, 25) == [10]
    net.deliver(answer)
    assert bft(net, 25) == [10]
    net.settle()
    assert table(net, 25).joining is None


# The dead and the departed


def test_an_update_without_an_answer_is_sent_again_and_then_the_finger_is_dead():
    net = whole(16)
    table(net, 1).forward[2].backups = (ref(4), ref(3))
    first = ask(net, 1, 5, level=2)
    net.crash(5)
    net.flying.clear()
    net.pass_time(PATIENCE)
    sent = [flight.message for flight in net.sent if flight.kind == "Update"]
    assert sent == [first] * BARE.request_tries
    assert net.count("finger.dead") == 1
    assert fft(net, 1) == [2, 3, 4, 9], "its left neighbour stands in"
    assert net.peers[1].contacts.is_shunned(NodeId(5), net.now)


def test_a_dead_finger_without_a_usable_backup_is_done_without():
    net = whole(16)
    table(net, 1).forward[2].backups = (ref(3), ref(2))  # neither lies beyond FFT[1] = 3
    ask(net, 1, 5, level=2)
    net.crash(5)
    net.pass_time(PATIENCE)
    assert fft(net, 1) == [2, 3, 9]


def test_a_dead_finger_two_away_is_not_replaced_by_who_is_left_of_ourselves():
    """Found by the churn experiment: left of 3 are 2, which is FFT[0], 1 itself, and 16, all the way round."""
    net = whole(16)
    assert table(net, 1).forward[1].backups == (ref(2), ref(1), ref(16), ref(15))
    net.do(1, lambda peer, now, out: peer.fingers.unreachable(now, ref(3), out))
    assert fft(net, 1) == [2, 5, 9], "and the fingers beyond stay"


def test_the_rest_of_the_backups_stay_for_the_next_death():
    net = whole(16)
    table(net, 1).forward[3].backups = (ref(8), ref(7), ref(6))
    for dead in (9, 8):
        net.do(1, lambda peer, now, out, dead=dead: peer.fingers.unreachable(now, ref(dead), out))
    assert fft(net, 1) == [2, 3, 5, 7]
    assert table(net, 1).forward[3].backups == (ref(6),)


def test_a_silent_successor_is_the_rings_business():
    net = whole(8)
    ask(net, 1, 2, level=0)
    net.crash(2)
    net.pass_time(PATIENCE)
    assert fft(net, 1) == [2, 3, 5]
    assert table(net, 1).asked is None


def test_a_newcomer_gets_over_the_death_of_one_it_asks():
    net = grown([10, 20, 30, 40, 50, 60, 70, 80], Suzaku)
    suzaku_refresh(net)
    for broker in net.peers:
        table(net, broker).forward[0].values = {}
    net.join(5, 10)
    while not (net.flying and net.flying[0].kind == "Update" and net.flying[0].to == 20):
        net.deliver(net.flying.pop(0))
    net.crash(20)
    net.run(100.0)
    assert table(net, 5).joining is None
    assert 20 not in fft(net, 5)
    assert fft(net, 5)[0] == 10


def test_what_was_to_be_asked_next_is_forgotten_when_it_dies():
    net = whole(16)
    fingers = table(net, 1)
    fingers.following, fingers.cursor = ref(5), 2
    net.do(1, lambda peer, now, out: peer.fingers.unreachable(now, ref(5), out))
    assert fingers.following is None


def test_whoever_points_at_one_that_left_points_at_its_left_neighbour_now():
    net = whole(16)
    table(net, 1).forward[2].backups = (ref(4), ref(3), ref(2))
    net.give(4, 1, Replace(ref(1), ref(5), ref(4)))
    assert fft(net, 1) == [2, 3, 4, 9]
    assert table(net, 1).forward[2].backups == (ref(3), ref(2))
    assert table(net, 1).forward[2].values is None


def test_a_replacement_that_is_a_finger_already_makes_the_table_shorter():
    net = whole(8)
    net.give(2, 1, Replace(ref(1), ref(3), ref(2)))
    assert fft(net, 1) == [2, 5]
