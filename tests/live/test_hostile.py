"""What a hostile or broken client can send to a real broker: nothing but that client suffers, and memory stays bounded.

Each reason is counted in /metrics, and logged once per minute and address however often it happens.
"""

import contextlib
import json
import os
import random
import socket
import subprocess
import threading
import time
import urllib.request
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from broker_process import PATIENCE_S, BrokerProcess, Client, broker, text, weft

pytestmark = pytest.mark.live

LISTEN = ("--listen", "mqtt://127.0.0.1:0", "--admin", "127.0.0.1:0")
SEED = 20_261_119
PING_S_MAX = 1.0
MIB = 1 << 20
CONFIG = """
[broker.limits]
connect_timeout_s = 1.5
[[listener]]
url = "mqtt://127.0.0.1:0"
[[listener]]
url = "ws://127.0.0.1:0"
"""
CONNECT = b"\x10\x0e\x00\x04MQTT\x04\x02\x00\x3c\x00\x02id"
CONNECT_FIVE = b"\x10\x0f\x00\x04MQTT\x05\x02\x00\x3c\x00\x00\x02id"
REASONS = ("weft_malformed_total", "weft_protocol_errors_total", "weft_limits_hit_total", "weft_connects_denied_total")


@pytest.fixture
def process(tmp_path: Path) -> Iterator[BrokerProcess]:
    file = tmp_path / "weft.toml"
    file.write_text(CONFIG)
    with broker(tmp_path, "--config", str(file), "--admin", "127.0.0.1:0") as running:
        yield running
        assert running.process.poll() is None, running.log()
        with Client(running.ports[0]) as witness:
            assert witness.connect("witness") == 0
        assert running.end() == 0
        assert "Traceback" not in running.log()


def metrics(process: BrokerProcess) -> Counter[str]:
    """By name, summed over labels."""
    found: Counter[str] = Counter()
    with urllib.request.urlopen(process.ready["admin"] + "/metrics", timeout=PATIENCE_S) as answer:
        for line in answer.read().decode().splitlines():
            if line[0] != "#":
                name, _, value = line.rpartition(" ")
                found[name.partition("{")[0]] += float(value)  # type: ignore[assignment]
    return found


def resident(process: BrokerProcess) -> int:
    """Bytes."""
    pages = Path(f"/proc/{process.process.pid}/statm").read_text().split()[1]
    return int(pages) * os.sysconf("SC_PAGE_SIZE")


def ping(client: Client) -> float:
    """The seconds of one round trip."""
    begun = time.monotonic()
    client.send(0xC0, b"")
    assert client.hear() == (0xD0, b"")
    return time.monotonic() - begun


def ended(sock: socket.socket) -> bool:
    """Read until the broker closes it."""
    sock.settimeout(PATIENCE_S)
    with contextlib.suppress(ConnectionError):
        while sock.recv(65_536):
            pass
    return True


def shout(port: int, *pieces: bytes) -> None:
    """Say it on a new connection, hang up, wait for the end."""
    with socket.create_connection(("127.0.0.1", port), PATIENCE_S) as sock:
        with contextlib.suppress(OSError):  # it may have hung up already
            for piece in pieces:
                sock.sendall(piece)
            sock.shutdown(socket.SHUT_WR)
        ended(sock)


def test_random_bytes_and_broken_packets(process: BrokerProcess) -> None:
    rng = random.Random(SEED)
    before = metrics(process)
    good = Client(process.ports[0])
    with good:
        assert good.connect("good") == 0
        whole = CONNECT + b"\x82\x08\x00\x01\x00\x03a/#\x00" + b"\x34\x08\x00\x03a/b\x00\x01x" + b"\xe0\x00"
        for number in range(400):
            start = rng.choice((b"", CONNECT, CONNECT_FIVE))
            data = bytearray(
                rng.choice((rng.randbytes(rng.randint(1, 300)), whole, whole[: rng.randint(1, len(whole))]))
            )
            for _ in range(rng.randint(0, 3)):
                data[rng.randrange(len(data))] = rng.randrange(256)
            shout(process.ports[number % 2], start, bytes(data))
        assert ping(good) < PING_S_MAX
    after = metrics(process)
    assert sum(after[name] - before[name] for name in REASONS) > 100
    assert after["weft_connections_opened_total"] - before["weft_connections_opened_total"] >= 400
    events = [(entry["event"], entry.get("why")) for entry in _entries(process) if "why" in entry]
    assert len(events) < 100, "a reason is logged once per minute, not 400 times"


def _entries(process: BrokerProcess) -> list[dict[str, str]]:
    return [json.loads(line) for line in process.log().splitlines()]


