"""CONNECT and AUTH: who is let in, under which session, and what the CONNACK says."""

import pytest

from broker_bench import Bench
from weft.broker.access.api import (
    PUBLISH,
    RETAIN,
    WILL,
    Challenge,
    Denied,
    Granted,
    Origin,
    Success,
    Work,
)
from weft.broker.settings import BrokerSettings, Limits
from weft.mqtt.codec.encode import encode
from weft.mqtt.codec.packets import Auth, Connack, Connect, Disconnect, Pingreq, Pingresp, Publish, Suback, Will
from weft.mqtt.codec.properties import Properties
from weft.mqtt.codec.reasons import Reason


@pytest.fixture
def bench() -> Bench:
    return Bench()


def greeted(bench: Bench, version: int, client_id: str, **options) -> Connack:
    client = bench.stranger(version).connect(client_id, **options)
    answer = client.take()[0]
    assert isinstance(answer, Connack)
    return answer


class TestClientIds:
    def test_v5_gets_one_assigned_and_is_told(self, bench):
        """[MQTT-3.1.3-6], [MQTT-3.1.3-7], [MQTT-3.2.2-16]."""
        first, second = (greeted(bench, 5, "").properties.assigned_client_id for _ in range(2))
        assert first != second
        assert {first, second} == set(bench.broker.sessions.by_client)

    def test_who_brought_one_is_told_none(self, bench):
        assert greeted(bench, 5, "mine").properties.assigned_client_id is None

    def test_311_may_come_without_one_if_its_session_is_clean(self, bench):
        """[MQTT-3.1.3-6 (3.1.1)], [MQTT-3.1.3-7 (3.1.1)]."""
        assert greeted(bench, 4, "").code == 0

    def test_311_may_not_if_its_session_is_to_stay(self, bench):
        """[MQTT-3.1.3-8 (3.1.1)]: return code 2, then the end."""
        client = bench.stranger(4).connect("", clean=False)
        assert client.take() == [Connack(False, 2)]
        assert client.closed

    def test_31_always_brings_one(self, bench):
        assert greeted(bench, 3, "").code == 2

    def test_one_that_is_too_long_is_refused(self):
        """[MQTT-3.1.3-9 (3.1.1)], [MQTT-3.1.3-8]: identifier rejected."""
        bench = Bench(BrokerSettings(Limits(client_id_bytes_max=10)))
        assert greeted(bench, 4, "x" * 11).code == 2
        assert greeted(bench, 5, "x" * 11).code == Reason.CLIENT_IDENTIFIER_NOT_VALID
        assert greeted(bench, 5, "x" * 10).code == 0

    def test_a_second_connection_takes_over(self, bench):
        """[MQTT-3.1.4-3], [MQTT-3.1.4-2 (3.1.1)]: the first is told (v5) and closed."""
        first = bench.client("same", version=5)
        second = bench.client("same", version=5)
        assert [packet.code for packet in first.take()] == [Reason.SESSION_TAKEN_OVER]
        assert first.closed
        assert second.send(Pingreq()).take() == [Pingresp()]
        assert bench.count("sessions_taken_over") == 1


