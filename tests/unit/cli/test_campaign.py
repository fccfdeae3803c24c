"""``weft sim campaign`` and ``weft sim replay``: output, files, exit codes, and that a failing seed is seen again."""

import json
import shlex
from pathlib import Path
from typing import Any

import pytest

from planted import ignores_set_l, planted
from weft.cli.exits import run
from weft.cli.main import app
from weft.overlay.suzaku.machine import Suzaku
from weft.sim.overlays import OVERLAYS

Capture = pytest.CaptureFixture[str]
FEW = ["--seeds", "4", "--jobs", "1"]


def campaign(capsys: Capture, *options: str, code: int = 0) -> dict[str, Any]:
    """A campaign's JSON document."""
    assert run(app, ["sim", "campaign", *FEW, "--json", *options]) == code
    document = json.loads(capsys.readouterr().out)
    assert isinstance(document, dict)
    return document


@pytest.fixture
def bug(monkeypatch: pytest.MonkeyPatch) -> None:
    """A Suzaku that does not notice new left neighbours."""
    monkeypatch.setitem(OVERLAYS, "suzaku", planted(ignores_set_l, Suzaku))


def test_json_is_one_object_with_what_scripts_depend_on(capsys: Capture) -> None:
    document = campaign(capsys, "--first", "20")
    assert document["schedules"] == 4
    assert document["violations"] == []
    assert document["seed"] == 20
    assert document["seconds"] > 0
    assert document["violated"] == 0
    assert sum(document["overlays"].values()) == 4


def test_the_same_campaign_gives_the_same_object(capsys: Capture) -> None:
    one, other = campaign(capsys), campaign(capsys)
    assert {**one, "seconds": 0} == {**other, "seconds": 0}


def test_processes_change_nothing(capsys: Capture) -> None:
    one, two = campaign(capsys), campaign(capsys, "--jobs", "2")
    assert {**one, "seconds": 0} == {**two, "seconds": 0}


def test_text(capsys: Capture) -> None:
    assert run(app, ["sim", "campaign", *FEW, "--exhaustive", "2"]) == 0
    out = capsys.readouterr().out
    assert "16 cases explored whole: " in out
    assert "4 schedules in " in out
    assert "no violation; rings whole at most " in out


def test_the_options_bound_what_is_drawn(capsys: Capture) -> None:
    document = campaign(capsys, "--overlay", "skipgraph", "--faults", "pause,drop", "--nodes", "3")
    assert document["overlays"] == {"skipgraph": 4}
    assert set(document["faults"]) <= {"Pause", "Drop"}
    assert document["bounds"]["nodes_max"] == 3
    assert campaign(capsys, "--down-share", "0.5")["bounds"]["down_share"] == 0.5
    assert campaign(capsys, "--faults", "none")["faults"] == {}
    assert len(campaign(capsys, "--faults", "all")["bounds"]["faults"]) == 10


def test_exhaustive_cases_are_in_the_object(capsys: Capture) -> None:
    document = campaign(capsys, "--exhaustive", "2", "--seeds", "1")
    assert len(document["explored"]) == 16
    assert all(case["orders"] >= 1 for case in document["explored"])


def test_a_report_is_written(capsys: Capture, tmp_path: Path) -> None:
    file = tmp_path / "reports" / "campaign.md"
    campaign(capsys, "--report", str(file))
    assert "| schedules | 4 |" in file.read_text(encoding="utf-8")


def test_a_failing_seed_is_replayed_by_the_command_that_is_printed(capsys: Capture, bug: None) -> None:
    """The replay breaks the same rule, and shows the same trace hash as the campaign and as any other replay."""
    options = ["--overlay", "suzaku", "--faults", "none", "--nodes", "5"]
    document = campaign(capsys, *options, code=1)
    assert document["violations"]
    assert document["violated"] == len(document["violations"])
    for violation in document["violations"]:
        weft, *command = shlex.split(violation["replay"])
        assert weft == "weft"
        for _ in range(2):
            assert run(app, [*command, "--json"]) == 1
            captured = capsys.readouterr()
            replayed = json.loads(captured.out)
            assert replayed["seed"] == violation["seed"]
            assert replayed["violation"] == violation["rule"]
            assert replayed["trace_hash"] == violation["trace_hash"]
            assert captured.err.count("\n") == 1
            assert f"seed {violation['seed']}, at " in captured.err


