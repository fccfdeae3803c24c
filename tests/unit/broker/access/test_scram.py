"""The server's side of SCRAM: RFC 7677's example, both mechanisms against our client, and clients that cheat."""

import base64

import pytest

from weft.broker.access.api import Challenge, Denied, Granted, Success
from weft.broker.access.scram import ScramServer, fake
from weft.mqtt.codec.reasons import Reason
from weft.mqtt.scram import MECHANISMS, ScramClient, verifier

SALT = base64.b64decode("W22ZaJ0SNY7soEsUEjb6gQ==")
NONCE = "%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0"
FIRST = b"n,,n=user,r=rOprNGfwEbeRWgbNEkqO"
FINAL = b"c=biws,r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0,p=dHzbZapWIk4jUhN+Ute9ytag9zjfMHgsqmmiz7AndVQ="
WRONG = Denied(Reason.BAD_USER_NAME_OR_PASSWORD, "wrong")


def server(method: str = "SCRAM-SHA-256") -> ScramServer:
    known = verifier(method, "pencil", SALT, 4096)
    return ScramServer(
        method,
        lambda now, user: known if user == "user" else fake(method, user, 4096, b"secret"),
        lambda now, user, is_right: Granted(user) if is_right else WRONG,
        NONCE,
    )


def test_the_server_speaks_the_example_of_rfc_7677():
    """RFC 7677 §3."""
    one = server()
    answer = one.step(0.0, FIRST)
    assert answer == Challenge(
        b"r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0,s=W22ZaJ0SNY7soEsUEjb6gQ==,i=4096"
    )
    assert one.step(0.0, FINAL) == Success(Granted("user"), b"v=6rriTRBi23WpRR/wtup+mMhUZUn/dB5nLTJRsjl95G4=")


@pytest.mark.parametrize("method", MECHANISMS)
def test_our_client_and_our_server_agree(method):
    client, one = ScramClient(method, "user", "pencil", "nonce"), server(method)
    challenge = one.step(0.0, client.first())
    assert isinstance(challenge, Challenge)
    success = one.step(0.0, client.answer(challenge.data))
    assert isinstance(success, Success)
    client.finish(success.data)


@pytest.mark.parametrize(("user", "password"), [("user", "pencils"), ("nobody", "pencil")])
def test_wrong_passwords_and_unknown_users_fail_alike(user, password):
    client, one = ScramClient("SCRAM-SHA-256", user, password, "nonce"), server()
    challenge = one.step(0.0, client.first())
    assert isinstance(challenge, Challenge)
    assert one.step(0.0, client.answer(challenge.data)) == WRONG


def test_an_unknown_user_has_always_the_same_salt_and_it_depends_on_the_secret():
    """RFC 5802 §9: nothing tells that a user does not exist."""
    one = fake("SCRAM-SHA-256", "nobody", 4096, b"secret")
    assert one == fake("SCRAM-SHA-256", "nobody", 4096, b"secret")
    assert one.salt != fake("SCRAM-SHA-256", "somebody", 4096, b"secret").salt
    assert one.salt != fake("SCRAM-SHA-256", "nobody", 4096, b"other").salt
    assert len(one.salt) == len(SALT)
    assert len(fake("SCRAM-SHA-512", "nobody", 4096, b"secret").stored_key) == 64


@pytest.mark.parametrize(
    "first",
    [
        b"", b"n,,", b"n", b"p=tls-unique,,n=user,r=abc", b"x,,n=user,r=abc", b"n,a=other,n=user,r=abc", b"n,,n=user,r=",
        b"n,,n=user", b"n,,m=x,n=user,r=abc", b"n,,n=,r=abc", b"n,,n=us=er,r=abc", b"n,,n=user,r=\x01", b"\xff\xfe",
        b"n,,n=u\0,r=a",        b"n,,n=user,r=" + b"x" * 513, b"n,,n=user,r=" + b"x" * 5_000,
    ],
)  # fmt: skip
def test_a_first_message_that_breaks_the_rules_is_denied_and_ends_it(first):
    one = server()
    answer = one.step(0.0, first)
    assert isinstance(answer, Denied)
    assert answer.reason == Reason.NOT_AUTHORIZED
    assert isinstance(one.step(0.0, FIRST), Denied)


@pytest.mark.parametrize(
    "final",
    [
        b"", FIRST, FINAL.replace(b"biws", b"eSws"), FINAL.replace(b"r=rOpr", b"r=xOpr"), FINAL.replace(b"p=d", b"p=e"),
        FINAL.replace(b",p=", b",q="), FINAL[:-4], FINAL.replace(b"c=biws,", b""), FINAL + b"!",
        FINAL.replace(b"p=", b"x=1,p="),
    ],
)  # fmt: skip
def test_a_final_message_that_breaks_the_rules_is_denied_and_ends_it(final):
    one = server()
    one.step(0.0, FIRST)
    assert isinstance(one.step(0.0, final), Denied)
    assert isinstance(one.step(0.0, FINAL), Denied)


def test_a_proof_is_good_for_one_conversation():
    one = server()
    one.step(0.0, FIRST)
    one.step(0.0, FINAL)
    assert isinstance(one.step(0.0, FINAL), Denied)


def test_who_failed_too_often_is_told_at_once():
    busy = Denied(Reason.CONNECTION_RATE_EXCEEDED, "later")
    one = ScramServer("SCRAM-SHA-256", lambda now, user: busy, lambda now, user, right: Granted(user), NONCE)
    assert one.step(0.0, FIRST) == busy
    assert isinstance(one.step(0.0, FINAL), Denied)


def test_a_client_that_thinks_we_cannot_bind_is_right():
    """RFC 5802 §6: flag "y"."""
    assert isinstance(server().step(0.0, b"y,,n=user,r=abc"), Challenge)
    assert isinstance(server().step(0.0, b"n,a=user,n=user,r=abc"), Challenge)
