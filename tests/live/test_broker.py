"""``weft broker`` as a process: it starts, serves, reloads, drains, is killed, and says in one line why it cannot start."""

import contextlib
import json
import signal
import socket
import ssl
import subprocess
import urllib.request
from pathlib import Path

import pytest

from broker_process import WEFT, Client, broker, weft
from certificates import Authority

pytestmark = pytest.mark.live
LOOPBACK = ("--listen", "mqtt://127.0.0.1:0")
SHUTTING_DOWN = 0x8B


def test_it_says_where_it_listens_serves_and_drains(tmp_path: Path) -> None:
    """[MQTT-4.2.0-1], [MQTT-7.1.1-1 (3.1.1)]: TCP and unix sockets."""
    with broker(tmp_path, *LOOPBACK, "--listen", f"unix://{tmp_path}/weft.sock", "--id", "kyoto-1") as process:
        assert process.ready["id"] == "kyoto-1"
        assert process.ready["pid"] == process.process.pid
        assert process.ready["listeners"][1] == f"unix://{tmp_path}/weft.sock"
        unix = socket.socket(socket.AF_UNIX)
        unix.connect(f"{tmp_path}/weft.sock")
        with Client(process.ports[0], version=5) as five, Client(sock=unix) as four:
            assert five.connect("five") == 0
            assert four.connect("four") == 0
            assert five.subscribe("a/#") == 0
            four.publish("a/b", b"hello")
            assert five.message() == ("a/b", b"hello")
            assert process.end() == 0
            assert five.hear() == (0xE0, bytes((SHUTTING_DOWN,)))
            assert four.hear() == (0, b"")
        assert not (tmp_path / "weft.sock").exists()


def test_a_second_signal_ends_it_at_once(tmp_path: Path) -> None:
    with broker(tmp_path, "--listen", "ws://127.0.0.1:0") as process:
        client = socket.create_connection(("127.0.0.1", process.ports[0]))
        with contextlib.closing(client):
            client.sendall(
                b"GET /mqtt HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Key: "
                b"AAAAAAAAAAAAAAAAAAAAAA==\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Protocol: mqtt\r\n\r\n"
            )
            assert client.recv(12) == b"HTTP/1.1 101"
            process.send(signal.SIGINT)  # this client will not answer the close frame
            process.until(lambda: process.events("draining"))
            assert process.end() == 1


def test_what_was_acknowledged_survives_a_kill(tmp_path: Path) -> None:
    options = (*LOOPBACK, "--data-dir", str(tmp_path / "data"))
    with broker(tmp_path, *options) as process:
        with Client(process.ports[0]) as subscriber, Client(process.ports[0]) as publisher:
            assert subscriber.connect("subscriber", clean=False) == 0
            assert subscriber.subscribe("a/#", qos=1) == 1
        with Client(process.ports[0]) as publisher:
            assert publisher.connect("publisher") == 0
            publisher.publish("a/b", b"kept", qos=1)
            publisher.publish("r/s", b"retained", qos=1, retain=True)
        assert process.end(signal.SIGKILL) == -signal.SIGKILL
    with broker(tmp_path, *options) as process:
        with Client(process.ports[0]) as subscriber:
            assert subscriber.connect("subscriber", clean=False) == 0
            assert subscriber.message() == ("a/b", b"kept")
        with Client(process.ports[0]) as other:
            assert other.connect("other") == 0
            assert other.subscribe("r/#") == 0
            assert other.message() == ("r/s", b"retained")
        second = weft("broker", *options)
        assert second.returncode == 5
        assert second.stderr.count("\n") == 1
        assert process.end() == 0


def test_a_taken_port_is_exit_code_4_and_one_line(tmp_path: Path) -> None:
    with broker(tmp_path, *LOOPBACK, "--admin", "127.0.0.1:0") as process:
        for options in (
            ("--listen", process.ready["listeners"][0]),
            (*LOOPBACK, "--admin", process.ready["admin"].removeprefix("http://")),
        ):
            second = weft("broker", *options)
            assert second.returncode == 4
            assert "is taken by another process" in second.stderr
            assert [line for line in second.stderr.splitlines() if line.startswith("weft: ")]
            assert "Traceback" not in second.stderr


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('[[listener]]\nurl = "mqtt://127.0.0.1"\nport = 5\n', ":3: unknown field 'port' in [[listener]]; known: "),
        ('[[listener]]\nurl = "mqtts://127.0.0.1"\ntls = { cert = "none.pem" }\n', "none.pem: cannot be read"),
        ('[access]\npassword_file = "none.pw"\n', "none.pw: cannot be read"),
        ("data_dir = 5\n", ":1: expected text"),
    ],
)
def test_a_bad_configuration_is_exit_code_2_and_one_line(tmp_path: Path, text: str, said: str) -> None:
    file = tmp_path / "weft.toml"
    file.write_text(text)
    for command in (["broker", "--config", str(file)], ["config", "check", str(file)]):
        ended = weft(*command)
        assert ended.returncode == 2
        assert said in ended.stderr.splitlines()[-1]
        assert "Traceback" not in ended.stderr


CONFIG = """\
[[listener]]
url = "mqtt://127.0.0.1:0"
anonymous = false
mount = "tenant/"
[[listener]]
url = "mqtts://localhost:0"
anonymous = true
tls = { cert = "server.pem" }
[access]
password_file = "users.pw"
[broker.limits]
client_id_bytes_max = 20
[[rewrite]]
filter = "old/+"
to = "new/$1"
"""


