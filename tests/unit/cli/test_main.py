"""The ``weft`` command itself: version, doctor, help, and that importing it is cheap."""

import json
import subprocess
import sys

import pytest
from typer.testing import CliRunner

import weft
from weft.cli import doctor, main

HEAVY = ("numpy", "numba", "cryptography", "pyspark", "pandas", "asyncio", "aiohttp", "rich", "uvloop")


@pytest.fixture
def invoke():
    """Run one invocation in this process."""
    runner = CliRunner()
    return lambda *args: runner.invoke(main.app, list(args))


def test_version(invoke):
    result = invoke("version")
    assert (result.exit_code, result.stdout) == (0, f"{weft.__version__}\n")


def test_version_as_an_option(invoke):
    result = invoke("--version")
    assert (result.exit_code, result.stdout) == (0, f"{weft.__version__}\n")


def test_version_as_json(invoke):
    assert json.loads(invoke("version", "--json").stdout) == {"version": weft.__version__}


def test_without_arguments_it_helps(invoke):
    result = invoke()
    assert result.exit_code == 0
    assert "doctor" in result.stdout


@pytest.mark.parametrize("command", ["version", "doctor"])
def test_help_has_an_example(invoke, command):
    result = invoke(command, "--help")
    assert result.exit_code == 0
    assert f"weft {command}" in result.stdout


def test_doctor_reports_every_finding(invoke):
    result = invoke("doctor", "--json")
    document = json.loads(result.stdout)
    assert result.exit_code == 0
    assert document["ok"] is True
    names = [finding["name"] for finding in document["findings"]]
    assert names[0] == "python"
    assert {"msgspec", "uvloop", "weft[spark]", "weft[sdn]", "java", "open vswitch", "network namespaces"} <= set(names)


def test_doctor_fails_with_3_where_a_core_dependency_is_missing(monkeypatch, capsys):
    monkeypatch.setattr(doctor, "CORE", (*doctor.CORE, "no-such-distribution"))
    monkeypatch.setattr(sys, "argv", ["weft", "doctor"])
    with pytest.raises(SystemExit) as stop:
        main.main()
    printed = capsys.readouterr()
    assert stop.value.code == 3
    assert "no-such-distribution" in printed.out
    assert printed.err == "weft: no-such-distribution is missing; install it with: pip install no-such-distribution\n"


def test_the_command_line_imports_nothing_heavy():
    """``weft --help`` is quick because of this; measured in modules, which a busy machine does not change."""
    program = "import sys, weft.cli.main; print(*sorted({name.partition('.')[0] for name in sys.modules}))"
    loaded = subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True).stdout.split()
    assert set(loaded) & set(HEAVY) == set()


def test_the_script_is_installed():
    result = subprocess.run(
        [sys.executable, "-c", "from weft.cli.main import main; main()", "version"],
        check=True,
        capture_output=True,
        text=True,
    )
    assert result.stdout.strip() == weft.__version__
