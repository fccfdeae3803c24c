"""One message, encoded once per shape, with what is left of its time."""

import pytest

from weft.mqtt.codec.decode import decode
from weft.mqtt.codec.frames import split
from weft.mqtt.codec.packets import Publish
from weft.mqtt.codec.properties import NONE, Properties
from weft.mqtt.publication import Publication, forwardable


def read(version: int, frame: bytes) -> Publish:
    found = split(frame, 0)
    assert found is not None
    first, start, end = found
    assert end == len(frame)
    packet = decode(version, first, frame[start:end])
    assert isinstance(packet, Publish)
    return packet


@pytest.mark.parametrize("version", [3, 4, 5])
@pytest.mark.parametrize("qos", [0, 1, 2])
@pytest.mark.parametrize("retain", [False, True])
def test_what_goes_out_is_what_came_in(version, qos, retain):
    publication = Publication("a/ü", b"x" * 200, 2)
    packet = read(version, publication.frame(version, qos, retain, (), 7, 0.0))
    assert packet == Publish("a/ü", b"x" * 200, qos, retain, False, 7 if qos else 0)


def test_a_second_sending_is_marked():
    publication = Publication("t", b"x", 1)
    first = publication.frame(4, 1, False, (), 1, 0.0)
    again = publication.frame(4, 1, False, (), 1, 0.0, dup=True)
    assert [read(4, frame).dup for frame in (first, again)] == [False, True]


def test_each_shape_is_encoded_once():
    publication = Publication("t", b"x", 1)
    one = publication.halves(4, 1, False, (), 0.0)
    assert publication.halves(3, 1, False, (), 0.0) is one
    assert publication.halves(5, 1, False, (), 0.0) is not one
    assert publication.halves(4, 1, True, (), 0.0) is not one


def test_shapes_are_never_mixed_up():
    publication = Publication("t", b"x", 2, properties=Properties(user=(("k", "v"),)))
    for version in (4, 5):
        for qos in (0, 1, 2):
            for retain in (False, True):
                for ids in ((), (1,), (1, 2)):
                    packet = read(version, publication.frame(version, qos, retain, ids, 9, 0.0))
                    assert (packet.qos, packet.retain) == (qos, retain)
                    expected = Properties(subscription_ids=ids, user=(("k", "v"),)) if version == 5 else NONE
                    assert packet.properties == expected


def test_what_is_left_of_its_time_is_told_anew_each_time():
    """[MQTT-3.3.2-6]."""
    publication = Publication("t", b"x", 1, expires_at=100.0)
    said = [read(5, publication.frame(5, 1, False, (), 1, now)).properties.message_expiry_s for now in (0.0, 60.0)]
    assert said == [100, 40]
    assert not publication.is_expired(99.9)
    assert publication.is_expired(100.0)


def test_it_is_never_said_to_have_no_time_left():
    publication = Publication("t", b"x", 1, expires_at=100.0)
    assert read(5, publication.frame(5, 1, False, (), 1, 99.9)).properties.message_expiry_s == 1


def test_what_belongs_to_one_hop_stays_behind():
    """[MQTT-3.3.2-7], [MQTT-3.3.4-6]: aliases and identifiers are not handed on; the expiry is counted down."""
    said = Properties(topic_alias=3, subscription_ids=(1,), message_expiry_s=9, content_type="c", user=(("a", "b"),))
    assert forwardable(said) == Properties(content_type="c", user=(("a", "b"),))
    assert forwardable(NONE) is NONE
