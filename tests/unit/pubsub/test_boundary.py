"""What a neighbour's key says, and what a note says."""

import pytest

from weft.core.ids import NodeId
from weft.overlay.keys import ALM, OFM, PUB, Key, share, topic_key
from weft.pubsub.boundary import (
    ANSWER_MAX,
    LISTENING,
    NOBODY,
    is_publisher_beside,
    members,
    note,
    noted,
    place_of,
    publishers,
    seen,
)

US = topic_key("a/b", PUB, NodeId(5))
PLACE = place_of(US)


def key(topic: str, segment=PUB, broker: int = 7) -> Key:
    return topic_key(topic, segment, NodeId(broker))


@pytest.mark.parametrize(
    ("right", "answer"),
    [
        (key("a/b", ALM), LISTENING),
        (key("a/b", OFM), OFM.order),
        (key("a/b", share("g")), ANSWER_MAX),
        (key("a/b", PUB), None),
        (key("a/c", ALM), NOBODY),
        (key("a/b/c", ALM), NOBODY),
        (key("a", PUB), NOBODY),
        (US, NOBODY),
        (key("a/b", PUB, 3), NOBODY),
    ],
)
def test_the_neighbours_key_is_the_answer(right, answer):
    assert seen(US, right) == answer


def test_publishers_and_members_are_beside_each_other():
    assert US in publishers(PLACE)
    assert key("a/b", ALM) in members(PLACE)
    assert publishers(PLACE).high < members(PLACE).low
    assert key("a/b", OFM) not in members(PLACE)


def test_who_is_another_publisher():
    assert is_publisher_beside(US, key("a/b"))
    assert not any(is_publisher_beside(US, other) for other in (US, key("a/b", ALM), key("a/c")))


def test_a_note_is_for_its_topic_only():
    for answer in range(ANSWER_MAX + 1):
        assert noted(PLACE, note(PLACE, answer)) == answer
    assert noted(("L", "other"), note(PLACE, LISTENING)) is None


def test_notes_that_nobody_of_us_wrote_say_nothing():
    good = note(PLACE, LISTENING)
    for text in (b"", good[:-1], good + b"x", b"\xff" + good[1:], b"hello"):
        assert noted(PLACE, text) is None
