"""A standalone Spark master and its workers as children of this process; scripts/spark-cluster is how to call it.

The pip package of pyspark has no start-master.sh, so the two classes are started by ``spark-class``. Everybody takes a free
port: the master says in its log which one, and its page for programs says who has registered. What is started here is ended
here, by its process id: workers first, because a worker ends its executors.
"""

import argparse
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import sysconfig
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Callable
from pathlib import Path
from typing import NoReturn, TypeVar

HOST = "127.0.0.1"
HOME = Path(sysconfig.get_path("purelib")) / "pyspark"
PATIENCE_S = 120.0
"""For a JVM to start on a busy machine, and for one to end."""
POLL_S = 0.1
WORKERS_MAX = 64
DAEMON_MEMORY = "256m"
"""Of the master and of each worker's own process; executors have what --memory says."""
DAEMON_JAVA = "-XX:+UseSerialGC -XX:TieredStopAtLevel=1 -Dspark.master.rest.enabled=false"
"""They do little, and are wanted soon. The REST door is on a fixed port."""

T = TypeVar("T")


class Failed(Exception):
    """One line that says what, where, and what to do."""


class Stopped(Exception):
    """Told to end."""


class Cluster:
    """The processes; ``work`` has their logs, and each worker's folder with those of its executors."""

    def __init__(self, work: Path, *, cores: int, memory: str) -> None:
        self.work, self.cores, self.memory = work, cores, memory
        self.master: subprocess.Popen[bytes] | None = None
        self.workers: list[subprocess.Popen[bytes]] = []
        self.url = self.ui = ""

    def start(self, workers: int) -> None:
        """Returns when all of them are registered."""
        self.master = self._spawn("master", "master.Master", "--port", "0", "--webui-port", "0")
        self.url = self._soon("the master has not said where it listens", lambda: self._said(r"(spark://\S+:\d+)"))
        page = self._soon("the master has no page", lambda: self._said(r"MasterWebUI.* (http://\S+:\d+)"))
        self.ui = page
        for number in range(workers):
            own = self.work / f"worker-{number}"
            words = ("--cores", str(self.cores), "--memory", self.memory, "--work-dir", str(own), self.url)
            self.workers.append(self._spawn(own.name, "worker.Worker", "--port", "0", "--webui-port", "0", *words))
        self._soon("workers have not registered", lambda: self.registered() >= workers)

    def registered(self) -> int:
        with urllib.request.urlopen(f"{self.ui}/json/", timeout=PATIENCE_S) as answer:  # noqa: S310 - our own master
            known = json.load(answer)["workers"]
        return sum(worker["state"] == "ALIVE" for worker in known)

    def watch(self) -> NoReturn:
        """Until a signal comes. A worker that ends is said; without the master there is no cluster."""
        assert self.master
        gone: set[int] = set()
        while self.master.poll() is None:
            for number, worker in enumerate(self.workers):
                if number not in gone and worker.poll() is not None:
                    gone.add(number)
                    say(f"worker-{number} (process {worker.pid}) has ended: {worker.returncode}")
            time.sleep(POLL_S)
        raise Failed(f"the master has ended: {self.master.returncode}; see {self.work / 'master.log'}")

    def end(self) -> None:
        for group in (self.workers, [self.master] if self.master else []):
            for process in group:
                process.terminate()
            for process in group:
                try:
                    process.wait(PATIENCE_S)
                except subprocess.TimeoutExpired:
                    process.kill()
                    process.wait()

    def _spawn(self, name: str, kind: str, *words: str) -> subprocess.Popen[bytes]:
        scratch = self.work / "scratch"
        scratch.mkdir(exist_ok=True)
        ours = {
            "SPARK_HOME": str(HOME),
            "SPARK_LOCAL_IP": HOST,
            "SPARK_PUBLIC_DNS": HOST,
            "SPARK_LOCAL_DIRS": str(scratch),
            "SPARK_DAEMON_MEMORY": DAEMON_MEMORY,
            "SPARK_DAEMON_JAVA_OPTS": DAEMON_JAVA,
        }
        with (self.work / f"{name}.log").open("wb") as log:
            return subprocess.Popen(
                [str(HOME / "bin" / "spark-class"), f"org.apache.spark.deploy.{kind}", "--host", HOST, *words],
                env=os.environ | ours,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,  # Ctrl-C is for us; we end them in order
            )

    def _said(self, pattern: str) -> str:
        found = re.search(pattern, (self.work / "master.log").read_text(errors="replace"))
        return found[1] if found else ""

    def _soon(self, otherwise: str, look: Callable[[], T]) -> T:
        """What ``look`` finds, as soon as it finds something."""
        until = time.monotonic() + PATIENCE_S
        while time.monotonic() < until:
            for process in filter(None, (self.master, *self.workers)):
                if process.poll() is not None:
                    raise Failed(f"process {process.pid} has ended at once: {process.returncode}; {self._last()}")
            try:
                if found := look():
                    return found
            except urllib.error.URLError:
                pass
            time.sleep(POLL_S)
        raise Failed(f"{otherwise} after {PATIENCE_S:.0f} s; {self._last()}")

    def _last(self) -> str:
        """The last line of each log."""
        logs = {log.name: log.read_text(errors="replace").splitlines() for log in sorted(self.work.glob("*.log"))}
        return "; ".join(f"{name}: {lines[-1]}" for name, lines in logs.items() if lines)


