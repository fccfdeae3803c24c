"""``weft pub`` and ``weft sub`` as processes: against mosquitto and our own broker, and beside mosquitto's own clients."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Self

import pytest

from broker_process import broker
from certificates import Authority
from mosquitto_bench import Mosquitto, free_port, needs_mosquitto

pytestmark = pytest.mark.live
WEFT = str(Path(sys.executable).with_name("weft"))


def weft(*args: str, given: bytes = b"", env: dict[str, str] | None = None) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        [WEFT, *args], input=given, capture_output=True, timeout=30, check=False, env={**os.environ, **(env or {})}
    )


class Listening:
    """``weft sub`` at work: ``with`` waits until the broker has answered its SUBSCRIBE."""

    def __init__(self, *args: str) -> None:
        self.process = subprocess.Popen([WEFT, "sub", "-d", *args], stdout=subprocess.PIPE, stderr=subprocess.PIPE)

    def __enter__(self) -> Self:
        assert self.process.stderr is not None
        for line in self.process.stderr:
            if b"subscribed" in line:
                return self
        pytest.fail(f"it ended: {self.process.wait(10)}")

    def __exit__(self, *_: object) -> None:
        self.process.kill()
        self.process.communicate()

    def read(self) -> bytes:
        """All of it, once it has ended."""
        return self.process.communicate(timeout=30)[0]


@pytest.fixture(scope="module", params=["mosquitto", "weft"])
def port(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A broker of either make."""
    folder = tmp_path_factory.mktemp(request.param)
    if request.param == "weft":
        with broker(folder, "--listen", "mqtt://127.0.0.1:0") as process:
            yield str(process.ports[0])
        return
    if needs_mosquitto.args[0]:
        pytest.skip(needs_mosquitto.kwargs["reason"])
    with Mosquitto(folder, "max_queued_messages 0") as mosquitto:
        yield str(mosquitto.port)


@pytest.mark.parametrize(("version", "qos"), [("3.1", "2"), ("3.1.1", "0"), ("3.1.1", "2"), ("5", "1")])
def test_what_is_published_is_heard(port: str, version: str, qos: str) -> None:
    at = ("-h", "127.0.0.1", "-p", port, "-V", version, "-q", qos)
    with Listening(*at, "-t", "v/#", "-v", "-C", "3") as listening:
        assert weft("pub", *at, "-t", "v/1", "-m", "hällo").returncode == 0
        assert weft("pub", *at, "-t", "v/2", "-l", given=b"a\nb").returncode == 0
        assert listening.read() == "v/1 hällo\nv/2 a\nv/2 b\n".encode()
        assert listening.process.returncode == 0


def test_every_way_to_give_a_message(port: str, tmp_path: Path) -> None:
    at = ("-h", "127.0.0.1", "-p", port, "-q", "1")
    binary = bytes(range(256))
    (tmp_path / "file").write_bytes(binary)
    with Listening(*at, "-t", "w", "-N", "-C", "5") as listening:
        assert weft("pub", *at, "-t", "w", "-f", str(tmp_path / "file")).returncode == 0
        assert weft("pub", *at, "-t", "w", "-s", given=b"all\nof it").returncode == 0
        assert weft("pub", *at, "-t", "w", "-n").returncode == 0
        assert weft("pub", *at, "-t", "w", "-m", "x", "--repeat", "2", "--repeat-delay", "0.01").returncode == 0
        assert listening.read() == binary + b"all\nof itxx"


def test_many_lines_keep_their_order(port: str) -> None:
    at = ("-h", "127.0.0.1", "-p", port, "-q", "1")
    lines = b"".join(b"%d\n" % number for number in range(5_000))
    with Listening(*at, "-t", "many", "-C", "5000") as listening:
        assert weft("pub", *at, "-t", "many", "-l", given=lines).returncode == 0
        assert listening.read() == lines


def test_a_kept_session_gets_what_came_meanwhile_and_keeps_what_was_not_taken(port: str) -> None:
    at = ("-h", "127.0.0.1", "-p", port, "-q", "1")
    kept = ("sub", *at, "-t", "kept", "-c", "-i", "keeper", "-W", "10")
    assert weft(*kept, "-E").returncode == 0
    assert weft("pub", *at, "-t", "kept", "-l", given=b"1\n2\n3\n").returncode == 0
    assert weft(*kept, "-C", "1").stdout == b"1\n"
    assert weft(*kept, "-C", "2").stdout == b"2\n3\n"


def test_retained_messages_are_shown_left_out_and_cleared(port: str) -> None:
    at = ("-h", "127.0.0.1", "-p", port)
    assert weft("pub", *at, "-t", "r/1", "-m", "old", "-r", "-q", "1").returncode == 0
    assert weft("sub", *at, "-t", "r/#", "-C", "1", "-W", "10", "--retained-only").stdout == b"old\n"
    with Listening(*at, "-t", "r/#", "-R", "-C", "1") as listening:
        weft("pub", *at, "-t", "r/2", "-m", "new")
        assert listening.read() == b"new\n"
    assert weft("sub", *at, "-t", "r/#", "-C", "1", "-W", "10", "--remove-retained").returncode == 0
    assert weft("sub", *at, "-t", "r/#", "-W", "0.5").stdout == b""


