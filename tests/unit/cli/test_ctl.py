"""``weft ctl`` without a broker: help with examples, and what each command is called."""

import pytest
from typer.testing import CliRunner

from weft.cli import main

COMMANDS = (
    "status", "clients", "client", "kick", "sessions", "discard", "subscriptions", "topics", "topic", "retained", "publish",
    "reload", "limits", "log-level",
)  # fmt: skip


def invoke(*args):
    return CliRunner().invoke(main.app, list(args))


def test_the_group_lists_its_commands():
    text = invoke("ctl", "--help").stdout
    assert [name for name in COMMANDS if name not in text] == []


def test_the_store_has_its_place():
    assert "compact" in invoke("ctl", "store", "--help").stdout


@pytest.mark.parametrize("command", COMMANDS)
def test_help_has_an_example_and_the_common_options(command):
    result = invoke("ctl", command, "--help")
    assert result.exit_code == 0
    assert f"weft ctl {command}" in result.stdout
    assert all(option in result.stdout for option in ("--admin", "--token-file", "--json"))
