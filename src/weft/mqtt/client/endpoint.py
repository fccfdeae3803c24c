"""Where a broker is, for whoever connects to it: a URL, and the files that TLS needs.

mqtt://  tcp://       TCP, port 1883           ws://    WebSocket, port 8083
mqtts:// ssl:// tls:// TLS, port 8883          wss://   WebSocket over TLS, port 8084
unix:///path/of/socket                         path of ws and wss: /mqtt if the URL has none
"""

from pathlib import Path
from urllib.parse import unquote, urlsplit

import msgspec

from weft.core.errors import Misuse

PORTS = {"mqtt": 1883, "mqtts": 8883, "ws": 8083, "wss": 8084, "unix": 0}
ALIASES = {"tcp": "mqtt", "ssl": "mqtts", "tls": "mqtts"}
PATH_OF_WEBSOCKETS = "/mqtt"


class TlsFiles(msgspec.Struct, frozen=True):
    """``cafile`` None: what the system trusts. ``insecure``: the certificate is not checked at all."""

    cafile: Path | None = None
    capath: Path | None = None
    cert: Path | None = None
    key: Path | None = None
    insecure: bool = False
    server_name: str | None = None
    alpn: str | None = None


SYSTEM_TLS = TlsFiles()


class Endpoint(msgspec.Struct, frozen=True):
    """``scheme``: mqtt, mqtts, ws, wss or unix; ``path`` is the socket's for unix, the request's for WebSockets."""

    scheme: str
    host: str = ""
    port: int = 0
    path: str = ""
    tls: TlsFiles = SYSTEM_TLS

    @property
    def is_secure(self) -> bool:
        return self.scheme in {"mqtts", "wss"}

    @property
    def is_websocket(self) -> bool:
        return self.scheme in {"ws", "wss"}

    def __str__(self) -> str:
        if self.scheme == "unix":
            return f"unix://{self.path}"
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{self.scheme}://{host}:{self.port}" + (self.path if self.is_websocket else "")


class Url(msgspec.Struct, frozen=True):
    """A URL taken apart. ``rest`` is what follows the host: a topic for mqtt and mqtts, as mosquitto's ``-L`` has it."""

    endpoint: Endpoint
    username: str | None
    password: str | None
    rest: str


def parse(text: str, tls: TlsFiles = SYSTEM_TLS) -> Url:
    """``text`` as a URL of a broker; what is wrong with it is ``Misuse``."""
    try:
        parts = urlsplit(text)
        port = parts.port
    except ValueError as error:
        raise Misuse(f"{text}: no URL: {error}") from None
    scheme = ALIASES.get(parts.scheme, parts.scheme)
    if scheme not in PORTS or "://" not in text:
        known = ", ".join(f"{name}://" for name in PORTS)
        raise Misuse(f"{text}: no URL of a broker; known: {known}")
    if scheme == "unix":
        if not parts.path.startswith("/") or parts.netloc:
            raise Misuse(f"{text}: write unix:///path/of/socket")
        return Url(Endpoint(scheme, path=unquote(parts.path), tls=tls), None, None, "")
    if not parts.hostname:
        raise Misuse(f"{text}: the host is missing")
    web = scheme in {"ws", "wss"}
    path = (parts.path if parts.path not in {"", "/"} else PATH_OF_WEBSOCKETS) if web else ""
    if web and parts.query:
        path += f"?{parts.query}"
    endpoint = Endpoint(scheme, parts.hostname, PORTS[scheme] if port is None else port, path, tls)
    user = None if parts.username is None else unquote(parts.username)
    password = None if parts.password is None else unquote(parts.password)
    rest = "" if web else unquote(text.split("://", 1)[1].partition("/")[2])
    return Url(endpoint, user, password, rest)
