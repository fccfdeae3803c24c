"""The one builder of Spark sessions: what every job of weft wants, whatever the master.

Where Spark or Java is missing this says so before the JVM would, in one line.
"""

import os
import re
import shutil
import socket
import subprocess
import sys
from collections.abc import Mapping
from importlib.resources import as_file, files
from pathlib import Path

from pyspark.sql import SparkSession

from weft.core.errors import Misuse

LOCAL_TRIES = 4
"""How often a task is tried; local masters try once unless they are told."""
DRIVER_MEMORY = "1g"
JAVA_LEAST = 17
MASTERS = "local, local[N], local[*] or spark://HOST:PORT"
LOCAL = re.compile(r"local(?:\[(\*|[1-9]\d{0,3})(?:,\d+)?\])?")
THREADS = ("NUMBA_NUM_THREADS", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS")
"""One thread each: Spark's tasks are the parallelism."""


class NoJava(Exception):
    """There is no Java that Spark would run on."""


def session(
    master: str = "local[*]",
    *,
    name: str = "weft",
    events: Path | None = None,
    environment: Path | None = None,
    ui: bool = True,
    more: Mapping[str, str] | None = None,
) -> SparkSession:
    """A new session; ``events``: a folder for the history; ``environment``: a packed one, for executors elsewhere."""
    check_java()
    local = master.startswith("local")
    python = sys.executable if environment is None else "./environment/bin/python"
    os.environ["PYSPARK_PYTHON"] = python
    os.environ["PYSPARK_DRIVER_PYTHON"] = sys.executable
    os.environ.setdefault("SPARK_LOCAL_HOSTNAME", "localhost")
    if local or "127.0.0.1" in master or "localhost" in master:
        os.environ["SPARK_LOCAL_IP"] = "127.0.0.1"
    with as_file(files("weft.pipelines.jobs") / "log4j2.properties") as logging:
        settings = {
            "spark.driver.memory": DRIVER_MEMORY,
            "spark.driver.extraJavaOptions": f"-Dlog4j2.configurationFile={logging.resolve().as_uri()}",
            "spark.ui.enabled": str(ui).lower(),
            "spark.ui.showConsoleProgress": "false",
            "spark.sql.session.timeZone": "UTC",
            "spark.sql.shuffle.partitions": "4",
            "spark.sql.execution.arrow.pyspark.enabled": "true",
            # The default committer doubles rows when a job that was killed is begun again: it moves files at the job's end.
            "spark.hadoop.mapreduce.fileoutputcommitter.algorithm.version": "2",
            "spark.sql.streaming.stateStore.providerClass": (
                "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"
            ),
            # Over TCP each Python task stands still for 40 ms.
            "spark.python.unix.domain.socket.enabled": "true",
            "spark.pyspark.python": python,
            **{f"spark.executorEnv.{name}": "1" for name in THREADS},
        }
        if events is not None:
            events.mkdir(parents=True, exist_ok=True)
            settings |= {"spark.eventLog.enabled": "true", "spark.eventLog.dir": events.resolve().as_uri()}
        if environment is not None:
            settings["spark.archives"] = f"{environment.resolve()}#environment"
        os.environ.update(dict.fromkeys(THREADS, "1"))
        builder = SparkSession.builder.master(_patient(master)).appName(name)
        for key, value in (settings | dict(more or {})).items():
            builder = builder.config(key, value)
        return builder.getOrCreate()


def cores_of(master: str) -> int:
    """How many tasks run at once under a local master; 0: not local."""
    if not master.startswith("local"):
        return 0
    found = LOCAL.fullmatch(master)
    if found is None:
        raise Misuse(f"--master {master}: {MASTERS}")
    inside = found[1] or "1"
    return len(os.sched_getaffinity(0)) if inside == "*" else int(inside)


def check_java() -> None:
    """Raise ``NoJava`` if Spark could not start."""
    home = os.environ.get("JAVA_HOME")
    java = str(Path(home) / "bin" / "java") if home else shutil.which("java")
    if java is None or not Path(java).exists():
        raise NoJava(f"Java {JAVA_LEAST} or newer")
    said = subprocess.run([java, "-version"], capture_output=True, text=True, check=False).stderr
    number = said.partition('"')[2].partition(".")[0].partition('"')[0]
    if not number.isdigit() or int(number) < JAVA_LEAST:
        raise NoJava(f"Java {JAVA_LEAST} or newer (found {said.splitlines()[0] if said else 'none'})")


def _patient(master: str) -> str:
    cores = cores_of(master)
    return f"local[{cores},{LOCAL_TRIES}]" if cores else master


def reachable(master: str) -> None:
    """Raise Misuse if nobody listens at a standalone master: Spark itself would try for a minute and then say nothing."""
    if not master.startswith("spark://"):
        if not master.startswith(("local", "yarn", "k8s://")):
            raise Misuse(f"--master {master}: {MASTERS}")
        return
    first = master.removeprefix("spark://").partition(",")[0]
    host, _, port = first.rpartition(":")
    if not host or not port.isdigit():
        raise Misuse(f"--master {master}: spark://HOST:PORT")
    try:
        socket.create_connection((host, int(port)), timeout=5).close()
    except OSError as error:
        raise Misuse(
            f"no Spark master at {master} ({error.strerror or error}); scripts/spark-cluster starts one"
        ) from error
