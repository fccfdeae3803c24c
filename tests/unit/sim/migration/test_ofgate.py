"""OFGate, switches and agents one message at a time, and small groups of them in the simulator."""

import pytest

from weft.core.errors import Misuse
from weft.core.ids import NodeId
from weft.core.machine import Deliver, Outbox, Send
from weft.core.rand import Rng
from weft.sim.des.engine import Simulation
from weft.sim.des.network import Uniform
from weft.sim.migration.ofgate import (
    FIRST_AGENT,
    GATE,
    LOOPBACK_S,
    SEEN_MAX,
    SWITCHES,
    Address,
    Agent,
    Ask,
    Construct,
    Copy,
    Install,
    Installed,
    Joined,
    Left,
    Method,
    OfGate,
    Query,
    Received,
    Roll,
    Sent,
    State,
    Status,
    Switches,
    Times,
)

TIMES = Times(construct_s=0.1, update_s=0.05, migrate_low_s=0.5, migrate_high_s=0.5)
A, B, C = (NodeId(FIRST_AGENT + at) for at in range(3))


def told(machine, message, source=A, now=0.0):
    """What the machine sends on a message: (to, message)."""
    out = Outbox()
    machine.receive(now, source, message, out)
    return [(effect.to, effect.message) for effect in out.effects if isinstance(effect, Send)]


def timed(machine):
    """The same when its time has come."""
    out = Outbox()
    machine.timeout(machine.deadline, out)
    return [(effect.to, effect.message) for effect in out.effects if isinstance(effect, Send)]


def constructed(*members) -> OfGate:
    gate = OfGate(TIMES)
    told(gate, Construct(members))
    timed(gate)
    told(gate, Installed(), SWITCHES)
    return gate


def status(gate) -> bool:
    ((to, answer),) = told(gate, Ask(7), C)
    assert (to, answer.number) == (C, 7)
    return answer.constructed


def test_the_tree_is_used_once_the_switches_have_it_and_not_before():
    """SAPS §3.2.1: under construction, publishers use ALM."""
    gate = OfGate(TIMES)
    assert not status(gate)
    told(gate, Joined(), B)
    assert gate.state is State.NONE
    told(gate, Construct(()), A)
    assert (gate.state, status(gate)) == (State.CONSTRUCTING, False)
    assert timed(gate) == [(SWITCHES, Install((B,)))]
    assert not status(gate)
    assert told(gate, Installed(), SWITCHES) == [(A, Address())]
    assert status(gate)


@pytest.mark.parametrize(("change", "brokers"), [(Joined(), (A, B, C)), (Left(), (A,))])
def test_while_it_is_updated_publishers_use_alm(change, brokers):
    gate = constructed(A, B)
    told(gate, change, C if isinstance(change, Joined) else B)
    assert (gate.state, status(gate)) == (State.UPDATING, False)
    assert timed(gate) == [(SWITCHES, Install(brokers))]
    told(gate, Installed(), SWITCHES)
    assert status(gate)


def test_what_comes_meanwhile_delays_the_use_of_the_tree():
    """SAPS §3.2.1: queued joins and leaves delay the activation."""
    gate = constructed(A)
    told(gate, Joined(), B)
    timed(gate)
    told(gate, Joined(), C)
    assert told(gate, Installed(), SWITCHES) == []
    assert gate.state is State.UPDATING
    assert timed(gate) == [(SWITCHES, Install((A, B, C)))]
    told(gate, Installed(), SWITCHES)
    assert gate.state is State.CONSTRUCTED


def test_each_query_is_counted_by_its_kind():
    gate = constructed(A)
    for message in (Ask(1), Ask(2), Joined(), Left()):
        told(gate, message, B)
    assert gate.queries == {Query.CONSTRUCT: 1, Query.PUBLISH: 2, Query.JOIN: 1, Query.LEAVE: 1}


def test_switches_copy_to_all_but_the_publisher_and_send_one_back():
    """SAPS §3.1.2, the loopback packet: one, whether the publisher is a member or not."""
    switches, copy = Switches(), Copy(A, 1, by_ofm=True)
    assert told(switches, copy) == []
    assert told(switches, Install((A, B, C)), GATE) == [(GATE, Installed())]
    assert told(switches, copy) == [(B, copy), (C, copy), (A, copy)]
    assert told(switches, Copy(99, 1, by_ofm=True), NodeId(99))[-1][0] == 99
    with pytest.raises(AssertionError):
        switches.timeout(0.0, Outbox())


def agent(method, roll, node=A) -> Agent:
    return Agent(node, method, roll, TIMES, Rng(1))


def commanded(call):
    out = Outbox()
    call(0.0, out)
    return [(effect.to, effect.message) for effect in out.effects]


@pytest.mark.parametrize("method", list(Method))
def test_who_tells_ofgate_of_a_join_and_of_a_leave(method):
    """SAPS §3.2: under EITHER each; under BOTH who leaves the OFM segment."""
    roll = Roll()
    member = agent(method, roll)
    assert commanded(member.join) == ([(GATE, Joined())] if method is Method.EITHER else [])
    with pytest.raises(Misuse):
        member.join(0.0, Outbox())
    assert commanded(member.leave) == ([(GATE, Left())] if method is Method.EITHER else [])
    with pytest.raises(Misuse):
        member.leave(0.0, Outbox())
    roll.ofm[A] = None
    assert commanded(member.leave) == [(GATE, Left())]
    assert A not in roll


