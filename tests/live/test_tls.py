"""TLS over real sockets: versions, server names, client certificates, revocation, reload, handshakes that never end."""

import asyncio
import contextlib
import socket
import ssl
from pathlib import Path

import pytest

from certificates import Authority
from driving import driving, run
from echo_broker import EchoBroker
from weft.broker.access.api import Certificate
from weft.core.errors import Misuse
from weft.node.config import Listener, Proxy, Sni, TlsSettings
from weft.runtime.tls import Tls

pytestmark = pytest.mark.live
BOTH = pytest.mark.parametrize("loop", ["asyncio", "uvloop"])


@pytest.fixture
def authority(tmp_path: Path) -> Authority:
    return Authority(tmp_path)


def trusting(authority: Authority, client: Path | None = None) -> ssl.SSLContext:
    context = ssl.create_default_context(cafile=str(authority.ca))
    if client is not None:
        context.load_cert_chain(client)
    return context


async def echo(port: int, context: ssl.SSLContext, name: str = "localhost") -> tuple[str, str]:
    """Names of the server's certificate, and the version, after an echo."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port, ssl=context, server_hostname=name)
    try:
        writer.write(b"hello")
        assert await reader.readexactly(5) == b"hello"
        tls = writer.get_extra_info("ssl_object")
        return dict(part[0] for part in tls.getpeercert()["subject"])["commonName"], tls.version()
    finally:
        writer.close()
        with contextlib.suppress(OSError):
            await writer.wait_closed()


async def is_refused(port: int, context: ssl.SSLContext) -> bool:
    """TLS 1.3 tells a client after its handshake."""
    try:
        await echo(port, context)
    except (OSError, asyncio.IncompleteReadError):
        return True
    return False


@BOTH
def test_bytes_go_in_and_come_out(loop: str, authority: Authority) -> None:
    cert = str(authority.sign("localhost", "127.0.0.1"))

    async def scene() -> None:
        broker = EchoBroker()
        listener = Listener("mqtts://127.0.0.1:0", tls=TlsSettings(cert, version_min="1.3"))
        async with driving(broker, listener, Listener("wss://127.0.0.1:0", tls=TlsSettings(cert))) as driven:
            assert await echo(driven.ports[0], trusting(authority)) == ("localhost", "TLSv1.3")
            origin = broker.connections[0].origin
            assert (origin.transport, origin.is_local, origin.certificate) == ("tls", True, None)
            old = trusting(authority)
            old.maximum_version = ssl.TLSVersion.TLSv1_2
            assert await is_refused(driven.ports[0], old)
            assert broker.counters["weft_handshakes_refused_total"] == 1
            reader, writer = await asyncio.open_connection(
                "127.0.0.1", driven.ports[1], ssl=trusting(authority), server_hostname="localhost"
            )
            writer.write(b"GET /mqtt HTTP/1.1\r\nHost: x\r\n\r\n")
            assert (await reader.readline()).startswith(b"HTTP/1.1 426 ")
            assert broker.connections[1].origin.transport == "wss"
            writer.close()

    run(scene(), loop)


@BOTH
def test_the_server_name_chooses_the_certificate(loop: str, authority: Authority) -> None:
    default, first = authority.sign("localhost"), authority.sign("first.example")
    wild = authority.sign("*.second.example")
    sni = [Sni("first.example", str(first)), Sni("*.second.example", str(wild))]

    async def scene() -> None:
        async with driving(
            EchoBroker(), Listener("mqtts://127.0.0.1:0", tls=TlsSettings(str(default), sni=sni))
        ) as driven:
            for name, common in (
                ("localhost", "localhost"),
                ("FIRST.example", "first.example"),
                ("a.second.example", "*.second.example"),
            ):
                assert (await echo(driven.ports[0], trusting(authority), name))[0] == common

    run(scene(), loop)


@BOTH
def test_client_certificates_are_asked_for_checked_and_told(loop: str, authority: Authority, tmp_path: Path) -> None:
    server = str(authority.sign("localhost"))
    client = authority.sign("device-7", "device-7.example", uris=("urn:weft:7",))
    (tmp_path / "other").mkdir()
    stranger = Authority(tmp_path / "other").sign("device-7")

    def listener(kind: str) -> Listener:
        return Listener("mqtts://127.0.0.1:0", tls=TlsSettings(server, ca=str(authority.ca), client_certificates=kind))  # type: ignore[arg-type]

    async def scene() -> None:
        broker = EchoBroker()
        async with driving(broker, listener("required"), listener("optional")) as driven:
            required, optional = driven.ports
            await echo(required, trusting(authority, client))
            told = broker.connections[0].origin.certificate
            assert told == Certificate(
                common_name="device-7",
                dns_names=("device-7", "device-7.example"),
                uri_names=("urn:weft:7",),
                serial=told.serial if told else "",
            )
            assert await is_refused(required, trusting(authority))
            assert await is_refused(required, trusting(authority, stranger))
            assert await is_refused(optional, trusting(authority, stranger))
            await echo(optional, trusting(authority))
            assert broker.connections[1].origin.certificate is None
            assert len(broker.connections) == 2

    run(scene(), loop)


@BOTH
def test_a_revoked_certificate_is_refused_after_a_reload_and_connections_stay(loop: str, authority: Authority) -> None:
    server = authority.sign("localhost", file="server.pem")
    good, bad = authority.sign("good"), authority.sign("bad")
    settings = TlsSettings(
        str(server),
        ca=str(authority.ca),
        client_certificates="required",
        crl=str(authority.revoke(authority.sign("old"))),
    )

    async def scene() -> None:
        broker = EchoBroker()
        async with driving(broker, Listener("mqtts://127.0.0.1:0", tls=settings)) as driven:
            port = driven.ports[0]
            reader, writer = await asyncio.open_connection(
                "127.0.0.1", port, ssl=trusting(authority, bad), server_hostname="localhost"
            )
            writer.write(b"before")
            assert await reader.readexactly(6) == b"before"
            authority.revoke(bad)
            authority.sign("localhost", "renewed.example", file="server.pem")
            context = driven.listening[0].prepare()
            assert context is not None
            driven.listening[0].use(context)
            assert await is_refused(port, trusting(authority, bad))
            await echo(port, trusting(authority, good), "renewed.example")
            writer.write(b"after")
            assert await reader.readexactly(5) == b"after"

            server.write_text("no certificate")
            with pytest.raises(Misuse, match=r"server\.pem"):
                driven.listening[0].prepare()
            await echo(port, trusting(authority, good), "renewed.example")
            writer.close()

    run(scene(), loop)


@BOTH
def test_handshakes_that_fail_or_never_end_are_counted_and_bounded(
    loop: str, authority: Authority, monkeypatch: pytest.MonkeyPatch
) -> None:
    tls = TlsSettings(str(authority.sign("localhost")), handshake_timeout_s=0.2)

    async def scene() -> None:
        broker = EchoBroker()
        async with driving(broker, Listener("mqtts://127.0.0.1:0", tls=tls)) as driven:
            port = driven.ports[0]
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            writer.write(b"\x10\x0c\x00\x04MQTT\x04\x02\x00\x3c\x00\x00 not TLS at all")
            with contextlib.suppress(ConnectionResetError):
                await reader.read()
            writer.close()
            silent_reader, silent = await asyncio.open_connection("127.0.0.1", port)
            with contextlib.suppress(ConnectionResetError):
                assert await silent_reader.read() == b""
            silent.close()
            assert broker.counters["weft_handshakes_refused_total"] == 2
            monkeypatch.setattr("weft.runtime.accepting.HANDSHAKES_MAX", 0)
            assert await is_refused(port, trusting(authority))
            monkeypatch.undo()
            await echo(port, trusting(authority))
            assert len(broker.connections) == 1

    run(scene(), loop)


@BOTH
def test_a_proxy_header_comes_before_the_handshake(loop: str, authority: Authority) -> None:
    tls = TlsSettings(str(authority.sign("localhost")))

    async def scene() -> None:
        broker = EchoBroker()
        async with driving(
            broker, Listener("mqtts://127.0.0.1:0", tls=tls, proxy=Proxy(trusted=["127.0.0.1"]))
        ) as driven:
            plain = socket.create_connection(("127.0.0.1", driven.ports[0]))
            plain.sendall(b"PROXY TCP6 2001:db8::7 2001:db8::1 4711 8883\r\n")

            def talk() -> bytes:
                with trusting(authority).wrap_socket(plain, server_hostname="localhost") as wrapped:
                    wrapped.sendall(b"hello")
                    return wrapped.recv(5)

            assert await asyncio.to_thread(talk) == b"hello"
            origin = broker.connections[0].origin
            assert (origin.address, origin.port, origin.is_local, origin.transport) == (
                "2001:db8::7",
                4711,
                False,
                "tls",
            )

    run(scene(), loop)


def test_files_that_cannot_be_used_are_named(authority: Authority, tmp_path: Path) -> None:
    cert = str(authority.sign("localhost"))
    other = tmp_path / "text.pem"
    other.write_text("nothing")
    locked = tmp_path / "locked.pem"
    from cryptography.hazmat.primitives import serialization
    from cryptography.hazmat.primitives.asymmetric import ec

    locked.write_bytes(
        ec.generate_private_key(ec.SECP256R1()).private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.BestAvailableEncryption(b"secret"),
        )
    )
    for settings, said in (
        (TlsSettings(str(tmp_path / "none.pem")), r"none\.pem: cannot be read"),
        (TlsSettings(str(other)), r"text\.pem: not a certificate"),
        (TlsSettings(cert, str(other)), r"localhost\.pem: not a certificate with its key .*text\.pem"),
        (TlsSettings(cert, str(locked)), "passphrase"),
        (TlsSettings(cert, ca=str(other)), r"text\.pem: not a ca file"),
        (TlsSettings(cert, ciphers="NONE-SUCH"), "no such ciphers"),
    ):
        with pytest.raises(Misuse, match=said):
            Tls(settings, ["mqtt"])
