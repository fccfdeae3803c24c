"""What engines tell each other; the first two also travel as payloads of range multicasts.

Publication  publisher → alm                a message of a topic
Signal       rp → pub, or one publisher     what follows ``pub`` now: suspend or resume (RELAY §5.3.4, §5.3.6 i)
Compare      publisher → right neighbour    how do you see it? (§5.3.6 ii, and whoever joins at the segment's left end)
Compared     right neighbour → publisher    so
Report       publisher → rp                 two neighbours see it differently
"""

from typing import Any

from weft.core.errors import Violation
from weft.core.machine import Message
from weft.overlay.keys import TOPIC_BYTES_MAX, Key
from weft.pubsub.boundary import ANSWER_MAX, Place

BODY_BYTES_MAX = 268_435_455
"""The most that a length of MQTT can say; a listener may allow less."""


class Publication(Message, frozen=True, gc=False):
    """``member``: its publisher is in ``pub``, where a signal can reach it when things change.

    ``number`` is another for each publication of a broker, so that it arrives once where several filters match.
    """

    topic: str
    body: bytes
    member: bool
    number: int


class Signal(Message, frozen=True, gc=False):
    place: Place
    answer: int


class Compare(Message, frozen=True, gc=False):
    """To the broker of ``right``, from that of ``key``."""

    key: Key
    right: Key


class Compared(Message, frozen=True, gc=False):
    """``key`` hears what ``right`` knows."""

    key: Key
    answer: int


class Report(Message, frozen=True, gc=False):
    place: Place


def check_place(place: Place) -> None:
    shape, literals = place
    if len(shape) > TOPIC_BYTES_MAX or len(literals.encode()) > TOPIC_BYTES_MAX:
        raise Violation("topic too long")


def check_answer(answer: int) -> None:
    if not 0 <= answer <= ANSWER_MAX:
        raise Violation(f"answer {answer} is none")


def check_publication(payload: Any) -> Publication:
    """``payload`` of a query that reached a member, if it is what it should be."""
    if not isinstance(payload, Publication):
        raise Violation(f"{type(payload).__name__} sent to members of a topic")
    if len(payload.topic.encode()) > TOPIC_BYTES_MAX or len(payload.body) > BODY_BYTES_MAX:
        raise Violation("publication too long")
    return payload
