"""Certificates: what is read from one, and whom it names."""

import datetime as dt

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding
from cryptography.x509.oid import NameOID

from weft.broker.access.api import Certificate
from weft.broker.access.certificates import from_der, user_of
from weft.core.errors import Violation

START = dt.datetime(2025, 1, 1, tzinfo=dt.UTC)


def der(common_names, alternatives=()) -> bytes:
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, each) for each in common_names])
    builder = x509.CertificateBuilder(name, name, key.public_key(), 4711, START, START + dt.timedelta(days=1))
    if alternatives:
        builder = builder.add_extension(x509.SubjectAlternativeName(alternatives), critical=False)
    return builder.sign(key, hashes.SHA256()).public_bytes(Encoding.DER)


def test_all_names_are_read():
    read = from_der(
        der(
            ["alice"],
            [
                x509.DNSName("a.example"),
                x509.DNSName("b.example"),
                x509.RFC822Name("a@example.org"),
                x509.UniformResourceIdentifier("spiffe://x/y"),
            ],
        )
    )
    assert read == Certificate("alice", ("a.example", "b.example"), ("a@example.org",), ("spiffe://x/y",), "1267")
    assert [user_of(read, part) for part in ("common-name", "dns", "email", "uri")] == [
        "alice", "a.example", "a@example.org", "spiffe://x/y",
    ]  # fmt: skip


def test_without_alternative_names_there_are_none():
    assert from_der(der(["alice"])).dns_names == ()
    assert user_of(from_der(der(["alice"])), "dns") is None


def test_two_common_names_are_none():
    assert from_der(der(["alice", "root"])).common_name is None
    assert from_der(der([])).common_name is None


@pytest.mark.parametrize("name", ["", "alice\0.example", "a\nb", "x" * 1025])
def test_a_name_that_does_not_print_names_nobody(name):
    assert user_of(Certificate(common_name=name), "common-name") is None


def test_what_is_no_certificate_is_a_violation():
    for data in (b"", b"\x30\x00", der(["alice"])[:-10], b"x" * 1_000):
        with pytest.raises(Violation):
            from_der(data)
