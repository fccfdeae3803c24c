"""What ``weft pub`` and ``weft sub`` share: the options that say which broker, as whom and how; and the run of a client.

The options are the fields of ``Options``; ``shared`` gives a command both those and its own. Secrets: a password in the
argument list is seen by everybody on the machine (``ps``), so ``--password-file`` and ``WEFT_PASSWORD`` are there, too.
"""

import functools
import inspect
import os
import signal
import sys
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import msgspec
import typer

from weft.cli.exits import Failed
from weft.cli.properties import collect
from weft.core.errors import Misuse
from weft.mqtt.client.events import ClientSettings, LinkSettings, Refused
from weft.mqtt.client.machine import Client
from weft.mqtt.codec.packets import V5, V31, V311, Connect, Will
from weft.mqtt.codec.properties import NONE, Properties
from weft.mqtt.codec.reasons import Refused as Illegal

if TYPE_CHECKING:
    import asyncio

VERSIONS = {
    "3.1": V31, "31": V31, "mqttv31": V31, "3.1.1": V311, "311": V311, "mqttv311": V311, "5": V5, "5.0": V5, "mqttv5": V5,
}  # fmt: skip
FOREVER = 0xFFFF_FFFF
"""A session expiry that never comes (v5 §3.1.2.11.2)."""
_WHO, _TLS, _WILL = "Connection", "TLS", "Will"


class Options:
    """The options of every command that connects. Defaults are those of mosquitto_pub and mosquitto_sub, but version 5."""

    host: Annotated[str, typer.Option("-h", "--host", help="The broker's host.")] = "localhost"
    port: Annotated[
        int | None, typer.Option("-p", "--port", min=1, max=65535, help="Its port.", show_default="1883, with TLS 8883")
    ] = None
    url: Annotated[
        str | None,
        typer.Option(
            "-L", "--url", metavar="URL", help="mqtt[s]://[user[:password]@]host[:port]/topic, ws[s]://…, unix:///…"
        ),
    ] = None
    unix: Annotated[Path | None, typer.Option("--unix", metavar="PATH", help="Connect to a unix socket.")] = None
    ws: Annotated[bool, typer.Option("--ws", help="WebSocket instead of TCP.")] = False
    ws_path: Annotated[str, typer.Option("--ws-path", help="The WebSocket's path.")] = "/mqtt"
    client_id: Annotated[str | None, typer.Option("-i", "--id", help="Client id.", show_default="weft- and chance")] = (
        None
    )
    id_prefix: Annotated[str | None, typer.Option("-I", "--id-prefix", help="Client id: this and the process id.")] = (
        None
    )
    user: Annotated[str | None, typer.Option("-u", "--username", envvar="WEFT_USERNAME", help="User name.")] = None
    password: Annotated[
        str | None,
        typer.Option("-P", "--password", envvar="WEFT_PASSWORD", help="Password (visible in ps: prefer the file)."),
    ] = None
    password_file: Annotated[
        Path | None, typer.Option("--password-file", metavar="FILE", help="Password: the first line of FILE.")
    ] = None
    version: Annotated[
        str | None, typer.Option("-V", "--protocol-version", help="3.1, 3.1.1 or 5.", show_default="5, else 3.1.1")
    ] = None
    keep_alive: Annotated[
        int, typer.Option("-k", "--keepalive", min=0, max=65535, help="Keep-alive in seconds; 0: none.")
    ] = 60
    keep: Annotated[bool, typer.Option("-c", "--disable-clean-session", help="Keep the session (needs -i).")] = False
    expiry: Annotated[
        str | None,
        typer.Option(
            "-x", "--session-expiry-interval", help="Seconds that the broker keeps the session; -1: for ever."
        ),
    ] = None
    cafile: Annotated[Path | None, typer.Option("--cafile", metavar="FILE", help="CA certificates to trust.")] = None
    capath: Annotated[Path | None, typer.Option("--capath", metavar="DIR", help="A directory of them.")] = None
    cert: Annotated[Path | None, typer.Option("--cert", metavar="FILE", help="The client's certificate.")] = None
    key: Annotated[Path | None, typer.Option("--key", metavar="FILE", help="Its private key.")] = None
    tls: Annotated[bool, typer.Option("--tls", "--tls-use-os-certs", help="TLS, trusting what the system trusts.")] = (
        False
    )
    insecure: Annotated[
        bool, typer.Option("--insecure", help="Do not check the broker's certificate: for tests only.")
    ] = False
    server_name: Annotated[str | None, typer.Option("--server-name", help="Name to ask for and to check (SNI).")] = None
    alpn: Annotated[str | None, typer.Option("--tls-alpn", help="ALPN protocol.")] = None
    will_topic: Annotated[str | None, typer.Option("--will-topic", help="The will's topic.")] = None
    will_payload: Annotated[str | None, typer.Option("--will-payload", help="Its payload.")] = None
    will_qos: Annotated[int, typer.Option("--will-qos", min=0, max=2, help="Its QoS.")] = 0
    will_retain: Annotated[bool, typer.Option("--will-retain", help="Retain it.")] = False
    properties: Annotated[
        list[str], typer.Option("-D", "--property", metavar="COMMAND NAME VALUE", help="A property of MQTT 5.")
    ] = []  # noqa: RUF012 - typer copies it
    packet_max: Annotated[
        int,
        typer.Option("--packet-max", min=128, max=268_435_460, help="Largest packet taken from the broker, in bytes."),
    ] = 67_108_864
    debug: Annotated[bool, typer.Option("-d", "--debug", help="Say on stderr what happens.")] = False
    quiet: Annotated[bool, typer.Option("--quiet", help="No warnings.")] = False

    def __init__(self, **values: Any) -> None:
        for name, value in values.items():
            setattr(self, name, value)


