"""What a walker is told."""

import pytest

from weft.core.ids import NodeId
from weft.core.machine import Outbox, Send
from weft.overlay.api import Ref
from weft.overlay.keys import number_key
from weft.overlay.settings import Settings
from weft.overlay.skipgraph.machine import SkipGraph
from weft.overlay.skipgraph.messages import Met, Standing, Step, Stepped
from weft.overlay.skipgraph.walks import WALK_STEPS_MAX

SETTINGS = Settings(ping_interval_s=None, walk_interval_s=None, lost_interval_s=None, membership_digits=4)


def ref(number: int, node: int = 2, incarnation: int = 1) -> Ref:
    return Ref(number_key(number, NodeId(node)), NodeId(node), incarnation)


class Broker:
    """Broker 1 with vector 1010 and one key; the messages that it is sent and sends."""

    def __init__(self, *numbers: int) -> None:
        self.peer = SkipGraph(NodeId(1), SETTINGS, vector=0b1010)
        out = Outbox()
        for number in numbers:
            self.peer.join(0.0, number_key(number, NodeId(1)), None, out)
            self._talk_to_itself(out)

    def _talk_to_itself(self, out: Outbox) -> None:
        while effects := [effect for effect in out.effects if isinstance(effect, Send)]:
            out.effects.clear()
            for effect in effects:
                assert effect.to == 1
                self.peer.receive(0.0, NodeId(1), effect.message, out)

    @property
    def own(self) -> list[Ref]:
        return self.peer.contacts.own

    def step(
        self, at: Ref, origin: Ref, vector: int, level: int = 0, source: int | None = None, **changes
    ) -> Stepped | None:
        fields = {"standing": Standing.NONE, "rightward": True, "hops": 1, "number": 7} | changes
        out = Outbox()
        self.peer.receive(0.0, NodeId(source or origin.node), Step(at, level, origin, vector, **fields), out)
        answers = [e.message for e in out.effects if isinstance(e, Send) and isinstance(e.message, Stepped)]
        assert len(answers) <= 1
        return answers[0] if answers else None

    @property
    def violations(self) -> int:
        return self.peer.local.counts["violation"]


def test_a_stranger_goes_on_to_our_neighbour():
    broker = Broker(10)
    me = broker.own[0]
    answer = broker.step(me, ref(5), 0b0000)
    assert answer == Stepped(ref(5), 0, True, 7, me, Met.NOBODY, me)
    assert broker.peer.height(me.key) == 0


def test_kin_that_is_alone_founds_the_ring():
    broker = Broker(10)
    me = broker.own[0]
    answer = broker.step(me, ref(5), 0b1111)
    assert (answer.met, answer.source, answer.following) == (Met.MATE, me, me)
    assert broker.peer.height(me.key) == 1
    again = broker.step(me, ref(7, 3), 0b1000)
    assert (again.met, again.source) == (Met.MATE, me), "one ring, whoever asks"


def test_nothing_is_founded_beyond_the_digits_that_are_shared():
    broker = Broker(10)
    me = broker.own[0]
    broker.step(me, ref(5), 0b1111)
    assert broker.step(me, ref(5), 0b1111, level=1).met is Met.NOBODY
    assert broker.peer.height(me.key) == 1


def test_a_step_is_taken_along_our_own_nodes():
    broker = Broker(10, 20, 30)
    first, second, third = broker.own
    answer = broker.step(first, ref(5), 0b0000)
    assert (answer.met, answer.source, answer.following) == (Met.NOBODY, third, first)
    answer = broker.step(second, ref(25), 0b0000)
    assert (answer.source, answer.following) == (second, third), "not past where the walk began"
    answer = broker.step(second, ref(25), 0b0000, rightward=False)
    assert (answer.source, answer.following) == (third, second), "over the lowest key, and no further than the walker"


def test_one_of_our_nodes_stands_for_all():
    broker = Broker(10, 20, 30)
    first, second, _ = broker.own
    assert broker.step(second, ref(15), 0b1111).source == second
    assert broker.step(first, ref(5, 3), 0b1111).source == second, "the one that is in the ring"
    assert [broker.peer.height(ref.key) for ref in broker.own] == [0, 1, 0]


def test_a_node_that_is_not_there_is_lost():
    broker = Broker(10)
    me = broker.own[0]
    for at in (ref(11, 1), Ref(me.key, me.node, me.incarnation + 1)):
        assert broker.step(at, ref(5), 0b1111) == Stepped(ref(5), 0, True, 7, at, Met.LOST, at)
    assert broker.step(me, ref(5), 0b1111, level=1).met is Met.LOST


def test_of_two_walkers_the_one_that_has_walked_further_wins():
    broker, rival = Broker(10), ref(20)
    me = broker.own[0]
    link = broker.peer.ring.links[0, me.key]
    link.left = link.right = rival
    out = Outbox()
    broker.peer.levels._walks.right(0.0, broker.peer.levels.towers.by_key[me.key], 0, out)
    (sent,) = (effect.message for effect in out.effects if isinstance(effect, Send))
    assert (sent.at, sent.hops, sent.standing) == (rival, 1, Standing.NONE)
    assert broker.step(me, ref(9), 0b1111, hops=1).met is Met.RIVAL, "as far, but of lower key"
    assert broker.peer.height(me.key) == 0
    answer = broker.step(me, rival, 0b1111, hops=1)
    assert (answer.met, answer.source) == (Met.MATE, me), "as far, and of higher key: we stop, and take it in"
    assert broker.peer.height(me.key) == 1
    assert not broker.peer.levels.towers.by_key[me.key].walks


@pytest.mark.parametrize(
    "wrong",
    [
        {"level": -1},
        {"level": 4},
        {"vector": -1},
        {"vector": 16},
        {"hops": 0},
        {"hops": WALK_STEPS_MAX + 1},
        {"source": 3},
    ],
)
def test_a_step_that_cannot_be_is_counted_and_not_answered(wrong):
    broker = Broker(10)
    assert broker.step(broker.own[0], ref(5), **({"vector": 0} | wrong)) is None
    assert broker.violations == 1
