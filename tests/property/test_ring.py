"""The ring under anything: joins and leaves in any order keep its invariants, and after any failures it is whole again."""

from copy import deepcopy
from enum import Enum
from itertools import pairwise
from typing import Any

import msgspec
from hypothesis import given, settings
from hypothesis import strategies as st

from churn import QUICK, Churn, Step
from rings import grown, key
from weft.core.ids import NodeId
from weft.core.limits import LEFT_NEIGHBOURS_MAX
from weft.core.machine import Message, Outbox, Send
from weft.overlay.api import Ref
from weft.overlay.hops import Hop, HopAck
from weft.overlay.keys import between
from weft.overlay.lookup import Gone, Seek, Sought
from weft.overlay.peer import Peer
from weft.overlay.ring.geometry import Verdict, fits, judge, leftwards, nearer_left
from weft.overlay.ring.messages import (
    SEQ_LIMIT,
    Candidate,
    Kind,
    Ping,
    Pong,
    PropagateNeighbours,
    Seq,
    SetL,
    SetR,
    SetRAck,
    SetRNak,
    Status,
)
from weft.overlay.ring.tables import ANSWERS_MAX

BROKERS = 5


def steps(*verbs: str, most: int = 24) -> st.SearchStrategy[list[Step]]:
    waits = st.sampled_from([0.0, 0.0, 0.01, 0.05, 0.3, 2.0])
    one = st.builds(Step, st.sampled_from(verbs), st.integers(1, BROKERS), st.integers(0, 2), waits)
    return st.lists(one, min_size=most // 3, max_size=most)


@settings(max_examples=120)
@given(steps=steps("join", "join", "leave"), seed=st.integers(0, 2**32))
def test_joins_and_leaves_keep_the_invariants_after_every_event(steps, seed):
    """DDLL, I1-I5: without failures right pointers are one cycle at every moment, whatever crosses; and it ends whole."""
    churn = Churn(Peer, BROKERS, seed).apply(steps)
    churn.settle(30.0)
    assert churn.unfailed


@settings(max_examples=80)
@given(steps=steps("join", "join", "leave", "crash", "restart"), seed=st.integers(0, 2**32))
def test_whatever_crashes_the_ring_is_whole_again(steps, seed):
    """DDLL, failures: I3 and I5 at every moment; whole within a minute, each gap repaired by its right neighbour."""
    Churn(Peer, BROKERS, seed).apply(steps).settle(60.0)


@settings(max_examples=60)
@given(steps=steps("join", "join", "leave", "restart", "cut"), seed=st.integers(0, 2**32))
def test_whatever_is_cut_off_comes_back(steps, seed):
    """Rings that a partition made two become one again, without a restart."""
    Churn(Peer, BROKERS, seed).apply(steps).settle(120.0)


@settings(max_examples=25)
@given(steps=steps("join", "leave", "crash", most=8), seed=st.integers(0, 2**32))
def test_the_same_seed_and_steps_give_the_same_trace(steps, seed):
    one, other = (Churn(Peer, BROKERS, seed).apply(steps) for _ in range(2))
    assert one.simulation.trace.hash() == other.simulation.trace.hash()


# Geometry

PLACES = st.integers(0, 9).map(lambda number: Ref(key(1, number), NodeId(1), 1))


@given(me=PLACES, seen=PLACES, right=PLACES, dead=st.sets(PLACES))
def test_exactly_one_verdict_and_a_walk_gets_nearer(me, seen, right, dead):
    verdict = judge(me, seen, right, dead)
    assert (verdict is Verdict.HELD) == (right == me)
    if verdict is Verdict.WALK:
        assert between(seen.key, right.key, me.key)
        assert right not in dead
    if verdict is Verdict.REINSERT and me != seen:
        assert fits(seen, me, right), "there is room for us there"


@given(me=PLACES, refs=st.lists(PLACES, max_size=6).map(tuple))
def test_a_list_of_left_neighbours_goes_left_without_coming_round(me, refs):
    kept = leftwards(me, refs)
    assert refs[: len(kept)] == kept
    assert me not in kept
    assert len(set(kept)) == len(kept)
    assert all(nearer_left(me, near, far) for near, far in pairwise(kept))


# Bad input

INTEGERS = st.integers(-2, 6) | st.sampled_from([SEQ_LIMIT - 1, SEQ_LIMIT, 2**63 - 1, 2**63, 2**64 - 1, -(2**63)])


def one_of(kind: type[Enum]) -> st.SearchStrategy[Any]:
    return st.sampled_from(list(kind))


KEYS = st.builds(key, st.integers(1, BROKERS)) | st.builds(key, st.integers(0, BROKERS + 1), st.integers(0, 60))
REFS = st.builds(lambda key, node, life: Ref(key, key.broker if node is None else NodeId(node), life), KEYS,
                 st.none() | st.integers(0, BROKERS + 1), st.integers(0, 2))  # fmt: skip
SEQS = st.builds(Seq, INTEGERS, INTEGERS)
NEIGHBOURS = st.lists(REFS, max_size=LEFT_NEIGHBOURS_MAX + 2).map(tuple)
LEVELS = st.sampled_from([0, 0, 0, 1, -1, 63, 64])
NUMBERS = st.integers(0, 40) | INTEGERS
BODIES: dict[type[Message], st.SearchStrategy[Message]] = {
    SetR: st.builds(
        SetR, REFS, LEVELS, REFS, REFS, SEQS, one_of(Kind), NUMBERS, st.none() | st.builds(Gone, REFS)
    ),
    SetRAck: st.builds(SetRAck, REFS, LEVELS, NUMBERS, SEQS, NEIGHBOURS, st.binary(max_size=300)),
    SetRNak: st.builds(SetRNak, REFS, LEVELS, NUMBERS, st.none() | REFS),
    SetL: st.builds(SetL, REFS, LEVELS, REFS, SEQS, NEIGHBOURS),
    PropagateNeighbours: st.builds(PropagateNeighbours, REFS, LEVELS, NEIGHBOURS),
    Candidate: st.builds(Candidate, REFS, LEVELS, REFS),
    Ping: st.builds(Ping, REFS, LEVELS, REFS, st.booleans(), SEQS),
    Pong: st.builds(Pong, REFS, LEVELS, REFS, one_of(Status), REFS, SEQS, NEIGHBOURS),
    Gone: st.builds(Gone, REFS),
    Seek: st.builds(Seek, KEYS, NUMBERS, st.integers(1, BROKERS).map(NodeId), INTEGERS, st.booleans(), st.none() | REFS),
    Sought: st.builds(Sought, NUMBERS, REFS, REFS, INTEGERS),
    HopAck: st.builds(HopAck, NUMBERS),
}  # fmt: skip
MESSAGES = st.deferred(lambda: st.one_of(*BODIES.values(), st.builds(Hop, NUMBERS, MESSAGES)))
MAIL = st.lists(st.tuples(st.integers(1, BROKERS + 1), MESSAGES, st.sampled_from([0.0, 0.6, 2.5])), max_size=15)


def settled() -> Peer:
    net = grown(range(1, BROKERS + 1), settings=QUICK)
    net.join(2, None, 35)
    net.settle()
    return net.peers[2]


SETTLED = settled()


@settings(max_examples=400)
@given(mail=MAIL)
def test_nothing_that_a_peer_sends_is_raised_and_all_that_follows_can_be_sent(mail):
    """Malformed or false, it is counted; links and contacts keep their form, every number still fits a message."""
    peer, now = deepcopy(SETTLED), 100.0
    for source, message, wait in mail:
        now += wait
        out = Outbox()
        peer.receive(now, NodeId(source), message, out)
        while peer.deadline is not None and peer.deadline <= now:
            peer.timeout(now, out)
        assert all(msgspec.msgpack.encode(effect.message) for effect in out.effects if isinstance(effect, Send))
        for link in peer.ring.links.values():
            assert len(link.lefts) <= LEFT_NEIGHBOURS_MAX
            assert len(link.answers) <= ANSWERS_MAX
            assert leftwards(link.me, link.lefts) == link.lefts
            assert (link.status is Status.DEL) <= (link.request is not None)
            assert link.status is not Status.INS or link.request is not None, "it waits for something"
            if link.level == 0 and link.status is not Status.INS:
                known = set(peer.contacts.inside(key(0, 0), key(9, 999), 0.0))
                pointed = {ref for ref in (link.left, link.right) if ref.node != 2}
                assert all(ref in known or ref in peer.contacts._holders for ref in pointed)