class TestSessions:
    def test_a_new_session_is_not_present(self, bench):
        """[MQTT-3.1.2-6], [MQTT-3.2.2-3], [MQTT-3.1.2-4 (3.1.1)], [MQTT-3.2.2-3 (3.1.1)]."""
        assert not greeted(bench, 4, "c", clean=False).session_present
        assert not greeted(bench, 5, "d", clean=False).session_present

    def test_a_session_that_was_kept_is_present(self, bench):
        """[MQTT-3.1.2-5], [MQTT-3.2.2-3], [MQTT-3.1.2-4 (3.1.1)], [MQTT-3.2.2-2 (3.1.1)]."""
        bench.client("c", clean=False).vanish()
        assert greeted(bench, 4, "c", clean=False).session_present
        bench.client("d", version=5, session_expiry_s=100).vanish()
        assert greeted(bench, 5, "d", clean=False).session_present

    @pytest.mark.parametrize(("version", "kept"), [(4, {}), (5, {"session_expiry_s": 100})])
    def test_a_clean_start_finds_none(self, bench, version, kept):
        """[MQTT-3.1.2-4], [MQTT-3.1.4-4], [MQTT-3.2.2-2]; [MQTT-3.1.2-6 (3.1.1)], [MQTT-3.1.4-3 (3.1.1)],
        [MQTT-3.2.2-1 (3.1.1)].
        """
        client = bench.client("c", version=version, clean=False, **kept)
        client.subscribe("t")
        client.vanish()
        again = bench.client("c", version=version, clean=True)
        assert not again.connack.session_present
        bench.client("p").publish("t")
        assert again.payloads() == []

    def test_a_clean_session_of_311_ends_with_its_connection(self, bench):
        """[MQTT-3.1.2-6 (3.1.1)]."""
        bench.client("c").vanish()
        assert not greeted(bench, 4, "c", clean=False).session_present

    def test_a_v5_session_ends_when_its_expiry_has_passed(self, bench):
        """[MQTT-3.1.2-23], [MQTT-4.1.0-2]."""
        bench.client("c", version=5, session_expiry_s=10).vanish()
        bench.later(9.9)
        assert "c" in bench.broker.sessions.by_client
        bench.later(0.2)
        assert "c" not in bench.broker.sessions.by_client
        assert bench.count("sessions_expired") == 1

    def test_a_v5_session_without_expiry_ends_with_its_connection(self, bench):
        bench.client("c", version=5, clean=False).vanish()
        assert "c" not in bench.broker.sessions.by_client

    def test_an_expiry_that_never_ends_never_ends(self):
        """§3.1.2.11.2: 0xFFFFFFFF, where the configuration has no bound below it."""
        bench = Bench(BrokerSettings(Limits(session_expiry_max_s=2.0**33)))
        bench.client("c", version=5, session_expiry_s=0xFFFF_FFFF).vanish()
        bench.later(2.0**32 + 10)
        assert "c" in bench.broker.sessions.by_client

    def test_the_expiry_is_bounded_and_the_client_is_told(self):
        """§3.2.2.3.2."""
        bench = Bench(BrokerSettings(Limits(session_expiry_max_s=100)))
        assert greeted(bench, 5, "a", session_expiry_s=1_000).properties.session_expiry_s == 100
        assert greeted(bench, 5, "b", session_expiry_s=99).properties.session_expiry_s is None

    def test_an_error_never_claims_a_session(self, bench):
        """[MQTT-3.2.2-6], [MQTT-3.2.2-4 (3.1.1)]."""
        bench.client("c", version=5, session_expiry_s=100).vanish()
        bench.authority.verdict = lambda credentials: Denied(Reason.NOT_AUTHORIZED, "no")
        assert not greeted(bench, 5, "c", clean=False).session_present
        assert not greeted(bench, 4, "c", clean=False).session_present

    def test_there_are_only_so_many(self):
        bench = Bench(BrokerSettings(Limits(sessions_total_max=1)))
        bench.client("a")
        assert greeted(bench, 5, "b").code == Reason.QUOTA_EXCEEDED
        assert greeted(bench, 5, "a").code == 0


