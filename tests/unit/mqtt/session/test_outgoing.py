"""Identifiers, the window, and what each acknowledgement ends; tests/property/test_session.py has every order."""

from weft.mqtt.publication import Publication
from weft.mqtt.session.delivery import Delivery
from weft.mqtt.session.outgoing import Outgoing


def delivery(qos: int = 1, payload: bytes = b"x") -> Delivery:
    return Delivery(Publication("t", payload), qos)


def test_identifiers_go_round_and_never_are_0():
    outgoing = Outgoing(10)
    outgoing.last_id = 65_534
    assert [outgoing.start(delivery()) for _ in range(3)] == [65_535, 1, 2]


def test_an_identifier_in_use_is_passed_over():
    outgoing = Outgoing(10)
    outgoing.start(delivery())
    outgoing.last_id = 0
    assert outgoing.start(delivery()) == 2


def test_there_is_room_until_the_window_is_full():
    outgoing = Outgoing(2)
    for _ in range(2):
        assert outgoing.has_room
        outgoing.start(delivery())
    assert not outgoing.has_room
    outgoing.on_puback(1)
    assert outgoing.has_room


def test_nobody_overtakes_who_waits():
    outgoing = Outgoing(2)
    outgoing.enqueue(delivery())
    assert not outgoing.has_room


def test_the_queue_knows_its_bytes():
    outgoing = Outgoing(1)
    outgoing.enqueue(delivery(payload=b"12345"))
    outgoing.enqueue(delivery(payload=b"1"))
    assert outgoing.queue_bytes == 6
    outgoing.dequeue(newest=True)
    assert outgoing.queue_bytes == 5


def test_a_pubcomp_before_the_pubrec_ends_nothing():
    outgoing = Outgoing(1)
    outgoing.start(delivery(2))
    assert outgoing.on_pubcomp(1) is None
    assert outgoing.on_pubrec(1, is_error=False) is not None
    assert outgoing.on_pubcomp(1) is not None
    assert outgoing.inflight == {}