def shared(command: Callable[..., None]) -> Callable[..., None]:
    """A command whose first parameter is ``Options``, as typer sees it: those options, and its own."""
    own = list(inspect.signature(command, eval_str=True).parameters.values())[1:]
    common = [
        inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=getattr(Options, name), annotation=kind)
        for name, kind in inspect.get_annotations(Options, eval_str=True).items()
    ]
    names = {parameter.name for parameter in common}

    @functools.wraps(command)
    def run(**values: Any) -> None:
        options = Options(**{name: values.pop(name) for name in names})
        command(options, **values)

    parameters = [parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY) for parameter in own]
    run.__signature__ = inspect.Signature(parameters + common)  # type: ignore[attr-defined]
    run.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters + common}
    return run


class Plan(msgspec.Struct, frozen=True):
    """What the options amount to. ``falls_back``: no version was asked for, so 3.1.1 may be tried after 5."""

    endpoint: Any
    connect: Connect
    properties: dict[str, Properties]
    topic: str
    falls_back: bool

    def of(self, command: str) -> Properties:
        return self.properties.get(command, NONE)


def plan(options: Options) -> Plan:
    """Check the options against each other, and put them together."""
    version = VERSIONS.get((options.version or "5").lower())
    if version is None:
        raise Misuse(f"-V {options.version}: unknown version; known: 3.1, 3.1.1, 5")
    found = collect(options.properties, version)
    endpoint, user, password, topic = _where(options)
    password_bytes = None if password is None else password.encode("utf-8", "surrogateescape")
    if options.password_file is not None:
        if password_bytes is not None:
            raise Misuse("give either a password or --password-file")
        password_bytes = options.password_file.read_bytes().split(b"\n", 1)[0].rstrip(b"\r")
    if version < V5 and password_bytes is not None and user is None:
        raise Misuse("a password needs a user name (-u) before MQTT 5")
    if options.keep and not (options.client_id or options.id_prefix):
        raise Misuse("-c keeps a session under a client id: give one with -i")
    expiry = _expiry(options, version)
    connected = found.get("connect", NONE)
    if expiry is not None:
        connected = msgspec.structs.replace(connected, session_expiry_s=expiry)
    connect = Connect(
        version,
        _client_id(options),
        clean_start=not options.keep,
        keep_alive_s=options.keep_alive,
        username=user,
        password=password_bytes,
        will=_will(options, found.get("will", NONE)),
        properties=connected,
    )
    falls_back = options.version is None and not found and options.expiry is None
    return Plan(endpoint, connect, found, topic, falls_back)


def valid(rule: Callable[[str], None], text: str) -> None:
    """A topic or filter that breaks the standard is wrong usage."""
    try:
        rule(text)
    except Illegal as error:
        raise Misuse(f"'{text}': {error}") from None


