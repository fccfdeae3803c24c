"""mosquitto_pub and mosquitto_sub against a real broker: every version they speak, over TCP and TLS.

Debian 12's 2.0.11 has no WebSocket. A subscriber's own debug output says when it is subscribed, so nothing waits for time.
"""

import shutil
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from broker_process import BrokerProcess, broker, weft
from certificates import Authority

pytestmark = [
    pytest.mark.live,
    pytest.mark.skipif(
        shutil.which("mosquitto_pub") is None or shutil.which("stdbuf") is None,
        reason="mosquitto-clients are not installed (scripts/live-clients)",
    ),
]

CONFIG = """
[[listener]]
url = "mqtt://127.0.0.1:0"
[[listener]]
url = "mqtts://127.0.0.1:0"
tls = { cert = "server.pem" }
[[listener]]
url = "mqtt://127.0.0.1:0"
anonymous = false
[access]
password_file = "users.pw"
anonymous = true
"""
FORMAT = "message %t %q %r %x"  # the payload in hexadecimal digits
VERSIONS = ("31", "311", "5")
ALL_BYTES = bytes(range(256))
PATIENCE_S = 20


@dataclass
class Mosquitto:
    """Both programs, with the options that say which broker, transport and version."""

    folder: Path
    port: int
    guarded: int
    options: tuple[str, ...]
    version: str
    root: str

    def pub(self, rest: str, payload: bytes, *options: str) -> None:
        file = self.folder / "payload"
        file.write_bytes(payload)
        said = self.run("mosquitto_pub", "-t", f"{self.root}/{rest}", "-f", str(file), *options)
        assert (said.returncode, said.stderr) == (0, "")

    def run(self, program: str, *options: str, port: int = 0) -> subprocess.CompletedProcess[str]:
        command = [program, "-h", "127.0.0.1", "-p", str(port or self.port), "-V", self.version, *options]
        if not port:
            command += self.options
        return subprocess.run(command, capture_output=True, text=True, check=False, timeout=PATIENCE_S)

    def take(self, filter_: str, count: int, *options: str) -> list[str]:
        """What a subscriber prints that ends after `count` messages."""
        said = self.run("mosquitto_sub", "-t", filter_, "-C", str(count), "-W", str(PATIENCE_S), "-F", FORMAT, *options)
        assert (said.returncode, said.stderr) == (0, "")
        return said.stdout.splitlines()

    @contextmanager
    def sub(self, filter_: str, *options: str, form: str = FORMAT) -> Iterator[Callable[[], str]]:
        """A subscriber that has subscribed; a call waits for its next message."""
        command = ["stdbuf", "-oL", "mosquitto_sub", "-h", "127.0.0.1", "-p", str(self.port), "-V", self.version]
        command += ["-t", filter_, "-F", form, "-d", *self.options, *options]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
            assert process.stdout is not None
            lines = process.stdout

            def until(start: str) -> str:
                for line in lines:
                    if line.startswith(start):
                        return line.rstrip("\n")
                raise AssertionError(f"mosquitto_sub ended before it said {start!r}")

            try:
                until("Subscribed")
                yield lambda: until("message")
            finally:
                process.kill()

    def line(self, rest: str, qos: int, payload: bytes, retain: bool = False) -> str:
        return f"message {self.root}/{rest} {qos} {int(retain)} {payload.hex()}"


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[BrokerProcess, Path]]:
    folder = tmp_path_factory.mktemp("mosquitto")
    Authority(folder).sign("localhost", "127.0.0.1", file="server.pem")
    weft("passwd", "--password-stdin", str(folder / "users.pw"), "ann", given="secret\n")
    file = folder / "weft.toml"
    file.write_text(CONFIG)
    with broker(folder, "--config", str(file)) as process:
        yield process, folder
        assert process.end() == 0
        assert "Traceback" not in process.log()


def over(*pairs: tuple[str, str]) -> pytest.MarkDecorator:
    """Which transports and versions; the reason why not all is at the test."""
    return pytest.mark.parametrize("mosquitto", pairs, ids="-".join, indirect=True)


EVERYWHERE = over(*((transport, version) for transport in ("tcp", "tls") for version in VERSIONS))
GUARDED = over(*(("tcp", version) for version in VERSIONS))  # the listener that wants a password has no TLS
FIVE = over(("tcp", "5"), ("tls", "5"))


@pytest.fixture
def mosquitto(served: tuple[BrokerProcess, Path], request: pytest.FixtureRequest, tmp_path: Path) -> Mosquitto:
    process, folder = served
    transport, version = request.param
    plain, secure, guarded = process.ports
    options = ("--cafile", str(folder / "test-authority.pem")) if transport == "tls" else ()
    root = request.node.name.replace("[", "/").rstrip("]")
    return Mosquitto(tmp_path, secure if options else plain, guarded, options, version, root)


