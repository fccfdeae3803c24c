"""``weft passwd``: users come, change and go; the file is whole at every moment and nobody else's to read."""

import json
import os
import stat

import pytest
from typer.testing import CliRunner

from weft.broker.access.passwords import parse
from weft.cli import exits, main, passwd


@pytest.fixture
def run(monkeypatch, capsys):
    """One invocation as the script makes it: exit code, stdout, stderr; ``typed`` is standard input."""

    def invoke(*args, typed: str = ""):
        import io

        monkeypatch.setattr("sys.stdin", io.StringIO(typed))
        code = exits.run(main.app, ["passwd", *map(str, args)])
        printed = capsys.readouterr()
        return code, printed.out, printed.err

    return invoke


@pytest.fixture
def file(tmp_path):
    return tmp_path / "users.pw"


def holds(file, user: str, password: bytes) -> bool:
    return parse(file.read_bytes(), "users").check(user, password, b"s").holds()


def test_a_user_is_added_changed_and_removed(run, file):
    assert run(file, "alice", "--password-stdin", typed="pencil\n") == (0, f"added alice in {file}\n", "")
    assert holds(file, "alice", b"pencil")
    assert run(file, "bob", "--password-stdin", typed="pen")[0] == 0
    assert run(file, "alice", "--password-stdin", "--scheme", "scrypt", typed="ink\n")[1].startswith("changed alice")
    assert holds(file, "alice", b"ink")
    assert holds(file, "bob", b"pen")
    assert not holds(file, "alice", b"pencil")
    code, out, _ = run(file, "alice", "--delete", "--json")
    assert (code, json.loads(out)) == (0, {"file": str(file), "user": "alice", "did": "removed"})
    assert "alice" not in parse(file.read_bytes(), "users")
    assert run(file, "alice", "--delete") == (1, "", f"weft: {file}: no user 'alice' in it\n")


def test_scram_verifiers_come_along(run, file):
    run(file, "alice", "--password-stdin", "--scram", typed="pencil\n")
    known = parse(file.read_bytes(), "users")
    assert known.methods() == ["SCRAM-SHA-512", "SCRAM-SHA-256"]
    run(file, "alice", "--password-stdin", typed="ink\n")  # a verifier of the old password would let the old one in
    assert parse(file.read_bytes(), "users").methods() == []


def test_two_salts_are_never_the_same(run, file):
    for user in ("a", "b"):
        run(file, user, "--password-stdin", typed="pencil\n")
    one, other = (line.partition(":")[2] for line in file.read_text().splitlines())
    assert one != other


def test_nobody_else_may_read_a_new_file_and_modes_are_kept(run, file):
    run(file, "alice", "--password-stdin", typed="pencil\n")
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    file.chmod(0o640)
    run(file, "bob", "--password-stdin", typed="pen\n")
    assert stat.S_IMODE(file.stat().st_mode) == 0o640
    assert [path.name for path in file.parent.iterdir()] == [file.name]


def test_a_link_stays_a_link(run, file, tmp_path):
    run(file, "alice", "--password-stdin", typed="pencil\n")
    link = tmp_path / "link"
    link.symlink_to(file)
    run(link, "bob", "--password-stdin", typed="pen\n")
    assert link.is_symlink()
    assert holds(file, "bob", b"pen")


def test_a_write_that_fails_leaves_the_old_file_alone(run, file, monkeypatch):
    run(file, "alice", "--password-stdin", typed="pencil\n")

    def full(descriptor):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    assert run(file, "bob", "--password-stdin", typed="pen\n")[0] != 0
    assert holds(file, "alice", b"pencil")
    assert [path.name for path in file.parent.iterdir()] == [file.name]


@pytest.mark.parametrize(
    ("args", "typed", "said"),
    [
        (["a:b", "--password-stdin"], "x\n", "a user name with ':'"),
        (["", "--password-stdin"], "x\n", "a user without a name"),
        (["alice", "--password-stdin"], "\n", "a password has 1 to 65535 bytes"),
        (["alice", "--password-stdin"], "x" * 70_000, "a password has 1 to 65535 bytes"),
        (["alice"], "pencil\n", "no terminal to ask"),
        (["alice", "--delete", "--scram"], "", "--delete takes no password"),
        (["alice", "--password-stdin", "--scheme", "md5"], "x\n", "'md5' is no scheme"),
        (["alice", "--password-stdin", "--scram"], "\x07\n", "--scram: "),
        (["\uff41", "--password-stdin", "--scram"], "x\n", "--scram: a user name that SASLprep"),
    ],
)
def test_wrong_usage_is_one_line_and_makes_no_file(run, file, args, typed, said):
    code, out, err = run(file, *args, typed=typed)
    assert (code, out) == (2, "")
    assert said in err
    assert err.count("\n") == 1
    assert not file.exists()


def test_a_file_that_the_broker_would_refuse_is_not_touched(run, file):
    file.write_text("alice pencil\n")
    code, _, err = run(file, "bob", "--password-stdin", typed="x\n")
    assert code == 2
    assert f"{file}:1: " in err
    assert file.read_text() == "alice pencil\n"


def test_a_folder_that_is_not_there_is_one_line(run, tmp_path):
    code, _, err = run(tmp_path / "none" / "users", "bob", "--password-stdin", typed="x\n")
    assert code == 1
    assert err.count("\n") == 1


def test_it_asks_twice_on_a_terminal_and_shows_nothing(file, monkeypatch):
    asked = []
    monkeypatch.setattr(passwd.typer, "prompt", lambda text, **how: asked.append((text, how)) or "pencil")
    monkeypatch.setattr(passwd.sys, "stdin", type("Terminal", (), {"isatty": lambda self: True})())
    assert passwd.ask("alice", from_stdin=False) == "pencil"
    assert asked == [("Password for alice", {"hide_input": True, "confirmation_prompt": "The same again"})]


def test_help_has_examples():
    result = CliRunner().invoke(main.app, ["passwd", "--help"])
    assert "weft passwd --scram --password-stdin" in result.stdout
