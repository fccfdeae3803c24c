"""The authority behind a broker: passwords in other threads, SCRAM over AUTH packets, rules that a reload changes."""

import pytest

from broker_bench import Bench
from weft.broker.access.authority import Access, build
from weft.broker.access.hashes import Hash, _digest, write
from weft.broker.access.settings import AccessSettings
from weft.broker.records import SessionKept
from weft.core.strict import parse
from weft.mqtt.codec.packets import Auth, Connack, Connect, Disconnect, Puback, Publish, Request, Suback, Subscribe
from weft.mqtt.codec.properties import Properties
from weft.mqtt.codec.reasons import Reason
from weft.mqtt.scram import ScramClient, verifier

SALT = b"0123456789abcdef"
METHOD = "SCRAM-SHA-256"
HASH = write(Hash("scrypt", (4, 8, 1), SALT, _digest(b"pencil", "scrypt", (4, 8, 1), SALT, 32)))
FILES = {
    "users": f"alice:{HASH}\nalice:{write(verifier(METHOD, 'pencil', SALT, 4096))}\n".encode(),
    "acl": b"user alice\nallow readwrite home/#\ndeny retain home/#\n",
}
SETTINGS = parse('password_file = "users"\nacl_file = "acl"', AccessSettings).value


@pytest.fixture
def bench() -> Bench:
    bench = Bench()
    access = build(SETTINGS, lambda path: FILES[str(path)], lambda size: bytes(range(size)))
    access.bind(bench.broker.counters, bench.broker.notices)
    bench.broker.authority = access
    return bench


def access_of(bench: Bench) -> Access:
    authority = bench.broker.authority
    assert isinstance(authority, Access)
    return authority


def login(bench: Bench, password: bytes, version: int = 5):
    client = bench.stranger(version)
    client.connect("c", username="alice", password=password)
    bench.work()
    return client


def test_a_password_is_checked_elsewhere_and_let_in(bench):
    client = login(bench, b"pencil")
    (answer,) = client.take()
    assert isinstance(answer, Connack)
    assert answer.code == Reason.SUCCESS
    assert not bench.broker.works
    again = bench.stranger(5)
    again.connect("d", username="alice", password=b"pencil")  # remembered: no thread
    assert again.take()[0].code == Reason.SUCCESS


@pytest.mark.parametrize(("version", "code"), [(3, 4), (4, 4), (5, Reason.BAD_USER_NAME_OR_PASSWORD)])
def test_a_wrong_password_is_answered_as_the_version_has_it(bench, version, code):
    """[MQTT-3.2.2-7], §3.2.2.3 of 3.1.1."""
    client = login(bench, b"pen", version)
    (answer,) = client.take()
    assert (type(answer), answer.code) == (Connack, code)
    assert client.connection.closing
    assert bench.count("auth_failures") == 1
    assert bench.count("connects_denied") == 1


def auth(code: Reason, data: bytes) -> Auth:
    return Auth(code, Properties(authentication_method=METHOD, authentication_data=data))


def begin(bench: Bench, scram: ScramClient):
    client = bench.stranger(5)
    properties = Properties(authentication_method=METHOD, authentication_data=scram.first())
    client.send(Connect(5, "c", properties=properties))
    return client


def test_scram_goes_over_auth_packets_and_again_while_connected(bench):
    """[MQTT-4.12.0-2], [MQTT-4.12.0-3], [MQTT-4.12.0-4], [MQTT-4.12.1-1]."""
    scram = ScramClient(METHOD, "alice", "pencil", "nonce")
    client = begin(bench, scram)
    (challenge,) = client.take()
    client.send(auth(Reason.CONTINUE_AUTHENTICATION, scram.answer(challenge.properties.authentication_data)))
    (welcome,) = client.take()
    assert welcome.code == Reason.SUCCESS
    scram.finish(welcome.properties.authentication_data)
    again = ScramClient(METHOD, "alice", "pencil", "other")
    (challenge,) = client.send(auth(Reason.RE_AUTHENTICATE, again.first())).take()
    client.send(auth(Reason.CONTINUE_AUTHENTICATION, again.answer(challenge.properties.authentication_data)))
    (done,) = client.take()
    assert (type(done), done.code) == (Auth, Reason.SUCCESS)
    again.finish(done.properties.authentication_data)


def test_scram_with_a_wrong_password_is_not_let_in(bench):
    scram = ScramClient(METHOD, "alice", "pen", "nonce")
    client = begin(bench, scram)
    (challenge,) = client.take()
    client.send(auth(Reason.CONTINUE_AUTHENTICATION, scram.answer(challenge.properties.authentication_data)))
    (answer,) = client.take()
    assert (type(answer), answer.code) == (Connack, Reason.BAD_USER_NAME_OR_PASSWORD)


def test_rules_bind_and_a_reload_changes_them_at_once(bench):
    client = login(bench, b"pencil")
    client.take()
    one, two = Publish("home/x", b"x", 1, packet_id=1), Publish("away", b"x", 1, packet_id=2)
    assert client.send(one, two).take() == [Puback(1, Reason.NO_MATCHING_SUBSCRIBERS), Puback(2, Reason.NOT_AUTHORIZED)]
    asked = Subscribe(3, (Request("home/+"), Request("#"), Request("$share/g/home/#")))
    assert client.send(asked).take() == [Suback(3, (0, Reason.NOT_AUTHORIZED, 0))]
    kept = Publish("home/x", b"x", 1, retain=True, packet_id=4)
    assert client.send(kept).take() == [Puback(4, Reason.NOT_AUTHORIZED)]
    files = FILES | {"acl": b"user alice\nallow write away\n"}
    access_of(bench).reload(SETTINGS, lambda path: files[str(path)])
    assert client.send(one, two).take() == [Puback(1, Reason.NOT_AUTHORIZED), Puback(2, Reason.NO_MATCHING_SUBSCRIBERS)]


def test_a_throttled_client_hears_when_to_come_back(bench):
    for _ in range(21):
        login(bench, b"guess")
    client = login(bench, b"guess")
    (answer,) = client.take()
    assert answer.code == Reason.CONNECTION_RATE_EXCEEDED
    assert answer.properties.reason_string == "too many failures; again in 1 s"
    assert not isinstance(answer, Disconnect)
    assert bench.count("auth_throttled") == 1


def test_a_session_is_kept_with_its_owner_from_the_start():
    """§5.4.2: after a crash right after the CONNACK, knowing a client identifier is still no right to the session."""
    bench = Bench(keeps=True)
    bench.client("shared", clean=False, username="alice")
    (kept,) = (record for record in bench.records if isinstance(record, SessionKept))
    assert kept.user == "alice"
    eve = bench.stranger(4)
    eve.connect("shared", clean=False, username="eve")
    assert eve.connection.closing
