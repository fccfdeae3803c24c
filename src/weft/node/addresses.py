"""Where to listen, as URLs: ``mqtt://127.0.0.1:1883``, ``mqtts://[::]``, ``wss://broker.example``,
``unix:///run/weft/weft.sock``.
"""

import ipaddress
from urllib.parse import urlsplit

import msgspec

from weft.core.errors import Misuse

PORTS = {"mqtt": 1883, "mqtts": 8883, "ws": 8083, "wss": 8084}
TRANSPORTS = {"mqtt": "tcp", "mqtts": "tls", "ws": "ws", "wss": "wss", "unix": "unix"}
SOCKET_PATH_BYTES_MAX = 107  # sockaddr_un of Linux, with its final zero


class Endpoint(msgspec.Struct, frozen=True):
    """``host`` is "" for every address of the machine; a unix socket has ``path`` only."""

    scheme: str
    host: str = ""
    port: int = 0
    path: str = ""

    @property
    def is_tls(self) -> bool:
        return self.scheme in {"mqtts", "wss"}

    @property
    def is_websocket(self) -> bool:
        return self.scheme in {"ws", "wss"}

    @property
    def transport(self) -> str:
        """tcp | tls | ws | wss | unix, as ``Origin`` says it."""
        return TRANSPORTS[self.scheme]

    @property
    def is_local(self) -> bool:
        """Whether only this machine can reach it."""
        return self.scheme == "unix" or is_loopback(self.host)

    def url(self, host: str | None = None, port: int | None = None) -> str:
        """As a URL; with what it is bound to, where that is known."""
        if self.scheme == "unix":
            return f"unix://{self.path}"
        host = self.host if host is None else host
        return f"{self.scheme}://{f'[{host}]' if ':' in host else host or '*'}:{self.port if port is None else port}"


def endpoint(url: str) -> Endpoint:
    """``url`` taken apart; ``Misuse`` says what is wrong with it."""
    scheme, separator, rest = url.partition("://")
    if not separator or scheme not in TRANSPORTS:
        raise Misuse(f"'{url}' is no listener; known: {', '.join(f'{name}://' for name in TRANSPORTS)}")
    if scheme == "unix":
        if not rest.startswith("/") or "\0" in rest or len(rest.encode()) > SOCKET_PATH_BYTES_MAX:
            raise Misuse(
                f"'{url}': a unix socket is unix:// and an absolute path of at most {SOCKET_PATH_BYTES_MAX} bytes"
            )
        return Endpoint(scheme, path=rest)
    host, port = host_and_port(rest.rstrip("/"), url, PORTS[scheme])
    return Endpoint(scheme, host, port)


def host_and_port(text: str, said: str, default: int | None = None) -> tuple[str, int]:
    """``host:port`` taken apart; ``*`` as host is every address, "" here. ``said`` is what an error quotes."""
    try:
        parts = urlsplit(f"//{text}")
        port = parts.port
        is_bare = not (parts.path or parts.query or parts.fragment or "@" in text)
    except ValueError as error:
        raise Misuse(f"'{said}': {str(error)[0].lower()}{str(error)[1:]}") from error
    if not is_bare or not parts.netloc:
        raise Misuse(f"'{said}': expected host:port, with IPv6 addresses in brackets, as in [::1]:1883")
    if port is None:
        if default is None:
            raise Misuse(f"'{said}': the port is missing")
        port = default
    host = parts.hostname or ""
    return ("" if host == "*" else host), port


def is_loopback(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host.partition("%")[0]).is_loopback
    except ValueError:
        return False
