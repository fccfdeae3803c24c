"""The PROXY protocol, versions 1 and 2, without I/O: who the client behind a load balancer is.

(HAProxy's proxy-protocol.txt.) The header stands before anything else, also before a TLS handshake, and nothing after
it may be read with it. So the reader asks ``missing`` how many bytes it may read without passing the end, until it is
0, and then calls ``parse``. At most ``HEADER_BYTES_MAX``. Only connections from trusted addresses are looked at in
this way; what a header says is believed.
"""

import ipaddress
from typing import NamedTuple

from weft.broker.access.api import Certificate
from weft.core.errors import Violation

SIGNATURE = b"\r\n\r\n\x00\r\nQUIT\n"
LINE_BYTES_MAX = 107  # version 1, with its line end
HEADER_BYTES_MAX = 4_096
"""Version 2 could be 64 KiB long; nobody sends more than addresses and a few names."""

_PREFIX = b"PROXY "
_AUTHORITY, _SSL, _SSL_COMMON_NAME = 0x02, 0x20, 0x22
_CLIENT_CERTIFICATE = 0x02 | 0x04  # presented in this connection, or earlier in this TLS session


class Proxied(NamedTuple):
    """The real client. ``address`` is "" if the proxy speaks for itself (LOCAL, UNKNOWN) or has no IP address."""

    address: str = ""
    port: int = 0
    authority: str | None = None
    certificate: Certificate | None = None


def missing(header: bytes) -> int:
    """How many more bytes belong to the header for certain; 0: it is complete. What cannot become one is a ``Violation``."""
    size = len(header)
    if not SIGNATURE.startswith(header[:12]):
        if not _PREFIX.startswith(header[:6]):
            raise Violation("no PROXY header from a trusted proxy")
        return _missing_of_line(header)
    if size < 12:
        # until the first byte is there it could be either; the shortest of both is longer than 12
        return 12 - size
    if size < 16:
        return 16 - size
    rest = int.from_bytes(header[14:16], "big")
    if rest > HEADER_BYTES_MAX - 16:
        raise Violation("a PROXY header is too long")
    return 16 + rest - size


def _missing_of_line(header: bytes) -> int:
    if header.endswith(b"\r\n"):
        return 0
    if len(header) >= LINE_BYTES_MAX:
        raise Violation("a PROXY line does not end")
    return 2 if len(header) < 13 and not header.endswith(b"\r") else 1


def parse(header: bytes) -> Proxied:
    """A complete header; what is not one is a ``Violation``."""
    return _parse_binary(header) if header.startswith(SIGNATURE) else _parse_line(header)


def _parse_line(header: bytes) -> Proxied:
    """Version 1: ``PROXY TCP4 192.0.2.1 198.51.100.1 56324 1883``."""
    words = header.removesuffix(b"\r\n").decode("latin-1").split(" ")
    if len(words) >= 2 and words[1] == "UNKNOWN":
        return Proxied()
    if len(words) != 6 or words[1] not in {"TCP4", "TCP6"} or not (words[4].isascii() and words[4].isdigit()):
        raise Violation("a PROXY line that says nothing")
    try:
        address = ipaddress.ip_address(words[2])
    except ValueError:
        raise Violation("a PROXY line with a bad address") from None
    if address.version != int(words[1][3]) or not 0 <= int(words[4]) <= 0xFFFF:
        raise Violation("a PROXY line with a bad address")
    return Proxied(str(address), int(words[4]))


def _parse_binary(header: bytes) -> Proxied:
    """Version 2: signature, command, family, length, addresses, TLVs."""
    if len(header) < 16 or len(header) != 16 + int.from_bytes(header[14:16], "big"):
        raise Violation("a PROXY header of the wrong length")
    version, command = header[12] >> 4, header[12] & 0x0F
    if version != 2 or command > 1:
        raise Violation("a PROXY header of an unknown version or command")
    if command == 0:  # LOCAL: a health check of the proxy itself
        return Proxied()
    family, body = header[13], header[16:]
    width = {0x11: 4, 0x21: 16}.get(family)
    if width is None:
        size = {0x31: 216, 0x00: 0}.get(family)
        if size is None or len(body) < size:
            raise Violation("a PROXY header of an unknown family")
        authority, certificate = _names(body[size:]) if family else (None, None)
        return Proxied("", 0, authority, certificate)
    if len(body) < 2 * width + 4:
        raise Violation("a PROXY header without its addresses")
    authority, certificate = _names(body[2 * width + 4 :])
    port = int.from_bytes(body[2 * width : 2 * width + 2], "big")
    return Proxied(str(ipaddress.ip_address(body[:width])), port, authority, certificate)


def _names(body: bytes) -> tuple[str | None, Certificate | None]:
    """What the TLVs say of the TLS connection that the proxy ended: server name and client certificate."""
    authority, certificate = None, None
    for kind, value in _tlvs(body):
        if kind == _AUTHORITY:
            authority = _text(value)
        elif kind == _SSL and len(value) >= 5 and value[0] & _CLIENT_CERTIFICATE and value[1:5] == bytes(4):
            names = dict(_tlvs(value[5:]))
            if _SSL_COMMON_NAME in names:
                certificate = Certificate(common_name=_text(names[_SSL_COMMON_NAME]))
    return authority, certificate


def _tlvs(body: bytes) -> list[tuple[int, bytes]]:
    found, at = [], 0
    while at < len(body):
        size = int.from_bytes(body[at + 1 : at + 3], "big")
        if at + 3 + size > len(body):
            raise Violation("a PROXY header whose fields pass its end")
        found.append((body[at], body[at + 3 : at + 3 + size]))
        at += 3 + size
    return found


def _text(value: bytes) -> str:
    try:
        return value.decode()
    except UnicodeDecodeError:
        raise Violation("a PROXY header with a name that is not UTF-8") from None
