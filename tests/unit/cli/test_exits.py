"""How a command ends: one line, one exit code, whatever happens."""

import pytest
import typer

from weft.cli.exits import Failed, Lacking, run
from weft.core.errors import Misuse
from weft.runtime.store.errors import StoreBroken, StoreBusy, StoreFull


def app_that_raises(error: BaseException | None) -> typer.Typer:
    """A command line with the commands ``go`` and ``stay``; ``go`` ends as told."""
    app = typer.Typer()

    @app.command()
    def go(size: int = 1) -> None:
        if error is not None:
            raise error

    @app.command()
    def stay() -> None:
        """Do nothing."""

    return app


@pytest.mark.parametrize(
    ("error", "code", "line"),
    [
        (None, 0, ""),
        (typer.Exit(0), 0, ""),
        (typer.Exit(4), 4, ""),
        (Failed("3 of 5 schedules broke I2"), 1, "weft: 3 of 5 schedules broke I2\n"),
        (Misuse("ring.toml:7: unknown\n field 'nods'"), 2, "weft: ring.toml:7: unknown field 'nods'\n"),
        (Lacking("java", "apt-get install x"), 3, "weft: java is missing; install it with: apt-get install x\n"),
        (typer.Abort(), 1, "weft: interrupted\n"),
        (KeyboardInterrupt(), 1, "weft: interrupted\n"),
        (FileNotFoundError(2, "No such file", "a.toml"), 1, "weft: [Errno 2] No such file: 'a.toml'\n"),
        (StoreBroken("data/store.db: the store is damaged"), 5, "weft: data/store.db: the store is damaged\n"),
        (StoreBusy("data: the store is in use"), 5, "weft: data: the store is in use\n"),
        (StoreFull("data/store.db: no space left"), 6, "weft: data/store.db: no space left\n"),
        (OSError(28, "No space left on device"), 6, "weft: [Errno 28] No space left on device\n"),
        (
            ZeroDivisionError("x"),
            1,
            "weft: internal error, ZeroDivisionError: x (run again with WEFT_DEBUG=1 and report it)\n",
        ),
    ],
)
def test_each_end_has_its_code_and_its_line(monkeypatch, capsys, error, code, line):
    monkeypatch.delenv("WEFT_DEBUG", raising=False)
    assert run(app_that_raises(error), ["go"]) == code
    assert capsys.readouterr() == ("", line)


@pytest.mark.parametrize("args", [["gone"], ["go", "--sise", "3"], ["go", "--size", "many"], ["go", "extra"]])
def test_wrong_usage_is_2_in_one_line(capsys, args):
    assert run(app_that_raises(None), args) == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err.startswith("weft: ")
    assert printed.err.count("\n") == 1


def test_debug_shows_the_traceback(monkeypatch, capsys):
    monkeypatch.setenv("WEFT_DEBUG", "1")
    assert run(app_that_raises(ZeroDivisionError("x")), ["go"]) == 1
    assert "Traceback" in capsys.readouterr().err