class TestVerdicts:
    @pytest.mark.parametrize(
        ("reason", "code"),
        [
            (Reason.BAD_USER_NAME_OR_PASSWORD, 4),
            (Reason.NOT_AUTHORIZED, 5),
            (Reason.SERVER_BUSY, 3),
            (Reason.BANNED, 5),
        ],
    )
    def test_denied(self, bench, reason, code):
        """[MQTT-3.1.4-2], [MQTT-3.2.2-7], [MQTT-4.13.2-1], [MQTT-3.2.2-5 (3.1.1)]: the code, then the end."""
        bench.authority.verdict = lambda credentials: Denied(reason, "no")
        four, five = bench.stranger(4).connect("a"), bench.stranger(5).connect("b")
        assert four.take()[0].code == code
        assert five.take()[0].code == reason
        assert four.closed
        assert five.closed
        assert bench.count("connects_denied") == 2
        assert len(bench.authority.verdicts) == 2

    def test_nothing_of_a_denied_client_is_heard(self, bench):
        """[MQTT-3.1.4-6], [MQTT-3.1.4-5 (3.1.1)]: what follows a refused CONNECT is not processed."""
        watcher = bench.client("w")
        watcher.subscribe("t")
        bench.authority.verdict = lambda credentials: Denied(Reason.NOT_AUTHORIZED, "no")
        bench.stranger(4).send(Connect(4, "c"), Publish("t", b"x"))
        bench.stranger(5).send(Connect(5, "d"), Publish("t", b"x"))
        assert watcher.payloads() == []

    def test_the_will_of_a_denied_client_is_not_said(self, bench):
        watcher = bench.client("w")
        watcher.subscribe("w")
        bench.authority.verdict = lambda credentials: Denied(Reason.NOT_AUTHORIZED, "no")
        bench.stranger(5).connect("c", will=Will("w", b"gone"))
        assert watcher.payloads() == []

    def test_a_verdict_that_takes_time_holds_up_only_its_client(self, bench):
        bench.authority.verdict = lambda credentials: Work(lambda: Granted("alice"))
        client = bench.stranger(4).connect("c")
        assert client.take() == []
        assert not client.connection.reading
        bench.authority.verdict = lambda credentials: Granted(None)
        assert bench.client("other").send(Pingreq()).take() == [Pingresp()]
        bench.work()
        assert client.take()[0].code == 0
        assert client.connection.reading
        assert bench.broker.sessions.by_client["c"].user == "alice"

    def test_what_comes_before_the_verdict_is_handled_after_it(self, bench):
        """§3.1.4: clients need not wait for the CONNACK."""
        bench.authority.verdict = lambda credentials: Work(lambda: Granted(None))
        client = bench.stranger(4).send(Connect(4, "c"), Pingreq())
        client.send(Pingreq())
        assert client.take() == []
        bench.work()
        assert [type(packet) for packet in client.take()] == [Connack, Pingresp, Pingresp]

    def test_but_not_without_bound(self, bench):
        bench.authority.verdict = lambda credentials: Work(lambda: Granted(None))
        client = bench.stranger(4).connect("c")
        for _ in range(3):
            assert not client.closed
            client.speak(encode(4, Publish("t", b"x" * 400_000)))
        assert client.closed

    def test_a_verdict_for_somebody_who_has_left_only_counts(self, bench):
        """Or whoever guesses passwords would only have to hang up early."""
        verdict = Denied(Reason.BAD_USER_NAME_OR_PASSWORD, "no")
        for result in (Granted(None), verdict):
            bench.authority.verdict = lambda credentials, result=result: Work(lambda: result)
            client = bench.stranger(4).connect("c")
            client.vanish()
            bench.work()
        assert "c" not in bench.broker.sessions.by_client
        assert bench.authority.verdicts == [Granted(None), verdict]

    def test_two_who_wait_under_one_name_take_over_in_turn(self, bench):
        bench.authority.verdict = lambda credentials: Work(lambda: Granted(None))
        first, second = bench.stranger(5).connect("same"), bench.stranger(5).connect("same")
        bench.work()
        assert first.closed
        assert not second.closed

    def test_a_right_that_ends_ends_the_connection(self, bench):
        bench.authority.verdict = lambda credentials: Granted("alice", until=bench.now + 60)
        client = bench.client(version=5)
        bench.later(59)
        assert not client.closed
        bench.later(2)
        assert client.take()[0].code == Reason.NOT_AUTHORIZED
        assert client.closed