def test_json_and_properties(port: str) -> None:
    at = ("-h", "127.0.0.1", "-p", port)
    with Listening(*at, "-t", "j", "--json", "-C", "1", "-D", "subscribe", "subscription-identifier", "9") as listening:
        properties = ["-D", "publish", "user-property", "a", "b", "-D", "publish", "content-type", "text/plain"]
        assert weft("pub", *at, "-t", "j", "-m", 'a"b', *properties).returncode == 0
        found = json.loads(listening.read())
        assert found["payload"] == 'a"b'
        assert found["properties"] == {
            "user-properties": {"a": "b"}, "content-type": "text/plain", "subscription-identifiers": [9],
        }  # fmt: skip


def test_a_will_is_said_when_the_client_is_killed(port: str) -> None:
    at = ("-h", "127.0.0.1", "-p", port)
    with (
        Listening(*at, "-t", "will", "-C", "1") as hears,
        Listening(*at, "-t", "x", "--will-topic", "will", "--will-payload", "gone") as dies,
    ):
        dies.process.kill()
        assert hears.read() == b"gone\n"


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_it_cleanly(port: str, number: signal.Signals) -> None:
    with Listening("-h", "127.0.0.1", "-p", port, "-t", "x") as listening:
        listening.process.send_signal(number)
        assert listening.process.wait(10) == 0


def test_a_closed_stdout_ends_it(port: str) -> None:
    at = ("-h", "127.0.0.1", "-p", port)
    with Listening(*at, "-t", "p") as listening:
        assert listening.process.stdout is not None
        listening.process.stdout.close()
        weft("pub", *at, "-t", "p", "-m", "x")
        assert listening.process.wait(10) == 1
        listening.process.stdout = None


def test_time_runs_out_with_code_1(port: str) -> None:
    ended = weft("sub", "-h", "127.0.0.1", "-p", port, "-t", "x", "-W", "0.2")
    assert (ended.returncode, ended.stderr) == (1, b"weft: -W: the time is over\n")


def test_a_publish_to_nobody_says_so_if_asked(port: str) -> None:
    ended = weft("pub", "-h", "127.0.0.1", "-p", port, "-t", "nobody", "-m", "x", "-q", "1", "-d")
    assert ended.returncode == 0
    assert b"nobody listens" in ended.stderr


@pytest.mark.parametrize(
    ("args", "code", "said"),
    [
        (
            ("pub", "-t", "a", "-m", "b"),
            1,
            b"connection refused by mqtt://127.0.0.1:{port}: is a broker listening there?",
        ),
        (("sub", "-t", "a"), 1, b"connection refused by"),
        (("pub", "-t", "a"), 2, b"give exactly one of -m"),
        (("pub", "-m", "a"), 2, b"which topic?"),
        (("pub", "-t", "a/#", "-m", "a"), 2, b"a topic name with wildcards"),
        (("sub",), 2, b"what to subscribe to?"),
        (("sub", "-t", "a#"), 2, b"'a#': '#' that is not"),
        (("sub", "-t", "a", "-F", "%z"), 2, b"'%z' means nothing"),
        (("sub", "-t", "a", "--no-local", "-V", "3.1.1"), 2, b"need MQTT 5"),
        (("pub", "-t", "a", "-m", "x", "--cafile", "/none.pem"), 2, b"/none.pem: cannot be read"),
        (("pub", "-t", "a", "-f", "/none"), 1, b"No such file"),
    ],
)
def test_what_goes_wrong_is_one_line(args: tuple[str, ...], code: int, said: bytes) -> None:
    port = free_port()
    ended = weft(args[0], "-h", "127.0.0.1", "-p", str(port), *args[1:])
    assert ended.returncode == code
    assert said.replace(b"{port}", b"%d" % port) in ended.stderr
    assert ended.stderr.count(b"\n") == 1


@needs_mosquitto
@pytest.mark.parametrize(
    "pattern",
    [
        "%t %p|%q|%r|%l", "%x %X", "%C %D %F %P %R", "[%12t][%-12t][%05l]", r"a\tb\n%%@@", "%J", "%j",
    ],
)  # fmt: skip
def test_formats_print_what_mosquitto_sub_prints(tmp_path: Path, pattern: str) -> None:
    with Mosquitto(tmp_path) as mosquitto:
        at = ["-h", "127.0.0.1", "-p", str(mosquitto.port), "-V", "5", "-t", "f/1"]
        properties = [
            word
            for each in ("content-type text/plain", "user-property k v", "response-topic r/t", "correlation-data cd")
            for word in ("-D", "publish", *each.split())
        ]
        message = ["-m", '{"a":1}', "-r", "-q", "1", "-D", "publish", "payload-format-indicator", "1"]
        assert weft("pub", *at, *message, *properties).returncode == 0
        theirs = subprocess.run(
            ["mosquitto_sub", *at, "-C", "1", "-F", pattern], capture_output=True, timeout=20, check=True
        ).stdout
        ours = weft("sub", *at, "-C", "1", "-F", pattern).stdout
        if pattern.lower() == "%j":
            ours, theirs = ({k: v for k, v in json.loads(each).items() if k != "tst"} for each in (ours, theirs))  # type: ignore[assignment]
        assert ours == theirs


