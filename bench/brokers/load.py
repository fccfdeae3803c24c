"""The compiled generator (bench/load/load.c): built, run against a broker, and what both spent meanwhile."""

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

from brokers.servers import LOAD_CORE, Server, pinned

SOURCE = Path(__file__).parent.parent / "load" / "load.c"


def build(folder: Path) -> Path:
    """The generator's program; ends with one line where there is no compiler."""
    compiler = shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")
    if compiler is None:
        raise SystemExit("bench/broker.py needs a C compiler (cc) for its load generator: apt install gcc libc6-dev")
    program = folder / "load"
    subprocess.run([compiler, "-O2", "-o", str(program), str(SOURCE)], check=True)
    return program


class Load:
    """One generator process."""

    def __init__(self, program: Path, server: Server, arguments: list[str]) -> None:
        self.process = subprocess.Popen(
            [str(program), "--port", str(server.port), *arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            preexec_fn=pinned(LOAD_CORE),  # noqa: PLW1509 - no threads here
        )

    def line(self) -> dict[str, Any]:
        """The next thing it says."""
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        if not line:
            raise RuntimeError(f"the generator ended with {self.process.wait()}")
        said: dict[str, Any] = json.loads(line)
        return said

    def end(self) -> None:
        self.process.communicate()


def messages(program: Path, server: Server, arguments: list[str], per: str = "delivered") -> dict[str, float]:
    """One run; CPU time is that of the counted seconds only, per message that was ``delivered`` or ``acknowledged``."""
    load = Load(program, server, arguments)
    load.line()
    before = server.cpu_s()
    load.line()
    cpu_s, rss = server.cpu_s() - before, server.rss_bytes()
    said = load.line()
    load.end()
    if not said[per]:
        raise RuntimeError("nothing arrived")
    return {
        "cpu_s_per_million": cpu_s / said[per] * 1e6,
        "per_s": said[per] / said["seconds"],
        "p50_ms": said["p50_ms"],
        "p99_ms": said["p99_ms"],
        "rss_mb": rss / 1e6,
        "lost": said["lost"],
        "broker_cpu": cpu_s / said["seconds"],
        "generator_cpu": said["generator_cpu_s"] / said["seconds"],
    }


def connections(program: Path, server: Server, count: int) -> dict[str, float]:
    """Connect and disconnect, one after the other; what each costs the broker."""
    warm = Load(program, server, ["--churn", "200"])
    warm.line()
    warm.end()
    before = server.cpu_s()
    load = Load(program, server, ["--churn", str(count)])
    said = load.line()
    cpu_s = server.cpu_s() - before
    load.end()
    return {
        "cpu_us": cpu_s / count * 1e6,
        "per_s": count / said["seconds"],
        "generator_cpu": said["generator_cpu_s"] / said["seconds"],
    }


def idle(program: Path, server: Server, count: int, subscribe: bool) -> dict[str, float]:
    """``count`` clients that are connected, and perhaps have one subscription each, and say nothing."""
    who = ["--pubs", "0", "--subs", str(count)] if subscribe else ["--pubs", str(count), "--subs", "0"]
    before, begun = server.rss_bytes(), server.cpu_s()
    load = Load(program, server, ["--hold", *who, "--topics", str(count), "--source-addresses", "4"])
    load.line()
    kept = server.rss_bytes() - before
    cpu_s = server.cpu_s() - begun
    load.end()
    return {"bytes": kept / count, "cpu_us": cpu_s / count * 1e6}
