"""What a peer may not say about fingers: counted and traced, never raised; no table changes."""

from copy import deepcopy

import msgspec
import pytest

from rings import Net, key, ref, whole
from weft.core.limits import LEFT_NEIGHBOURS_MAX, LEVELS_MAX
from weft.overlay.lookup import Gone
from weft.overlay.ring.messages import Kind, SetR
from weft.overlay.suzaku.messages import Handover, Replace, Update, UpdateAck, UpdateDue
from weft.overlay.suzaku.tables import REVERSE_MAX
from weft.overlay.values import LABELS_MAX

LABELS = {f"l{n}": 1.0 for n in range(LABELS_MAX + 1)}
UPDATE = Update(ref(2), ref(5), 1, True, 7, {"free": 1.0})
ACK = UpdateAck(ref(2), ref(3), 7, {"free": 1.0}, ref(4), (ref(1),))
REPLACE = Replace(ref(2), ref(4), ref(3))


def changed(message, **changes):
    return msgspec.structs.replace(message, **changes)


@pytest.fixture
def net() -> Net:
    """Eight brokers; 2 has asked 3 for its first finger."""
    net = whole(8)
    fingers = net.peers[2].fingers
    net.do(2, lambda peer, now, out: fingers._ask(now, fingers.tables[key(2)], ref(3), 0, True, out))
    net.flying.clear()
    return net


def table(net: Net) -> list[object]:
    fingers = net.peers[2].fingers.tables[key(2)]
    asked = fingers.asked.number if fingers.asked is not None else None
    return deepcopy([fingers.forward, fingers.backward, fingers.reverse, fingers.following, asked])


def refused(net: Net, source: int, message: object) -> str:
    before = table(net)
    assert net.give(source, 2, message) == []
    assert table(net) == before
    assert net.peers[2].local.counts == {"violation": 1}
    (said,) = [trace.detail for at, trace in net.traces if at == 2 and trace.kind == "violation"]
    return said


@pytest.mark.parametrize("level", [-1, LEVELS_MAX, 1 << 63])
def test_a_level_that_cannot_be(net, level):
    assert refused(net, 5, changed(UPDATE, level=level)) == f"level {level} out of bounds"


@pytest.mark.parametrize(("source", "message"), [(5, UPDATE), (3, ACK)])
def test_more_labels_than_anybody_may_announce(net, source, message):
    number = net.peers[2].fingers.tables[key(2)].asked.number
    assert refused(net, source, changed(message, values=LABELS, number=number)) == "too many labels"


def test_an_update_on_behalf_of_another_broker(net):
    assert refused(net, 4, UPDATE) == "Update on behalf of another node"


def test_nobody_points_at_himself(net):
    assert refused(net, 2, changed(UPDATE, source=ref(2))) == "Update on behalf of another node"


def test_more_backups_than_anybody_keeps(net):
    number = net.peers[2].fingers.tables[key(2)].asked.number
    many = tuple(map(ref, range(20, 21 + LEFT_NEIGHBOURS_MAX)))
    assert refused(net, 3, changed(ACK, backups=many, number=number)) == "too many backups"


def test_an_answer_by_another_than_the_one_asked(net):
    number = net.peers[2].fingers.tables[key(2)].asked.number
    assert refused(net, 4, changed(ACK, number=number)) == "UpdateAck on behalf of another broker's node"


def test_only_the_node_itself_takes_anothers_place(net):
    assert refused(net, 7, REPLACE) == "Replace by another broker's node"


@pytest.mark.parametrize(
    "job",
    [
        Gone(ref(3)),
        Handover(ref(4), ()),
        Handover(ref(3), tuple(ref(n) for n in range(20, 21 + REVERSE_MAX))),
    ],
    ids=["another's job", "of another broker's node", "too many pointers"],
)
def test_a_job_that_is_no_hand_over_is_counted_and_the_pointers_stay_whole(net, job):
    link = net.link(2)
    sent = net.give(3, 2, SetR(ref(2), 0, ref(4), ref(3), link.right_seq.next(), Kind.DELETE, 1, job))
    assert [flight.kind for flight in sent] == ["SetL", "SetRAck"], "and no Replace"
    assert net.count("violation") == 1
    assert net.peers[2].rights(key(2))[0].ref == link.right == ref(4), "FFT[0] is the ring's neighbour"


@pytest.mark.parametrize(
    "message",
    [
        ACK,
        changed(ACK, at=ref(9)),
        changed(ACK, at=ref(2, incarnation=7)),
        changed(ACK, source=ref(3, incarnation=7)),
        changed(REPLACE, at=ref(9)),
        changed(REPLACE, old=ref(9)),
    ],
)
def test_what_comes_too_late_or_to_the_wrong_node_is_dropped(net, message):
    before = table(net)
    assert net.give(3, 2, message) == []
    assert table(net) == before
    assert net.count("violation") == 0


@pytest.mark.parametrize("at", [ref(9), ref(2, incarnation=7)])
def test_who_points_at_a_node_that_is_not_there_is_told(net, at):
    (gone,) = net.give(5, 2, changed(UPDATE, at=at))
    assert (gone.to, gone.message) == (5, Gone(at))


def test_an_update_from_where_no_finger_would_be_is_answered_and_not_believed(net):
    """Level 5 is beyond BFT's end, and 3 is not beyond BFT[0] on the left."""
    for message in (changed(UPDATE, level=5), changed(UPDATE, source=ref(1))):
        before = table(net)[:2]
        (answer,) = net.give(message.source.node, 2, message)
        assert answer.kind == "UpdateAck"
        assert table(net)[:2] == before


@pytest.mark.parametrize(
    "message", [UPDATE, changed(UPDATE, values=None), ACK, changed(ACK, next=None, values=None), REPLACE]
)
def test_messages_survive_the_wire(message):
    assert msgspec.msgpack.decode(msgspec.msgpack.encode(message), type=type(message)) == message


def test_timers_of_one_key_are_one(net):
    assert UpdateDue(key(2)) == UpdateDue(key(2)) != UpdateDue(key(3))
