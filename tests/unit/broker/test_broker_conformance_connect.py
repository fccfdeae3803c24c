"""§3.1, §3.2, §3.14, §3.15 as a server, statement by statement: what the tests of modules do not show by the way."""

import string

import pytest

from broker_bench import Bench
from weft.broker.access.api import Challenge, Denied, Granted, Success, Work
from weft.broker.settings import BrokerSettings, Limits
from weft.mqtt.codec.encode import encode
from weft.mqtt.codec.packets import Auth, Connack, Connect, Disconnect, Pingreq, Pingresp, Publish, Will
from weft.mqtt.codec.properties import Properties
from weft.mqtt.codec.reasons import CODES, DISCONNECT_FROM_SERVER, Reason

LETTERS_AND_DIGITS = string.digits + string.ascii_letters


@pytest.fixture
def bench() -> Bench:
    return Bench()


@pytest.fixture(params=[4, 5])
def version(request) -> int:
    return request.param


class TestClientIds:
    @pytest.mark.parametrize("version", [3, 4, 5])
    def test_up_to_23_letters_and_digits_are_always_taken(self, bench, version):
        """[MQTT-3.1.3-5], [MQTT-3.1.3-5 (3.1.1)]; [MQTT-3.1.4-5], [MQTT-3.1.4-4 (3.1.1)]: CONNACK says so."""
        for length in (1, 22, 23):
            for start in range(0, len(LETTERS_AND_DIGITS), 23):
                name = (LETTERS_AND_DIGITS[start:] + LETTERS_AND_DIGITS)[:length]
                assert bench.client(name, version=version).connack.code == 0

    def test_they_name_the_session(self, bench, version):
        """[MQTT-3.1.3-2], [MQTT-3.1.3-2 (3.1.1)]."""
        kept = {"session_expiry_s": 100} if version == 5 else {}
        for name in ("one", "One"):
            client = bench.client(name, version, clean=False, **kept)
            client.subscribe(name)
            client.vanish()
        back = bench.client("One", version, clean=False, **kept)
        bench.client("p").publish("one", b"1").publish("One", b"2")
        assert back.payloads() == [b"2"]

    def test_one_that_nobody_may_have_ends_the_connection(self, bench):
        """[MQTT-3.1.3-8], [MQTT-3.1.3-9 (3.1.1)]."""
        for version, code in ((4, 2), (5, Reason.CLIENT_IDENTIFIER_NOT_VALID)):
            client = bench.stranger(version).connect("$bridge/x")
            assert client.take()[0].code == code
            assert client.closed


def flawed(version: int) -> bytes:
    """A CONNECT with its reserved flag."""
    hello = bytearray(encode(version, Connect(version, "c")))
    hello[9] |= 1
    return bytes(hello)


class TestRefusals:
    def test_a_connect_that_is_no_connect_ends_the_connection(self, bench):
        """[MQTT-3.1.4-1]; [MQTT-3.1.4-1 (3.1.1)]: there without a CONNACK."""
        five, four = bench.stranger(5).speak(flawed(5)), bench.stranger(4).speak(flawed(4))
        assert [packet.code for packet in five.take()] == [Reason.MALFORMED_PACKET]
        assert four.take() == []
        assert five.closed
        assert four.closed

    @pytest.mark.parametrize("name", [b"MQTX", b"mqtt", b"HTTP"])
    def test_another_protocol_is_not_taken_for_mqtt(self, bench, name):
        """[MQTT-3.1.2-1], [MQTT-3.1.2-1 (3.1.1)]."""
        hello = encode(4, Connect(4, "c")).replace(b"MQTT", name)
        assert bench.stranger(4).speak(hello).closed
        assert "c" not in bench.broker.sessions.by_client

    @pytest.mark.parametrize("reason", [reason for reason in Reason if reason >= 0x80])
    def test_connack_has_its_own_codes_whatever_the_reason(self, bench, reason):
        """[MQTT-3.2.2-8], [MQTT-3.2.2-6 (3.1.1)]; [MQTT-3.1.4-2]: the end."""
        bench.authority.verdict = lambda credentials: Denied(reason, "no")
        five, four = bench.stranger(5).connect("a"), bench.stranger(4).connect("b")
        (answer,) = five.take()
        assert answer.code in CODES[2]
        assert [packet.code for packet in four.take()] in ([], [2], [3], [4], [5], [1])
        assert five.closed
        assert four.closed

    def test_a_verdict_that_does_not_come_in_time_is_said_with_such_a_code(self, bench):
        """[MQTT-3.2.2-8]: 0xA0 is for DISCONNECT. [MQTT-3.14.0-1]: and DISCONNECT is for those who were let in."""
        bench.authority.verdict = lambda credentials: Work(lambda: Granted(None))
        client = bench.stranger(5).connect("c")
        bench.later(11)
        (answer,) = client.take()
        assert isinstance(answer, Connack)
        assert answer.code == Reason.UNSPECIFIED_ERROR
        assert client.closed

    def test_who_was_not_let_in_gets_no_disconnect(self, bench):
        """[MQTT-3.14.0-1]."""
        waiting, silent = bench.stranger(5), bench.stranger(5)
        bench.authority.verdict = lambda credentials: Work(lambda: Granted(None))
        waiting.connect("c")
        bench.broker.begin_drain(bench.now)
        bench.tick()
        assert waiting.take() == silent.take() == []
        assert waiting.closed
        assert silent.closed


