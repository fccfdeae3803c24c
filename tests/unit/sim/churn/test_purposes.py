"""What a message is for: told from the message, for the answer as for the question."""

import pytest

from rings import ref
from weft.core.ids import NodeId
from weft.overlay.hops import Hop, HopAck
from weft.overlay.keys import EVERYTHING, before, number_key
from weft.overlay.lookup import Gone, Seek, Sought
from weft.overlay.ring.messages import FIRST, Kind, Ping, SetL, SetR, SetRAck, SetRNak, Status
from weft.overlay.skipgraph.messages import Met, Standing, Step, Stepped
from weft.overlay.spread.messages import Asked, Gather, Part, Returned, Scatter
from weft.overlay.suzaku.messages import Replace, Update, UpdateAck
from weft.sim.churn.purposes import SIZED_EVERY, Metered

OLD, NEW, OTHER = NodeId(1), NodeId(2), NodeId(3)


@pytest.fixture
def network() -> Metered:
    network = Metered(0.02, 0.06)
    network.is_new = lambda node: node == NEW
    network.is_lookup = lambda key: key == ref(3).key
    network.multicast_of = lambda payload: payload
    return network


def purpose(network: Metered, source: NodeId, to: NodeId, message) -> str:
    before_it = network.messages.copy()
    network.depart(0.0, source, to, message)
    ((found, _),) = (network.messages - before_it).items()
    return found


def set_r(source: NodeId, kind: Kind, level: int = 0) -> SetR:
    return SetR(ref(OTHER), level, ref(source), ref(4), FIRST, kind, 7, None)


@pytest.mark.parametrize(
    ("source", "kind", "level", "wanted"),
    [
        (NEW, Kind.INSERT, 0, "joins"),
        (NEW, Kind.INSERT, 3, "joins"),
        (OLD, Kind.INSERT, 0, "repair"),
        (OLD, Kind.INSERT, 3, "tables"),
        (OLD, Kind.DELETE, 0, "leaves"),
        (OLD, Kind.BOTH, 0, "repair"),
        (NEW, Kind.LEFTONLY, 0, "repair"),
    ],
)
def test_an_answer_to_set_r_is_for_what_it_was_for(network, source, kind, level, wanted):
    assert purpose(network, source, OTHER, set_r(source, kind, level)) == wanted
    assert purpose(network, OTHER, source, SetRAck(ref(source), level, 7, FIRST, (), b"")) == wanted
    assert purpose(network, OTHER, source, SetRNak(ref(source), level, 7, None)) == wanted


def test_set_l_says_by_its_sender_whether_somebody_came_or_went(network):
    assert purpose(network, OLD, OTHER, SetL(ref(OTHER), 0, ref(OLD), FIRST, ())) == "leaves"
    assert purpose(network, OLD, OTHER, SetL(ref(OTHER), 0, ref(NEW), FIRST, ())) == "joins"


@pytest.mark.parametrize(
    ("key", "wanted"),
    [
        (ref(NEW).key, "joins"),
        (ref(3).key, "lookups"),
        (before(ref(NEW).key), "reunion"),
        (number_key(5, OLD), "reunion"),
    ],
)
def test_a_seek_is_told_by_whose_key_it_seeks(network, key, wanted):
    seek = Seek(key, 9, NEW, 1, False, None)
    assert purpose(network, NEW, OTHER, seek) == wanted
    assert purpose(network, OTHER, NEW, Sought(9, ref(3), ref(4), 2)) == wanted


def test_a_wrapped_hop_is_for_what_its_body_is_for_and_so_is_its_acknowledgement(network):
    scatter = Scatter(Asked(OLD, 1, "answered", "binary", "count", True), (Part(ref(3), EVERYTHING, 0),), 1, 55)
    assert purpose(network, OLD, OTHER, Hop(8, scatter)) == "answered"
    assert purpose(network, OTHER, OLD, HopAck(8)) == "answered"
    assert purpose(network, OTHER, OLD, Gather(55, 1, 1, ())) == "answered"
    assert purpose(network, OTHER, OLD, Returned(scatter)) == "answered"


def test_tables_of_newcomers_are_joins(network):
    for node, wanted in ((NEW, "joins"), (OLD, "tables")):
        assert purpose(network, node, OTHER, Update(ref(OTHER), ref(node), 0, True, 1, None)) == wanted
        assert purpose(network, OTHER, node, UpdateAck(ref(node), ref(OTHER), 1, None, None, ())) == wanted
        step = Step(ref(OTHER), 0, ref(node), 5, Standing.SELF, True, 1, 1)
        assert purpose(network, node, OTHER, step) == wanted
        assert purpose(network, OTHER, node, Stepped(ref(node), 0, True, 1, ref(OTHER), Met.NOBODY, ref(4))) == wanted
    assert purpose(network, OLD, OTHER, Step(ref(OTHER), 0, ref(OLD), 5, Standing.SELF, False, 1, 1)) == "repair"


def test_what_is_said_of_the_gone(network):
    assert purpose(network, OLD, OTHER, Gone(ref(4))) == "repair"
    assert purpose(network, OLD, OTHER, Replace(ref(3), ref(4), ref(1))) == "leaves"


def test_one_in_so_many_is_weighed(network):
    for _ in range(2 * SIZED_EVERY):
        network.depart(0.0, OLD, OTHER, Ping(ref(3), 0, ref(1), True, FIRST))
    assert network.messages["ring"] == 2 * SIZED_EVERY
    assert 30 < network.bytes["ring"] / network.messages["ring"] < 300
    network.reset()
    assert not network.messages
    assert Status.IN, "and a message takes between 20 and 80 ms"
    assert 0.02 <= network.depart(0.0, OLD, OTHER, Ping(ref(3), 0, ref(1), True, FIRST))[0] <= 0.08
