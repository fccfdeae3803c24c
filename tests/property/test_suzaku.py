"""Suzaku under anything: after any joins, leaves and failures the finger tables are exactly those of the papers' definition."""

import itertools
from copy import deepcopy

import msgspec
from hypothesis import given, settings
from hypothesis import strategies as st

from churn import QUICK, Churn, Step
from rings import BARE, Net, grown, key
from weft.core.ids import NodeId
from weft.core.limits import LEFT_NEIGHBOURS_MAX, LEVELS_MAX
from weft.core.machine import Message, Outbox, Send
from weft.overlay.api import Found, Ref
from weft.overlay.keys import number_key
from weft.overlay.lookup import Gone, Seek
from weft.overlay.ring.messages import FIRST, Kind, SetR
from weft.overlay.suzaku.geometry import advances, hops_bound, zigzag
from weft.overlay.suzaku.machine import Suzaku
from weft.overlay.suzaku.messages import Handover, Replace, Update, UpdateAck
from weft.overlay.suzaku.tables import REVERSE_MAX
from weft.overlay.values import LABELS_MAX
from weft.sim.convergence import suzaku_converged
from weft.sim.whole import whole_suzaku

BROKERS = 7


def steps(*verbs: str, most: int = 24) -> st.SearchStrategy[list[Step]]:
    waits = st.sampled_from([0.0, 0.01, 0.05, 0.3, 2.0])
    one = st.builds(Step, st.sampled_from(verbs), st.integers(1, BROKERS), st.integers(0, 2), waits)
    return st.lists(one, min_size=most // 3, max_size=most)


class Fingers(Churn):
    """Suzaku brokers; contacts are held to what the tables hold, after every event."""

    def __init__(self, seed: int) -> None:
        super().__init__(Suzaku, BROKERS, seed)
        self.simulation.observers.append(lambda simulation: self.in_form(simulation.node))

    def in_form(self, node: NodeId | None) -> None:
        if node in self.peers:
            well_formed(self.peers[node])

    def converged(self) -> None:
        suzaku_converged(list(self.peers.values()))


def well_formed(peer: Suzaku) -> None:
    """What ``Fingers`` promises: level 0 is the ring's, each finger lies beyond the one before, contacts hold each of them."""
    for owner, fingers in peer.fingers.tables.items():
        link = peer.ring.links[0, owner]
        for forward, neighbour in ((True, link.right), (False, link.left)):
            side = fingers.side(forward)
            assert [finger.ref for finger in side[:1]] == ([neighbour] if neighbour != link.me else [])
            for near, far in itertools.pairwise(side):
                assert advances(owner, near.ref.key, far.ref.key, forward)
            for finger in side:
                assert finger.ref in peer.contacts._holders
                assert len(finger.backups) <= LEFT_NEIGHBOURS_MAX
                assert finger.values is None or len(finger.values) <= LABELS_MAX
        assert len(fingers.reverse) <= REVERSE_MAX
    pointers = sum(len(f.forward) + len(f.backward) for f in peer.fingers.tables.values())
    links = sum(2 for link in peer.ring.links.values() if (0, link.me.key) in peer._linked)
    assert sum(peer.contacts._holders.values()) == pointers + links + len(peer.contacts.own)


@settings(max_examples=60)
@given(steps=steps("join", "join", "leave"), seed=st.integers(0, 2**32))
def test_after_joins_and_leaves_the_tables_are_as_defined(steps, seed):
    """SELECT §3.2, eq. 1: whatever came when, the sweeps lead to the same tables."""
    fingers = Fingers(seed).apply(steps)
    fingers.settle(120.0, fingers.converged)


@settings(max_examples=60)
@given(steps=steps("join", "join", "leave", "crash", "restart", "cut"), seed=st.integers(0, 2**32))
def test_after_any_failures_the_tables_are_as_defined(steps, seed):
    """The same with crashes, restarts and partitions: within a bound no table holds anybody who is gone."""
    fingers = Fingers(seed).apply(steps)
    fingers.settle(240.0, fingers.converged)


@settings(max_examples=40)
@given(steps=steps("join", "join", "leave", most=18), seed=st.integers(0, 2**32), data=st.data())
def test_lookups_find_their_place_whatever_the_tables_are_at_the_moment(steps, seed, data):
    """Fingers only make lookups short: the ring makes them right, as soon as it is whole."""
    fingers = Fingers(seed).apply(steps)
    fingers.settle(60.0)
    every = sorted(k for peer in fingers.peers.values() for k in peer.keys())
    asker = data.draw(st.sampled_from([node for node, peer in fingers.peers.items() if peer.keys()]), label="asker")
    sought = number_key(
        data.draw(st.integers(0, 3), label="number"), NodeId(data.draw(st.integers(0, 9), label="broker"))
    )
    fingers.simulation.do(asker, lambda peer, now, out: peer.lookup(now, sought, out))
    fingers.run(5.0)
    found = next(event for _, _, event in reversed(fingers.simulation.upward) if isinstance(event, Found))
    assert found.at.key == max((k for k in every if k <= sought), default=every[-1])


@settings(max_examples=100)
@given(count=st.integers(1, 200), asker=st.integers(0, 10**6), sought=st.integers(0, 10**6))
def test_a_converged_lookup_keeps_the_bound(count, asker, sought):
    """Suzaku: at most ceil(log2 n) - 1 hops, from anywhere to any key, held or not."""
    net = Net(Suzaku, BARE)
    net.peers.update(whole_suzaku({NodeId(b): [key(b)] for b in range(1, count + 1)}, BARE))
    wanted = number_key(sought % (10 * count + 20), NodeId(1))
    net.do(1 + asker % count, lambda peer, now, out: peer.lookup(now, wanted, out))
    net.settle()
    (found,) = net.heard(Found)
    assert found.hops <= hops_bound(count)


@given(ahead=st.integers(0, 6), behind=st.integers(0, 6))
def test_zig_zag_takes_each_level_of_both_sides_once(ahead, behind):
    """Whatever the heights of the two tables are."""
    at, asked = (0, 0), []
    while (step := zigzag(*at)) is not None:
        forward, level = step
        asked.append(step)
        height = ahead if forward else behind
        following = level + 1 if level < height else None
        at = (following, at[1]) if forward else (at[0], following)
    assert sorted(asked) == sorted([*((True, n) for n in range(ahead + 1)), *((False, n) for n in range(behind + 1))])
    assert [level for forward, level in asked if forward] == list(range(ahead + 1))


# Bad input

INTEGERS = st.integers(-2, 6) | st.sampled_from([LEVELS_MAX - 1, LEVELS_MAX, 2**63 - 1, 2**64 - 1, -(2**63)])
KEYS = st.builds(key, st.integers(1, BROKERS)) | st.builds(key, st.integers(0, BROKERS + 1), st.integers(0, 80))
REFS = st.builds(
    lambda key, node, life: Ref(key, key.broker if node is None else NodeId(node), life),
    KEYS,
    st.none() | st.integers(0, BROKERS + 1),
    st.integers(0, 2),
)
VALUES = st.none() | st.dictionaries(st.sampled_from(["free", "min:a", "max:b", "x"]), st.floats(), max_size=4)
LISTS = st.lists(REFS, max_size=LEFT_NEIGHBOURS_MAX + 2).map(tuple)
NUMBERS = st.integers(0, 60) | INTEGERS
JOBS = st.builds(Handover, REFS, LISTS) | st.builds(Gone, REFS)
MESSAGES: st.SearchStrategy[Message] = st.one_of(
    st.builds(Update, REFS, REFS, INTEGERS, st.booleans(), NUMBERS, VALUES),
    st.builds(UpdateAck, REFS, REFS, NUMBERS, VALUES, st.none() | REFS, LISTS),
    st.builds(Replace, REFS, REFS, REFS),
    st.builds(Handover, REFS, LISTS),
    st.builds(Gone, REFS),
    st.builds(SetR, REFS, st.just(0), REFS, REFS, st.just(FIRST), st.sampled_from(list(Kind)), NUMBERS, JOBS),
    st.builds(Seek, KEYS, NUMBERS, st.integers(1, BROKERS).map(NodeId), NUMBERS, st.booleans(), st.none() | REFS),
)


@st.composite
def mail(draw: st.DrawFn) -> list[tuple[int, Message, float]]:
    """Messages, mostly from who they say they are."""
    letters = []
    for message in draw(st.lists(MESSAGES, max_size=15)):
        names = [
            ref.node for name in ("source", "new", "cur", "ref") if (ref := getattr(message, name, None)) is not None
        ]
        sources = st.sampled_from([*names, *names, *range(1, BROKERS + 2)])
        letters.append((draw(sources), message, draw(st.sampled_from([0.0, 0.6, 2.5]))))
    return letters


def settled() -> Suzaku:
    net = grown(range(1, BROKERS + 1), Suzaku, QUICK)
    net.join(2, None, 45)
    net.run(30.0)
    return net.peers[2]


SETTLED = settled()


@settings(max_examples=400)
@given(mail=mail())
def test_nothing_that_a_peer_sends_is_raised_and_the_tables_keep_their_form(mail):
    """Malformed or false, it is counted; what follows from it can be sent."""
    peer, now = deepcopy(SETTLED), 100.0
    for source, message, wait in mail:
        now += wait
        out = Outbox()
        peer.receive(now, NodeId(source), message, out)
        while peer.deadline is not None and peer.deadline <= now:
            peer.timeout(now, out)
        assert all(msgspec.msgpack.encode(effect.message) for effect in out.effects if isinstance(effect, Send))
        well_formed(peer)