def say(text: str) -> None:
    print(f"spark-cluster: {text}", file=sys.stderr, flush=True)


def stop(number: int, frame: object) -> NoReturn:
    """A second signal does not keep the first from ending what runs."""
    for each in (signal.SIGINT, signal.SIGTERM):
        signal.signal(each, signal.SIG_IGN)
    raise Stopped


def serve(workers: int, *, cores: int, memory: str, work: Path, as_json: bool) -> None:
    cluster = Cluster(work, cores=cores, memory=memory)
    try:
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, stop)
        cluster.start(workers)
        known = {
            "master": cluster.url,
            "ui": cluster.ui,
            "work": str(work),
            "workers": [
                {"pid": worker.pid, "work": str(work / f"worker-{n}")} for n, worker in enumerate(cluster.workers)
            ],
        }
        print(json.dumps(known) if as_json else cluster.url, flush=True)
        say(f"{workers} workers with {cores} cores and {memory} each; {cluster.ui} shows them; Ctrl-C ends all")
        cluster.watch()
    except Stopped:
        pass
    finally:
        cluster.end()


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="spark-cluster", description="A Spark cluster on this machine.")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--cores", type=int, default=1, help="of each worker")
    parser.add_argument("--memory", default="1g", help="that each worker has for executors")
    parser.add_argument("--work", metavar="DIR", type=Path, help="logs and executors' folders; else gone at the end")
    parser.add_argument("--json", action="store_true", help="address, page, and the workers' processes as one line")
    parser.add_argument("--pack", metavar="FILE", type=Path, help="pack the environment into FILE.tar.gz, and end")
    options = parser.parse_args()
    if not 1 <= options.workers <= WORKERS_MAX:
        parser.error(f"--workers is 1 to {WORKERS_MAX}")
    if options.cores < 1:
        parser.error("--cores is 1 or more")
    if not re.fullmatch(r"[1-9]\d*[mg]", options.memory):
        parser.error("--memory is like 512m or 1g")
    if options.pack and not options.pack.name.endswith((".tar.gz", ".tgz")):
        parser.error("--pack wants a name that ends in .tar.gz")
    return options


def main() -> int:
    options = arguments()
    try:
        if options.pack:
            from spark_environment import pack  # beside this file; only this needs what it imports

            pack(options.pack)
            print(options.pack)
        elif options.work:
            options.work.mkdir(parents=True, exist_ok=True)
            serve(
                options.workers,
                cores=options.cores,
                memory=options.memory,
                work=options.work.resolve(),
                as_json=options.json,
            )
        else:
            work = Path(tempfile.mkdtemp(prefix="spark-cluster-"))
            try:
                serve(options.workers, cores=options.cores, memory=options.memory, work=work, as_json=options.json)
            finally:
                shutil.rmtree(work, ignore_errors=True)
    except (Failed, OSError) as problem:
        say(str(problem))
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
