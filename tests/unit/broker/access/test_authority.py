"""The authority as a broker asks it: the order of what is believed, throttling, conversations, reloading."""

import json
from pathlib import Path

import msgspec
import pytest

from weft.broker.access.api import (
    Certificate,
    Challenge,
    ConversationWork,
    Credentials,
    Denied,
    Granted,
    Origin,
    Subject,
    Success,
    Work,
)  # fmt: skip
from weft.broker.access.authority import NoOpinions, build
from weft.broker.access.hashes import Hash, _digest, write
from weft.broker.access.settings import AccessSettings
from weft.core.errors import Misuse
from weft.core.strict import parse
from weft.mqtt.codec.reasons import Reason
from weft.mqtt.scram import ScramClient, verifier

SALT = b"0123456789abcdef"
SECRET = b"a secret of at least thirty-two bytes"
LOCAL = Origin("main", "tcp", "127.0.0.1", 40_000, is_local=True)
FAR = Origin("main", "tcp", "192.0.2.7", 40_000, is_local=False)


def line(user: str, password: bytes) -> str:
    return f"{user}:{write(Hash('scrypt', (4, 8, 1), SALT, _digest(password, 'scrypt', (4, 8, 1), SALT, 32)))}\n"


USERS = line("alice", b"pencil") + f"alice:{write(verifier('SCRAM-SHA-256', 'pencil', SALT, 4096))}\n"
ACL = "all\nallow read public/#\nuser alice\nallow all home/#\nrole ops\nallow all #\n"


class Files(dict):
    """What ``read`` finds."""

    def __call__(self, path: Path) -> bytes:
        return self[str(path)].encode() if isinstance(self[str(path)], str) else self[str(path)]


class Stream:
    """Entropy that is not."""

    def __init__(self) -> None:
        self.number = 0

    def __call__(self, size: int) -> bytes:
        self.number += 1
        return bytes((self.number,)) * size


def settings(text: str = "") -> AccessSettings:
    return parse(text, AccessSettings).value


def access(text: str = "", plugins=None, **files):
    named = Files({"users": USERS, "acl": ACL, "secret": SECRET} | files)
    return build(settings(text), named, Stream(), plugins)


def credentials(user=None, password=None, origin=FAR, client_id="c") -> Credentials:
    return Credentials(client_id, user, password, origin, 5)


def ask(one, given: Credentials, now: float = 0.0):
    """As the broker does: admit, work, admitted with other credentials that are equal."""
    verdict = one.admit(now, given)
    if isinstance(verdict, Work):
        verdict = verdict.run()
    one.admitted(now, msgspec.structs.replace(given), verdict)
    return verdict


def reason(verdict) -> Reason:
    assert isinstance(verdict, Denied)
    return verdict.reason


PASSWORDS = 'password_file = "users"\n'


def test_without_a_word_only_local_clients_are_let_in_and_nameless():
    assert ask(access(), credentials("anybody", b"x", LOCAL)) == Granted(None, by="anonymous")
    assert reason(ask(access(), credentials())) == Reason.NOT_AUTHORIZED


def test_where_somebody_has_a_password_local_clients_need_one():
    one = access(PASSWORDS)
    assert reason(ask(one, credentials(origin=LOCAL))) == Reason.NOT_AUTHORIZED
    assert ask(one, credentials("alice", b"pencil", LOCAL)) == Granted("alice", by="password")


def test_a_listener_may_say_otherwise_and_goes_before_the_section():
    opened, closed = (msgspec.structs.replace(FAR, anonymous=each) for each in (True, False))
    assert ask(access(PASSWORDS), credentials(origin=opened)) == Granted(None, by="anonymous")
    assert ask(access("anonymous = false"), credentials(origin=opened)) == Granted(None, by="anonymous")
    assert ask(access("anonymous = true"), credentials()) == Granted(None, by="anonymous")
    assert reason(ask(access("anonymous = true"), credentials(origin=closed))) == Reason.NOT_AUTHORIZED


def test_a_wrong_password_never_falls_back_to_anonymous():
    one = access(PASSWORDS + "anonymous = true")
    assert ask(one, credentials()) == Granted(None, by="anonymous")
    for given in (
        credentials("alice", b"pen"),
        credentials("alice"),
        credentials("nobody", b"pencil"),
        credentials(""),
    ):
        assert reason(ask(one, given)) == Reason.BAD_USER_NAME_OR_PASSWORD
    assert one.counters["weft_auth_failures_total"] == 4


