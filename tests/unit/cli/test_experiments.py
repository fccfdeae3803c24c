"""``weft experiments`` without Spark: what is listed, shown and refused."""

import json
import subprocess
import sys
from importlib.util import find_spec

import pytest

from weft.cli.exits import Code, run
from weft.cli.main import app

# What is refused by the pipeline needs it to be there; listing and showing must not.
SPARK = pytest.mark.skipif(find_spec("pyspark") is None, reason="weft[spark] is not installed")
NAMES = ["saps-fig8", "relay-fig10", "select-table3", "shg-structure", "migrate-fig8", "beyond-churn"]


def answer(capsys, *words: str) -> tuple[int, str, str]:
    code = run(app, ["experiments", *words])
    said = capsys.readouterr()
    return code, said.out, said.err


def test_list_names_every_experiment_once(capsys):
    code, out, _ = answer(capsys, "list")
    assert code == Code.DONE
    listed = [line.split()[0] for line in out.splitlines()]
    assert len(listed) == len(set(listed))
    assert set(NAMES) <= set(listed)


def test_the_list_as_json_has_runs_for_each_scale(capsys):
    _, out, _ = answer(capsys, "list", "--json")
    for found in json.loads(out):
        assert set(found["runs"]) == {"small", "paper", "huge"}
        assert 0 < found["runs"]["small"] <= found["runs"]["paper"]
        assert found["runs"]["huge"] > 0  # larger ones, and often fewer


@pytest.mark.parametrize("name", NAMES)
def test_show_says_what_is_asked_and_compared(capsys, name):
    code, out, _ = answer(capsys, "show", name)
    assert code == Code.DONE
    assert out.startswith(f"{name} (")
    assert "--scale paper" in out
    assert "Compared with:" in out


def test_an_unknown_experiment_is_one_line(capsys):
    for words in (("show", "saps-fig7"), ("run", "saps-fig7"), ("run", "saps-fig8", "saps-fig7")):
        code, out, err = answer(capsys, *words)
        assert (code, out) == (Code.USAGE, "")
        assert err == "weft: unknown experiment saps-fig7; `weft experiments list` names them all\n"


@pytest.mark.parametrize("scale", ["tiny", "PAPER", ""])
def test_an_unknown_scale_is_refused(capsys, scale):
    code, _, err = answer(capsys, "run", "saps-fig8", "--scale", scale)
    assert code == Code.USAGE
    assert "small" in err
    assert err.count("\n") == 1


@SPARK
def test_a_master_that_is_none_is_refused_before_anything_starts(capsys, tmp_path):
    code, _, err = answer(capsys, "run", "saps-fig8", "--master", "somewhere", "--out", str(tmp_path / "out"))
    assert code == Code.USAGE
    assert err == "weft: --master somewhere: local, local[N], local[*] or spark://HOST:PORT\n"


@SPARK
def test_somebody_elses_folder_is_refused(capsys, tmp_path):
    (tmp_path / "letter.txt").write_text("dear", encoding="utf-8")
    for words in (("run", "saps-fig8"), ("report",)):
        code, _, err = answer(capsys, *words, "--out", str(tmp_path))
        assert code == Code.USAGE
        assert "holds something else than results" in err


@SPARK
def test_a_report_of_nothing_says_what_to_do(capsys, tmp_path):
    code, _, err = answer(capsys, "report", "--out", str(tmp_path / "none"))
    assert code == Code.USAGE
    assert "`weft experiments all` makes them" in err


@SPARK
def test_a_scale_that_does_not_fit_is_refused_before_anything_starts(capsys, tmp_path, monkeypatch):
    monkeypatch.setattr("weft.pipelines.jobs.memory.available_mb", lambda: 1_000.0)
    code, _, err = answer(capsys, "run", "saps-fig8", "--scale", "paper", "--out", str(tmp_path / "out"))
    assert code == Code.FAILED
    assert "GB are free" in err
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("words", [("--version",), ("experiments", "list"), ("experiments", "show", "relay-fig10")])
def test_what_needs_no_spark_imports_none(words):
    program = (
        "import sys\nfrom weft.cli.exits import run\nfrom weft.cli.main import app\n"
        f"run(app, {list(words)!r})\n"
        "assert not {'pyspark', 'pandas', 'pyarrow', 'matplotlib'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, timeout=60)
