"""Events are caught, effects pass, and whoever hears an event may use the overlay."""

from fake_overlay import FakeOverlay
from weft.core.ids import NodeId
from weft.core.machine import Message, Outbox, Trace
from weft.overlay.api import Found, Joined, Left, Query
from weft.overlay.keys import PUB, KeyRange, topic_key
from weft.pubsub.port import Port

KEY = topic_key("a", PUB, NodeId(1))


class Something(Message, frozen=True):
    """A message of the overlay's."""


def port(hear=None) -> tuple[Port, FakeOverlay, list]:
    overlay, heard = FakeOverlay(), []
    return Port(overlay, hear or (lambda now, event, out: heard.append(event))), overlay, heard


def test_each_verb_reaches_the_overlay_and_its_events_are_heard():
    it, overlay, heard = port()
    out = Outbox()
    query = Query(KeyRange(KEY, KEY), "x")
    for call, name in (
        (lambda: it.receive(0.0, NodeId(2), Something(), out), "receive"),
        (lambda: it.timeout(0.0, out), "timeout"),
        (lambda: it.join(0.0, KEY, None, out), "join"),
        (lambda: it.leave(0.0, KEY, out), "leave"),
        (lambda: it.multicast(0.0, query, out), "multicast"),
    ):
        overlay.says = [Joined(KEY, b"")]
        call()
        assert overlay.calls[-1][0] == name
        assert heard.pop() == Joined(KEY, b"")
    it.reply(0.0, 7, None, out)
    assert overlay.calls[-1] == ("reply", 7, None)
    assert out.effects == []


def test_a_lookup_ends_at_who_asked():
    it, _, heard = port()
    answers: list[Found] = []
    it.lookup(0.0, KEY, lambda now, found, out: answers.append(found), Outbox())
    assert [found.key for found in answers] == [KEY]
    assert heard == []


def test_an_answer_that_nobody_waits_for_is_dropped():
    it, overlay, heard = port()
    overlay.says = [Found(99, KEY, None, None, 0)]
    it.timeout(0.0, Outbox())
    assert heard == []


def test_who_hears_an_event_may_use_the_overlay_and_effects_keep_their_order():
    overlay = FakeOverlay()

    def hear(now, event, out):
        out.trace("heard", event)
        if isinstance(event, Joined):
            overlay.says = [Left(KEY)]
            it.leave(now, KEY, out)
            out.trace("done", event)

    it = Port(overlay, hear)
    out = Outbox()
    overlay.says = [Joined(KEY, b"")]
    it.join(0.0, KEY, None, out)
    assert out.effects == [
        Trace("heard", Joined(KEY, b"")),
        Trace("heard", Left(KEY)),
        Trace("done", Joined(KEY, b"")),
    ]