@pytest.mark.parametrize(
    "head",
    [
        b"\x10\xff\xff\xff\x7f" + CONNECT[2:],  # a CONNECT of 256 MiB
        b"\x10\xff\xff\xff\xff\x01",  # five bytes of length
        CONNECT + b"\x30\xff\xff\xff\x7f\x00\x03a/b",
        CONNECT + b"\x82\xff\xff\xff\x7f\x00\x01",
        CONNECT_FIVE + b"\x30\x09\x00\x03a/b\xff\xff\xff\x7f",  # properties of 256 MiB
        b"\x10\x0c\x00\x04MQTT\x04\x02\x00\x3c\xff\xff",  # a client id of 64 KiB in 12 bytes
    ],
    ids=["connect", "length", "publish", "subscribe", "properties", "text"],
)
def test_a_huge_length_costs_nothing(process: BrokerProcess, head: bytes) -> None:
    before, counted = resident(process), metrics(process)
    for _ in range(20):
        with socket.create_connection(("127.0.0.1", process.ports[0])) as sock:
            sock.sendall(head)
            assert ended(sock)
    assert resident(process) - before < 20 * MIB
    assert sum(metrics(process)[name] - counted[name] for name in REASONS) >= 20


def test_many_who_say_nothing_are_hung_up_on(process: BrokerProcess) -> None:
    """Half a CONNECT, half a WebSocket request, or not a byte."""
    with Client(process.ports[0]) as good, contextlib.ExitStack() as stack:
        assert good.connect("good") == 0
        idle = []
        for number in range(300):
            port = process.ports[number % 2]
            idle.append(stack.enter_context(socket.create_connection(("127.0.0.1", port), PATIENCE_S)))
            idle[-1].sendall((CONNECT[:9], b"GET /mqtt HTTP/1.1\r\nHost: x\r\n")[number % 2][: number % 20])
        assert ping(good) < PING_S_MAX
        assert all(ended(sock) for sock in idle)
        assert ping(good) < PING_S_MAX
    process.until(lambda: metrics(process)["weft_connections"] == 0)


def test_a_thousand_connections_opened_and_dropped(process: BrokerProcess) -> None:
    descriptors = Path(f"/proc/{process.process.pid}/fd")
    with Client(process.ports[0]) as good:
        assert good.connect("good") == 0
        shout(process.ports[0], CONNECT)
        process.until(lambda: metrics(process)["weft_connections"] == 1)
        open_before, before = len(list(descriptors.iterdir())), resident(process)
        for number in range(1000):
            with socket.create_connection(("127.0.0.1", process.ports[0])) as sock:
                if number % 3:
                    sock.sendall(CONNECT if number % 3 == 1 else CONNECT[: number % 14])
        assert ping(good) < PING_S_MAX
        process.until(lambda: metrics(process)["weft_connections"] == 1)
        assert len(list(descriptors.iterdir())) <= open_before + 2
        assert resident(process) - before < 20 * MIB


def test_a_flood_leaves_others_served_and_memory_bounded(process: BrokerProcess) -> None:
    """A publisher that never stops and a subscriber that tries to keep up; pings of a third client."""
    blob = (b"\x30\x86\x08" + text("flood") + bytes(1031 - 8)) * 64
    stop = threading.Event()

    def flood() -> None:
        with Client(process.ports[0]) as client, contextlib.suppress(ConnectionError, TimeoutError):
            assert client.connect("flood") == 0
            while not stop.is_set():
                client.sock.sendall(blob)

    def swallow() -> None:
        with Client(process.ports[0]) as client, contextlib.suppress(ConnectionError, TimeoutError):
            assert client.connect("swallow") == 0
            assert client.subscribe("flood") == 0
            while not stop.is_set():
                client.sock.recv(262_144)

    threads = [threading.Thread(target=target) for target in (swallow, flood, flood)]
    with Client(process.ports[0]) as good:
        assert good.connect("good") == 0
        before = resident(process)
        for thread in threads:
            thread.start()
        try:
            process.until(lambda: metrics(process)["weft_messages_received_total"] > 2_000)
            worst = max(ping(good) for _ in range(50))
            process.until(lambda: metrics(process)["weft_messages_received_total"] > 50_000)
            worst = max(worst, *(ping(good) for _ in range(50)))
            grown = resident(process) - before
        finally:
            stop.set()
            for thread in threads:
                thread.join(PATIENCE_S)
    assert worst < PING_S_MAX
    assert grown < 100 * MIB


@pytest.mark.parametrize(("policy", "counter"), [
    ("drop", "weft_messages_dropped_slow_total"), ("disconnect", "weft_slow_consumers_total"),
])  # fmt: skip
def test_a_consumer_that_never_reads(tmp_path: Path, policy: str, counter: str) -> None:
    """60 MiB for it: memory stays near its buffer of 1 MiB, and who reads gets everything."""
    file = tmp_path / "weft.toml"
    file.write_text(f'[broker]\nslow_consumer = "{policy}"\n')
    with broker(tmp_path, "--config", str(file), *LISTEN) as process:
        port, count, payload = process.ports[0], 60, bytes(MIB - 100)
        stuck_socket = socket.socket()
        stuck_socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        stuck_socket.connect(("127.0.0.1", port))
        with Client(sock=stuck_socket) as stuck, Client(port) as reader, Client(port) as publisher:
            for client, name in ((stuck, "stuck"), (reader, "reader"), (publisher, "publisher")):
                assert client.connect(name) == 0
            for client in (stuck, reader):
                assert client.subscribe("big") == 0
            before = resident(process)
            frame = b"\x30" + _length(5 + len(payload)) + text("big") + payload
            for _ in range(count):
                publisher.sock.sendall(frame)
                assert reader.message() == ("big", payload)
            grown = resident(process) - before
            assert metrics(process)[counter] > 0
            assert ping(publisher) < PING_S_MAX
        assert grown < 30 * MIB
        assert process.end() == 0
        assert "Traceback" not in process.log()


