"""``weft ctl`` against a real broker's admin interface."""

import json
import re

import pytest
from typer.testing import CliRunner

from live_admin import live
from weft.cli import main
from weft.cli.exits import run

pytestmark = pytest.mark.live

TOKEN = "a-token-of-sixteen"


@pytest.fixture
def door():
    with live() as running:

        def begin():
            bench = running.bench
            bench.pass_time(0)
            here = bench.connect("here/1", user="anna", expiry_s=3600)
            bench.subscribe(here, "home/+/light", "$share/g/home/#", qos=1)
            bench.leave(bench.connect("away", expiry_s=60))
            bench.publish(here, "home/kitchen/light", b"on", retain=True)
            bench.publish(here, "home/kitchen/raw", b"\xff", retain=True)

        running.call(begin)
        yield running


@pytest.fixture
def ctl(door, monkeypatch):
    """Run a command against it; its standard output."""
    monkeypatch.setenv("COLUMNS", "200")
    monkeypatch.setenv("WEFT_ADMIN", door.server.url)

    def invoke(*args):
        result = CliRunner().invoke(main.app, ["ctl", *args], catch_exceptions=False)
        assert result.exit_code == 0, result.output
        return result.stdout

    return invoke


@pytest.fixture
def fails(door, capsys, monkeypatch):
    """Run a command that does not succeed: (exit code, the one line on standard error)."""
    monkeypatch.setenv("WEFT_ADMIN", door.server.url)

    def invoke(*args):
        code = run(main.app, ["ctl", *args])
        line = capsys.readouterr().err
        assert line.count("\n") == 1
        return code, line

    return invoke


def test_status_for_people_and_for_scripts(ctl):
    text = ctl("status")
    assert re.search(r"sessions online\s+1\b", text)
    assert re.search(r"ready\s+yes", text)
    assert json.loads(ctl("status", "--json"))["sessions"] == 2


def test_lists(ctl):
    assert "here/1" in ctl("clients")
    assert "away" not in ctl("clients")
    assert "no client is connected" in ctl("clients", "--contains", "nobody")
    assert [row["client_id"] for row in json.loads(ctl("sessions", "--json"))["items"]] == ["away", "here/1"]
    assert [row["client_id"] for row in json.loads(ctl("sessions", "--offline", "--json"))["items"]] == ["away"]
    assert "home/+/light" in ctl("subscriptions", "--client", "here/1")
    assert "home/#" not in ctl("subscriptions", "--filter", "home/+/light")
    assert "home/#" in ctl("topics")
    assert "home/kitchen/raw" in ctl("retained")
    assert "home/kitchen/raw" not in ctl("retained", "+/+/light")


def test_a_list_says_that_there_is_more(ctl):
    assert "and more" in ctl("sessions", "--limit", "1")
    assert "and more" not in ctl("sessions", "--limit", "2")
    assert json.loads(ctl("sessions", "--limit", "1", "--json"))["more"] is True
    assert json.loads(ctl("sessions", "--limit", "0", "--json"))["more"] is False


def test_long_lists_are_fetched_in_pages(door, ctl):
    door.call(lambda: [door.bench.connect(f"c{number:04}") for number in range(1_234)])
    assert len(json.loads(ctl("clients", "--limit", "0", "--json"))["items"]) == 1_235
    assert len(json.loads(ctl("clients", "--limit", "1100", "--json"))["items"]) == 1_100


def test_one_client_and_one_topic(ctl):
    text = ctl("client", "here/1")
    assert "anna" in text
    assert "home/+/light" in text
    assert "1 h" in text
    assert "here/1" in ctl("topic", "home/kitchen/light")
    assert json.loads(ctl("topic", "home/kitchen/light", "--json"))["shared"][0]["group"] == "g"
    assert "no session" in ctl("topic", "nowhere")


def test_kick_and_discard(door, ctl, fails):
    assert "disconnected" in ctl("kick", "here/1", "--reason", "enough")
    assert "discarded" in ctl("discard", "here/1")
    code, line = fails("kick", "here/1")
    assert (code, "not connected" in line) == (1, True)
    assert door.call(lambda: list(door.bench.broker.sessions.by_client)) == ["away"]


def test_publish_and_retained(ctl, tmp_path):
    assert "2 sessions" in ctl("publish", "home/hall/light", "off", "--retain", "--qos", "1")
    (tmp_path / "payload").write_bytes(b"\x00\xfe")
    ctl("publish", "raw", "--file", str(tmp_path / "payload"), "--retain", "--content-type", "x/y")
    shown = ctl("retained", "raw", "--show")
    assert "base64 AP4=" in shown
    assert "x/y" in shown
    assert "off" in ctl("retained", "home/hall/light", "--show")
    assert "3 deleted" in ctl("retained", "home/#", "--delete")
    assert json.loads(ctl("retained", "--json"))["items"][0]["topic"] == "raw"


def test_limits_and_log_level(ctl, fails):
    assert "queue_messages_max" in ctl("limits")
    assert ctl("log-level") == "info\n"
    assert fails("log-level", "debug")[0] == 1


def test_hostile_names_do_not_reach_the_terminal(door, ctl):
    door.call(door.bench.connect, "\x1b[31mred\x07[bold]")
    text = ctl("clients")
    assert "\x1b[31m" not in text
    assert "\x07" not in text
    assert r"\x1b[31mred\x07[bold]" in text


def test_usage_errors_are_2(fails):
    assert fails("retained", "--delete")[0] == 2
    assert fails("retained", "a", "--delete", "--show")[0] == 2
    assert fails("publish", "a", "x", "--file", "y")[0] == 2
    assert fails("publish", "a", "-q", "3")[0] == 2
    assert fails("status", "--admin", "ftp://x")[0] == 2
    assert fails("status", "--admin", "http://x:99999")[0] == 2


def test_a_refusal_is_one_line(fails):
    assert "wildcards" in fails("publish", "a/#")[1]
    assert "no session" in fails("client", "nobody")[1]
    assert "configuration" in fails("reload")[1]


def test_a_broker_that_is_not_there_says_where_and_what_to_do(fails):
    code, line = fails("status", "--admin", "http://127.0.0.1:1")
    assert code == 1
    assert line == (
        "weft: no broker answers at http://127.0.0.1:1 (connection refused): start one with `weft broker`, "
        "or say where it is with --admin URL or WEFT_ADMIN\n"
    )


def test_tokens(tmp_path, monkeypatch, capsys):
    good, wrong, empty = tmp_path / "good", tmp_path / "wrong", tmp_path / "empty"
    good.write_text(f"{TOKEN}\n")
    wrong.write_text("another-token-of-ours")
    empty.write_text("")
    with live(token=TOKEN) as running:
        monkeypatch.setenv("WEFT_ADMIN", running.server.url)
        for options in ([], ["--token-file", str(wrong)]):
            assert run(main.app, ["ctl", "status", *options]) == 1
            assert "--token-file" in capsys.readouterr().err
        for path in (empty, tmp_path / "missing"):
            assert run(main.app, ["ctl", "status", "--token-file", str(path)]) == 1
            assert str(path) in capsys.readouterr().err
        assert run(main.app, ["ctl", "status", "--token-file", str(good)]) == 0
        monkeypatch.setenv("WEFT_ADMIN_TOKEN_FILE", str(good))
        assert run(main.app, ["ctl", "status"]) == 0