def test_unknown_users_and_wrong_passwords_are_answered_alike():
    one = access(PASSWORDS)
    wrong, unknown = ask(one, credentials("alice", b"pen")), ask(one, credentials("nobody", b"pen"))
    assert wrong == unknown
    assert isinstance(
        one.admit(0.0, credentials("nobody", b"pen")), Work
    )  # it costs as much, and as little of the loop


def test_a_right_password_is_not_hashed_again_for_a_while():
    one = access(PASSWORDS + "remember_s = 60.0")
    given = credentials("alice", b"pencil")
    assert isinstance(one.admit(0.0, given), Work)
    ask(one, given)
    assert one.admit(59.0, given) == Granted("alice", by="password")
    assert one.counters["weft_auth_remembered_total"] == 1
    assert isinstance(one.admit(60.0, given), Work)
    assert isinstance(one.admit(1.0, credentials("alice", b"pen")), Work)


def test_a_check_that_a_reload_overtook_is_remembered_for_the_old_line_only():
    one = access(PASSWORDS)
    given = credentials("alice", b"pencil")
    work = one.admit(0.0, given)
    assert isinstance(work, Work)
    one.reload(settings(PASSWORDS), Files({"users": line("alice", b"other")}))
    one.admitted(0.0, given, work.run())
    assert isinstance(one.admit(1.0, given), Work)
    assert reason(ask(one, given)) == Reason.BAD_USER_NAME_OR_PASSWORD


def test_guessers_are_throttled_even_all_at_once():
    one = access(PASSWORDS + "[throttle]\naddress_failures = 3\nuser_failures = 1000")
    works = [one.admit(0.0, credentials("alice", b"guess")) for _ in range(10)]
    assert [isinstance(work, Work) for work in works] == [True] * 4 + [False] * 6
    assert reason(works[-1]) == Reason.CONNECTION_RATE_EXCEEDED
    assert one.counters["weft_auth_throttled_total"] == 6
    assert len(one.notices.take()) == 1
    assert isinstance(
        one.admit(0.0, credentials("alice", b"guess", msgspec.structs.replace(FAR, address="192.0.2.8"))), Work
    )
    assert isinstance(one.admit(1.0, credentials("alice", b"guess")), Work)


def test_who_is_right_is_never_throttled():
    one = access(PASSWORDS + "remember_s = 0.0\n[throttle]\naddress_failures = 3\nuser_failures = 3")
    for _ in range(50):
        assert ask(one, credentials("alice", b"pencil")) == Granted("alice", by="password")


def test_who_was_in_lately_is_let_in_while_somebody_guesses_his_name():
    one = access(PASSWORDS + "[throttle]\nuser_failures = 3\naddress_failures = 1000")
    ask(one, credentials("alice", b"pencil"))
    for _ in range(10):
        ask(one, credentials("alice", b"guess"))
    assert reason(ask(one, credentials("alice", b"guess"))) == Reason.CONNECTION_RATE_EXCEEDED
    assert ask(one, credentials("alice", b"pencil")) == Granted("alice", by="password")


def test_checks_under_way_are_bounded(monkeypatch):
    monkeypatch.setattr("weft.broker.access.authority.UNDERWAY_MAX", 5)
    one = access(PASSWORDS + "[throttle]\nenabled = false")
    for _ in range(50):
        one.admit(0.0, credentials("alice", b"guess"))
    assert len(one._underway) == 10


def test_a_certificate_names_its_user_before_any_password():
    one = access(PASSWORDS + 'certificate_user = "common-name"')
    known = msgspec.structs.replace(FAR, certificate=Certificate(common_name="device7"))
    assert ask(one, credentials("alice", b"wrong", known)) == Granted("device7", by="certificate")
    nameless = msgspec.structs.replace(FAR, certificate=Certificate(dns_names=("x",)))
    assert reason(ask(one, credentials("alice", b"pencil", nameless))) == Reason.NOT_AUTHORIZED
    assert ask(one, credentials("alice", b"pencil")).by == "password"
    assert ask(access(PASSWORDS), credentials("alice", b"pencil", known)).by == "password"


JWT = '[jwt]\nalgorithms = ["HS256"]\nsecret_file = "secret"\nroles_claim = "roles"\n'


def token(**claims) -> bytes:
    import base64
    import hmac

    def b64(data: bytes) -> bytes:
        return base64.urlsafe_b64encode(data).rstrip(b"=")

    signed = b64(b'{"alg":"HS256"}') + b"." + b64(json.dumps(claims).encode())
    return signed + b"." + b64(hmac.digest(SECRET, signed, "sha256"))