@needs_mosquitto
def test_mosquittos_clients_and_ours_understand_each_other(tmp_path: Path) -> None:
    with Mosquitto(tmp_path) as mosquitto:
        port = str(mosquitto.port)
        with Listening("-h", "127.0.0.1", "-p", port, "-t", "m", "-C", "1", "-q", "2") as listening:
            subprocess.run(["mosquitto_pub", "-p", port, "-t", "m", "-m", "theirs", "-q", "2"], check=True, timeout=20)
            assert listening.read() == b"theirs\n"


@needs_mosquitto
def test_tls_with_and_without_certificates_and_websockets(tmp_path: Path) -> None:
    ours, other = Authority(tmp_path), Authority(tmp_path, "other")
    server, client = ours.sign("localhost", "127.0.0.1"), ours.sign("me")
    for path in tmp_path.iterdir():
        path.chmod(0o644)
    tls, mutual, web = free_port(), free_port(), free_port()
    files = (f"cafile {ours.ca}", f"certfile {server}", f"keyfile {server}")
    lines = (
        f"listener {tls} 127.0.0.1", *files,
        f"listener {mutual} 127.0.0.1", *files, "require_certificate true",
        f"listener {web} 127.0.0.1", "protocol websockets",
        "user root",
    )  # fmt: skip
    with Mosquitto(tmp_path, *lines):
        say = ("pub", "-h", "127.0.0.1", "-t", "t", "-m", "x", "-q", "1")
        trust = ("--cafile", str(ours.ca))
        assert weft(*say, "-p", str(tls), *trust).returncode == 0
        assert weft(*say, "-p", str(tls), "--insecure").returncode == 0
        assert weft(*say, "-p", str(mutual), *trust, "--cert", str(client), "--key", str(client)).returncode == 0
        assert weft(*say, "-p", str(web), "--ws").returncode == 0
        for wrong in (("-p", str(tls), "--cafile", str(other.ca)), ("-p", str(tls), "--tls")):
            ended = weft(*say, *wrong)
            assert ended.returncode == 1
            assert b"its certificate is not trusted" in ended.stderr
            assert b"--cafile" in ended.stderr
        ended = weft(*say, "-p", str(mutual), *trust)
        assert ended.returncode == 1
        assert b"does it want a certificate of ours?" in ended.stderr
        ended = weft(*say, "-p", str(tls), "--ws")
        assert ended.returncode == 1
        assert ended.stderr.count(b"\n") == 1


@needs_mosquitto
def test_credentials_come_from_options_files_and_the_environment(tmp_path: Path) -> None:
    users = tmp_path / "users"
    subprocess.run(["mosquitto_passwd", "-b", "-c", str(users), "ann", "secret"], check=True, timeout=20)
    users.chmod(0o644)
    (tmp_path / "secret").write_text("secret\n", encoding="utf-8")
    lines = ("allow_anonymous false", f"password_file {users}", "user root")
    with Mosquitto(tmp_path, *lines) as mosquitto:
        say = ("pub", "-h", "127.0.0.1", "-p", str(mosquitto.port), "-t", "t", "-m", "x")
        assert weft(*say, "-u", "ann", "-P", "secret").returncode == 0
        assert weft(*say, "-u", "ann", "--password-file", str(tmp_path / "secret")).returncode == 0
        assert weft(*say, env={"WEFT_USERNAME": "ann", "WEFT_PASSWORD": "secret"}).returncode == 0
        for version in ("3.1.1", "5"):
            ended = weft(*say, "-V", version, "-u", "ann", "-P", "wrong")
            assert ended.returncode == 1
            assert b"refused the connection" in ended.stderr
            assert b"check -u" in ended.stderr


@needs_mosquitto
def test_sub_comes_back_after_a_restart_and_pub_waits_for_it(tmp_path: Path) -> None:
    with Mosquitto(tmp_path) as mosquitto:
        at = ("-h", "127.0.0.1", "-p", str(mosquitto.port))
        with Listening(*at, "-t", "back", "-C", "1") as listening:
            mosquitto.stop()
            mosquitto.start()
            assert listening.process.stderr is not None
            for line in listening.process.stderr:
                if b"subscribed" in line:
                    break
            assert weft("pub", *at, "-t", "back", "-m", "again").returncode == 0
            assert listening.read() == b"again\n"
