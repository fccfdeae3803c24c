"""What is remembered of queries, and that it is bounded."""

import pytest

from weft.overlay.api import Ref
from weft.overlay.keys import KeyRange, number_key
from weft.overlay.spread import tables
from weft.overlay.spread.messages import Asked
from weft.overlay.spread.tables import Delegates, Delivery, Memory

K = [number_key(number, number + 1) for number in range(10)]


def delivery(request: int, key: int = 0, token: int | None = None) -> Delivery:
    return Delivery(token, K[key], Asked(1, request, "", "binary"), done=False)


def test_a_token_answers_once():
    memory = Memory()
    memory.put(delivery(1, token=7))
    assert memory.answer(7).key == K[0]
    assert memory.answer(7) is None


def test_a_second_delivery_to_a_key_replaces_the_first_and_its_token():
    memory = Memory()
    memory.put(delivery(1, token=7))
    memory.put(delivery(1, token=8))
    assert len(memory) == 1
    assert memory.answer(7) is None
    assert memory.answer(8) is not None


def test_the_oldest_query_is_forgotten_whole(monkeypatch):
    monkeypatch.setattr(tables, "DELIVERIES_MAX", 3)
    memory = Memory()
    assert [memory.put(delivery(1, key, token=key)) for key in range(2)] == [0, 0]
    assert [memory.put(delivery(2, key)) for key in range(2)] == [0, 2]
    assert memory.get(Asked(1, 1, "", "binary"), K[0]) is None
    assert memory.get(Asked(1, 2, "", "binary"), K[0]) is not None
    assert memory.answer(0) is None
    assert len(memory) == 2


def test_copies_of_a_message_are_recognised_for_a_while(monkeypatch):
    monkeypatch.setattr(tables, "TICKETS_MAX", 2)
    memory = Memory()
    assert [memory.repeated(1, ticket) for ticket in (5, 5, 6, 7, 5)] == [False, True, False, False, False]
    assert not memory.repeated(2, 7)


def test_delegates_are_bounded_and_dropped(monkeypatch):
    monkeypatch.setattr(tables, "DELEGATES_MAX", 2)
    delegates = Delegates()
    pieces = [KeyRange(K[0], key) for key in K[1:4]]
    refs = [Ref(K[0], K[0].broker, 1), Ref(K[1], K[1].broker, 1), Ref(K[2], K[1].broker, 1)]
    for piece, ref in zip(pieces, refs, strict=True):
        delegates.put(piece, ref)
    assert [delegates.get(piece) for piece in pieces] == [None, *refs[1:]]
    delegates.drop(refs[1])
    assert [delegates.get(piece) for piece in pieces] == [None, None, refs[2]]
    delegates.drop_node(refs[2].node)
    assert [delegates.get(piece) for piece in pieces] == [None] * 3


@pytest.mark.parametrize("limit", ["DELIVERIES_MAX", "TICKETS_MAX", "DUTIES_MAX", "HELD_MAX", "DELEGATES_MAX"])
def test_every_limit_has_a_name(limit):
    assert getattr(tables, limit) > 0
