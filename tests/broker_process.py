"""A real ``weft broker`` for live tests: started on free ports, ended by the test; and MQTT packets by hand."""

import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Self
from urllib.parse import urlsplit

WEFT = [sys.executable, "-c", "from weft.cli.main import main; main()"]
PATIENCE_S = 30.0


def weft(*arguments: str, given: str = "") -> subprocess.CompletedProcess[str]:
    """One command to its end."""
    return subprocess.run([*WEFT, *arguments], input=given, capture_output=True, text=True, check=False, timeout=60)


class BrokerProcess:
    """``ready`` is what it said; ``ports`` those of its listeners in order."""

    def __init__(self, process: subprocess.Popen[str], log: Path) -> None:
        self.process = process
        self._log = log
        assert process.stdout is not None
        line = process.stdout.readline()
        assert line, f"the broker did not start: {self.log()}"
        self.ready: dict[str, Any] = json.loads(line)

    @property
    def ports(self) -> list[int]:
        return [urlsplit(url).port or 0 for url in self.ready["listeners"]]

    def log(self) -> str:
        return self._log.read_text(encoding="utf-8")

    def events(self, name: str) -> list[dict[str, Any]]:
        """Lines of the log with this event."""
        return [entry for line in self.log().splitlines() if (entry := json.loads(line))["event"] == name]

    def send(self, number: signal.Signals) -> None:
        self.process.send_signal(number)

    def reload(self, word: str = "reloaded") -> dict[str, Any]:
        """SIGHUP, and the log's answer."""
        before = len(self.events(word))
        self.send(signal.SIGHUP)
        self.until(lambda: len(self.events(word)) > before)
        return self.events(word)[-1]

    def end(self, number: signal.Signals = signal.SIGTERM) -> int:
        """Its exit code."""
        self.send(number)
        return self.process.wait(PATIENCE_S)

    @staticmethod
    def until(holds: Any) -> None:
        """Ask again, a little later each time."""
        import threading

        waiting = threading.Event()
        for _ in range(int(PATIENCE_S / 0.02)):
            if holds():
                return
            waiting.wait(0.02)
        raise AssertionError("it did not happen in time")


@contextmanager
def broker(folder: Path, *options: str) -> Iterator[BrokerProcess]:
    """``weft broker --json`` with ``options``; killed at the end if it still runs."""
    log = folder / f"broker-{len(list(folder.glob('broker-*.log')))}.log"
    environment = {key: value for key, value in os.environ.items() if key != "NOTIFY_SOCKET"}
    with log.open("w") as err:
        process = subprocess.Popen(
            [*WEFT, "broker", "--json", *options], stdout=subprocess.PIPE, stderr=err, text=True, env=environment
        )
    try:
        yield BrokerProcess(process, log)
    finally:
        if process.poll() is None:
            process.kill()
        process.wait()
        assert process.stdout is not None
        process.stdout.close()


class Client:
    """An MQTT client made of a socket: 3.1.1 or 5, a few packets, blocking."""

    def __init__(self, port: int | None = None, sock: socket.socket | None = None, version: int = 4) -> None:
        self.sock = sock or socket.create_connection(("127.0.0.1", port), PATIENCE_S)
        self.sock.settimeout(PATIENCE_S)
        self.version = version

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.sock.close()

    def send(self, first: int, body: bytes) -> None:
        assert len(body) < 128 * 128
        size = len(body)
        length = bytes((size,)) if size < 128 else bytes((size & 0x7F | 0x80, size >> 7))
        self.sock.sendall(bytes((first,)) + length + body)

    def hear(self) -> tuple[int, bytes]:
        """One packet: first byte and body; (0, b"") at the end."""
        first = self._exactly(1)
        if not first:
            return 0, b""
        size = shift = 0
        while True:
            byte = self._exactly(1)[0]
            size |= (byte & 0x7F) << shift
            shift += 7
            if byte < 128:
                break
        return first[0], self._exactly(size)

    def connect(self, client_id: str, user: str | None = None, password: str | None = None, clean: bool = True) -> int:
        """The CONNACK's code; 3.1.1 clean unless said, 5 with an expiry of an hour if not."""
        flags = 0x02 if clean else 0
        body = b""
        for value, flag in ((user, 0x80), (password, 0x40)):
            if value is not None:
                flags |= flag
                body += text(value)
        properties = b"" if self.version < 5 else (b"\x00" if clean else b"\x05\x11\x00\x00\x0e\x10")
        head = text("MQTT") + bytes((self.version, flags)) + b"\x00\x3c" + properties
        self.send(0x10, head + text(client_id) + body)
        first, answer = self.hear()
        assert first == 0x20, answer
        return answer[1]

    def subscribe(self, filter_: str, qos: int = 0) -> int:
        self.send(0x82, b"\x00\x01" + (b"\x00" if self.version >= 5 else b"") + text(filter_) + bytes((qos,)))
        first, answer = self.hear()
        assert first == 0x90
        return answer[-1]

    def publish(self, topic: str, payload: bytes, qos: int = 0, retain: bool = False) -> None:
        """With QoS 1, until it is acknowledged."""
        middle = (b"\x00\x07" if qos else b"") + (b"\x00" if self.version >= 5 else b"")
        self.send(0x30 | qos << 1 | retain, text(topic) + middle + payload)
        if qos:
            assert self.hear()[0] == 0x40

    def message(self) -> tuple[str, bytes]:
        """The next PUBLISH at QoS 0 or 1: topic and payload."""
        first, body = self.hear()
        assert first & 0xF0 == 0x30, (first, body)
        size = int.from_bytes(body[:2], "big")
        rest = body[2 + size + (2 if first & 0x06 else 0) :]
        return body[2 : 2 + size].decode(), rest[1:] if self.version >= 5 else rest

    def _exactly(self, size: int) -> bytes:
        data = b""
        while len(data) < size:
            more = self.sock.recv(size - len(data))
            if not more:
                return b""
            data += more
        return data


def text(value: str) -> bytes:
    return len(value.encode()).to_bytes(2, "big") + value.encode()
