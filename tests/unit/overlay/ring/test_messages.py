"""What a peer may not say, message by message: counted and traced, never raised; nothing is sent, nothing changes."""

from copy import deepcopy

import msgspec
import pytest

from rings import BARE, Net, grown, key, ref
from weft.core.limits import LEFT_NEIGHBOURS_MAX, LEVELS_MAX
from weft.core.machine import Outbox, Send
from weft.overlay.api import Ref
from weft.overlay.lookup import Gone
from weft.overlay.ring.messages import (
    FIRST,
    NOTE_BYTES_MAX,
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
from weft.overlay.ring.tables import Link

MANY = tuple(map(ref, range(11, 12 + LEFT_NEIGHBOURS_MAX)))
BAD_SEQS = [Seq(-1, 0), Seq(0, -1), Seq(SEQ_LIMIT, 0), Seq(0, SEQ_LIMIT)]

SET_R = SetR(ref(2), 0, ref(4), ref(3), FIRST, Kind.INSERT, 1, None)
ACK = SetRAck(ref(2), 0, 7, Seq(0, 5), (), b"")
NAK = SetRNak(ref(2), 0, 7, None)
SET_L = SetL(ref(2), 0, ref(1, incarnation=4), Seq(0, 9), ())
TELL = PropagateNeighbours(ref(2), 0, (ref(1), ref(3)))
PING = Ping(ref(2), 0, ref(3), True, FIRST)
PONG = Pong(ref(2), 0, ref(1), Status.IN, ref(2), Seq(0, 9), ())


def changed(message, **changes):
    return msgspec.structs.replace(message, **changes)


@pytest.fixture
def net() -> Net:
    """1, 2 and 3 are in the ring; 2 is asked, and is about to hear from 1 whom it has asked and pinged."""
    return grown([1, 2, 3])


def state(link: Link) -> list[object]:
    return [deepcopy(getattr(link, name)) for name in ("status", "left", "right", "left_seq", "right_seq", "lefts")]


def refused(net: Net, source: int, message: object) -> list[str]:
    """What was said about ``message``, which changed nothing."""
    link = net.link(2)
    before = state(link)
    assert net.give(source, 2, message) == []
    assert state(link) == before
    assert net.peers[2].local.counts == {"violation": 1}
    return [trace.detail for at, trace in net.traces if at == 2 and trace.kind == "violation"]


@pytest.mark.parametrize("seq", BAD_SEQS)
@pytest.mark.parametrize(("source", "message"), [(4, SET_R), (1, ACK), (1, SET_L), (3, PING), (1, PONG)])
def test_a_number_out_of_bounds(net, source, message, seq):
    assert refused(net, source, changed(message, seq=seq)) == ["sequence number out of bounds"]


@pytest.mark.parametrize("message", [ACK, SET_L, TELL, PONG])
def test_more_neighbours_than_anybody_keeps(net, message):
    assert refused(net, 1, changed(message, neighbours=MANY)) == ["too many neighbours"]


@pytest.mark.parametrize("level", [-1, LEVELS_MAX, 1 << 63])
def test_a_level_that_cannot_be(net, level):
    assert refused(net, 4, changed(SET_R, level=level)) == [f"level {level} out of bounds"]


@pytest.mark.parametrize(
    "message",
    [SET_R, changed(SET_R, kind=Kind.BOTH), changed(SET_R, kind=Kind.LEFTONLY), changed(SET_R, kind=Kind.DELETE)],
)
def test_only_its_own_broker_inserts_deletes_or_repairs_a_node(net, message):
    assert refused(net, 5, message) == ["SetR on behalf of another broker's node"]


def test_a_note_as_long_as_it_likes(net):
    assert refused(net, 1, changed(ACK, note=b"x" * (NOTE_BYTES_MAX + 1))) == ["note too long"]


def test_a_ghost_of_ours_is_not_our_left_neighbour(net):
    assert refused(net, 1, changed(SET_L, new=ref(2, incarnation=9))) == ["SetL to a ghost of the node itself"]


@pytest.mark.parametrize("message", [changed(TELL, neighbours=()), changed(TELL, neighbours=(ref(3), ref(1)))])
def test_neighbours_start_with_who_tells_of_them(net, message):
    assert refused(net, 1, message) == ["neighbours that do not start with their sender"]


def test_nobody_answers_a_ping_for_somebody_else(net):
    assert refused(net, 3, PONG) == ["Pong on behalf of another broker's node"]


@pytest.mark.parametrize("kind", [SetRAck, SetRNak])
def test_a_set_r_is_answered_by_who_was_asked(kind):
    net = grown([1, 3])
    net.join(2)
    net.arrive("Seek")
    net.arrive("Sought")
    asked = net.find(SetR).message
    lie = changed(ACK if kind is SetRAck else NAK, at=asked.new, request=asked.request)
    assert net.give(3, 2, lie) == []
    assert net.count("violation") == 1
    assert net.link(2).status is Status.INS
    net.settle()
    net.is_whole()
    assert net.order() == [1, 2, 3]


def test_an_answer_that_violates_is_no_answer():
    """The newcomer goes on waiting, asks again, and is in when a true answer comes."""
    net = grown([1, 3])
    net.join(2)
    net.arrive("Seek")
    net.arrive("Sought")
    net.arrive(SetR)
    true = net.lose(SetRAck).message
    net.give(1, 2, changed(true, neighbours=MANY))
    assert net.count("violation") == 1
    assert net.link(2).status is Status.INS
    net.pass_time(BARE.request_timeout_s)
    net.settle()
    net.is_whole()


def test_a_job_nobody_knows_is_counted_and_the_pointers_stay_whole():
    net = grown([1, 2, 3])
    link = net.link(2)
    sent = net.give(3, 2, SetR(ref(2), 0, ref(1), ref(3), link.right_seq.next(), Kind.DELETE, 9, Gone(ref(3))))
    assert [flight.kind for flight in sent] == ["SetL", "SetRAck"]
    assert net.count("violation") == 1
    assert link.right == ref(1)
    assert net.peers[2].neighbours(key(2)) == (ref(1), ref(1))
    assert net.peers[2].contacts.inside(key(1), key(9), 0.0) == [ref(1), ref(2)], "who has left is no contact any more"


@pytest.mark.parametrize(
    "message",
    [
        changed(ACK, at=ref(2)),
        NAK,
        changed(SET_L, at=ref(2, incarnation=7)),
        changed(SET_L, at=ref(9)),
        changed(TELL, at=ref(9)),
        Candidate(ref(9), 0, ref(1)),
        Candidate(ref(2), 5, ref(1)),
        Candidate(ref(2), 0, ref(9)),
        changed(PONG, at=ref(9)),
        PONG,
    ],
)
def test_what_comes_too_late_or_to_the_wrong_node_is_dropped(net, message):
    before = state(net.link(2))
    assert net.give(1, 2, message) == []
    assert state(net.link(2)) == before
    assert net.count("violation") == 0


@pytest.mark.parametrize("at", [ref(9), ref(2, incarnation=7)])
def test_a_node_that_is_not_there_says_so(net, at):
    (nak,) = net.give(4, 2, changed(SET_R, at=at))
    assert nak.message == SetRNak(ref(4), 0, 1, None)
    (gone,) = net.give(3, 2, changed(PING, at=at))
    assert gone.message == Gone(at)


def test_a_message_of_no_kind_we_know_is_counted_by_its_name(net):
    class Strange(msgspec.Struct, frozen=True):
        pass

    net.give(1, 2, Strange())
    assert net.count("violation.unknown") == 1
    assert net.traces[-1][1].detail == "Strange"


@pytest.mark.parametrize(
    "message", [SET_R, changed(SET_R, kind=Kind.BOTH), ACK, NAK, SET_L, TELL, Candidate(ref(2), 0, ref(1)), PING, PONG]
)
def test_messages_survive_the_wire(message):
    if isinstance(message, SetR):  # its job may be any message: what decodes it knows them all
        assert msgspec.msgpack.decode(msgspec.msgpack.encode(message))["request"] == message.request
    else:
        assert msgspec.msgpack.decode(msgspec.msgpack.encode(message), type=type(message)) == message


def test_the_largest_number_can_be_counted_on_and_sent():
    last = Seq(SEQ_LIMIT - 1, SEQ_LIMIT - 1)
    for seq in (last.next(), last.repaired()):
        assert msgspec.msgpack.encode(changed(SET_L, seq=seq))


@pytest.mark.parametrize("node", [-5, 0, 1 << 63])
def test_a_pointer_at_a_broker_that_cannot_be_is_only_looked_at(net, node):
    """A candidate with a made-up broker: a ping to nobody, and nothing else."""
    net.peers[2].receive(0.0, 1, Candidate(ref(2), 0, Ref(key(2, 15), node, 1)), out := Outbox())
    (ping,) = (effect for effect in out.effects if isinstance(effect, Send))
    assert ping.to == node
    assert net.link(2).left == ref(1)
