"""The one configuration file of a broker, ``weft.toml``: a section for each layer, each defined by that layer.

Everything has a default; an empty file is a broker on 127.0.0.1:1883 that keeps nothing across a restart. What is
unknown or wrong is refused with file and line (``core.strict``). docs/CONFIGURATION.md is generated from these
structs and what stands beside their fields.
"""

import ipaddress
from pathlib import Path
from typing import Annotated, Literal

import msgspec
from msgspec.structs import replace

from weft.broker.access.settings import AccessSettings
from weft.broker.bridge.settings import BridgeSettings, check_all
from weft.broker.rewrite import Rewriter, Rule, check
from weft.broker.settings import BrokerSettings, Count, Seconds
from weft.core.errors import Misuse
from weft.core.strict import Document, load, parse
from weft.node.addresses import Endpoint, endpoint, host_and_port

LISTENERS_MAX = 64
NAME_BYTES_MAX = 256
FILE_NAME = "weft.toml"


class Sni(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One more certificate of a TLS listener, for clients that ask for this server name."""

    name: str
    """The server name; ``*.example.org`` stands for one level below example.org."""
    cert: str
    """PEM file with the certificate and its chain."""
    key: str = ""
    """PEM file with the private key; if missing, it is in ``cert``."""


class TlsSettings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """TLS of an mqtts or wss listener. SIGHUP reads the files again; connections stay."""

    cert: str
    """PEM file with the server's certificate and its chain."""
    key: str = ""
    """PEM file with the private key, without passphrase; if missing, it is in ``cert``."""
    ca: str = ""
    """PEM file with the authorities that sign clients' certificates."""
    client_certificates: Literal["none", "optional", "required"] = "none"
    """Whether clients are asked for a certificate; it must be signed by ``ca``."""
    crl: str = ""
    """PEM file with revocation lists: clients whose certificate is on one are refused, and so are those whose issuer
    has none."""
    version_min: Literal["1.2", "1.3"] = "1.2"
    """The oldest version of TLS that is accepted."""
    ciphers: str = ""
    """OpenSSL's cipher list for TLS 1.2; empty: OpenSSL's choice."""
    handshake_timeout_s: Annotated[float, msgspec.Meta(gt=0)] = 10.0
    """How long a handshake may take."""
    sni: list[Sni] = []
    """More certificates, chosen by server name."""


class WebSocket(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """WebSocket of a ws or wss listener."""

    paths: list[str] = msgspec.field(default_factory=lambda: ["/mqtt", "/"])
    """Where the WebSocket is; other paths are answered with 404."""
    origins: list[str] = []
    """Values of ``Origin`` that browsers may come from, such as https://app.example.org; empty: all. Others get 403."""


class Proxy(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """PROXY protocol (versions 1 and 2) of a listener behind a load balancer."""

    trusted: list[str] = []
    """Addresses or networks of the proxies; whoever else connects is refused. A unix socket trusts whoever may open it."""
    timeout_s: Annotated[float, msgspec.Meta(gt=0)] = 5.0
    """How long the header may take."""

    def networks(self) -> list[ipaddress.IPv4Network | ipaddress.IPv6Network]:
        return [ipaddress.ip_network(each, strict=False) for each in self.trusted]


class Listener(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Where clients connect. Without any, the broker listens on mqtt://127.0.0.1:1883."""

    url: str
    """mqtt:// mqtts:// ws:// wss:// with host and port (``*`` or 0.0.0.0: every address; port 0: any free one), or
    unix:// and a path."""
    anonymous: bool | None = None
    """Whether clients may connect without credentials; if missing, those over loopback and unix sockets may."""
    mount: str = ""
    """Put before every topic and filter of this listener's clients, and taken off what they get; end it with a slash."""
    backlog: Annotated[int, msgspec.Meta(ge=1, le=65_535)] = 1024
    """Connections that the kernel holds until they are accepted."""
    mode: Annotated[int, msgspec.Meta(ge=0, le=0o777)] = 0o660
    """Permissions of a unix socket, such as 0o660."""
    tls: TlsSettings | None = None
    websocket: WebSocket = WebSocket()
    proxy: Proxy | None = None

    @property
    def endpoint(self) -> Endpoint:
        return endpoint(self.url)


class StoreSettings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What survives a restart, and how surely. The files are in ``data_dir``; without one nothing is kept."""

    durability: Literal["always", "interval", "none"] = "always"
    """``always``: what is acknowledged is on the disk before; ``interval``: it is written at once and on the disk within
    ``interval_ms``, so a power cut may take that much; ``none``: the system decides when it reaches the disk."""
    interval_ms: Count = 1_000
    """How often an ``interval`` store makes sure of the disk."""


class AdminSettings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The admin API (/api/v1), metrics (/metrics) and health (/healthz, /readyz)."""

    listen: str = ""
    """HOST:PORT; empty: no admin API."""
    token_file: str = ""
    """File with the token that requests must bear; needed where others than this machine can reach ``listen``."""


class LogSettings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The log, on standard error."""

    format: Literal["auto", "console", "json"] = "auto"
    """``auto``: for people on a terminal, JSON otherwise."""
    level: Literal["debug", "info", "warning", "error"] = "info"
    """What is at least so important is written."""


class Config(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What stands before the first table."""

    id: str = ""
    """The broker's name in logs, metrics and ``$SYS``; if missing, the machine's."""
    cluster: str = ""
    """Where the broker stands, from the largest place to the smallest: jp/kyoto/pop1."""
    data_dir: str = ""
    """Directory of what is kept across restarts; missing: nothing is."""
    drain_timeout_s: Seconds = 10.0
    """How long clients may take to leave when the broker is told to stop."""
    broker: BrokerSettings = BrokerSettings()
    listener: list[Listener] = []
    store: StoreSettings = StoreSettings()
    access: AccessSettings = AccessSettings()
    admin: AdminSettings = AdminSettings()
    log: LogSettings = LogSettings()
    rewrite: list[Rule] = []
    bridge: list[BridgeSettings] = []

    def listeners(self) -> list[Listener]:
        """Those that are configured, or the default one."""
        return list(self.listener) or [DEFAULT_LISTENER]

    def rewriter(self) -> Rewriter:
        return Rewriter(self.rewrite)


DEFAULT_LISTENER = Listener("mqtt://127.0.0.1:1883")


def read(path: Path) -> Config:
    """The file at ``path``, checked; ``Misuse`` names file and line. File names in it are relative to its folder."""
    return anchored(checked(load(path, Config)), path.parent)


def read_text(text: str, path: str = FILE_NAME) -> Config:
    """The same from text."""
    return checked(parse(text, Config, path))


def checked(document: Document[Config]) -> Config:
    """What types cannot say: each listener, network and rule means something, and they do not contradict each other."""
    config = document.value
    if len(config.listener) > LISTENERS_MAX:
        raise document.wrong(("listener",), f"more than {LISTENERS_MAX} listeners")
    for name in ("id", "cluster"):
        if len(getattr(config, name).encode()) > NAME_BYTES_MAX:
            raise document.wrong((name,), f"'{name}' is longer than {NAME_BYTES_MAX} bytes")
    seen: dict[str, int] = {}
    for position, listener in enumerate(config.listener):
        wrong = problem(listener)
        if wrong is not None:
            field, text = wrong
            raise document.wrong(("listener", position, field), text)
        found = listener.endpoint
        if found.port or found.path:
            if found.url() in seen:
                raise document.wrong(("listener", position, "url"), f"{found.url()} is listed twice")
            seen[found.url()] = position
    if config.admin.listen:
        try:
            host_and_port(config.admin.listen, config.admin.listen)
        except Misuse as error:
            raise document.wrong(("admin", "listen"), str(error)) from error
    for position, rule in enumerate(config.rewrite):
        try:
            check(rule)
        except Misuse as error:
            raise document.wrong(("rewrite", position, "filter"), str(error)) from error
    _check_bridges(document)
    return config


def _check_bridges(document: Document[Config]) -> None:
    bridges = document.value.bridge
    for position in range(len(bridges)):
        try:
            check_all(bridges[: position + 1])
        except Misuse as error:
            raise document.wrong(("bridge", position, "name"), str(error)) from error


def anchored(config: Config, folder: Path) -> Config:
    """With every file name made independent of the current directory. Those of ``access`` are read by their own reader."""

    def at(name: str) -> str:
        return str(folder / name) if name else ""

    def placed(tls: TlsSettings) -> TlsSettings:
        sni = [replace(each, cert=at(each.cert), key=at(each.key)) for each in tls.sni]
        return replace(tls, cert=at(tls.cert), key=at(tls.key), ca=at(tls.ca), crl=at(tls.crl), sni=sni)

    listeners = [each if each.tls is None else replace(each, tls=placed(each.tls)) for each in config.listener]
    admin = replace(config.admin, token_file=at(config.admin.token_file))
    bridges = [
        replace(
            each,
            password_file=at(each.password_file),
            tls=replace(each.tls, ca=at(each.tls.ca), cert=at(each.tls.cert), key=at(each.tls.key)),
        )
        for each in config.bridge
    ]
    return replace(config, listener=listeners, admin=admin, bridge=bridges, data_dir=at(config.data_dir))


def problem(listener: Listener) -> tuple[str, str] | None:
    """What is wrong with ``listener``: its field and the words."""
    try:
        found = listener.endpoint
    except Misuse as error:
        return "url", str(error)
    if any(not path.startswith("/") for path in listener.websocket.paths) or not listener.websocket.paths:
        return "websocket", "the paths of a WebSocket start with a slash"
    if any(sign in listener.mount for sign in "+#\0") or listener.mount.startswith("$"):
        return "mount", f"'{listener.mount}': a mount point is the beginning of a topic, without wildcards, not in $"
    return _problem_of_tls(listener, found) or _problem_of_proxy(listener, found)


def _problem_of_tls(listener: Listener, found: Endpoint) -> tuple[str, str] | None:
    if found.is_tls and listener.tls is None:
        return "url", f'{listener.url} needs a certificate: add tls = {{ cert = "...", key = "..." }}'
    if listener.tls is not None:
        if not found.is_tls:
            secure = "wss" if found.is_websocket else "mqtts"
            return "tls", f"{listener.url} is not encrypted; with tls it is {secure}://"
        if listener.tls.client_certificates != "none" and not listener.tls.ca:
            return "tls", "client certificates need 'ca', the authorities that sign them"
    return None


def _problem_of_proxy(listener: Listener, found: Endpoint) -> tuple[str, str] | None:
    if listener.proxy is not None:
        try:
            listener.proxy.networks()
        except ValueError as error:
            return "proxy", f"proxy.trusted: {error}"
        if not listener.proxy.trusted and found.scheme != "unix":
            return "proxy", "proxy.trusted names nobody: the addresses of the proxies are needed"
    return None
