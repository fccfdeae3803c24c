"""Skip Graph under anything: messages that nobody would send, and whatever order of joins, leaves and faults."""

from copy import deepcopy
from enum import Enum
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from skipgraph_bench import BARE, QUICK, Rings
from weft.core.ids import NodeId
from weft.core.machine import Message, Outbox, Send
from weft.overlay.api import Ref
from weft.overlay.keys import ALM, Key, number_key
from weft.overlay.lookup import Gone, Seek, Sought
from weft.overlay.ring.messages import (
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
from weft.overlay.skipgraph.geometry import static_levels
from weft.overlay.skipgraph.messages import Met, Standing, Step, Stepped
from weft.overlay.skipgraph.tables import Towers
from weft.sim.des.trace import Level

BROKERS = 5
STRANGER = NodeId(77)
INTEGERS = st.integers(-2, 5) | st.integers(-(2**63), 2**64)


def one_of(kind: type[Enum]) -> st.SearchStrategy[Any]:
    return st.sampled_from(list(kind))


KEYS = [
    number_key(number, NodeId(node)) for number, node in zip(range(10, 90, 10), [1, 2, 3, 4, 5, 1, 1, 2], strict=True)
]
ANY_KEYS = st.sampled_from(KEYS) | st.builds(
    Key,
    st.text(max_size=3),
    st.text(max_size=3),
    st.just(ALM),
    st.integers(-5, 5),
    st.tuples() | st.tuples(st.text(max_size=2)),
    st.integers(-1, BROKERS + 1).map(NodeId),
)
REFS = st.builds(
    lambda key, node, incarnation: Ref(key, key.broker if node is None else node, incarnation),
    ANY_KEYS,
    st.none() | st.integers(1, BROKERS).map(NodeId) | st.just(STRANGER),
    st.integers(0, 3),
)
SEQS = st.builds(Seq, st.integers(-1, 3), st.integers(-1, 9))
NEIGHBOURS = st.lists(REFS, max_size=6).map(tuple)
LEVELS = st.integers(-1, 8) | INTEGERS
NUMBERS = st.integers(0, 200) | INTEGERS
VECTORS = st.integers(0, 2**48 - 1) | INTEGERS
JOBS = st.none() | st.builds(Gone, REFS)

MESSAGES: dict[type[Message], st.SearchStrategy[Message]] = {
    Step: st.builds(Step, REFS, LEVELS, REFS, VECTORS, one_of(Standing), st.booleans(), NUMBERS, NUMBERS),
    Stepped: st.builds(Stepped, REFS, LEVELS, st.booleans(), NUMBERS, REFS, one_of(Met), REFS),
    SetR: st.builds(SetR, REFS, LEVELS, REFS, REFS, SEQS, one_of(Kind), NUMBERS, JOBS),
    SetRAck: st.builds(SetRAck, REFS, LEVELS, NUMBERS, SEQS, NEIGHBOURS, st.binary(max_size=4)),
    SetRNak: st.builds(SetRNak, REFS, LEVELS, NUMBERS, st.none() | REFS),
    SetL: st.builds(SetL, REFS, LEVELS, REFS, SEQS, NEIGHBOURS),
    PropagateNeighbours: st.builds(PropagateNeighbours, REFS, LEVELS, NEIGHBOURS),
    Candidate: st.builds(Candidate, REFS, LEVELS, REFS),
    Ping: st.builds(Ping, REFS, LEVELS, REFS, st.booleans(), SEQS),
    Pong: st.builds(Pong, REFS, LEVELS, REFS, one_of(Status), REFS, SEQS, NEIGHBOURS),
    Gone: st.builds(Gone, REFS),
    Seek: st.builds(
        Seek, ANY_KEYS, NUMBERS, st.integers(1, BROKERS).map(NodeId), NUMBERS, st.booleans(), st.none() | REFS
    ),
    Sought: st.builds(Sought, NUMBERS, REFS, REFS, NUMBERS),
}


@pytest.fixture(scope="module")
def settled() -> Rings:
    rings = Rings(BROKERS, KEYS, seed=1, settings=QUICK, vectors=[0, 1, 1 << 47, 3 << 46, 1 << 46]).join_all(0.3)
    rings.settle(30)
    return rings


@st.composite
def attacks(draw) -> list[tuple[NodeId, Message | float]]:
    """Messages from brokers, some of them from who they say they are; and time that passes."""
    steps: list[tuple[NodeId, Message | float]] = []
    for kind in draw(st.lists(st.sampled_from([*MESSAGES, None]), min_size=1, max_size=12)):
        if kind is None:
            steps.append((STRANGER, draw(st.floats(0.0, 10.0))))
            continue
        message = draw(MESSAGES[kind])
        names = [
            getattr(message, field).node for field in ("origin", "source", "new", "cur") if has_node(message, field)
        ]
        steps.append((draw(st.sampled_from([*names, *map(NodeId, range(1, BROKERS + 1)), STRANGER])), message))
    return steps


def has_node(message: Message, field: str) -> bool:
    return isinstance(getattr(message, field, None), Ref)


@settings(max_examples=300)
@given(victim=st.integers(1, BROKERS), attack=attacks())
def test_no_message_is_raised_at_its_receiver(settled, victim, attack):
    """overlay §11, and the issue's BAD INPUT: counted and traced, never raised; the tables keep their form."""
    peer = deepcopy(settled.peers[NodeId(victim)])
    now = settled.simulation.now
    for source, what in attack:
        out = Outbox()
        if isinstance(what, float):
            now += what
        else:
            peer.receive(now, source, what, out)
        while peer.deadline is not None and peer.deadline <= now:
            peer.timeout(now, out)
        assert all(msgspec.msgpack.encode(e.message) for e in out.effects if isinstance(e, Send)), "it can be sent on"
        in_form(peer.levels.towers, peer)


def in_form(towers: Towers, peer: Any) -> None:
    """What ``Towers`` and ``Tower`` promise."""
    links = peer.ring.links
    for tower in towers:
        key = tower.me.key
        assert [level for level in range(65) if (level, key) in links] == list(range(tower.top + 1))
        assert len(tower.walks) <= 2 * 64
        assert set(tower.looks) | set(tower.lost) <= set(range(65))
    for level in range(1, 65):
        assert towers.company[level] == sum(at == level for at, _ in links)
    for level in range(65):
        members = [link for (at, _), link in links.items() if at == level and link.status is not Status.INS]
        assert towers.members[level] == len(members)


@settings(max_examples=40)
@given(
    vectors=st.lists(st.integers(0, 15).map(lambda vector: vector << 44), min_size=1, max_size=8),
    numbers=st.lists(st.integers(0, 20), min_size=1, max_size=20),
    data=st.data(),
)
def test_any_keys_and_vectors_one_after_the_other(vectors, numbers, data):
    """Overlay §6: without faults and without upkeep, tables are right as soon as the messages have arrived."""
    brokers = [data.draw(st.integers(1, len(vectors)), label="broker") for _ in numbers]
    keys = list(dict.fromkeys(number_key(n, NodeId(b)) for n, b in zip(numbers, brokers, strict=True)))
    rings = Rings(len(vectors), keys, settings=BARE, vectors=vectors).join_all(2.0)
    rings.run(20.0)
    assert rings.wrong() == []


@settings(max_examples=30)
@given(seed=st.integers(0, 2**32), nodes=st.integers(2, 8), data=st.data())
def test_any_churn_comes_to_rest(seed, nodes, data):
    """Overlay §11: joins, leaves, crashes, a partition, in any order at any time; then the tables are right, in 90 s."""
    rings = Rings(nodes, 2, seed=seed).join_all(data.draw(st.sampled_from([0.0, 0.05, 0.5]), label="gap"))
    stays = rings.keys[0].broker
    steps = data.draw(st.lists(st.sampled_from(["leave", "join", "crash", "cut", "wait"]), max_size=10), label="steps")
    for step in steps:
        others = [node for node in rings.peers if node != stays]
        if step == "crash" and others:
            rings.simulation.crash(rings.rng.choice(others))
        elif step == "cut" and others:
            rings.cut(rings.rng.sample(others, 1 + len(others) // 2), rings.rng.uniform(1.0, 10.0))
        elif step == "join":
            rings.join(rings.key(rings.rng.choice(list(rings.peers))))
        elif step == "leave":
            ours = [key for peer in rings.peers.values() for key in peer.keys() if key != rings.keys[0]]
            if ours:
                rings.leave(rings.rng.choice(ours))
        rings.run(rings.rng.uniform(0.0, 0.3) if step != "wait" else 5.0)
    rings.settle(90)
    for key, table in static_levels((k, p.vector) for p in rings.peers.values() for k in p.keys()).items():
        assert rings.peers[key.broker].height(key) == len(table) - 1


def test_the_same_seed_gives_the_same_trace():
    def run() -> str:
        rings = Rings(12, 3, seed=11, trace=Level.DIGEST).join_all(0.0)
        rings.simulation.crash(NodeId(3))
        rings.run(30)
        return rings.simulation.trace.hash()

    assert run() == run()
