"""The README is true: its marked blocks are run, in order, as somebody would who follows it.

A comment before a block says what it is: `terminal: NAME` goes on in a terminal of its own (a new broker ends all before it);
`command` runs to its end and succeeds; `shows: NAME` is what that terminal prints in the end. Two things are different here:
ports are free ones instead of the usual, and passwords are not asked for on a terminal.
"""

import contextlib
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from broker_process import PATIENCE_S, BrokerProcess

pytestmark = [
    pytest.mark.live,
    pytest.mark.skipif(shutil.which("openssl") is None, reason="openssl is not installed"),
]

ROOT = Path(__file__).parents[2]
BLOCK = re.compile(r"<!-- (\w+)(?:: (\w+))? -->\n```\w*\n(.*?)```", re.DOTALL)
PORTS = ("1883", "8883", "9883")
WRAPPER = """#!/usr/bin/env bash
# What a default port would be, said.
words=("$@")
case "$1" in
broker) [[ "$*" == *--config* ]] || words+=(--listen mqtt://127.0.0.1:1883) ;;
pub | sub) [[ "$*" == *" -L "* ]] || words+=(-p 1883) ;;
esac
exec {python} -c 'from weft.cli.main import main; main()' "${{words[@]}}"
"""


def free_ports(count: int) -> list[str]:
    with contextlib.ExitStack() as stack:
        sockets = [stack.enter_context(socket.socket()) for _ in range(count)]
        for sock in sockets:
            sock.bind(("127.0.0.1", 0))
        return [str(sock.getsockname()[1]) for sock in sockets]


class Reader:
    """Somebody at a machine with the README and some terminals."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._ports = dict(zip(PORTS, free_ports(len(PORTS)), strict=True))
        self._terminals: dict[str, subprocess.Popen[str]] = {}
        self._last = ""
        binaries = folder / "bin"
        binaries.mkdir()
        wrapper = binaries / "weft"
        wrapper.write_text(self._here(WRAPPER.format(python=sys.executable)))
        wrapper.chmod(0o755)
        self._environment = {
            **os.environ,
            "PATH": f"{binaries}:{os.environ['PATH']}",
            "WEFT_ADMIN": f"http://127.0.0.1:{self._ports['9883']}",
        }
        self._environment.pop("NOTIFY_SOCKET", None)

    def _here(self, text: str) -> str:
        text = re.sub(r"\b(1883|8883|9883)\b", lambda port: self._ports[port[0]], text)
        return re.sub(r"^weft passwd (.*)$", r"echo secret | weft passwd --password-stdin \1", text, flags=re.MULTILINE)

    def terminal(self, name: str, text: str) -> None:
        if "weft broker" in text:
            self.leave()
        with self._output(name).open("w") as out:
            self._terminals[name] = subprocess.Popen(
                ["bash", "-ec", f"exec {self._here(text)}"],
                cwd=self.folder,
                env=self._environment,
                stdout=out,
                text=True,
            )
        if "weft broker" in text:
            BrokerProcess.until(lambda: "listening on" in self._output(name).read_text())

    def command(self, text: str) -> str:
        self._last = text
        done = subprocess.run(
            ["bash", "-ec", self._here(text)],
            cwd=self.folder, env=self._environment, capture_output=True, text=True, check=False, timeout=PATIENCE_S,
        )  # fmt: skip
        assert done.returncode == 0, f"{text}\n{done.stderr}"
        return done.stdout

    def sees(self, name: str, text: str) -> None:
        """Whoever was too quick does the last thing again."""

        def there() -> bool:
            if text in self._output(name).read_text():
                return True
            self.command(self._last)
            return False

        BrokerProcess.until(there)

    def leave(self) -> None:
        for name in reversed(list(self._terminals)):
            self._end(name)

    def _end(self, name: str) -> None:
        process = self._terminals.pop(name)
        process.send_signal(signal.SIGINT)  # Ctrl-C
        try:
            assert process.wait(PATIENCE_S) == 0, f"{name} did not end well after Ctrl-C"
        finally:
            process.kill()
            process.wait()

    def _output(self, name: str) -> Path:
        return self.folder / f"{name}.out"


@pytest.fixture
def reader(tmp_path: Path) -> Iterator[Reader]:
    reader = Reader(tmp_path)
    yield reader
    reader.leave()


def test_following_the_readme_works(reader: Reader) -> None:
    blocks = BLOCK.findall((ROOT / "README.md").read_text(encoding="utf-8"))
    assert {kind for kind, _, _ in blocks} == {"terminal", "command", "shows"}
    said = ""
    for kind, name, text in blocks:
        if kind == "terminal":
            reader.terminal(name, text)
        elif kind == "command":
            said += reader.command(text)
        else:
            reader.sees(name, text)
    assert said.count("home/door closed") == 2
