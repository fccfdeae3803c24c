"""Whatever a peer sends to a group protocol: nothing is raised, and what follows goes to somebody who can exist."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from groups_bench import TREES, Meeting
from weft.core.ids import NodeId
from weft.core.machine import Message, Outbox, Send
from weft.overlay.bayeux import messages as bayeux
from weft.overlay.can import messages as can
from weft.overlay.can.geometry import SIDE
from weft.overlay.groups import Publication
from weft.overlay.rendezvous import messages as rendezvous
from weft.overlay.scribe import messages as scribe
from weft.overlay.shg import messages as shg_messages
from weft.overlay.shg.machine import Shg
from weft.overlay.shg.patterns import Pattern, Predicate

NODES = st.integers(1, 40).map(NodeId)
TOPICS = st.sampled_from(["t", "u", "", "x" * 70_000])
HOPS = st.sampled_from([-1, 0, 1, 2, 70, 1 << 20])
IDS = st.sampled_from([-1, 0, 1, 5, (1 << 48) - 1, 1 << 48]) | st.integers(0, (1 << 48) - 1)
VALUES = st.sampled_from([None, 0, -3.5, float("nan"), "x", "x" * 5_000, True])
ABOUTS = TOPICS | st.dictionaries(st.sampled_from(["a", "b"]), VALUES)
PUBLICATIONS = st.builds(Publication, ABOUTS, st.just(b"x"), NODES, st.integers(0, 3))
WALKS = st.none() | st.builds(rendezvous.Walk, st.integers(-1, 49), NODES, NODES, IDS, st.booleans())

RENDEZVOUS = [
    st.builds(rendezvous.Post, PUBLICATIONS.filter(lambda p: isinstance(p.about, str)), HOPS, st.booleans(), WALKS),
    st.builds(rendezvous.Rooted, TOPICS),
    st.builds(rendezvous.Data, PUBLICATIONS, HOPS, HOPS),
]
SCRIBE = [
    st.builds(scribe.Join, TOPICS, HOPS, WALKS, st.booleans()),
    st.builds(scribe.Leave, TOPICS),
    st.builds(scribe.Beat, TOPICS),
]
BAYEUX = [
    st.builds(bayeux.Join, TOPICS, NODES, IDS, HOPS, WALKS),
    st.builds(bayeux.Tree, TOPICS, NODES, IDS, HOPS, WALKS),
    st.builds(bayeux.Leave, TOPICS, NODES, HOPS, WALKS),
    st.builds(bayeux.Prune, TOPICS, NODES, HOPS),
]
COORDINATES = st.sampled_from([-1, 0, SIDE // 4, SIDE // 2, SIDE - 1, SIDE])
POINTS = st.lists(COORDINATES, min_size=1, max_size=3).map(tuple)
WHOLE = can.Zone.whole(2)
ZONES = st.builds(can.Zone, POINTS, POINTS, st.integers(-1, 70)) | st.sampled_from(
    [WHOLE, *WHOLE.halves(), *WHOLE.halves()[0].halves(), *WHOLE.halves()[1].halves()[1].halves()]
)
PLACES = st.builds(can.Place, NODES, ZONES, st.integers(-1, 3))
AROUND = st.lists(PLACES, max_size=3).map(tuple)
CANS = st.sampled_from(["", "t", "u"])
CAN = [
    st.builds(can.Find, TOPICS, NODES, HOPS),
    st.builds(can.Introduced, TOPICS, st.none() | NODES),
    st.builds(can.Withdraw, TOPICS, NODES, st.none() | NODES, HOPS),
    st.builds(can.Join, CANS, POINTS, NODES, HOPS),
    st.builds(can.Welcome, CANS, ZONES, AROUND, st.dictionaries(TOPICS, NODES, max_size=2)),
    st.builds(can.Moved, CANS, PLACES),
    st.builds(can.Gone, CANS, NODES, st.integers(-1, 3)),
    st.builds(can.Vacate, CANS, PLACES, AROUND, HOPS),
    st.builds(can.Flood, PUBLICATIONS, POINTS, st.integers(-1, 5), HOPS),
]
PREDICATES = st.builds(Predicate, st.sampled_from("ab"), st.sampled_from(["=", "<", "prefix", "~"]), VALUES)
PATTERNS = st.lists(PREDICATES, max_size=3).map(lambda predicates: Pattern(tuple(predicates)))
SHG = [
    st.builds(shg_messages.Subscribe, PATTERNS),
    st.builds(shg_messages.Unsubscribe, PATTERNS),
    st.builds(shg_messages.Up, PUBLICATIONS, HOPS),
    st.builds(shg_messages.Across, PUBLICATIONS, st.integers(-2, 6) | st.just(1 << 60), HOPS, HOPS),
    st.builds(shg_messages.Down, PUBLICATIONS, HOPS, HOPS),
]


def endure(machine, said: list[tuple[NodeId, Message]]) -> None:
    for source, message in said:
        out = Outbox()
        machine.receive(0.0, source, message, out)
        for effect in out.effects:
            if isinstance(effect, Send):
                assert 0 < effect.to <= 1 << 20
                assert effect.to != machine.local.node, "nobody sends to itself"
    machine.timeout(1e9, Outbox())


def talk(messages: list) -> st.SearchStrategy:
    return st.lists(st.tuples(NODES, st.one_of(messages)), max_size=12)


@given(talk(RENDEZVOUS + SCRIBE))
def test_scribe_endures(said):
    machine = Meeting.trees("scribe", 12, seed=1, beat_interval_s=1.0).machines[NodeId(5)]
    machine.subscribe(0.0, "t", Outbox())
    endure(machine, [(source, message) for source, message in said if source != 5])


@given(talk(RENDEZVOUS + BAYEUX))
def test_bayeux_endures(said):
    machine = Meeting.trees("bayeux", 12, seed=1).machines[NodeId(5)]
    machine.subscribe(0.0, "t", Outbox())
    endure(machine, [(source, message) for source, message in said if source != 5])


@given(talk(CAN))
def test_can_endures(said):
    meeting = Meeting.cans(6, 2, seed=1)
    meeting.subscribe(2, 5, 6)
    endure(meeting.machines[NodeId(5)], [(source, message) for source, message in said if source != 5])


@pytest.mark.parametrize("variant", ["corrected", "literal"])
@pytest.mark.parametrize("corner", [0b00000, 0b00001, 0b00111, 0b10000])
@given(said=talk(SHG))
def test_shg_endures(corner, variant, said):
    endure(Shg(corner, 5, 3, variant), [(source, message) for source, message in said if source != corner + 1])


def test_every_message_of_the_baselines_is_among_those():
    modules = {rendezvous: RENDEZVOUS, scribe: SCRIBE, bayeux: BAYEUX, can: CAN, shg_messages: SHG}
    for module, strategies in modules.items():
        own = [
            value
            for value in vars(module).values()
            if isinstance(value, type) and issubclass(value, Message) and value.__module__ == module.__name__
        ]
        assert len(own) == len(strategies), module.__name__
    assert list(TREES) == ["scribe", "bayeux"]