def test_a_token_in_the_password():
    one = access(PASSWORDS + JWT)
    given = credentials("whoever", token(sub="bob", exp=100, roles=["ops"]))
    assert ask(one, given) == Granted("bob", 130.0, ("ops",), by="token")
    assert reason(ask(one, given, 130.0)) == Reason.BAD_USER_NAME_OR_PASSWORD
    assert ask(one, credentials("alice", b"pencil")).by == "password"
    alone = access(JWT)
    assert reason(ask(alone, credentials("alice", b"pencil"))) == Reason.BAD_USER_NAME_OR_PASSWORD
    assert reason(ask(alone, credentials(origin=LOCAL))) == Reason.NOT_AUTHORIZED
    assert reason(ask(alone, credentials("x", b"eyJ.eyJ."))) == Reason.BAD_USER_NAME_OR_PASSWORD


def test_a_token_in_the_user_name():
    one = access(JWT + 'where = "username"')
    assert ask(one, credentials(token(sub="bob", exp=100).decode())).user == "bob"
    assert reason(ask(one, credentials("x", token(sub="bob", exp=100)))) == Reason.BAD_USER_NAME_OR_PASSWORD


# -------------------------------------------------------------------------------------------------- conversations


def converse(one, user: str, password: str, given: Credentials | None = None):
    client = ScramClient("SCRAM-SHA-256", user, password, "nonce")
    talk = one.converse(0.0, "SCRAM-SHA-256", given or credentials())
    challenge = talk.step(0.0, client.first())
    if not isinstance(challenge, Challenge):
        return challenge
    return talk.step(0.0, client.answer(challenge.data))


def test_scram_for_those_who_have_a_verifier():
    """§4.12"""
    one = access(PASSWORDS)
    assert one.methods() == ["SCRAM-SHA-256"]
    answer = converse(one, "alice", "pencil")
    assert isinstance(answer, Success)
    assert answer.granted == Granted("alice", by="scram")
    assert reason(converse(one, "alice", "pen")) == reason(converse(one, "nobody", "pen"))


def test_scram_only_where_it_is_offered():
    assert access(PASSWORDS).converse(0.0, "SCRAM-SHA-512", credentials()) is None
    assert access(PASSWORDS).converse(0.0, "GSSAPI", credentials()) is None
    assert access(PASSWORDS + "scram = false").converse(0.0, "SCRAM-SHA-256", credentials()) is None
    assert access().methods() == []


def test_scram_guessers_are_throttled():
    one = access(PASSWORDS + "[throttle]\naddress_failures = 3")
    reasons = [reason(converse(one, "alice", "pen")) for _ in range(5)]
    assert reasons == [Reason.BAD_USER_NAME_OR_PASSWORD] * 4 + [Reason.CONNECTION_RATE_EXCEEDED]


class Opinion(NoOpinions):
    """One fixed answer."""

    decides = True

    def __init__(self, verdict=None, allowed=None) -> None:
        self.verdict, self.allowed, self.seen = verdict, allowed, []

    def connect(self, now, credentials):
        self.seen.append(credentials)
        return self.verdict

    def may(self, now, subject, action, topic, qos):
        return self.allowed


BANNED = Denied(Reason.BANNED, "banned")


def test_a_plugin_goes_before_everything():
    assert ask(access(PASSWORDS, Opinion(BANNED)), credentials("alice", b"pencil")) == BANNED
    assert ask(access(PASSWORDS, Opinion(Granted("eve"))), credentials("alice", b"x")) == Granted("eve")
    assert ask(access(PASSWORDS, Opinion(Work(lambda: BANNED))), credentials("alice", b"pencil")) == BANNED
    assert ask(access(PASSWORDS, Opinion()), credentials("alice", b"pencil")) == Granted("alice", by="password")


def test_a_plugin_may_object_to_the_end_of_a_conversation():
    opinion = Opinion(BANNED)
    assert converse(access(PASSWORDS, opinion), "alice", "pencil") == BANNED
    assert [(seen.username, seen.method, seen.password) for seen in opinion.seen] == [("alice", "SCRAM-SHA-256", None)]
    late = converse(access(PASSWORDS, Opinion(Work(lambda: BANNED))), "alice", "pencil")
    assert isinstance(late, ConversationWork)
    assert late.run() == BANNED
    fine = converse(access(PASSWORDS, Opinion(Work(lambda: Granted("x")))), "alice", "pencil")
    assert isinstance(fine, ConversationWork)
    assert isinstance(fine.run(), Success)
    assert isinstance(converse(access(PASSWORDS, Opinion(Granted("eve"))), "alice", "pencil"), Success)


