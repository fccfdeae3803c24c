"""The log: format, level, and what is never written."""

import json
from collections.abc import Iterator

import pytest
import structlog

from weft.node.config import LogSettings
from weft.runtime import logs


@pytest.fixture(autouse=True)
def restored() -> Iterator[None]:
    yield
    structlog.reset_defaults()
    structlog.contextvars.clear_contextvars()


def test_json_has_level_time_broker_and_fields(capsys: pytest.CaptureFixture[str]) -> None:
    logs.configure(LogSettings("json"), "kyoto-1")
    structlog.get_logger().warning("it happened", client="c")
    entry = json.loads(capsys.readouterr().err)
    assert entry.pop("timestamp").endswith("Z")
    assert entry == {"event": "it happened", "level": "warning", "client": "c", "broker": "kyoto-1"}


def test_secrets_are_not_written_and_long_values_are_cut(capsys: pytest.CaptureFixture[str]) -> None:
    logs.configure(LogSettings("json"))
    structlog.get_logger().info("x", password="p", jwt_token="t", payload=b"b", name="n" * 5000)
    entry = json.loads(capsys.readouterr().err)
    assert (entry["password"], entry["jwt_token"], entry["payload"]) == ("***", "***", "***")
    assert len(entry["name"]) == logs.VALUE_CHARS_MAX + 1


def test_the_level_may_change_while_it_runs(capsys: pytest.CaptureFixture[str]) -> None:
    logs.configure(LogSettings("console", "warning"))
    log = structlog.get_logger()
    log.info("unheard")
    assert logs.level() == "warning"
    logs.set_level("debug")
    log.debug("heard")
    said = capsys.readouterr().err
    assert "heard" in said
    assert "unheard" not in said


def test_a_traceback_is_one_json_line(capsys: pytest.CaptureFixture[str]) -> None:
    logs.configure(LogSettings("json"))
    try:
        raise ZeroDivisionError
    except ZeroDivisionError:
        structlog.get_logger().exception("bug")
    said = capsys.readouterr().err
    assert said.count("\n") == 1
    assert "ZeroDivisionError" in json.loads(said)["exception"]