def common_name(port: int, authority: Authority, name: str) -> str:
    context = ssl.create_default_context(cafile=str(authority.ca))
    with context.wrap_socket(socket.create_connection(("localhost", port)), server_hostname=name) as tls:
        found = tls.getpeercert()
        assert found
        return dict(part[0] for part in found["subject"])["commonName"]  # type: ignore[misc, index]


def test_a_reload_takes_users_certificates_and_limits_and_keeps_connections(tmp_path: Path) -> None:
    authority = Authority(tmp_path)
    authority.sign("one", "localhost", file="server.pem")
    users, file = tmp_path / "users.pw", tmp_path / "weft.toml"
    assert weft("passwd", "--password-stdin", str(users), "ann", given="secret\n").returncode == 0
    file.write_text(CONFIG)
    with broker(tmp_path, "--config", str(file)) as process:
        plain, secure = process.ports[:2]
        with Client(plain) as stays, Client(plain) as stranger, Client(plain) as wrong:
            assert stays.connect("stays", "ann", "secret") == 0
            assert stranger.connect("stranger") == 5
            assert wrong.connect("wrong", "ann", "guess") in {4, 5}
            assert stays.subscribe("old/+") == 0
            stays.publish("new/x", b"1")
            stays.publish("old/x", b"2")
            assert [stays.message(), stays.message()] == [("new/x", b"1"), ("new/x", b"2")]
            assert common_name(secure, authority, "localhost") == "one"

            assert weft("passwd", "--password-stdin", str(users), "bob", given="secret2\n").returncode == 0
            authority.sign("two", "localhost", file="server.pem")
            changed = CONFIG.replace("= 20", "= 5").replace("tenant/", "other/") + '[log]\nlevel = "debug"\n'
            file.write_text(changed)
            said = process.reload()
            assert set(said["changed"]) >= {"access", "broker", "log"}
            assert process.events("needs a restart")[0]["section"] == "listener"
            assert common_name(secure, authority, "localhost") == "two"
            with Client(plain) as bob:
                assert bob.connect("bob", "bob", "secret2") == 0
            with Client(plain) as long:
                assert long.connect("too-long", "bob", "secret2") == 2
            stays.publish("old/y", b"3")
            assert stays.message() == ("new/y", b"3")

            for broken in ("[[listener]", CONFIG.replace("users.pw", "none.pw")):
                file.write_text(broken)
                why = process.reload("not reloaded, the old configuration stands")["why"]
                assert "weft.toml:" in why or "none.pw" in why
            (tmp_path / "server.pem").write_text("nonsense")
            file.write_text(CONFIG.replace("= 20", "= 1000"))
            assert "server.pem" in process.reload("not reloaded, the old configuration stands")["why"]
            with Client(plain) as bob:
                assert bob.connect("bob", "bob", "secret2") == 0
            assert common_name(secure, authority, "localhost") == "two"
            stays.publish("old/z", b"4")
            assert stays.message() == ("new/z", b"4")
        for secret in ("secret", "guess"):
            assert secret not in process.log()
        assert process.end() == 0


def test_the_admin_interface_answers_and_knows_when_it_drains(tmp_path: Path) -> None:
    with broker(tmp_path, *LOOPBACK, "--admin", "127.0.0.1:0") as process:
        with urllib.request.urlopen(process.ready["admin"] + "/readyz") as answer:
            assert answer.status == 200
        with urllib.request.urlopen(process.ready["admin"] + "/metrics") as answer:
            assert b"weft_connections_opened_total" in answer.read()
        assert process.end() == 0


def test_systemd_hears_ready_and_stopping(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as supervisor:
        supervisor.bind(str(tmp_path / "notify"))
        supervisor.settimeout(30)
        process = subprocess.Popen(
            [*WEFT, "broker", *LOOPBACK, "--json"],
            env={"NOTIFY_SOCKET": str(tmp_path / "notify"), "WATCHDOG_USEC": "100000"},
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
        try:
            said = supervisor.recv(1000).decode().splitlines()
            assert said[0] == "READY=1"
            assert said[1].startswith("STATUS=listening on mqtt://127.0.0.1:")
            assert [supervisor.recv(1000) for _ in range(3)] == [b"WATCHDOG=1"] * 3
            process.terminate()
            assert process.wait(30) == 0
            rest = []
            supervisor.settimeout(0.01)
            with contextlib.suppress(TimeoutError):
                while True:
                    rest.append(supervisor.recv(1000))
            assert b"STOPPING=1\nSTATUS=draining" in rest
        finally:
            process.kill()
            process.communicate()


def test_garbage_hurts_only_who_sends_it(tmp_path: Path) -> None:
    with broker(tmp_path, *LOOPBACK) as process, Client(process.ports[0]) as good:
        assert good.connect("good") == 0
        for garbage in (b"\xff" * 100, b"\x10\xff\xff\xff\xff\xff", b"\x30\x05\x00\x03a/bx"):
            with Client(process.ports[0]) as bad:
                bad.sock.sendall(garbage)
                with contextlib.suppress(ConnectionResetError):
                    assert bad.sock.recv(100) == b""
        good.send(0xC0, b"")
        assert good.hear() == (0xD0, b"")
        assert process.end() == 0
        assert "Traceback" not in process.log()


def test_config_show_reads_back(tmp_path: Path) -> None:
    shown = weft("config", "show")
    assert shown.returncode == 0
    file = tmp_path / "weft.toml"
    file.write_text(shown.stdout)
    assert weft("config", "show", str(file)).stdout == shown.stdout
    checked = weft("config", "check", str(file), "--json")
    assert json.loads(checked.stdout) == {"listeners": ["mqtt://127.0.0.1:1883"], "warnings": []}
