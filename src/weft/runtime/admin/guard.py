"""Who may ask: a bearer token, or, without one, this machine only, and no browser that a foreign page has sent.

Without a token the interface listens on loopback addresses only; ``require_token`` refuses any other. But a browser on this
machine runs other people's pages, and they can send requests to 127.0.0.1. So, without a token, a request names a local host in
``Host`` (a rebound DNS name is a foreign name), and if it says that a page has sent it (``Origin``, ``Sec-Fetch-Site``),
that page must be this very interface's own.
"""

import hmac
import ipaddress
import re
from pathlib import Path
from urllib.parse import urlsplit

from weft.core.errors import Misuse
from weft.runtime.admin.exchange import Problem

TOKEN_CHARACTERS_MIN = 16
TOKEN_BYTES_MAX = 4_096
_TOKEN = re.compile(r"[A-Za-z0-9._~+/-]+=*")  # RFC 6750 §2.1: b64token
_SAME_SITE = ("same-origin", "none")  # none: the user typed the address


def read_token(path: Path) -> str:
    """The token in a file: its first line."""
    try:
        with path.open("rb") as file:
            text = file.read(TOKEN_BYTES_MAX).decode("ascii")
    except OSError as error:
        raise Misuse(f"{path}: the admin token cannot be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise Misuse(f"{path}: an admin token is ASCII text") from error
    token = text.partition("\n")[0].strip()
    if len(token) < TOKEN_CHARACTERS_MIN or not _TOKEN.fullmatch(token):
        raise Misuse(
            f"{path}: an admin token has at least {TOKEN_CHARACTERS_MIN} letters, digits or characters of ._~+/- "
            "in its first line; make one with: openssl rand -hex 32"
        )
    return token


def is_loopback(address: str) -> bool:
    """Whether ``address``, a literal one, is reachable from this machine only."""
    try:
        found = ipaddress.ip_address(address.partition("%")[0])
    except ValueError:
        return False
    mapped = getattr(found, "ipv4_mapped", None)
    return (mapped or found).is_loopback


def require_token(address: str, token: str | None) -> None:
    """Refuse to listen where others can reach us, unless they need a token."""
    if token is None and not is_loopback(address):
        raise Misuse(
            f"the admin interface does not listen on {address} without a token: set admin.token_file, "
            "or listen on 127.0.0.1"
        )


class Guard:
    """In: a request's headers. Out: nothing, or the ``Problem`` that refuses it."""

    def __init__(self, token: str | None) -> None:
        self.token = token

    def check(self, headers: dict[str, str]) -> None:
        """May whoever sent these headers see and command the broker?"""
        if self.token is None:
            check_local(headers)
            return
        scheme, _, given = headers.get("authorization", "").partition(" ")
        if scheme.lower() != "bearer":
            raise Problem(401, "a bearer token is wanted", (("WWW-Authenticate", 'Bearer realm="weft"'),))
        if not hmac.compare_digest(given.strip().encode("latin-1", "replace"), self.token.encode("ascii")):
            raise Problem(
                401, "this is not the token", (("WWW-Authenticate", 'Bearer realm="weft", error="invalid_token"'),)
            )


def check_local(headers: dict[str, str]) -> None:
    """The request is for this machine by a name of this machine, and not from a foreign page."""
    host = headers.get("host", "")
    if not _is_local_name(_name(host)):
        raise Problem(421, "without a token this interface answers to localhost, 127.0.0.1 and [::1] only")
    origin = headers.get("origin")
    if origin is not None and origin.lower() not in (f"http://{host.lower()}", f"https://{host.lower()}"):
        raise Problem(403, "without a token this interface takes no request from other origins' pages")
    if headers.get("sec-fetch-site", "none").lower() not in _SAME_SITE:
        raise Problem(403, "without a token this interface takes no request from other sites' pages")


def _name(host: str) -> str:
    """The name in a Host header, "" if there is none."""
    try:
        split = urlsplit(f"//{host}")
    except ValueError:
        return ""
    return "" if split.username is not None or split.path or split.query else split.hostname or ""


def _is_local_name(name: str) -> bool:
    return name == "localhost" or is_loopback(name)
