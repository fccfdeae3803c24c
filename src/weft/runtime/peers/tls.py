"""TLS between brokers, 1.3 only: who is asked for what, and what tells one connection from all others.

With ``ca`` both sides show a certificate that it has signed; whose name is in it does not matter, as brokers are found by
address: the authority is the cluster's own, and signs for nobody else. Without it nobody's certificate is looked at, and the
cluster key proves, over the channel binding, that the other end of *this* connection is a broker.
"""

import ssl
from pathlib import Path
from typing import Any

import msgspec

from weft.core.errors import Misuse


class TlsFiles(msgspec.Struct, frozen=True):
    """PEM files; ``key`` may be in ``cert``."""

    cert: Path
    key: Path | None = None
    ca: Path | None = None


class PeerTls:
    """In: files. Out: a context for each direction; ``Misuse`` names the file that cannot be used."""

    def __init__(self, files: TlsFiles) -> None:
        self.is_mutual = files.ca is not None
        self.accepting = self._context(ssl.PROTOCOL_TLS_SERVER, files)
        self.accepting.num_tickets = 0  # no session is resumed: each connection is a handshake of its own
        self.dialling = self._context(ssl.PROTOCOL_TLS_CLIENT, files)

    @staticmethod
    def _context(protocol: int, files: TlsFiles) -> ssl.SSLContext:
        context = ssl.SSLContext(protocol)
        context.minimum_version = ssl.TLSVersion.TLSv1_3
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE if files.ca is None else ssl.CERT_REQUIRED
        try:
            context.load_cert_chain(files.cert, files.key, password=_no_password)
        except (OSError, ssl.SSLError) as error:
            raise Misuse(f"{files.cert}: not usable as a broker's certificate with its key: {_why(error)}") from error
        if files.ca is not None:
            try:
                context.load_verify_locations(files.ca)
            except (OSError, ssl.SSLError) as error:
                raise Misuse(f"{files.ca}: not usable as the cluster's authority: {_why(error)}") from error
        return context


def binding(tls: Any) -> bytes:
    """The same bytes at both ends of one TLS connection, and at no other: the dialler's Finished message.

    It is a MAC over the whole handshake under keys that only the two ends have (RFC 8446 §4.4.4), so whoever ends one
    connection and begins another cannot make both the same. Python calls it "tls-unique", as in RFC 5929 §3.
    """
    found: bytes | None = tls.get_channel_binding("tls-unique")
    assert found, "the handshake is over"
    return found


def _why(error: OSError) -> str:
    if isinstance(error, ssl.SSLError):
        return (error.reason or "not PEM, or the key does not fit").replace("_", " ").lower()
    return error.strerror or type(error).__name__


def _no_password() -> str:
    """A key with a passphrase would make OpenSSL ask on the terminal, which a service has not."""
    raise Misuse("a broker's TLS key is protected by a passphrase; a service cannot type one: store it without")
