"""A standalone cluster on this machine, made by scripts/spark-cluster: a job uses all of it, and survives a part of it.

One cluster, one packed environment and one run of cluster_job.py serve all tests here: each costs seconds.
"""

import json
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

pytest.importorskip("pyspark", reason="needs weft[spark]")
pq = pytest.importorskip("pyarrow.parquet")

pytestmark = [pytest.mark.spark, pytest.mark.timeout(400)]

ROOT = Path(__file__).parents[2]
SCRIPT = str(ROOT / "scripts" / "spark-cluster")
JOB = str(Path(__file__).with_name("cluster_job.py"))
PATIENCE_S = 300
"""Half a dozen JVMs start, some of them twice; a quiet machine takes a tenth of it."""


@pytest.fixture(scope="module")
def packed(tmp_path_factory) -> Path:
    file = tmp_path_factory.mktemp("packed") / "environment.tar.gz"
    subprocess.run([SCRIPT, "--pack", str(file)], check=True, timeout=PATIENCE_S, stdout=subprocess.DEVNULL)
    return file


@pytest.fixture(scope="module")
def cluster(tmp_path_factory) -> Iterator[dict[str, Any]]:
    """What the script says about it."""
    work = tmp_path_factory.mktemp("cluster")
    command = [SCRIPT, "--workers", "2", "--json", "--work", str(work)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as script:
        try:
            assert script.stdout
            line = script.stdout.readline()
            assert line, "the cluster did not start"
            known = json.loads(line)
            yield known
        finally:
            script.send_signal(signal.SIGTERM)
            assert script.wait(PATIENCE_S) == 0
    for worker in known["workers"]:
        assert not Path(f"/proc/{worker['pid']}").exists(), "the script ends what it has started"


class Ran(NamedTuple):
    rows: list[dict[str, Any]]
    runs: list[dict[str, Any]]
    """Of the experiment, before anything was killed."""
    worker: int
    executor: int
    name: str
    """What was killed: a worker's process, its executor's, its name."""


@pytest.fixture(scope="module")
def ran(cluster, packed, tmp_path_factory) -> Ran:
    """The cluster is not whole then."""
    folder = tmp_path_factory.mktemp("job")
    words = [sys.executable, JOB, cluster["master"], str(packed), str(folder)]
    job = subprocess.run(words, capture_output=True, text=True, check=False, timeout=PATIENCE_S)
    assert job.returncode == 0, job.stderr[-3000:]
    worker, executor, name = (folder / "killed").read_text(encoding="ascii").split()
    rows = [json.loads(line) for line in job.stdout.splitlines()]
    return Ran(rows, pq.read_table(folder / "results" / "runs").to_pylist(), int(worker), int(executor), name)


def test_tasks_run_on_both_workers(ran):
    assert {row["worker"] for row in ran.rows} == {"worker-0", "worker-1"}


def test_tasks_run_in_the_packed_environment(ran, cluster):
    folders = {worker["work"] for worker in cluster["workers"]}
    for row in ran.rows:
        assert Path(row["prefix"]).name == "environment"
        assert str(Path(row["prefix"]).parents[2]) in folders, "an executor's own folder: worker, application, executor"
        assert row["weft"].startswith(row["prefix"]), "and not the checkout's weft"


def test_an_experiment_runs_on_both_as_it_does_alone(ran):
    assert len({run["key"] for run in ran.runs}) == len(ran.runs) == 12
    assert [run["error"] for run in ran.runs] == [None] * 12
    assert {Path(run["executor"]).name for run in ran.runs} == {"0", "1"}, "the executors' numbers"


def test_a_killed_worker_loses_no_row_and_doubles_none(ran, cluster):
    known = {each["pid"]: Path(each["work"]).name for each in cluster["workers"]}
    assert known[ran.worker] == ran.name, "a worker that the script has told us of"
    assert not Path(f"/proc/{ran.executor}").exists()
    assert sorted(row["id"] for row in ran.rows) == list(range(24))
    assert {row["worker"] for row in ran.rows if row["id"] == 12} == set(known.values()) - {ran.name}, (
        "done by the other"
    )


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--workers", "0"], "--workers is 1 to 64"),
        (["--cores", "0"], "--cores is 1 or more"),
        (["--memory", "much"], "--memory is like"),
        (["--pack", "environment.zip"], "ends in .tar.gz"),
    ],
)
def test_what_is_not_possible_is_one_line(words, said):
    answer = subprocess.run([SCRIPT, *words], capture_output=True, text=True, check=False, timeout=PATIENCE_S)
    assert answer.returncode == 2
    assert said in answer.stderr.splitlines()[-1]
