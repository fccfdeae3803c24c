"""What is refused before a JVM is started."""

import socket

import pytest

pytest.importorskip("pyspark", reason="weft[spark] is not installed")

from weft.core.errors import Misuse
from weft.pipelines.jobs.session import NoJava, check_java, cores_of, reachable


@pytest.mark.parametrize(
    ("master", "cores"), [("local", 1), ("local[3]", 3), ("local[2,4]", 2), ("spark://127.0.0.1:7077", 0), ("yarn", 0)]
)
def test_how_many_runs_at_once(master, cores):
    assert cores_of(master) == cores


@pytest.mark.parametrize("master", ["local[x]", "local[0]", "local[-1]", "localfoo", "local[2"])
def test_a_local_master_that_means_nothing_is_refused(master):
    with pytest.raises(Misuse, match="local\\[N\\]"):
        cores_of(master)


@pytest.mark.parametrize("master", ["cluster", "spark://", "spark://host", "127.0.0.1:7077"])
def test_a_master_that_means_nothing_is_refused(master):
    with pytest.raises(Misuse, match="--master"):
        reachable(master)


def test_a_master_that_is_not_there_is_said_at_once():
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        port = taken.getsockname()[1]
        with pytest.raises(Misuse, match=f"no Spark master at spark://127.0.0.1:{port}"):
            reachable(f"spark://127.0.0.1:{port}")


def test_without_java_nothing_is_started(monkeypatch, tmp_path):
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(NoJava, match="Java 17 or newer"):
        check_java()


def test_an_old_java_is_told_from_a_new_one(monkeypatch, tmp_path):
    java = tmp_path / "java"
    java.write_text("#!/bin/sh\necho 'openjdk version \"11.0.2\" 2019-01-15' >&2\n", encoding="utf-8")
    java.chmod(0o755)
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(NoJava, match=r'found openjdk version "11\.0\.2"'):
        check_java()