def test_either_asks_and_then_does_as_it_is_told():
    roll = Roll(alm={A: None, B: None})
    publisher = agent(Method.EITHER, roll)
    publisher.publishing(0.5, 1.0)
    assert timed(publisher) == [(GATE, Ask(1))]
    assert told(publisher, Status(1, constructed=False), GATE) == [(B, Copy(A, 1, by_ofm=False))]
    assert told(publisher, Status(1, constructed=True), GATE) == [(SWITCHES, Copy(A, 1, by_ofm=True))]
    assert publisher.deadline == 1.5


def test_both_learns_the_address_and_forgets_it_without_a_loopback():
    """SAPS §3.2.2, figure 6 (a)."""
    roll = Roll(alm={B: None}, ofm={C: None})
    publisher = agent(Method.BOTH, roll)
    publisher.publishing(0.0, 10.0)
    assert timed(publisher) == [(B, Copy(A, 1, by_ofm=False)), (C, Copy(A, 1, by_ofm=False))]
    assert told(agent(Method.BOTH, roll, C), Copy(A, 1, by_ofm=False)) == [(A, Address())]
    assert told(agent(Method.BOTH, roll, B), Copy(A, 1, by_ofm=False)) == []
    told(publisher, Address(), C)
    assert timed(publisher) == [(B, Copy(A, 2, by_ofm=False)), (SWITCHES, Copy(A, 2, by_ofm=True))]
    assert publisher.deadline == 10.0 + LOOPBACK_S
    told(publisher, Copy(A, 2, by_ofm=True), SWITCHES)
    assert publisher.deadline == 20.0
    timed(publisher)
    assert publisher.knows_address
    timed(publisher)  # the loopback of the third is overdue
    assert not publisher.knows_address


def test_a_member_migrates_only_after_a_message_by_ofm():
    """SAPS §3.2.2; waits at random (MIGRATE §4.2), here half a second."""
    roll = Roll(alm={B: None})
    member = agent(Method.BOTH, roll, B)
    told(member, Copy(A, 1, by_ofm=False))
    assert member.deadline is None
    told(member, Copy(A, 1, by_ofm=True), SWITCHES, now=1.0)
    told(member, Copy(A, 2, by_ofm=True), SWITCHES, now=1.2)
    assert member.deadline == 1.5
    timed(member)
    assert (list(roll.alm), list(roll.ofm)) == ([], [B])


def test_who_leaves_before_it_migrates_stays_away():
    roll = Roll(alm={B: None})
    member = agent(Method.BOTH, roll, B)
    told(member, Copy(A, 1, by_ofm=True), SWITCHES)
    assert commanded(member.leave) == []
    assert member.deadline is None


def test_each_publish_is_delivered_once_though_it_comes_both_ways():
    member = agent(Method.BOTH, Roll(alm={B: None}), B)
    out = Outbox()
    for by_ofm in (False, True):
        member.receive(0.0, A, Copy(A, 1, by_ofm=by_ofm), out)
    assert out.effects == [Deliver(Received(A, 1))]
    for number in range(2, SEEN_MAX + 3):
        member.receive(0.0, A, Copy(A, number, by_ofm=False), out)
    member.receive(0.0, A, Copy(A, 1, by_ofm=False), out)  # so long ago that it is forgotten
    assert out.effects[-1] == Deliver(Received(A, 1))


def test_who_is_no_member_any_more_delivers_nothing():
    assert told(agent(Method.BOTH, Roll(), B), Copy(A, 1, by_ofm=True)) == []


def test_under_both_the_list_of_members_travels_with_the_request():
    roll = Roll(alm={B: None}, ofm={C: None})
    assert commanded(agent(Method.BOTH, roll).construct) == [(GATE, Construct((C, B)))]
    assert commanded(agent(Method.EITHER, roll).construct) == [(GATE, Construct(()))]


@pytest.mark.parametrize("method", list(Method))
def test_while_all_move_to_ofm_every_member_gets_every_publish_once(method):
    roll, heard, ways = Roll(), [], []
    simulation = Simulation(3, Uniform(0.001))
    simulation.add(GATE, OfGate(TIMES))
    simulation.add(SWITCHES, Switches())

    def note(now, node, event, out):
        if isinstance(event, Received):
            heard.append((node, event.number))
        elif isinstance(event, Sent):
            ways.append(event.by_ofm)

    simulation.on_deliver = note
    nodes = [NodeId(FIRST_AGENT + at) for at in range(8)]
    for node in nodes:
        simulation.add(node, agent(method, roll, node))
        if node != nodes[0]:
            simulation.do(node, lambda machine, now, out: machine.join(now, out))
    publisher = simulation.machines[nodes[0]]
    publisher.publishing(0.2, 0.2)
    simulation.do(nodes[0], lambda machine, now, out: None)
    simulation.do(nodes[0], lambda machine, now, out: machine.construct(now, out), at=0.9)
    simulation.run(until=4.15)
    assert sorted(heard) == sorted((node, number) for node in nodes[1:] for number in range(1, 21))
    assert ways[:4] == [False] * 4
    assert ways[-10:] == [True] * 10
    assert len(roll.ofm) == (7 if method is Method.BOTH else 0)
