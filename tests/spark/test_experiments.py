"""Every experiment, small, through the command line and Spark; then the report of all of them."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("pyspark", reason="weft[spark] is not installed")


from weft.pipelines.experiments.catalogue import EXPERIMENTS

pytestmark = [pytest.mark.spark, pytest.mark.timeout(900)]

PROGRAM = "from weft.cli.main import main; main()"
VERDICTS = {"agrees", "differs", "holds", "does not hold", "nothing to compare", "not run"}


def weft(*words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-c", PROGRAM, *words], check=False, capture_output=True, text=True)


@pytest.fixture(scope="module")
def out(tmp_path_factory) -> Path:
    return tmp_path_factory.mktemp("results") / "out"


@pytest.fixture(scope="module")
def ran(out) -> dict[str, dict]:
    """All of them, run once for this module."""
    done = weft("experiments", "all", "--scale", "small", "--master", "local[2]", "--out", str(out), "--json")
    assert done.returncode == 0, done.stderr
    return {document["name"]: document for document in json.loads(done.stdout)}


@pytest.mark.parametrize("name", [experiment.name for experiment in EXPERIMENTS])
def test_each_is_whole_and_judged(ran, name):
    found = ran[name]
    assert found["runs"]["there"] == found["runs"]["planned"] > 0
    assert found["runs"]["failed"] == 0
    assert {verdict["verdict"] for verdict in found["verdicts"]} <= VERDICTS
    assert all(Path(path).stat().st_size > 1_000 for path in found["plots"])
    assert all(Path(path).stat().st_size > 0 for path in found["data"])


def test_a_second_time_nothing_is_run(ran, out):
    name = EXPERIMENTS[0].name
    done = weft("experiments", "run", name, "--scale", "small", "--master", "local[1]", "--out", str(out), "--json")
    (again,) = json.loads(done.stdout)
    assert again["runs"]["new"] == 0
    assert again["verdicts"] == ran[name]["verdicts"]


def test_the_report_has_every_experiment_and_all_that_it_shows(ran, out, tmp_path):
    words = ("--scale", "small", "--master", "local[2]", "--out", str(out), "--to", str(tmp_path))
    done = weft("experiments", "report", *words)
    assert done.returncode == 0, done.stderr
    page, html = ((tmp_path / name).read_text(encoding="utf-8") for name in ("README.md", "index.html"))
    for experiment in EXPERIMENTS:
        assert f'<a id="{experiment.name}"></a>' in page
        assert f'id="{experiment.name}"' in html
        for claim in experiment.claims:
            assert claim.what.replace("|", "\\|") in page
    shown = [*re.findall(r"\]\(([^)#]+\.(?:svg|png|csv))\)", page), *re.findall(r'src="([^"]+)"', html)]
    assert len(shown) > len(EXPERIMENTS)
    assert all((tmp_path / name).is_file() for name in shown)
