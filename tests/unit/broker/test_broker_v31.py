"""MQTT 3.1 (MQIsdp, level 3), which IBM and Eurotech published: where it is not 3.1.1, and old clients rely on it."""

import pytest

from broker_bench import Bench
from weft.broker.access.api import Denied
from weft.mqtt.codec.encode import encode
from weft.mqtt.codec.packets import Connack, Connect, Publish, Suback, Unsuback
from weft.mqtt.codec.reasons import Reason


@pytest.fixture
def bench() -> Bench:
    return Bench()


def test_its_name_and_level_belong_together(bench):
    hello = bytearray(encode(3, Connect(3, "c")))
    assert hello[2:11] == b"\x00\x06MQIsdp\x03"
    hello[10] = 4
    assert bench.stranger(3).speak(bytes(hello)).take() == [Connack(False, 1)]
    assert bench.client("c", 3).connack == Connack(False, 0)


@pytest.mark.parametrize("client_id", ["x" * 23, "x" * 24, "x" * 200, "with spaces and ü"])
def test_longer_client_ids_than_its_23_characters_are_taken(bench, client_id):
    """It wants them refused; 3.1.1 lets a server take them, and clients of 3.1 bring them."""
    assert bench.client(client_id, 3).connack.code == 0


def test_an_empty_client_id_is_refused_clean_or_not(bench):
    """There is none that the server assigns."""
    for clean in (True, False):
        assert bench.stranger(3).connect("", clean=clean).take() == [Connack(False, 2)]


def test_connack_does_not_say_that_there_was_a_session(bench):
    """The byte is reserved: 0."""
    bench.client("c", 3, clean=False).subscribe("t", qos=1)
    bench.broker.sessions.by_client["c"].link.lost(bench.now, "gone")
    bench.client("p").publish("t", b"kept", qos=1)
    back = bench.stranger(3)
    back.stuck = True
    back.connect("c", clean=False)
    assert b"".join(back.connection.out)[:4] == b"\x20\x02\x00\x00"
    back.stuck = False
    back.flush()
    assert back.payloads() == [b"kept"]


def test_requests_may_come_again_with_dup(bench):
    """SUBSCRIBE, UNSUBSCRIBE and PUBREL have a DUP flag there."""
    client = bench.client("c", 3)
    client.speak(bytes.fromhex("8a 06 0001 0001 74 01"))
    client.speak(bytes.fromhex("aa 05 0002 0001 74"))
    client.send(Publish("t", b"", 2, packet_id=3))
    client.speak(bytes.fromhex("6a 02 0003"))
    assert [type(packet).__name__ for packet in client.got] == ["Suback", "Unsuback", "Pubrec", "Pubcomp"]
    assert client.got[:2] == [Suback(1, (1,)), Unsuback(2)]


def test_311_may_not(bench):
    """[MQTT-3.8.1-1 (3.1.1)]: the flags are reserved since."""
    assert bench.client("c", 4).speak(bytes.fromhex("8a 06 0001 0001 74 01")).closed


def test_the_reserved_flag_of_connect_is_not_looked_at(bench):
    hello = bytearray(encode(3, Connect(3, "c")))
    hello[11] |= 1
    assert bench.stranger(3).speak(bytes(hello)).take() == [Connack(False, 0)]


def test_a_user_name_that_the_flags_promise_may_be_missing(bench):
    """Old clients set the flags and send nothing: the Remaining Length takes precedence."""
    hello = bytearray(encode(3, Connect(3, "c")))
    hello[11] |= 0xC0
    assert bench.stranger(3).speak(bytes(hello)).take() == [Connack(False, 0)]


def test_a_subscription_cannot_be_refused_but_is(bench):
    """3.1 has no failure code; 0x80 is what its clients have seen since, and no grant."""
    bench.authority.forbidden = {("subscribe", "no")}
    assert bench.client("c", 3).subscribe("no", "yes") == [Suback(1, (0x80, 0))]


def test_its_return_codes_are_those_of_311(bench):
    bench.authority.verdict = lambda credentials: Denied(Reason.BAD_USER_NAME_OR_PASSWORD, "no")
    assert bench.stranger(3).connect("c").take() == [Connack(False, 4)]


def test_dup_at_qos_0_is_taken(bench):
    """[MQTT-3.3.1-2 (3.1.1)] came later."""
    heard = bench.client("w")
    heard.subscribe("t")
    bench.client("c", 3).speak(bytes.fromhex("38 04 0001 74 78"))
    assert heard.take() == [Publish("t", b"x")]