def test_the_text_of_a_failing_campaign_has_the_command_and_the_hash(capsys: Capture, bug: None) -> None:
    options = ["--overlay", "suzaku", "--faults", "none"]
    document = campaign(capsys, *options, code=1)
    assert run(app, ["sim", "campaign", *FEW, *options]) == 1
    captured = capsys.readouterr()
    for violation in document["violations"]:
        assert f"replay: {violation['replay']}  (trace hash {violation['trace_hash']})" in captured.out
    assert captured.err.splitlines()[-1].startswith(f"weft: {document['violated']} violations in 4 schedules")


def test_a_failing_case_tells_its_way(capsys: Capture, monkeypatch: pytest.MonkeyPatch) -> None:
    from weft.sim import campaign as module
    from weft.sim.explore import SETTINGS, Explorer

    kind = planted(ignores_set_l)
    monkeypatch.setattr(module, "Explorer", lambda case: Explorer(case, lambda node: kind(node, SETTINGS, 1)))
    document = campaign(capsys, "--seeds", "1", "--exhaustive", "2", code=1)
    wrong = [violation for violation in document["violations"] if violation["seed"] is None]
    assert any("case stay-join, after:" in violation["rule"] for violation in wrong)
    assert document["schedules"] == 1


def test_replay_says_what_the_schedule_is(capsys: Capture, tmp_path: Path) -> None:
    file = tmp_path / "run.txt"
    assert run(app, ["sim", "replay", "3", "--transcript", str(file)]) == 0
    out = capsys.readouterr().out
    assert out.startswith("seed 3: ")
    assert "events, trace hash " in out
    assert file.read_text(encoding="utf-8").count(" → ") > 10


def test_replay_of_a_failure_tells_the_story_of_its_last_step(capsys: Capture, bug: None) -> None:
    document = campaign(capsys, "--overlay", "suzaku", "--faults", "none", code=1)
    command = shlex.split(document["violations"][0]["replay"])[1:]
    assert run(app, command) == 1
    assert "\n> #" in capsys.readouterr().out


@pytest.mark.parametrize("command", [["campaign"], ["replay", "1"]])
@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--faults", "earthquake"], "unknown fault earthquake; known: drop, duplicate, "),
        (["--faults", "drop,earthquake"], "unknown fault earthquake"),
        (["--overlay", "pastry"], "unknown overlay pastry; known: suzaku, skipgraph"),
        (["--overlay", ""], "unknown overlay"),
        (["--nodes", "1"], "--nodes"),
        (["--nodes", "many"], "--nodes"),
        (["--no-such-option"], "--no-such-option"),
    ],
)
def test_wrong_usage_is_one_line_and_exit_code_2(
    capsys: Capture, command: list[str], options: list[str], said: str
) -> None:
    assert run(app, ["sim", *command, *options]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.count("\n") == 1
    assert said in captured.err


@pytest.mark.parametrize(
    "options", [["--seeds", "0"], ["--first", "-1"], ["--exhaustive", "5"], ["--jobs", "0"], ["--seeds", "x"]]
)
def test_numbers_out_of_bounds_are_refused(capsys: Capture, options: list[str]) -> None:
    assert run(app, ["sim", "campaign", *options]) == 2
    assert options[0] in capsys.readouterr().err


@pytest.mark.parametrize("command", ["campaign", "replay"])
def test_help_has_examples(capsys: Capture, command: str) -> None:
    assert run(app, ["sim", command, "--help"]) == 0
    assert f"weft sim {command} " in capsys.readouterr().out
