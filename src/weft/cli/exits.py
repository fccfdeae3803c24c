"""How a command ends: exit codes, the errors that carry them, and the one line that a user sees.

    0 done    1 failed    2 wrong usage    3 something this machine lacks    4 a port is taken
    5 the store cannot be used (damaged, in use, of a newer weft)    6 no space left on the disk

A group raises; only ``run`` prints and chooses the code. Set ``WEFT_DEBUG=1`` to see the traceback behind a line.
"""

import os
import sys
import traceback
from collections.abc import Sequence
from enum import IntEnum

import typer

from weft.core.errors import Misuse
from weft.runtime.errors import PortTaken
from weft.runtime.store.errors import NO_SPACE, StoreError, StoreFull

TYPER_INTERRUPTED = 130  # typer catches Ctrl-C inside a command and answers with this


class Code(IntEnum):
    """Exit codes; scripts depend on them."""

    DONE = 0
    FAILED = 1
    USAGE = 2
    LACKING = 3
    PORT_TAKEN = 4
    STORE = 5
    DISK = 6


class Failed(Exception):
    """The command was understood and did not succeed."""


class Lacking(Exception):
    """This machine lacks something; ``install`` is what to do about it."""

    def __init__(self, what: str, install: str) -> None:
        super().__init__(f"{what} is missing; install it with: {install}")


CODES: tuple[tuple[type[Exception], Code], ...] = (
    (Lacking, Code.LACKING),
    (Failed, Code.FAILED),
    (Misuse, Code.USAGE),
    (PortTaken, Code.PORT_TAKEN),
    (StoreFull, Code.DISK),
    (StoreError, Code.STORE),
    (OSError, Code.FAILED),
)
"""The errors that say all in one line, and their codes: the first that fits."""


def run(app: typer.Typer, args: Sequence[str] | None = None) -> int:
    """Run one invocation; whatever happens, the answer is an exit code and at most one line on stderr."""
    try:
        outcome = app(None if args is None else list(args), standalone_mode=False, prog_name="weft")
    except (Exception, KeyboardInterrupt) as error:  # noqa: BLE001 - the outermost frame: nothing may pass it
        if os.environ.get("WEFT_DEBUG"):
            traceback.print_exc()
        line, code = explain(error)
        if line:
            print(f"weft: {line}", file=sys.stderr)
        return code
    if outcome == TYPER_INTERRUPTED:
        print("weft: interrupted", file=sys.stderr)
        return Code.FAILED
    return outcome if isinstance(outcome, int) else Code.DONE


def explain(error: BaseException) -> tuple[str, int]:
    """The line and the exit code for ``error``."""
    match error:
        case typer.TyperException():
            return one_line(error.format_message()), error.exit_code
        case typer.Abort() | KeyboardInterrupt():
            return "interrupted", Code.FAILED
        case BrokenPipeError():
            # The reader of stdout went away (`weft ... | head`); closing stdout again at exit must not complain.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            return "", Code.FAILED
        case OSError() if error.errno in NO_SPACE:
            return one_line(str(error)), Code.DISK
        case _:
            for kind, code in CODES:
                if isinstance(error, kind):
                    return one_line(str(error)), code
            text = f"internal error, {type(error).__name__}: {error} (run again with WEFT_DEBUG=1 and report it)"
            return one_line(text), Code.FAILED


def one_line(text: str) -> str:
    """``text`` without line breaks."""
    return " ".join(text.split())