class TestDisconnect:
    @pytest.mark.parametrize("reason", [reason for reason in Reason if reason >= 0x80])
    def test_it_has_its_own_codes_whatever_the_reason_and_says_nothing_of_the_expiry(self, bench, reason):
        """[MQTT-3.14.2-1], [MQTT-3.14.2-2], [MQTT-3.14.2-4], [MQTT-3.14.4-1], [MQTT-3.14.4-2], [MQTT-4.13.2-1]."""
        client = bench.client("c", 5, session_expiry_s=100)
        client.subscribe("t", qos=1)
        client.connection.disconnect(bench.now, reason, "why")
        bench.client("p").publish("t", qos=1)
        client.speak(encode(5, Pingreq()))
        (last,) = client.take()
        assert isinstance(last, Disconnect)
        assert last.code in DISCONNECT_FROM_SERVER
        assert last.properties == Properties(reason_string="why")
        assert client.closed

    def test_a_ban_that_re_authentication_meets_is_told_as_what_disconnect_knows(self, bench):
        """[MQTT-3.14.2-1]: 0x8A is for CONNACK."""

        class Moody:
            def step(self, now, data):
                return Success(Granted(None), b"") if data == b"first" else Denied(Reason.BANNED, "go away")

        bench.authority.conversations["M"] = Moody
        method = {"authentication_method": "M"}
        client = bench.client("c", 5, authentication_data=b"first", **method)
        client.send(Auth(Reason.RE_AUTHENTICATE, Properties(authentication_data=b"again", **method)))
        assert client.take()[-1].code == Reason.NOT_AUTHORIZED

    def test_a_will_is_said_but_after_0x00(self, bench):
        """[MQTT-3.14.4-3], [MQTT-3.1.2-8], [MQTT-3.1.2-10]."""
        heard = bench.client("w")
        heard.subscribe("w")
        for code, said in ((0, []), (4, [b"gone"]), (Reason.UNSPECIFIED_ERROR, [b"gone"])):
            bench.client("c", 5, will=Will("w", b"gone")).send(Disconnect(code))
            assert heard.payloads() == said


class TestWills:
    def test_who_has_none_leaves_nothing(self, bench, version):
        """[MQTT-3.1.2-12 (3.1.1)]; nor does the will of the connection before come back."""
        heard = bench.client("w")
        heard.subscribe("#")
        bench.client("c", version, clean=False, will=Will("w", b"gone")).send(Disconnect())
        bench.client("c", version, clean=False).vanish()
        assert heard.payloads() == []


class TestWhatConnackTells:
    def test_no_response_information(self, bench):
        """[MQTT-3.1.2-28]; and none who asks for it: there is none to give."""
        for asked in (0, 1):
            said = bench.client(f"c{asked}", 5, request_response_information=asked).connack.properties
            assert said.response_information is None

    def test_its_flags_are_0_or_1(self, bench, version):
        """[MQTT-3.2.2-1], [MQTT-3.2.2-2], [MQTT-3.2.2-1 (3.1.1)]."""
        client = bench.stranger(version).connect("c")
        assert isinstance(client.got[0], Connack)
        again = bench.stranger(version)
        again.stuck = True
        again.connect("d")
        assert b"".join(again.connection.out)[2] == 0

    def test_a_session_lasts_as_long_as_its_connection(self, bench, version):
        """[MQTT-4.1.0-1], [MQTT-4.1.0-1 (3.1.1)], [MQTT-4.1.0-2 (3.1.1)]."""
        client = bench.client("c", version)
        client.subscribe("t")
        bench.later(1e7)
        bench.client("p").publish("t", b"late")
        assert client.payloads() == [b"late"]

    def test_retained_messages_outlive_the_session(self, bench, version):
        """[MQTT-3.1.2-7 (3.1.1)]."""
        client = bench.client("c", version)
        client.publish("t", b"kept", retain=True)
        client.vanish()
        assert len(bench.client("late", version).subscribe("t")) == 2


