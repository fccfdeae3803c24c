"""Hashed passwords: their texts, known answers, and lines that are refused."""

import base64
import hashlib

import pytest

from weft.broker.access import hashes
from weft.broker.access.hashes import Hash, Unreadable, make, matches, read, write
from weft.mqtt.scram import verifier

SALT = b"0123456789abcdef"
CHEAP = {"argon2id": (64, 1, 1), "scrypt": (4, 8, 1), "pbkdf2-sha512": (101,), "sha512": ()}


def cheap(scheme: str, password: bytes = b"pencil") -> Hash:
    size = 64 if "sha512" in scheme else 32
    return Hash(scheme, CHEAP[scheme], SALT, hashes._digest(password, scheme, CHEAP[scheme], SALT, size))


@pytest.mark.parametrize("scheme", CHEAP)
def test_a_hash_survives_its_text_and_matches_its_password_only(scheme):
    known = read(write(cheap(scheme)))
    assert known == cheap(scheme)
    assert matches(known, b"pencil")
    assert not matches(known, b"pencils")
    assert not matches(known, b"")


@pytest.mark.parametrize("scheme", ["argon2id", "scrypt"])
def test_what_is_made_by_default_can_be_read_and_matches(scheme):
    made = make(b"pencil", SALT, scheme)
    assert matches(read(write(made)), b"pencil")
    assert made.cost in {hashes.ARGON2ID, hashes.SCRYPT}


def test_scrypt_is_that_of_rfc_7914():
    """RFC 7914 §12, third vector."""
    digest = bytes.fromhex(
        "7023bdcb3afd7348461c06cd81fd38ebfda8fbba904f8e3ea9b543f6545da1f2"
        "d5432955613f0fcf62d49705242a9af9e61e85dc0d651e40dfcf017b45575887"
    )
    assert matches(Hash("scrypt", (14, 8, 1), b"SodiumChloride", digest), b"pleaseletmein")


def test_mosquitto_lines_are_those_of_mosquitto_passwd():
    """PBKDF2-SHA512 with 101 iterations, or SHA-512 of password and salt; both base64 with padding."""
    salt = base64.b64encode(SALT).decode()
    seven = base64.b64encode(hashlib.pbkdf2_hmac("sha512", b"pencil", SALT, 101)).decode()
    six = base64.b64encode(hashlib.sha512(b"pencil" + SALT).digest()).decode()
    assert matches(read(f"$7$101${salt}${seven}"), b"pencil")
    assert matches(read(f"$6${salt}${six}"), b"pencil")
    assert not matches(read(f"$6${salt}${six}"), b"pencils")


@pytest.mark.parametrize("method", ["SCRAM-SHA-256", "SCRAM-SHA-512"])
def test_a_scram_verifier_survives_its_text_and_checks_a_plain_password_too(method):
    known = verifier(method, "pencil", SALT, 4096)
    assert read(write(known)) == known
    assert matches(known, b"pencil")
    assert not matches(known, b"pencils")
    assert not matches(known, b"\xff")
    assert not matches(known, b"\x07")


def test_a_verifier_of_postgresql_is_read():
    text = (
        "SCRAM-SHA-256$4096:W22ZaJ0SNY7soEsUEjb6gQ==$WG5d8oPm3OtcPnkdi4Uo7BkeZkBFzpcXkuLmtbsT4qY=:"
        "wfPLwcE6nTWhTAmQ7tl2KeoiWGPlZqQxSrmfPwDl2dU="
    )
    assert matches(read(text), b"pencil")  # RFC 7677 §3


@pytest.mark.parametrize(
    "text",
    [
        "", "pencil", "$", "$1$abc$def", "$argon2i$v=19$m=64,t=1,p=1$MDEyMzQ1Njc4OWFiY2RlZg$AAAAAAAAAAAAAAAAAAAAAA",
        "$argon2id$v=16$m=64,t=1,p=1$MDEyMzQ1Njc4OWFiY2RlZg$AAAAAAAAAAAAAAAAAAAAAA",
        "$argon2id$v=19$m=4,t=1,p=1$MDEyMzQ1Njc4OWFiY2RlZg$AAAAAAAAAAAAAAAAAAAAAA",
        "$argon2id$v=19$m=999999999,t=1,p=1$MDEyMzQ1Njc4OWFiY2RlZg$AAAAAAAAAAAAAAAAAAAAAA",
        "$argon2id$v=19$t=1,m=64,p=1$MDEyMzQ1Njc4OWFiY2RlZg$AAAAAAAAAAAAAAAAAAAAAA",
        "$argon2id$v=19$m=64,t=1,p=1$c2FsdA$AAAAAAAAAAAAAAAAAAAAAA", "$argon2id$v=19$m=64,t=1,p=1$MDEyMzQ1Njc4OWFiY2RlZg$AAAA",
        "$scrypt$ln=40,r=8,p=1$MDEyMzQ1Njc4OWFiY2RlZg$AAAAAAAAAAAAAAAAAAAAAA",
        "$scrypt$ln=20,r=64,p=1$MDEyMzQ1Njc4OWFiY2RlZg$AAAAAAAAAAAAAAAAAAAAAA",
        "$scrypt$ln=16,r=1,p=1$MDEyMzQ1Njc4OWFiY2RlZg$AAAAAAAAAAAAAAAAAAAAAA",
        "$scrypt$ln=-1,r=8,p=1$MDEyMzQ1Njc4OWFiY2RlZg$AAAAAAAAAAAAAAAAAAAAAA",
        "$scrypt$ln=4,r=8,p=1$MDEyMzQ1Njc4OWFiY2RlZg$!!!!", "$7$0$MDEyMzQ1Njc4OWFiY2RlZg==$AAAAAAAAAAAAAAAAAAAAAA==",
        "$7$99999999$MDEyMzQ1Njc4OWFiY2RlZg==$AAAAAAAAAAAAAAAAAAAAAA==", "$6$MDEyMzQ1Njc4OWFiY2RlZg==$AAAAAAAAAAAAAAAAAAAAAA==",
        "SCRAM-SHA-1$4096:W22ZaJ0SNY7soEsUEjb6gQ==$AAAA:AAAA", "SCRAM-SHA-256$4096:W22ZaJ0SNY7soEsUEjb6gQ==$AAAA",
        "SCRAM-SHA-256$0:W22ZaJ0SNY7soEsUEjb6gQ==$WG5d8oPm3OtcPnkdi4Uo7BkeZkBFzpcXkuLmtbsT4qY=:wfPLwcE6nTWhTAmQ7tl2KeoiWGPlZqQxSrmfPwDl2dU=",
        "$7$١٠١$MDEyMzQ1Njc4OWFiY2RlZg==$AAAAAAAAAAAAAAAAAAAAAA==",
    ],
)  # fmt: skip
def test_texts_that_are_no_hash_or_cost_too_much_are_refused(text):
    with pytest.raises(Unreadable):
        read(text)


def test_nothing_secret_is_printed():
    assert repr(cheap("scrypt")) == "Hash(scrypt, (4, 8, 1))"
