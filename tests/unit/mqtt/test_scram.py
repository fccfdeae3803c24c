"""SCRAM's shared mathematics and its client, against RFC 7677's example and a hostile server."""

import base64

import pytest

from weft.mqtt.scram import (
    MECHANISMS,
    ScramClient,
    ScramError,
    escape,
    proves,
    saslprep,
    server_signature,
    unescape,
    verifier,
)  # fmt: skip

# RFC 7677 §3
CLIENT_NONCE = "rOprNGfwEbeRWgbNEkqO"
SERVER_FIRST = b"r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0,s=W22ZaJ0SNY7soEsUEjb6gQ==,i=4096"
CLIENT_FINAL = (
    b"c=biws,r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0,p=dHzbZapWIk4jUhN+Ute9ytag9zjfMHgsqmmiz7AndVQ="
)
SERVER_FINAL = b"v=6rriTRBi23WpRR/wtup+mMhUZUn/dB5nLTJRsjl95G4="


def client() -> ScramClient:
    return ScramClient("SCRAM-SHA-256", "user", "pencil", CLIENT_NONCE)


def test_the_client_speaks_the_example_of_rfc_7677():
    """RFC 7677 §3."""
    one = client()
    assert one.first() == b"n,,n=user,r=rOprNGfwEbeRWgbNEkqO"
    assert one.answer(SERVER_FIRST) == CLIENT_FINAL
    one.finish(SERVER_FINAL)


def test_a_verifier_checks_the_example_and_signs_it():
    """RFC 7677 §3."""
    known = verifier("SCRAM-SHA-256", "pencil", base64.b64decode("W22ZaJ0SNY7soEsUEjb6gQ=="), 4096)
    final, _, proof = CLIENT_FINAL.partition(b",p=")
    message = b"n=user,r=" + CLIENT_NONCE.encode() + b"," + SERVER_FIRST + b"," + final
    assert proves(known, message, base64.b64decode(proof))
    assert base64.b64encode(server_signature(known, message)) == SERVER_FINAL[2:]
    assert not proves(known, message + b"x", base64.b64decode(proof))
    assert not proves(known, message, b"")
    assert not proves(known, message, base64.b64decode(proof)[:-1])


@pytest.mark.parametrize(
    "answer",
    [
        SERVER_FIRST.replace(b"rOpr", b"xOpr"),  # another client's nonce
        b"r=rOprNGfwEbeRWgbNEkqO,s=W22ZaJ0SNY7soEsUEjb6gQ==,i=4096",  # adds nothing to it
        SERVER_FIRST.replace(b"4096", b"1"),  # §9: fewer iterations are a downgrade
        SERVER_FIRST.replace(b"4096", b"100000000"),
        SERVER_FIRST.replace(b"4096", "٤٠٩٦".encode()),
        SERVER_FIRST.replace(b"i=", b"j="),
        SERVER_FIRST.replace(b"W22", b"***"),
        b"m=mandatory," + SERVER_FIRST,  # §5.1: an extension that must be understood
        b"\xff",
        b"",
        b"r=" + b"x" * 5_000,
    ],
)
def test_a_client_answers_no_server_that_breaks_the_rules(answer):
    with pytest.raises(ScramError):
        client().answer(answer)


@pytest.mark.parametrize("final", [b"v=AAAA", b"e=invalid-proof", b"v=", b"", SERVER_FINAL.replace(b"6", b"7", 1)])
def test_a_client_believes_only_a_server_that_knows_the_verifier(final):
    one = client()
    one.answer(SERVER_FIRST)
    with pytest.raises(ScramError):
        one.finish(final)


def test_a_server_that_skips_the_proof_is_not_believed():
    with pytest.raises(ScramError):
        client().finish(SERVER_FINAL)


@pytest.mark.parametrize("name", ["alice", "a=b,c", "=2C", ",,==", "é"])
def test_names_survive_their_escapes(name):
    assert unescape(escape(name)) == name
    assert "," not in escape(name)


@pytest.mark.parametrize("text", ["a=", "a=3", "=2c", "=41"])
def test_a_stray_equals_sign_is_an_error(text):
    with pytest.raises(ScramError):
        unescape(text)


@pytest.mark.parametrize(
    ("typed", "prepared"), [("I\u00adX", "IX"), ("user", "user"), ("USER", "USER"), ("\u00aa", "a"), ("\u2168", "IX")]
)
def test_saslprep_as_in_its_rfc(typed, prepared):
    """RFC 4013 §3."""
    assert saslprep(typed) == prepared


@pytest.mark.parametrize("typed", ["\u0007", "\u0627\u0031", "", "\u00ad", "\u0221"])
def test_saslprep_forbids(typed):
    """RFC 4013 §3, and what no version of Unicode 3.2 knew."""
    with pytest.raises(ScramError):
        saslprep(typed)


def test_a_verifier_shows_nothing_when_printed():
    known = verifier("SCRAM-SHA-512", "pencil", b"salt" * 4)
    assert repr(known) == "Verifier(SCRAM-SHA-512, 10000)"
    assert list(MECHANISMS) == ["SCRAM-SHA-256", "SCRAM-SHA-512"]