class TestMaximumPacketSize:
    def test_a_connack_that_would_be_too_large_is_not_sent(self, bench):
        """[MQTT-3.1.2-24], [MQTT-3.2.2-19]: the client is refused, in few enough bytes, and takes nothing over."""
        holder = bench.client("c", 5, session_expiry_s=100)
        size = len(encode(5, holder.connack))
        client = bench.stranger(5).connect("c", maximum_packet_bytes=size - 1)
        (answer,) = client.take()
        assert (answer.code, answer.properties.reason_string) == (Reason.PACKET_TOO_LARGE, None)
        assert client.closed
        assert not holder.closed
        assert bench.client("d", 5, session_expiry_s=100, maximum_packet_bytes=size).connack.code == 0

    @pytest.mark.parametrize("bytes_max", [1, 2, 3, 4])
    def test_who_can_take_nothing_gets_nothing(self, bench, bytes_max):
        """[MQTT-3.1.2-24]."""
        client = bench.stranger(5).connect("c", maximum_packet_bytes=bytes_max)
        assert client.take() == []
        assert client.closed

    def test_an_answer_that_would_be_too_large_is_not_sent_and_nothing_is_done(self, bench):
        """[MQTT-3.1.2-24]."""
        client = bench.client("c", 5, session_expiry_s=100, maximum_packet_bytes=60)
        names = [f"t{number}" for number in range(80)]
        assert [packet.code for packet in client.subscribe(*names)] == [Reason.PACKET_TOO_LARGE]
        assert client.closed
        assert bench.broker.sessions.by_client["c"].subscriptions == {}

    def test_a_challenge_that_would_be_too_large_is_not_sent(self, bench):
        """[MQTT-3.1.2-24]."""

        class Wordy:
            def step(self, now, data):
                return Challenge(b"x" * 100)

        bench.authority.conversations["M"] = Wordy
        client = bench.stranger(5).connect("c", authentication_method="M", maximum_packet_bytes=100)
        assert client.take()[0].code == Reason.PACKET_TOO_LARGE
        assert client.closed

    def test_auth_has_no_reason_string_and_no_user_properties(self, bench):
        """[MQTT-3.15.2-2], [MQTT-3.15.2-3], [MQTT-3.15.2-1]."""

        class Asking:
            def step(self, now, data):
                return Challenge(b"more")

        bench.authority.conversations["M"] = Asking
        client = bench.stranger(5).connect("c", authentication_method="M")
        assert client.take() == [
            Auth(Reason.CONTINUE_AUTHENTICATION, Properties(authentication_method="M", authentication_data=b"more"))
        ]


@pytest.mark.parametrize("version", [3, 4])
def test_a_packet_that_cannot_be_taken_now_closes_3(version):
    """[MQTT-4.8.0-2 (3.1.1)]: a limit is hit while it is processed; there is no other way to say it."""
    bench = Bench(BrokerSettings(Limits(qos_max=1)))
    client = bench.client("c", version).publish("t", qos=2)
    assert client.take() == []
    assert client.closed


def test_nobody_needs_more_than_the_standard(bench):
    """[MQTT-7.0.0-2 (3.1.1)]: the plainest client there can be, byte by byte from the standard's figures."""
    client = bench.stranger(4)
    client.speak(bytes.fromhex("10 0d 0004 4d515454 04 02 003c 0001 61"))
    client.speak(bytes.fromhex("82 06 0001 0001 74 00"))
    client.speak(bytes.fromhex("30 04 0001 74 78"))
    client.speak(bytes.fromhex("c0 00"))
    assert [type(packet).__name__ for packet in client.got] == ["Connack", "Suback", "Publish", "Pingresp"]
    assert client.take()[2:] == [Publish("t", b"x"), Pingresp()]
    client.speak(bytes.fromhex("e0 00"))
    assert client.closed
