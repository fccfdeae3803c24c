"""A mosquitto of our own: on a free port of loopback, with a configuration that the test writes, ended by the test.

Ready is what mosquitto itself says on stderr; nothing is polled.
"""

import shutil
import socket
import subprocess
from pathlib import Path
from typing import Self

import pytest

needs_mosquitto = pytest.mark.skipif(
    shutil.which("mosquitto", path="/usr/sbin:/usr/local/sbin:/usr/bin:/usr/local/bin") is None
    or shutil.which("mosquitto_sub") is None,
    reason="mosquitto is not installed (scripts/bootstrap --debian mosquitto mosquitto-clients)",
)


def free_port() -> int:
    """A port that was free a moment ago."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


class Mosquitto:
    """``lines`` go into its configuration; the first listener is on ``port``."""

    def __init__(self, folder: Path, *lines: str, port: int | None = None) -> None:
        self.folder = folder
        self.port = port or free_port()
        self.lines = lines
        self.process: subprocess.Popen[str] | None = None

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def start(self) -> None:
        path = self.folder / f"mosquitto-{self.port}.conf"
        own = [f"listener {self.port} 127.0.0.1", "allow_anonymous true", "log_dest stderr", *self.lines]
        path.write_text("\n".join(own) + "\n", encoding="utf-8")
        program = shutil.which("mosquitto", path="/usr/sbin:/usr/local/sbin:/usr/bin:/usr/local/bin")
        assert program is not None
        self.process = subprocess.Popen(
            [program, "-c", str(path)], stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True
        )
        assert self.process.stderr is not None
        said = []
        for line in self.process.stderr:
            said.append(line)
            if "running" in line:
                return
        self.stop()
        pytest.fail("mosquitto did not start: " + "".join(said))

    def stop(self) -> None:
        """SIGTERM: with persistence it writes what it keeps."""
        if self.process is not None:
            self.process.terminate()
            self.process.communicate(timeout=20)
            self.process = None
