"""Fresh brokers: started on a free port of the loopback, bound to one processor, asked for their CPU time and memory, ended."""

import json
import os
import resource
import shutil
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

BROKER_CORE, LOAD_CORE = 0, 1
NICENESS = -5
TICKS_PER_S = os.sysconf("SC_CLK_TCK")

UNBOUNDED_QUEUES = """
[broker.limits]
queue_messages_max = 1_000_000_000
queue_bytes_max = 1_000_000_000_000
queue_total_bytes_max = 1_000_000_000_000
"""


def pinned(core: int) -> Callable[[], None]:
    """For ``preexec_fn``: on this processor (if there are as many), with all descriptors, and ahead of others if allowed."""

    def prepare() -> None:
        if core in os.sched_getaffinity(0):
            os.sched_setaffinity(0, {core})
        hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
        with suppress(OSError):
            os.setpriority(os.PRIO_PROCESS, 0, NICENESS)

    return prepare


class Server:
    """A broker that runs."""

    def __init__(self, name: str, process: subprocess.Popen[str], port: int) -> None:
        self.name = name
        self.process = process
        self.port = port

    def cpu_s(self) -> float:
        """User and system time so far, all threads."""
        text = Path(f"/proc/{self.process.pid}/stat").read_text(encoding="ascii")
        fields = text.rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / TICKS_PER_S

    def rss_bytes(self) -> int:
        text = Path(f"/proc/{self.process.pid}/statm").read_text(encoding="ascii")
        return int(text.split()[1]) * os.sysconf("SC_PAGE_SIZE")

    def end(self) -> None:
        self.process.terminate()
        try:
            self.process.wait(30)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()


@contextmanager
def weft(folder: Path, durable: bool = False) -> Iterator[Server]:
    command = [str(Path(sys.executable).with_name("weft")), "broker", "--listen", "mqtt://127.0.0.1:0", "--json"]
    if durable:
        settings = folder / "weft.toml"
        settings.write_text('[store]\ndurability = "always"\n' + UNBOUNDED_QUEUES, encoding="utf-8")
        command += ["--config", str(settings), "--data-dir", str(folder / "data")]
    with (folder / "weft.log").open("w", encoding="utf-8") as log:
        process = subprocess.Popen(
            command,
            stdout=subprocess.PIPE,
            stderr=log,
            text=True,
            preexec_fn=pinned(BROKER_CORE),  # noqa: PLW1509 - as above
        )
    assert process.stdout is not None
    line = process.stdout.readline()
    if not line:
        raise SystemExit(f"weft broker did not start: {(folder / 'weft.log').read_text(encoding='utf-8')[-500:]}")
    said: dict[str, Any] = json.loads(line)
    yield from _running(Server("weft", process, int(said["listeners"][0].rpartition(":")[2])))


@contextmanager
def mosquitto(folder: Path, durable: bool = False) -> Iterator[Server]:
    """Durable, as far as it goes: its database is written now and then, not before an acknowledgement."""
    port = _free_port()
    lines = [
        f"listener {port} 127.0.0.1",
        "allow_anonymous true",
        "set_tcp_nodelay true",
        "log_type error",
        "user root",
        "max_queued_messages 0",
        f"persistence {'true' if durable else 'false'}",
    ]
    if durable:
        lines.append(f"persistence_location {folder}/")
    settings = folder / "mosquitto.conf"
    settings.write_text("\n".join(lines) + "\n", encoding="utf-8")
    with (folder / "mosquitto.log").open("w", encoding="utf-8") as log:
        process = subprocess.Popen(
            [_mosquitto(), "-c", str(settings)],
            stderr=log,
            stdout=log,
            text=True,
            preexec_fn=pinned(BROKER_CORE),  # noqa: PLW1509 - as above
        )
    while process.poll() is None:
        with socket.socket() as probe:
            probe.settimeout(0.05)
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                break
    else:
        raise SystemExit(f"mosquitto did not start: {(folder / 'mosquitto.log').read_text(encoding='utf-8')}")
    yield from _running(Server("mosquitto", process, port))


PEERS = {"weft": weft, "mosquitto": mosquitto}


def _running(server: Server) -> Iterator[Server]:
    try:
        yield server
    finally:
        server.end()


def _mosquitto() -> str:
    return shutil.which("mosquitto") or shutil.which("mosquitto", path="/usr/sbin") or ""


def has_mosquitto() -> bool:
    return bool(_mosquitto())


def mosquitto_version() -> str:
    """Its first line of help."""
    said = subprocess.run([_mosquitto(), "-h"], capture_output=True, text=True, check=False).stdout
    return said.partition("\n")[0].removeprefix("mosquitto version ") or "?"


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
