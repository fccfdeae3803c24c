"""What is checked before it is believed."""

import pytest

from weft.core.errors import Violation
from weft.overlay.keys import TOPIC_BYTES_MAX
from weft.pubsub.messages import Publication, Signal, check_answer, check_place, check_publication


def test_what_is_fine_passes():
    publication = Publication("a/b", b"x", True, 1)
    assert check_publication(publication) is publication
    check_place(("L/L", "a\0b"))
    for answer in range(4):
        check_answer(answer)


@pytest.mark.parametrize(
    "payload", [None, b"x", Signal(("L", "a"), 0), Publication("é" * TOPIC_BYTES_MAX, b"", False, 1)]
)
def test_what_is_no_publication(payload):
    with pytest.raises(Violation):
        check_publication(payload)


@pytest.mark.parametrize("answer", [-1, 4])
def test_answers_out_of_range(answer):
    with pytest.raises(Violation):
        check_answer(answer)


@pytest.mark.parametrize("place", [("L" * (TOPIC_BYTES_MAX + 1), ""), ("L", "é" * TOPIC_BYTES_MAX)])
def test_places_that_are_too_long(place):
    with pytest.raises(Violation):
        check_place(place)
