"""TLS of listeners: contexts from files, several certificates by server name, client certificates, reload.

``Tls`` holds the context that new handshakes use. To reload is to ``build`` another one from the files and to put it in
its place, if that succeeded; connections that exist keep what they have.
"""

import ssl
from pathlib import Path
from typing import Any

from weft.broker.access.api import Certificate
from weft.core.errors import Misuse
from weft.node.config import TlsSettings

_VERSIONS = {"1.2": ssl.TLSVersion.TLSv1_2, "1.3": ssl.TLSVersion.TLSv1_3}
_CLIENTS = {"none": ssl.CERT_NONE, "optional": ssl.CERT_OPTIONAL, "required": ssl.CERT_REQUIRED}


class Tls:
    """One listener's TLS. ``protocols``: what ALPN answers, for clients that ask."""

    def __init__(self, settings: TlsSettings, protocols: list[str]) -> None:
        self._settings = settings
        self._protocols = protocols
        self.context = self.build()

    def build(self) -> ssl.SSLContext:
        """From the files as they are now; ``Misuse`` names the one that cannot be used."""
        settings = self._settings
        context = self._context(settings.cert, settings.key)
        names = {sni.name.lower(): self._context(sni.cert, sni.key) for sni in settings.sni}
        if names:
            context.sni_callback = _chooser(names)
        return context

    def _context(self, cert: str, key: str) -> ssl.SSLContext:
        settings = self._settings
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.minimum_version = _VERSIONS[settings.version_min]
        context.options |= ssl.OP_NO_COMPRESSION | ssl.OP_NO_RENEGOTIATION | ssl.OP_CIPHER_SERVER_PREFERENCE
        context.set_alpn_protocols(self._protocols)
        try:
            if settings.ciphers:
                context.set_ciphers(settings.ciphers)
        except ssl.SSLError as error:
            raise Misuse(f"tls.ciphers '{settings.ciphers}': no such ciphers") from error
        _read(cert, "cert")
        _read(key or cert, "key")
        try:
            context.load_cert_chain(cert, key or None, password=_no_password)
        except ssl.SSLError as error:
            raise Misuse(f"{cert}: not a certificate with its key {key or cert}: {_reason(error)}") from error
        self._clients(context)
        return context

    def _clients(self, context: ssl.SSLContext) -> None:
        """Whether and how clients prove who they are."""
        settings = self._settings
        context.verify_mode = _CLIENTS[settings.client_certificates]
        for name, path in (("ca", settings.ca), ("crl", settings.crl)):
            if not path:
                continue
            _read(path, name)
            try:
                context.load_verify_locations(path)
            except ssl.SSLError as error:
                raise Misuse(f"{path}: not a {name} file in PEM: {_reason(error)}") from error
        if settings.crl:
            context.verify_flags |= ssl.VERIFY_CRL_CHECK_LEAF


def certificate_of(tls: Any) -> Certificate | None:
    """What the client's certificate says, if it gave one; its chain has been verified by the handshake."""
    found = tls.getpeercert()
    if not found:
        return None
    names: dict[str, list[str]] = {}
    for kind, value in found.get("subjectAltName", ()):
        names.setdefault(kind, []).append(value)
    subject = dict(pair for part in found.get("subject", ()) for pair in part)
    return Certificate(
        common_name=subject.get("commonName"),
        dns_names=tuple(names.get("DNS", ())),
        email_names=tuple(names.get("email", ())),
        uri_names=tuple(names.get("URI", ())),
        serial=found.get("serialNumber", ""),
    )


def _chooser(names: dict[str, ssl.SSLContext]) -> Any:
    """By server name: the exact one, else ``*.`` and its parent, else the listener's own certificate."""

    def choose(tls: Any, name: str | None, _context: ssl.SSLContext) -> None:
        if name is not None:
            name = name.lower()
            chosen = names.get(name) or names.get("*." + name.partition(".")[2])
            if chosen is not None:
                tls.context = chosen

    return choose


def _read(path: str, what: str) -> None:
    """OpenSSL's errors do not name files; this one does."""
    try:
        with Path(path).open("rb") as file:
            file.read(1)
    except OSError as error:
        raise Misuse(f"{path}: cannot be read ({what} of a TLS listener): {error.strerror}") from error


def _reason(error: ssl.SSLError) -> str:
    return (error.reason or str(error)).replace("_", " ").lower()


def _no_password() -> str:
    """A key with a passphrase would make OpenSSL ask on the terminal, which a service has not."""
    raise Misuse("a TLS key is protected by a passphrase; a service cannot type one: store it without")
