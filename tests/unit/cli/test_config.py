"""``weft config``, in this process."""

import json
from pathlib import Path

import pytest

from weft.cli.exits import run
from weft.cli.main import app


def test_a_good_file_is_good_and_a_locked_door_is_a_warning(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "weft.toml"
    file.write_text('[[listener]]\nurl = "mqtt://*"\n[[listener]]\nurl = "ws://localhost"\n')
    assert run(app, ["config", "check", str(file)]) == 0
    assert capsys.readouterr().out == (
        "listens on mqtt://*:1883\nlistens on ws://localhost:8083\n"
        f"warning: mqtt://*: nobody can connect from another machine\n{file}: good\n"
    )
    file.write_text('[[listener]]\nurl = "mqtt://*"\nanonymous = true\n')
    assert run(app, ["config", "check", str(file), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["warnings"] == []


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('[admin]\nlisten = "*:9883"\n', "without a token"),
        ('[admin]\nlisten = "127.0.0.1:9883"\ntoken_file = "none"\n', "the admin token cannot be read"),
        ('[[access.plugins]]\nuse = "no.such:Thing"\n', "cannot be loaded"),
    ],
)
def test_what_a_start_would_refuse_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], text: str, said: str
) -> None:
    file = tmp_path / "weft.toml"
    file.write_text(text)
    assert run(app, ["config", "check", str(file)]) == 2
    error = capsys.readouterr().err
    assert said in error
    assert error.count("\n") == 1


def test_show_prints_a_file_with_its_defaults(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "weft.toml"
    file.write_text('id = "x"\ndata_dir = "data"\n')
    assert run(app, ["config", "show", str(file), "--json"]) == 0
    shown = json.loads(capsys.readouterr().out)
    assert (shown["id"], shown["data_dir"], shown["drain_timeout_s"]) == ("x", "data", 10.0)


def test_import_prints_toml(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "mosquitto.conf"
    file.write_text("listener 1884 127.0.0.1\n")
    assert run(app, ["config", "import", str(file)]) == 0
    assert 'url = "mqtt://127.0.0.1:1884"' in capsys.readouterr().out
    assert run(app, ["config", "import", str(tmp_path / "none")]) == 2
    assert "cannot be read" in capsys.readouterr().err


def test_import_translates_rules(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "acl"
    file.write_text("user ann\ntopic read home/#\npattern readwrite of/%u/#\n")
    assert run(app, ["config", "import", "--acl", str(file)]) == 0
    assert capsys.readouterr().out == "user ann\n    allow read home/#\n\nall\n    allow readwrite of/%u/#\n"
    file.write_text("neither\n")
    assert run(app, ["config", "import", "--acl", str(file)]) == 2
    assert f"{file}:1: " in capsys.readouterr().err


def test_help_has_examples(capsys: pytest.CaptureFixture[str]) -> None:
    for command in (["broker"], ["config", "check"], ["config", "show"], ["config", "import"]):
        assert run(app, [*command, "--help"]) == 0
        assert f"weft {' '.join(command)}" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--listen", "http://x"], "--listen: 'http://x' is no listener"),
        (["--listen", "wss://x"], "needs a certificate"),
        (["--admin", "x"], "the port is missing"),
        (["--config", "none.toml"], "none.toml: cannot be read"),
    ],
)
def test_a_broker_with_wrong_options_does_not_start(
    capsys: pytest.CaptureFixture[str], arguments: list[str], said: str
) -> None:
    assert run(app, ["broker", *arguments]) == 2
    error = capsys.readouterr().err
    assert said in error
    assert error.count("\n") == 1