@EVERYWHERE
def test_a_message_of_each_qos_arrives_as_it_was_sent(mosquitto: Mosquitto) -> None:
    with mosquitto.sub(f"{mosquitto.root}/+", "-q", "2") as message:
        for qos in (0, 1, 2):
            mosquitto.pub("a", ALL_BYTES, "-q", str(qos))
            assert message() == mosquitto.line("a", qos, ALL_BYTES)
        large = ALL_BYTES * 3900
        mosquitto.pub("large", large, "-q", "1")
        assert message() == mosquitto.line("large", 1, large)


@EVERYWHERE
def test_retained_messages_come_first_and_can_be_cleared(mosquitto: Mosquitto) -> None:
    for rest in ("r/a", "r/b"):
        mosquitto.pub(rest, rest.encode(), "-q", "1", "-r")
    mosquitto.pub("r/a", b"", "-q", "1", "-r")
    assert mosquitto.take(f"{mosquitto.root}/r/#", 1, "-q", "1") == [mosquitto.line("r/b", 1, b"r/b", retain=True)]


@EVERYWHERE
def test_the_will_of_a_killed_subscriber_is_published(mosquitto: Mosquitto) -> None:
    will = ("--will-topic", f"{mosquitto.root}/will", "--will-payload", "gone", "--will-qos", "2")
    with mosquitto.sub(f"{mosquitto.root}/will", "-q", "2") as message:
        with mosquitto.sub(f"{mosquitto.root}/other", *will):
            pass
        assert message() == mosquitto.line("will", 2, b"gone")


@EVERYWHERE
def test_a_session_queues_while_its_client_is_away(mosquitto: Mosquitto) -> None:
    stays = ("-i", f"{mosquitto.root}-stays", "-c", "-q", "2")
    stays += ("-x", "3600") if mosquitto.version == "5" else ()
    filter_ = f"{mosquitto.root}/q"
    assert mosquitto.run("mosquitto_sub", "-t", filter_, "-E", *stays).returncode == 0
    for number in range(3):
        mosquitto.pub("q", b"%d" % number, "-q", "2")
    assert mosquitto.take(filter_, 3, *stays) == [mosquitto.line("q", 2, b"%d" % number) for number in range(3)]


@EVERYWHERE
def test_a_shared_subscription_goes_around(mosquitto: Mosquitto) -> None:
    filter_ = f"$share/g/{mosquitto.root}/s"
    with mosquitto.sub(filter_, "-q", "1") as one, mosquitto.sub(filter_, "-q", "1") as other:
        for number in range(4):
            mosquitto.pub("s", b"%d" % number, "-q", "1")
        got = [one(), one(), other(), other()]
    assert sorted(got) == [mosquitto.line("s", 1, b"%d" % number) for number in range(4)]


@GUARDED
def test_a_wrong_password_is_said(mosquitto: Mosquitto) -> None:
    for password, code in (("guess", 0x86 if mosquitto.version == "5" else 4), ("secret", 0)):
        words = ("-t", f"{mosquitto.root}/a", "-m", "x", "-u", "ann", "-P", password)
        said = mosquitto.run("mosquitto_pub", *words, port=mosquitto.guarded)
        assert said.returncode == code
        assert ("bad user name or password" in said.stderr.lower()) == bool(code)


@FIVE
def test_properties_of_a_message_arrive(mosquitto: Mosquitto) -> None:
    form = "message %P|%R|%D|%C|%F|%S|%E|%p"
    options = ("-D", "subscribe", "subscription-identifier", "77")
    with mosquitto.sub(f"{mosquitto.root}/p", *options, form=form) as message:
        sent = {
            "response-topic": "answer/here",
            "correlation-data": "c0",
            "content-type": "text/plain",
            "payload-format-indicator": "1",
            "message-expiry-interval": "1000",
            "topic-alias": "5",
        }
        options = tuple(word for name, value in sent.items() for word in ("-D", "publish", name, value))
        pairs = (("a", "1"), ("a", "2"), ("b", "é"))
        options += tuple(word for pair in pairs for word in ("-D", "publish", "user-property", *pair))
        mosquitto.pub("p", b"x", *options)
        head, _, tail = message().partition("|")
        assert head.split() == ["message", *(":".join(pair) for pair in pairs)]
        rest = tail.split("|")
        assert rest[:5] == ["answer/here", "c0", "text/plain", "1", "77"]
        assert 900 < int(rest[5]) <= 1000