class TestConnack:
    @pytest.mark.parametrize(("version", "kept"), [(4, {}), (5, {"session_expiry_s": 100})])
    def test_it_comes_first(self, bench, version, kept):
        """[MQTT-3.2.0-1], [MQTT-3.2.0-1 (3.1.1)]: before anything that the session is owed."""
        client = bench.client("c", version=version, clean=False, **kept)
        client.subscribe("t", qos=1)
        client.vanish()
        bench.client("p").publish("t", qos=1)
        back = bench.stranger(version).connect("c", clean=False, **kept)
        assert [type(packet) for packet in back.take()] == [Connack, Publish]

    def test_it_comes_once(self, bench):
        """[MQTT-3.2.0-2]."""
        client = bench.client(version=5).send(Pingreq())
        assert [type(packet) for packet in client.take()] == [Pingresp]

    def test_v5_hears_our_limits(self):
        """[MQTT-3.2.2-9], §3.2.2.3."""
        settings = BrokerSettings(
            Limits(receive_maximum=7, packet_bytes_max=9_999, topic_aliases_max=3, qos_max=1),
            retain=False,
            wildcards=False,
            shared=False,
        )
        said = greeted(Bench(settings), 5, "c").properties
        assert said == Properties(
            receive_maximum=7,
            maximum_packet_bytes=9_999,
            topic_alias_maximum=3,
            maximum_qos=1,
            retain_available=0,
            wildcard_available=0,
            shared_available=0,
        )

    def test_311_hears_nothing_but_the_code(self, bench):
        assert bench.stranger(4).connect("c").take() == [Connack(False, 0)]


class TestKeepAlive:
    def test_a_client_that_is_silent_for_one_and_a_half_times_is_closed(self, bench):
        """[MQTT-3.1.2-22], [MQTT-3.1.2-24 (3.1.1)]."""
        five = bench.client("five", version=5, keep_alive_s=10)
        four = bench.client("four", keep_alive_s=10)
        bench.later(14.9)
        assert not four.closed
        bench.later(1.2)
        assert four.closed
        assert five.take()[0].code == Reason.KEEP_ALIVE_TIMEOUT
        assert bench.count("keep_alive_timeouts") == 2

    def test_anything_that_it_says_counts(self, bench):
        client = bench.client(keep_alive_s=10)
        for _ in range(20):
            bench.later(9)
            client.send(Pingreq())
        assert not client.closed

    def test_whom_we_do_not_read_from_is_not_silent(self):
        bench = Bench(BrokerSettings(Limits(messages_per_second_max=1)))
        client = bench.client(keep_alive_s=10)
        client.send(*[Publish("t", b"x")] * 100)
        bench.later(90)
        assert not client.closed
        bench.later(40)
        assert client.closed

    def test_zero_is_for_ever(self, bench):
        client = bench.client(keep_alive_s=0)
        bench.later(1e7)
        assert not client.closed

    def test_the_servers_bound_is_told_and_used(self):
        """[MQTT-3.2.2-22], §3.2.2.3.14."""
        bench = Bench(BrokerSettings(Limits(keep_alive_max_s=20)))
        bounded = bench.client("b", version=5, keep_alive_s=100)
        unbounded = bench.client("u", version=5, keep_alive_s=0)
        modest = bench.client("m", version=5, keep_alive_s=5)
        said = [client.connack.properties.server_keep_alive_s for client in (bounded, unbounded, modest)]
        assert said == [20, 20, None]
        bench.later(31.1)
        assert bounded.closed
        assert unbounded.closed

    def test_311_is_taken_at_its_word(self):
        bench = Bench(BrokerSettings(Limits(keep_alive_max_s=20)))
        client = bench.client(keep_alive_s=100)
        bench.later(100)
        assert not client.closed