# ----------------------------------------------------------------------------------------------------------- rules


def subject(user, origin=FAR, **more) -> Subject:
    return Subject("c", Granted(user, **more), origin)


def test_rules_roles_and_superusers():
    one = access('acl_file = "acl"\nsuperusers = ["root"]\n[roles]\nops = ["oscar"]')
    assert one.may(subject(None), "subscribe", "public/x", 0)
    assert not one.may(subject(None), "publish", "public/x", 0)
    assert one.may(subject("alice"), "publish", "home/x", 0)
    assert one.may(subject("oscar"), "publish", "x", 0)
    assert one.may(subject("eve", roles=("ops",)), "publish", "x", 0)
    assert one.may(subject("root"), "publish", "$SYS/x", 0)
    assert one.may(subject("eve", is_superuser=True), "publish", "$SYS/x", 0)
    assert one.counters["weft_acl_denied_total"] == 1


def test_without_rules_everything_with_rules_nothing_unless_said():
    assert access().may(subject(None), "publish", "x", 0)
    assert not access('default = "deny"').may(subject(None), "publish", "x", 0)
    assert access('acl_file = "acl"\ndefault = "allow"').may(subject(None), "publish", "x", 0)


def test_a_plugin_adds_to_the_rules_but_not_over_a_deny():
    acl = ACL + "all\ndeny all secret/#\n"
    yes, no = (access('acl_file = "acl"', Opinion(allowed=each), acl=acl) for each in (True, False))
    assert yes.may(subject(None), "publish", "anything", 0)
    assert not yes.may(subject(None), "publish", "secret/x", 0)
    assert not no.may(subject(None), "subscribe", "public/x", 0)


# -------------------------------------------------------------------------------------------------------- reloading


def test_a_reload_takes_everything_new():
    one = access(PASSWORDS + 'acl_file = "acl"')
    assert one.version == 1
    ask(one, credentials("alice", b"pencil"))
    one.reload(
        settings(PASSWORDS + 'acl_file = "acl"'), Files({"users": line("bob", b"pen"), "acl": "user bob\nallow all #"})
    )
    assert one.version == 2
    assert reason(ask(one, credentials("alice", b"pencil"))) == Reason.BAD_USER_NAME_OR_PASSWORD
    assert ask(one, credentials("bob", b"pen")).user == "bob"
    assert one.may(subject("bob"), "publish", "x", 0)
    assert one.counters["weft_access_reloads_total"] == 1


@pytest.mark.parametrize(
    ("text", "files", "said"),
    [
        (PASSWORDS, {"users": "alice"}, "users:1: "),
        ('acl_file = "acl"', {"acl": "all\nallow"}, "acl:2: "),
        (JWT, {"secret": "short"}, "secret:1: "),
        ('[jwt]\nalgorithms = ["HS256"]', {}, "[access.jwt] takes exactly one"),
        (JWT + 'jwks_file = "x"', {}, "[access.jwt] takes exactly one"),
        ('[jwt]\nalgorithms = ["RS256"]\nsecret_file = "secret"', {}, "secret:1: no key in it is for RS256"),
    ],
)
def test_a_bad_file_leaves_the_old_rules_standing(text, files, said):
    one = access(PASSWORDS)
    with pytest.raises(Misuse) as wrong:
        one.reload(settings(text), Files({"users": USERS, "secret": SECRET} | files))
    assert str(wrong.value).startswith(said)
    assert one.version == 1
    assert ask(one, credentials("alice", b"pencil")).user == "alice"


def test_whom_a_reload_leaves_standing():
    one = access(PASSWORDS + JWT + "")
    certificate = msgspec.structs.replace(FAR, certificate=Certificate(common_name="d"))
    assert one.stands(0.0, subject("alice", by="password"))
    assert not one.stands(0.0, subject("gone", by="scram"))
    assert one.stands(0.0, subject("x", by="token", until=5.0))
    assert not one.stands(5.0, subject("x", by="token", until=5.0))
    assert not one.stands(0.0, subject(None, LOCAL, by="anonymous"))
    assert not one.stands(0.0, subject("d", certificate, by="certificate"))
    assert one.stands(0.0, subject("p", by="plugin"))


def test_a_plugin_can_make_the_broker_forget_what_it_cached():
    one = access()
    one.changed()
    assert one.version == 2


def test_no_password_is_ever_printed():
    assert "pencil" not in repr(credentials("alice", b"pencil"))
    assert "pencil" not in str(access(PASSWORDS).admit(0.0, credentials("alice", b"pencil")))
