"""Walking: one step after the other, and what peers may not answer."""

from collections.abc import Callable

import pytest

from weft.core.ids import NodeId
from weft.core.machine import Message, Outbox, Send
from weft.overlay.api import Ref
from weft.overlay.keys import number_key
from weft.overlay.ring.messages import SetR
from weft.overlay.settings import Settings
from weft.overlay.skipgraph.machine import SkipGraph
from weft.overlay.skipgraph.messages import Met, Standing, Step, Stepped
from weft.overlay.skipgraph.tables import Tower

SETTINGS = Settings(ping_interval_s=None, walk_interval_s=None, lost_interval_s=None, membership_digits=4)


def ref(number: int, node: int) -> Ref:
    return Ref(number_key(number, NodeId(node)), NodeId(node), 1)


class Walker:
    """Broker 1 with one key, 10, whose right neighbour at level 0 is 20 of broker 2; it has just begun to walk."""

    def __init__(self) -> None:
        self.peer = SkipGraph(NodeId(1), SETTINGS, vector=0b1010)
        self.now = 0.0
        self.peer.join(0.0, number_key(10, NodeId(1)), None, Outbox())
        self.me = self.peer.contacts.own[0]
        link = self.peer.ring.links[0, self.me.key]
        link.left = link.right = ref(20, 2)
        self.sent = self.do(lambda out: self.peer.levels._walks.right(0.0, self.tower, 0, out))

    @property
    def tower(self) -> Tower:
        return self.peer.levels.towers.by_key[self.me.key]

    def do(self, call: Callable[[Outbox], object]) -> list[Message]:
        out = Outbox()
        call(out)
        return [effect.message for effect in out.effects if isinstance(effect, Send)]

    def answered(
        self, step: Step, met: Met, following: Ref, source: Ref | None = None, by: int | None = None
    ) -> list[Message]:
        at = source or step.at
        answer = Stepped(step.origin, step.level, step.rightward, step.number, at, met, following)
        return self.do(lambda out: self.peer.receive(self.now, NodeId(by or at.node), answer, out))

    def tick(self) -> list[Message]:
        assert self.peer.deadline is not None
        self.now = self.peer.deadline
        return self.do(lambda out: self.peer.timeout(self.now, out))


def test_a_walk_goes_from_node_to_node():
    walker = Walker()
    (step,) = walker.sent
    assert (step.at, step.level, step.origin, step.hops, step.standing) == (ref(20, 2), 0, walker.me, 1, Standing.NONE)
    (step,) = walker.answered(step, Met.NOBODY, ref(30, 3))
    assert (step.at, step.hops) == (ref(30, 3), 2)
    (step,) = walker.answered(step, Met.NOBODY, ref(50, 4), source=ref(40, 3))
    assert (step.at, step.hops) == (ref(50, 4), 3), "broker 3 went on by itself to 40"
    (step,) = walker.answered(step, Met.NOBODY, ref(5, 5))
    assert walker.answered(step, Met.NOBODY, ref(15, 6)) == [], "that would be past ourselves"
    assert not walker.tower.walks


def test_a_mate_is_where_to_insert():
    walker = Walker()
    (step,) = walker.sent
    (insert,) = walker.answered(step, Met.MATE, ref(5, 3))
    assert isinstance(insert, SetR)
    assert (insert.at, insert.level, insert.new, insert.cur) == (ref(5, 3), 1, walker.me, ref(20, 2))


def test_a_mate_without_a_place_for_us_is_asked_again_later():
    walker = Walker()
    (step,) = walker.sent
    assert walker.answered(step, Met.MATE, ref(15, 3)) == [], "somebody between us and the mate"
    assert walker.tower.refusals == {(0, True): 1}
    (again,) = walker.tick()
    assert (again.at, again.hops) == (ref(20, 2), 1)


def test_a_rival_makes_us_back_off_longer_each_time():
    walker = Walker()
    (step,) = walker.sent
    waits = []
    for _ in range(5):
        assert walker.answered(step, Met.RIVAL, step.at) == []
        waits.append(walker.peer.deadline - walker.now)
        (step,) = walker.tick()
    means = [SETTINGS.retry_wait_s * 2**n for n in range(5)]
    assert all(0.5 * mean <= wait <= 1.5 * mean for wait, mean in zip(waits, means, strict=True)), waits


def test_kin_on_the_way_means_come_again():
    walker = Walker()
    (step,) = walker.sent
    assert walker.answered(step, Met.KIN, walker.me) == []
    (again,) = walker.tick()
    assert walker.answered(again, Met.NOBODY, walker.me) == []
    assert walker.peer.deadline is None, "nobody at all: our height ends here"
    assert walker.tower.refusals == {}


def test_a_step_without_an_answer_is_sent_again_and_given_up():
    walker = Walker()
    (step,) = walker.sent
    assert [walker.tick() for _ in range(SETTINGS.request_tries - 1)] == [[step]] * (SETTINGS.request_tries - 1)
    assert walker.tick() == []
    assert walker.tower.refusals == {(0, True): 1}
    assert walker.answered(step, Met.NOBODY, ref(30, 3)) == [], "too late"
    assert walker.peer.local.counts["skipgraph.stepped.late"] == 1


@pytest.mark.parametrize(
    "lie",
    [
        {"by": 3},
        {"source": ref(25, 3)},
        {"source": ref(25, 3), "by": 2},
        {"source": ref(15, 2)},
    ],
)
def test_an_answer_that_cannot_be_is_counted_and_dropped(lie):
    walker = Walker()
    (step,) = walker.sent
    assert walker.answered(step, Met.MATE, ref(5, 3), **lie) == []
    assert walker.peer.local.counts["violation"] == 1
    assert walker.tower.walks, "still waiting for the true answer"


def test_a_pointer_to_a_node_of_ours_that_is_not_there_ends_the_walk():
    walker = Walker()
    (step,) = walker.sent
    assert walker.answered(step, Met.NOBODY, ref(30, 1)) == []
    assert walker.tower.refusals == {(0, True): 1}
