"""What a run of records comes to: one change for each row, none for what came and went."""

from weft.broker import records as r
from weft.runtime.store.changes import Changes

MESSAGE = r.MessageKept(1, "t", b"12345", 1, False, b"\0", None, "p", None)
QUEUED = r.Queued("a", 1, 1, 2, False, (), 0)


def changes(*records) -> Changes:
    made = Changes()
    made.add(records)
    return made


def test_what_came_and_went_is_no_change():
    made = changes(MESSAGE, QUEUED, r.Sent("a", 1, 7), r.Released("a", 1), r.Done("a", 1), r.MessageGone(1))
    assert made.messages == {}
    assert made.clients["a"].queue == {}
    assert made.size == 6


def test_what_was_there_before_goes():
    made = changes(r.Done("a", 1), r.MessageGone(1))
    assert made.messages == {1: None}
    assert made.clients["a"].queue == {1: None}


def test_changes_of_a_new_row_are_in_the_row():
    queue = changes(QUEUED, r.Sent("a", 1, 7)).clients["a"].queue
    assert queue == {1: r.Queued("a", 1, 1, 2, False, (), 7)}
    queue = changes(QUEUED, r.Sent("a", 1, 7), r.Released("a", 1)).clients["a"].queue
    assert queue == {1: r.Queued("a", 1, 0, 2, False, (), 7)}


def test_changes_of_an_old_row_become_one():
    assert changes(r.Sent("a", 1, 7), r.Released("a", 1)).clients["a"].queue == {1: (7, True)}
    assert changes(r.Released("a", 1), r.Sent("a", 1, 7)).clients["a"].queue == {1: (7, True)}
    assert changes(r.Released("a", 1)).clients["a"].queue == {1: (None, True)}
    assert changes(r.Released("a", 1), r.Done("a", 1)).clients["a"].queue == {1: None}
    assert changes(r.Done("a", 1), r.Released("a", 1), r.Sent("a", 1, 7)).clients["a"].queue == {1: None}


def test_a_session_that_goes_takes_its_changes_along():
    made = changes(r.SessionKept("a", 1.0, None, None), QUEUED, r.Incoming("a", 3), r.SessionGone("a"))
    gone = made.clients["a"]
    assert gone.wiped
    assert (gone.session, gone.queue, gone.incoming, gone.subscriptions, gone.will) == (None, {}, {}, {}, None)


def test_bytes_count_payloads():
    assert changes(MESSAGE).bytes - changes(r.MessageGone(1)).bytes == len(MESSAGE.payload) + len(MESSAGE.properties)
