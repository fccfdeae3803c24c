"""``weft ctl store``: what it prints, and how it ends."""

import json

import pytest

from weft.broker import records as r
from weft.cli import main
from weft.cli import store as cli
from weft.cli.exits import run
from weft.runtime.store.store import FILE, Durability, Store


@pytest.fixture
def folder(tmp_path):
    store = Store.open(tmp_path / "data", Durability.NONE)
    store.write([r.SessionKept("a", 60.0, None, "u"), r.Incoming("a", 5)])
    store.close()
    return tmp_path / "data"


def test_a_sound_store(folder, capsys):
    assert run(cli.app, ["check", "--data-dir", str(folder)]) == 0
    out = capsys.readouterr().out
    assert "schema 1" in out
    assert out.endswith("sound\n")


def test_it_is_a_group_of_ctl(folder, capsys):
    assert run(main.app, ["ctl", "store", "check", "--data-dir", str(folder)]) == 0
    assert capsys.readouterr().out.endswith("sound\n")


def test_a_sound_store_as_json(folder, capsys):
    assert run(cli.app, ["check", "--data-dir", str(folder), "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["rows"]["session"] == 1
    assert document["problems"] == []


@pytest.mark.parametrize("command", ["check", "compact", "export"])
def test_a_broken_store_is_5_in_one_line(folder, capsys, command):
    (folder / FILE).write_bytes(b"mqtt " * 2_000)
    assert run(cli.app, [command, "--data-dir", str(folder)]) == 5
    err = capsys.readouterr().err
    assert err.startswith("weft: ")
    assert "the store is damaged" in err
    assert err.count("\n") == 1


def test_a_damaged_row_is_listed_and_5(folder, capsys):
    store = Store.open(folder, Durability.NONE)
    store.connection.execute("UPDATE session SET user = x'00'")
    store.close()
    assert run(cli.app, ["check", "--data-dir", str(folder)]) == 5
    captured = capsys.readouterr()
    assert "damaged: table session" in captured.out
    assert captured.err.count("\n") == 1


@pytest.mark.parametrize("command", ["check", "compact", "export"])
def test_no_store_is_5(tmp_path, capsys, command):
    assert run(cli.app, [command, "--data-dir", str(tmp_path)]) == 5
    assert capsys.readouterr().err == f"weft: {tmp_path}/store.db: there is no store\n"


def test_a_store_in_use_is_5(folder, capsys):
    store = Store.open(folder, Durability.NONE)
    assert run(cli.app, ["compact", "--data-dir", str(folder)]) == 5
    assert "in use by weft broker, process" in capsys.readouterr().err
    store.close()


def test_compacting_says_what_it_gained(folder, capsys):
    assert run(cli.app, ["compact", "--data-dir", str(folder)]) == 0
    assert "→" in capsys.readouterr().out
    assert run(cli.app, ["compact", "--data-dir", str(folder), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["dropped"] == {}


def test_an_export_goes_to_a_file_and_comes_back(folder, tmp_path, capsys):
    file = tmp_path / "store.ndjson"
    assert run(cli.app, ["export", "--data-dir", str(folder), "--out", str(file), "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == {"path": str(file), "records": 2}
    assert run(cli.app, ["import", "--data-dir", str(tmp_path / "new"), "--from", str(file)]) == 0
    store = Store.open(tmp_path / "new", Durability.NONE)
    assert [session.session.client_id for session in store.load().sessions] == ["a"]
    store.close()


def test_an_export_goes_to_standard_output(folder, capfdbinary):
    assert run(cli.app, ["export", "--data-dir", str(folder)]) == 0
    lines = capfdbinary.readouterr().out.splitlines()
    assert [json.loads(line)["record"] for line in lines] == ["SessionKept", "Incoming"]


def test_json_of_an_export_without_a_file_is_wrong_usage(folder, capsys):
    assert run(cli.app, ["export", "--data-dir", str(folder), "--json"]) == 2
    assert "give --out FILE" in capsys.readouterr().err


def test_importing_into_a_store_with_something_in_it_is_5(folder, tmp_path):
    (tmp_path / "x").write_bytes(b"")
    assert run(cli.app, ["import", "--data-dir", str(folder), "--from", str(tmp_path / "x")]) == 5
