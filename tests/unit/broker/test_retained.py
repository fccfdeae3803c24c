"""Retained messages: the last one of each topic, within totals, gone when their time is over."""

import pytest

from weft.broker.journal import Journal
from weft.broker.keeping import Keeping
from weft.broker.records import MessageGone, MessageKept, RetainedGone, RetainedKept
from weft.broker.retained import Retained
from weft.broker.settings import Limits
from weft.mqtt.publication import Publication
from weft.telemetry.counters import Counters


def made(journal: Journal | None = None, **limits: int) -> Retained:
    journal = journal or Journal()
    return Retained(Limits(**limits), journal, Keeping(journal), Counters())


def message(topic: str, payload: bytes = b"x", expires_at: float | None = None) -> Publication:
    return Publication(topic, payload, retain=True, expires_at=expires_at)


def test_the_last_one_is_what_a_topic_retains():
    """[MQTT-3.3.1-5], [MQTT-3.3.1-5 (3.1.1)]."""
    retained = made()
    retained.set(message("t", b"1"))
    retained.set(message("t", b"22"))
    found = retained.get(0.0, "t")
    assert found is not None
    assert found.payload == b"22"
    assert (retained.count, retained.bytes) == (1, 2)


def test_an_empty_payload_deletes_it_and_is_not_retained():
    """[MQTT-3.3.1-6], [MQTT-3.3.1-7], [MQTT-3.3.1-10 (3.1.1)], [MQTT-3.3.1-11 (3.1.1)]."""
    retained = made()
    retained.set(message("t"))
    retained.set(message("t", b""))
    assert retained.get(0.0, "t") is None
    assert (retained.count, retained.bytes) == (0, 0)
    assert not retained.delete("t")


@pytest.mark.parametrize("limit", [{"retained_total_max": 2}, {"retained_total_bytes_max": 2}])
def test_totals_are_kept(limit):
    retained = made(**limit)
    assert retained.set(message("1"))
    assert retained.set(message("2"))
    assert not retained.set(message("3"))
    assert retained.set(message("2", b"y"))  # replacing takes no more
    assert retained.counters["weft_retained_refused_total"] == 1


def test_one_that_cannot_be_replaced_is_not_left_standing():
    """It is not the last message of its topic any more."""
    retained = made(retained_total_bytes_max=3)
    retained.set(message("t", b"abc"))
    assert not retained.set(message("t", b"abcd"))
    assert retained.get(0.0, "t") is None


def test_one_whose_time_is_over_is_gone():
    """[MQTT-3.3.2-5]."""
    retained = made()
    retained.set(message("t", expires_at=10.0))
    assert retained.get(9.0, "t") is not None
    assert retained.get(10.0, "t") is None
    assert retained.count == 0


def test_the_store_hears_of_each_change():
    journal = Journal(keeps=True)
    retained = made(journal)
    retained.set(message("t", b"1"))
    retained.set(message("t", b"2"))
    retained.delete("t")
    assert [type(record) for record in journal.take()[1]] == [
        MessageKept,
        RetainedKept,
        RetainedGone,
        MessageGone,
        MessageKept,
        RetainedKept,
        RetainedGone,
        MessageGone,
    ]


def test_system_topics_are_not_met_by_a_wildcard():
    """[MQTT-4.7.2-1]."""
    retained = made()
    retained.set(message("$x/y"))
    retained.set(message("a"))
    assert list(retained.topics("#")) == ["a"]
    assert list(retained.topics("$x/#")) == ["$x/y"]