def _where(options: Options) -> tuple[Any, str | None, str | None, str]:
    from weft.mqtt.client.endpoint import PORTS, Endpoint, TlsFiles, parse

    files = TlsFiles(
        options.cafile, options.capath, options.cert, options.key, options.insecure, options.server_name, options.alpn
    )
    if options.url is not None:
        url = parse(options.url, files)
        return url.endpoint, url.username or options.user, url.password or options.password, url.rest
    if options.unix is not None:
        return Endpoint("unix", path=str(options.unix.absolute())), options.user, options.password, ""
    secure = options.tls or any((options.cafile, options.capath, options.cert, options.key, options.port == 8883))
    scheme = ("wss" if secure else "ws") if options.ws else ("mqtts" if secure or options.insecure else "mqtt")
    port = options.port or PORTS[scheme]
    endpoint = Endpoint(scheme, options.host, port, options.ws_path if options.ws else "", files)
    return endpoint, options.user, options.password, ""


def _client_id(options: Options) -> str:
    if options.client_id is not None:
        if options.id_prefix is not None:
            raise Misuse("give either -i or -I")
        return options.client_id
    if options.id_prefix is not None:
        return f"{options.id_prefix}{os.getpid()}"
    return f"weft-{os.urandom(6).hex()}"


def _expiry(options: Options, version: int) -> int | None:
    """mosquitto's rule: -x; else for ever with -c, else not at all."""
    if options.expiry is None:
        return FOREVER if options.keep and version >= V5 else None
    if version < V5:
        raise Misuse("-x needs MQTT 5 (-V 5)")
    if options.expiry in {"-1", "∞"}:
        return FOREVER
    if not options.expiry.isdigit() or int(options.expiry) > FOREVER:
        raise Misuse(f"-x {options.expiry}: give seconds up to {FOREVER}, or -1")
    return int(options.expiry)


def _will(options: Options, properties: Properties) -> Will | None:
    if options.will_topic is None:
        if options.will_payload is not None or options.will_retain or options.will_qos or properties is not NONE:
            raise Misuse("a will needs --will-topic")
        return None
    payload = (options.will_payload or "").encode("utf-8", "surrogateescape")
    return Will(options.will_topic, payload, options.will_qos, options.will_retain, properties)


# ---------------------------------------------------------------------------------------------------- running a client


class Says:
    """Lines on stderr: warnings unless --quiet, and with -d everything."""

    def __init__(self, options: Options) -> None:
        self._debug = options.debug
        self._quiet = options.quiet

    def debug(self, line: str) -> None:
        if self._debug:
            print(f"weft: {line}", file=sys.stderr, flush=True)

    def warn(self, line: str) -> None:
        if not self._quiet:
            print(f"weft: {line}", file=sys.stderr, flush=True)


def client_of(planned: Plan, options: Options, inflight_max: int = 20) -> Client:
    return Client(
        planned.connect, ClientSettings(inflight_max=inflight_max), LinkSettings(packet_bytes_max=options.packet_max)
    )


def older(planned: Plan, refused: Refused) -> Plan | None:
    """The same with 3.1.1, if the broker knows no 5 and the user did not ask for it."""
    if not planned.falls_back or refused.code not in {0x01, 0x84}:
        return None
    connect = msgspec.structs.replace(planned.connect, version=V311, properties=NONE)
    return msgspec.structs.replace(planned, connect=connect, falls_back=False)


def refusal(planned: Plan, refused: Refused) -> Failed:
    hints = {0x86: "check -u and -P", 4: "check -u and -P", 0x87: "check -u, -P and the broker's access rules"}
    hints |= {5: hints[0x87], 0x85: "try another -i", 2: "try another -i", 0x84: "try -V 3.1.1", 1: "try -V 3.1.1"}
    hint = hints.get(refused.code)
    return Failed(f"{planned.endpoint} refused the connection: {refused.text}" + (f": {hint}" if hint else ""))


def until_signal(work: "Callable[[asyncio.Event], Coroutine[Any, Any, None]]") -> bool:
    """Run ``work`` with an event that SIGINT and SIGTERM set; whether one of them came."""
    import asyncio

    async def main() -> bool:
        asked = asyncio.Event()
        loop = asyncio.get_running_loop()
        for number in (signal.SIGINT, signal.SIGTERM):
            loop.add_signal_handler(number, asked.set)
        await work(asked)
        return asked.is_set()

    return asyncio.run(main())
