"""``weft sim run``: output, files, exit codes."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from weft.cli.exits import run
from weft.cli.main import app

EXAMPLE = Path(__file__).parents[3] / "examples" / "first-ring.toml"


def test_text(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(app, ["sim", "run", str(EXAMPLE)]) == 0
    out = capsys.readouterr().out
    assert "↻ kyoto 1 5 osaka 2 sendai 4 8 tokyo 3 7" in out
    assert "8 keys reached, 7 hand-overs, 3 of them between clusters" in out
    assert "15 of 15 expectations hold" in out
    assert "trace hash" in out


def test_json_and_transcript(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    file = tmp_path / "run.txt"
    assert run(app, ["sim", "run", str(EXAMPLE), "--json", "--transcript", str(file)]) == 0
    outcome = json.loads(capsys.readouterr().out)
    assert outcome["failures"] == []
    assert outcome["spreads"][0]["value"] == 8
    delivered = sum(traffic["delivered"] for traffic in outcome["messages"].values())
    lines = file.read_text(encoding="utf-8").splitlines()
    assert len([line for line in lines if not line.startswith("--")]) == delivered


def test_the_run_does_not_depend_on_the_hash_seed() -> None:
    outputs = set()
    for hash_seed in ("0", "77"):
        command = [sys.executable, "-c", "from weft.cli.main import main; main()", "sim", "run", str(EXAMPLE), "--json"]
        environment = {**os.environ, "PYTHONHASHSEED": hash_seed}
        outputs.add(subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout)
    assert len(outputs) == 1


def test_story(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(app, ["sim", "run", str(EXAMPLE), "--json"]) == 0
    step = json.loads(capsys.readouterr().out)["spreads"][0]["step"]
    assert run(app, ["sim", "run", str(EXAMPLE), "--story", str(step)]) == 0
    out = capsys.readouterr().out
    assert f"> #{step} 16.000000  3  command" in out
    assert out.count("delivered: Received(") == 8


def test_an_expectation_that_does_not_hold_is_exit_code_1(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    file = tmp_path / "x.toml"
    file.write_text(EXAMPLE.read_text(encoding="utf-8").replace("members = 7", "members = 8"), encoding="utf-8")
    assert run(app, ["sim", "run", str(file)]) == 1
    captured = capsys.readouterr()
    assert captured.err.startswith(f"weft: {file}:")
    assert "expected members, but 7 keys are in the ring, not 8" in captured.err
    assert captured.err.count("\n") == 1


@pytest.mark.parametrize("arguments", [["run"], ["run", "none.toml"], ["run", str(EXAMPLE), "--story", "0"], []])
def test_wrong_usage_is_one_line_and_exit_code_2(capsys: pytest.CaptureFixture[str], arguments: list[str]) -> None:
    assert run(app, ["sim", *arguments]) == 2
    assert capsys.readouterr().err.count("\n") == 1


def test_a_refused_file_is_exit_code_2(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    file = tmp_path / "x.toml"
    file.write_text("seed = 1\nuntil = 1\n[overlay]\nbrokres = 1\n", encoding="utf-8")
    assert run(app, ["sim", "run", str(file)]) == 2
    assert capsys.readouterr().err.startswith(f"weft: {file}:4: unknown field 'brokres' in [overlay]; known: brokers, ")