class TestWills:
    @pytest.mark.parametrize(
        ("will", "settings", "reason"),
        [
            (Will("w", b"", 2), BrokerSettings(Limits(qos_max=1)), Reason.QOS_NOT_SUPPORTED),  # [MQTT-3.2.2-12]
            (Will("w", b"", 0, True), BrokerSettings(retain=False), Reason.RETAIN_NOT_SUPPORTED),  # [MQTT-3.2.2-13]
        ],
    )
    def test_a_will_that_cannot_be_kept_is_refused(self, will, settings, reason):
        """[MQTT-3.2.2-12], [MQTT-3.2.2-13]."""
        assert greeted(Bench(settings), 5, "c", will=will).code == reason

    @pytest.mark.parametrize("action", [PUBLISH, WILL, RETAIN])
    def test_a_will_that_is_not_allowed_is_refused(self, bench, action):
        bench.authority.forbidden = {(action, "w")}
        assert greeted(bench, 5, "c", will=Will("w", b"", 0, True)).code == Reason.NOT_AUTHORIZED


class Sums:
    """A conversation: the client must answer the challenge's number plus one."""

    def __init__(self, user: str = "alice") -> None:
        self.user = user

    def step(self, now, data):
        if data == b"":
            return Challenge(b"41")
        return Success(Granted(self.user), b"well done") if data == b"42" else Denied(Reason.NOT_AUTHORIZED, "wrong")


METHOD = {"authentication_method": "SUMS"}


class TestEnhancedAuthentication:
    @pytest.fixture
    def bench(self):
        bench = Bench()
        bench.authority.conversations["SUMS"] = Sums
        return bench

    def answer(self, data: bytes, code: int = Reason.CONTINUE_AUTHENTICATION) -> Auth:
        return Auth(code, Properties(authentication_method="SUMS", authentication_data=data))

    def test_challenge_answer_success(self, bench):
        """[MQTT-4.12.0-2], [MQTT-4.12.0-3], [MQTT-4.12.0-5]."""
        client = bench.stranger(5).connect("c", **METHOD)
        (challenge,) = client.take()
        assert challenge == Auth(0x18, Properties(authentication_method="SUMS", authentication_data=b"41"))
        client.send(self.answer(b"42"))
        (connack,) = client.take()
        assert connack.code == 0
        assert connack.properties.authentication_method == "SUMS"
        assert connack.properties.authentication_data == b"well done"

    def test_a_wrong_answer_is_refused(self, bench):
        """[MQTT-4.12.0-4]."""
        client = bench.stranger(5).connect("c", **METHOD)
        client.take()
        client.send(self.answer(b"0"))
        assert client.take()[0].code == Reason.NOT_AUTHORIZED
        assert client.closed

    def test_an_unknown_method_is_refused(self, bench):
        """[MQTT-4.12.0-1]."""
        client = bench.stranger(5).connect("c", authentication_method="MAGIC")
        assert client.take()[0].code == Reason.BAD_AUTHENTICATION_METHOD
        assert client.closed

    def test_nothing_else_may_come_before_the_connack(self, bench):
        """[MQTT-3.1.2-30]."""
        client = bench.stranger(5).connect("c", **METHOD)
        client.take()
        client.send(Publish("t", b"x"))
        assert client.closed

    def test_the_client_may_give_up(self, bench):
        client = bench.stranger(5).connect("c", **METHOD).send(Disconnect())
        assert client.closed

    def test_the_method_may_not_change(self, bench):
        """[MQTT-4.12.0-5]."""
        client = bench.stranger(5).connect("c", **METHOD)
        client.take()
        client.send(Auth(0x18, Properties(authentication_method="OTHER")))
        assert client.take()[0].code == Reason.PROTOCOL_ERROR

    def admitted(self, bench):
        client = bench.stranger(5).connect("c", **METHOD).send(self.answer(b"42"))
        client.take()
        return client

    def test_again_on_the_same_connection(self, bench):
        """[MQTT-4.12.1-1]."""
        client = self.admitted(bench)
        client.send(self.answer(b"", Reason.RE_AUTHENTICATE))
        assert client.take()[0].code == 0x18
        client.send(Pingreq())  # other traffic goes on with the rights of before
        assert client.take() == [Pingresp()]
        client.send(self.answer(b"42"))
        assert client.take() == [
            Auth(0, Properties(authentication_method="SUMS", authentication_data=b"well done")),
        ]

    def test_failing_then_ends_the_connection(self, bench):
        """[MQTT-4.12.1-2]."""
        client = self.admitted(bench)
        client.send(self.answer(b"", Reason.RE_AUTHENTICATE), self.answer(b"0"))
        assert client.take()[-1] == Disconnect(Reason.NOT_AUTHORIZED, Properties(reason_string="wrong"))
        assert client.closed

    def test_as_somebody_else_one_may_not_go_on(self, bench):
        client = self.admitted(bench)
        bench.authority.conversations["SUMS"] = lambda: Sums("mallory")
        client.send(self.answer(b"", Reason.RE_AUTHENTICATE), self.answer(b"42"))
        assert client.take()[-1].code == Reason.NOT_AUTHORIZED
        assert client.closed

    def test_without_a_method_the_server_never_begins(self, bench):
        """[MQTT-4.12.0-6]."""
        client = bench.stranger(5).connect("c")
        (connack,) = client.take()
        assert isinstance(connack, Connack)
        assert connack.properties.authentication_method is None


