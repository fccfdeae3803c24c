"""Certificates for tests: an authority, and what it signs, as PEM files. Elliptic curves: it takes milliseconds."""

import datetime as dt
import ipaddress
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

DAY = dt.timedelta(days=1)


class Authority:
    """``ca`` is the file of its own certificate; the rest is made on demand, into ``folder``."""

    def __init__(self, folder: Path, name: str = "test authority") -> None:
        self.folder = folder
        self._key = ec.generate_private_key(ec.SECP256R1())
        self._name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
        self._begin = dt.datetime.now(dt.UTC) - DAY
        self._revoked: list[x509.RevokedCertificate] = []
        public = self._key.public_key()
        certificate = (
            self._builder(self._name, public)
            .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
            .add_extension(_usage(signs=True), critical=True)
            .add_extension(x509.SubjectKeyIdentifier.from_public_key(public), critical=False)
            .sign(self._key, hashes.SHA256())
        )
        self.ca = self._write(f"{name.replace(' ', '-')}.pem", certificate.public_bytes(serialization.Encoding.PEM))

    def sign(self, name: str, *others: str, file: str | None = None, uris: tuple[str, ...] = ()) -> Path:
        """Certificate and key in one PEM file; ``others`` are further host names or addresses."""
        key = ec.generate_private_key(ec.SECP256R1())
        subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
        names: list[x509.GeneralName] = [_general(each) for each in (name, *others)]
        names += [x509.UniformResourceIdentifier(uri) for uri in uris]
        certificate = (
            self._builder(subject, key.public_key())
            .add_extension(x509.SubjectAlternativeName(names), critical=False)
            .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
            .add_extension(x509.AuthorityKeyIdentifier.from_issuer_public_key(self._key.public_key()), critical=False)
            .sign(self._key, hashes.SHA256())
        )
        pem = certificate.public_bytes(serialization.Encoding.PEM) + key.private_bytes(
            serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
        )
        return self._write(file or f"{name.replace('*', '_')}.pem", pem)

    def revoke(self, pem: Path) -> Path:
        """The revocation list with the certificate in ``pem`` and all before it."""
        serial = x509.load_pem_x509_certificate(pem.read_bytes()).serial_number
        builder = x509.RevokedCertificateBuilder().serial_number(serial).revocation_date(self._begin)
        self._revoked.append(builder.build())
        lists = x509.CertificateRevocationListBuilder().issuer_name(self._name)
        lists = lists.last_update(self._begin).next_update(self._begin + 30 * DAY)
        for each in self._revoked:
            lists = lists.add_revoked_certificate(each)
        signed = lists.sign(self._key, hashes.SHA256())
        return self._write("revoked.pem", signed.public_bytes(serialization.Encoding.PEM))

    def _builder(self, subject: x509.Name, public: ec.EllipticCurvePublicKey) -> x509.CertificateBuilder:
        builder = x509.CertificateBuilder().subject_name(subject).issuer_name(self._name).public_key(public)
        builder = builder.serial_number(x509.random_serial_number())
        return builder.not_valid_before(self._begin).not_valid_after(self._begin + 30 * DAY)

    def _write(self, name: str, pem: bytes) -> Path:
        path = self.folder / name
        path.write_bytes(pem)
        return path


def _usage(signs: bool) -> x509.KeyUsage:
    return x509.KeyUsage(
        digital_signature=True, content_commitment=False, key_encipherment=False, data_encipherment=False,
        key_agreement=False, key_cert_sign=signs, crl_sign=signs, encipher_only=False, decipher_only=False,
    )  # fmt: skip


def _general(name: str) -> x509.GeneralName:
    try:
        return x509.IPAddress(ipaddress.ip_address(name))
    except ValueError:
        return x509.DNSName(name.replace(" ", "-"))
