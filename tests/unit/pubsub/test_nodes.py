"""One virtual node for each (filter, segment), counted by who wants it; the home first."""

import pytest

from fake_overlay import FakeOverlay
from weft.core.errors import Misuse
from weft.core.ids import NodeId
from weft.core.machine import Outbox
from weft.core.timers import Timers
from weft.overlay.keys import ALM, OFM, PUB
from weft.pubsub.nodes import Nodes, Rejoin, Stage
from weft.pubsub.port import Port
from weft.pubsub.settings import Settings

US, A = NodeId(5), ("L", "a")


class Stand:
    """Nodes above an overlay that says what a test wants."""

    def __init__(self, started: bool = True, **settings) -> None:
        self.overlay, self.timers, self.out = FakeOverlay(), Timers(), Outbox()
        port = Port(self.overlay, lambda now, event, out: None)
        self.nodes = Nodes(US, ("jp", "kyoto"), port, self.timers, Settings(**settings))
        self.key = self.nodes.key(A, ALM)
        if started:
            self.nodes.start(0.0, (), self.out)
            self.nodes.on_joined(0.0, self.nodes.home, self.out)
            self.overlay.calls.clear()

    def want(self, key=None):
        self.nodes.want(0.0, key or self.key, self.out)

    def unwant(self):
        self.nodes.unwant(0.0, self.key, self.out)

    @property
    def verbs(self) -> list:
        return [(verb, key) for verb, key, *_ in self.overlay.calls]


def test_the_key_has_our_cluster_and_segment():
    assert Stand().key == ("L", "a", ALM, 0, ("jp", "kyoto"), US)


def test_many_want_it_and_it_joins_once_and_leaves_with_the_last():
    stand = Stand()
    for _ in range(3):
        stand.want()
    assert stand.verbs == [("join", stand.key)]
    stand.nodes.on_joined(0.0, stand.key, stand.out)
    for _ in range(2):
        stand.unwant()
    assert stand.nodes.is_in(stand.key)
    stand.unwant()
    assert stand.verbs == [("join", stand.key), ("leave", stand.key)]
    stand.nodes.on_left(0.0, stand.key, stand.out)
    assert stand.nodes.stage(stand.key) is None


def test_segments_are_apart():
    stand = Stand()
    for segment in (PUB, ALM, OFM):
        stand.want(stand.nodes.key(A, segment))
    assert len(stand.verbs) == 3


def test_wanted_again_while_it_leaves_it_joins_when_it_has_left():
    stand = Stand()
    stand.want()
    stand.nodes.on_joined(0.0, stand.key, stand.out)
    stand.unwant()
    stand.want()
    assert stand.nodes.stage(stand.key) is Stage.LEAVING
    stand.nodes.on_left(0.0, stand.key, stand.out)
    assert stand.verbs[-1] == ("join", stand.key)
    assert len(stand.verbs) == 3


def test_unwanted_while_it_joins_it_leaves_whatever_comes_first():
    stand = Stand()
    stand.want()
    stand.unwant()
    assert stand.verbs == [("join", stand.key), ("leave", stand.key)]
    stand.nodes.on_joined(0.0, stand.key, stand.out)
    assert not stand.nodes.is_in(stand.key)
    stand.nodes.on_left(0.0, stand.key, stand.out)
    assert stand.nodes.held == [stand.nodes.home]


def test_a_join_that_was_given_up_is_tried_again_later_if_still_wanted():
    stand = Stand(rejoin_s=5.0)
    stand.want()
    stand.nodes.on_join_failed(1.0, stand.key, stand.out)
    assert stand.timers.deadline == 6.0
    stand.nodes.on_rejoin(6.0, Rejoin(stand.key), stand.out)
    assert stand.verbs == [("join", stand.key)] * 2
    stand.nodes.on_join_failed(7.0, stand.key, stand.out)
    stand.unwant()
    assert stand.timers.deadline is None
    assert stand.nodes.stage(stand.key) is None


def test_a_join_that_fails_when_nobody_wants_it_any_more_is_over():
    stand = Stand()
    stand.want()
    stand.unwant()
    stand.nodes.on_join_failed(1.0, stand.key, stand.out)
    assert stand.nodes.stage(stand.key) is None
    assert stand.timers.deadline is None


def test_nothing_joins_before_the_home_is_in():
    stand = Stand(started=False)
    stand.want()
    assert stand.verbs == []
    stand.nodes.start(0.0, (NodeId(8), NodeId(9)), stand.out)
    assert stand.overlay.calls == [("join", stand.nodes.home, NodeId(8))]
    stand.nodes.on_join_failed(0.0, stand.nodes.home, stand.out)
    stand.nodes.on_rejoin(5.0, Rejoin(stand.nodes.home), stand.out)
    assert stand.overlay.calls[-1] == ("join", stand.nodes.home, NodeId(9)), "another introducer"
    stand.nodes.on_joined(6.0, stand.nodes.home, stand.out)
    assert stand.overlay.calls[-1] == ("join", stand.key, None)


def test_stop_takes_everything_out_the_home_last():
    stand = Stand()
    for _ in range(2):
        stand.want()
    stand.nodes.on_joined(0.0, stand.key, stand.out)
    stand.nodes.stop(0.0, stand.out)
    assert stand.verbs[-2:] == [("leave", stand.key), ("leave", stand.nodes.home)]


def test_misuse_is_said_at_once():
    stand = Stand(subscriptions_max=2)
    with pytest.raises(Misuse, match="not wanted"):
        stand.unwant()
    with pytest.raises(Misuse, match="started"):
        stand.nodes.start(0.0, (), stand.out)
    stand.want()
    with pytest.raises(Misuse, match="more than 2"):
        stand.want(stand.nodes.key(("L", "b"), ALM))