class TestMounts:
    def test_behind_a_mount_everything_has_its_prefix_and_nobody_sees_it(self, bench):
        behind = Origin("lan", "tcp", "127.0.0.1", 1, True, mount="lan/")
        inside = bench.stranger(5, behind).connect("inside", will=Will("w", b"gone"))
        inside.take()
        outside = bench.client("outside")
        outside.subscribe("#")
        inside.subscribe("a/+", qos=1)
        inside.publish("a/b", b"from within", qos=1)
        assert [(packet.topic, packet.payload) for packet in outside.take()] == [("lan/a/b", b"from within")]
        outside.publish("lan/a/c", b"from without").publish("a/c", b"elsewhere")
        heard = [packet for packet in inside.take() if isinstance(packet, Publish)]
        assert [(packet.topic, packet.payload) for packet in heard] == [
            ("a/b", b"from within"),
            ("a/c", b"from without"),
        ]
        outside.take()
        inside.vanish()
        assert [packet.topic for packet in outside.take()] == ["lan/w"]

    def test_system_topics_are_the_same_for_all(self, bench):
        behind = Origin("lan", "tcp", "127.0.0.1", 1, True, mount="lan/")
        inside = bench.stranger(4, behind).connect("inside")
        inside.take()
        assert inside.subscribe("$SYS/#") == [Suback(1, (0,))]
        assert "$SYS/#" in bench.broker.sessions.by_client["inside"].subscriptions


class TestTotals:
    def test_there_are_only_so_many_connections(self):
        bench = Bench(BrokerSettings(Limits(connections_total_max=2)))
        one = bench.client("a")
        bench.client("b")
        origin = Origin("test", "tcp", "127.0.0.1", 1, True)
        assert bench.broker.accept(bench.now, origin) is None
        assert bench.count("connections_refused") == 1
        one.vanish()
        assert bench.broker.accept(bench.now, origin) is not None

    def test_only_so_many_from_one_address(self):
        bench = Bench(BrokerSettings(Limits(connections_per_address_max=1)))
        bench.client("a")
        assert bench.broker.accept(bench.now, Origin("test", "tcp", "127.0.0.1", 2, True)) is None
        assert bench.broker.accept(bench.now, Origin("test", "tcp", "127.0.0.2", 1, True)) is not None

    def test_only_so_many_per_second(self):
        bench = Bench(BrokerSettings(Limits(connections_per_second_max=5)))
        origin = Origin("test", "tcp", "127.0.0.1", 1, True)
        accepted = [bench.broker.accept(bench.now, origin) is not None for _ in range(10)]
        assert accepted == [True] * 5 + [False] * 5
        bench.now += 2
        assert bench.broker.accept(bench.now, origin) is not None