def _length(size: int) -> bytes:
    out = b""
    while size > 127:
        out += bytes((size & 0x7F | 0x80,))
        size >>= 7
    return out + bytes((size,))


# --------------------------------------------------------------------------------------- machines that are not well


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    if os.geteuid() != 0:
        pytest.skip("mounting a small disk needs root")
    disk = tmp_path / "disk"
    disk.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=8m", "weft-test", str(disk)]
    if subprocess.run(mount, check=False, capture_output=True).returncode:
        pytest.skip("this root may not mount")
    yield disk
    subprocess.run(["umount", "--lazy", str(disk)], check=True)


def occupy(disk: Path) -> Path:
    """Somebody else's file takes all that is left."""
    other = disk / "other"
    with other.open("wb", buffering=0) as file, contextlib.suppress(OSError):
        while True:
            file.write(bytes(4096))
    return other


def one_line(said: "subprocess.CompletedProcess[str]", code: int, *words: str) -> None:
    """The exit code, and one line for people among the lines of the log."""
    assert said.returncode == code, said.stderr
    assert "Traceback" not in said.stderr
    lines = [line for line in said.stderr.splitlines() if line.startswith("weft: ")]
    assert len(lines) == 1, said.stderr
    for word in words:
        assert word in lines[0]


def test_a_full_disk_at_the_start_is_exit_code_6(small_disk: Path) -> None:
    occupy(small_disk)
    one_line(weft("broker", *LISTEN, "--data-dir", str(small_disk / "data")), 6, "no space left")


def test_a_disk_that_fills_up_delays_acknowledgements_and_nothing_else(small_disk: Path, tmp_path: Path) -> None:
    with broker(tmp_path, *LISTEN, "--data-dir", str(small_disk / "data")) as process:
        port = process.ports[0]
        with Client(port) as away:
            assert away.connect("away", clean=False) == 0
            assert away.subscribe("q", qos=1) == 1
        other = occupy(small_disk)
        with Client(port) as publisher, Client(port) as others:
            assert publisher.connect("publisher") == 0
            assert others.connect("others") == 0
            assert others.subscribe("live") == 0
            publisher.send(0x32, text("q") + b"\x00\x07" + bytes(10_000))
            for number in range(8, 100):
                publisher.send(0x32, text("q") + bytes((0, number)) + bytes(10_000))
            process.until(lambda: any("no space" in line for line in process.log().splitlines()))
            others.publish("live", b"still here")
            assert others.message() == ("live", b"still here")
            assert ping(others) < PING_S_MAX
            other.unlink()
            acknowledged = {publisher.hear()[1][1] for _ in range(7, 100)}
            assert acknowledged == set(range(7, 100))
        with Client(port) as away:
            assert away.connect("away", clean=False) == 0
            away.message()
        assert process.end() == 0
        assert "Traceback" not in process.log()


def test_a_damaged_store_is_exit_code_5(tmp_path: Path) -> None:
    options = (*LISTEN, "--data-dir", str(tmp_path / "data"))
    with broker(tmp_path, *options) as process, Client(process.ports[0]) as client:
        assert client.connect("a", clean=False) == 0
        for number in range(50):
            client.publish(f"r/{number}", bytes(500), qos=1, retain=True)
        assert process.end() == 0
    file = tmp_path / "data" / "store.db"
    content = file.read_bytes()
    file.write_bytes(content[:4096] + random.Random(SEED).randbytes(8192) + content[12_288:])
    one_line(weft("broker", *options), 5, "store.db")
    file.write_bytes(b"this is not a database" * 1000)
    one_line(weft("broker", *options), 5, "store.db")


def test_a_data_directory_that_is_a_file_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "data").write_text("a file")
    said = weft("broker", *LISTEN, "--data-dir", str(tmp_path / "data"))
    one_line(said, 5 if said.returncode == 5 else 1, "data")


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (("--listen", "mqtt://127.0.0.1:99999"), 2),
        (("--listen", "carrier-pigeon://127.0.0.1"), 2),
        (("--listen", "mqtt://192.0.2.1:0"), 2),
        (("--config", "none.toml"), 2),
    ],
)
def test_what_cannot_be_done_is_one_line(words: tuple[str, ...], code: int) -> None:
    one_line(weft("broker", *words), code)
