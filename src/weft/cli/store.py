"""``weft ctl store``: a store's file, while no broker has it open.

weft ctl store check      is it sound?
weft ctl store compact    make the file as small as its contents
weft ctl store export     its records as NDJSON
weft ctl store import     an empty store out of such lines
"""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from weft.runtime.store.store import Progress

app = typer.Typer(help="Check, compact and export a broker's store, offline.", rich_markup_mode=None)

DataDir = Annotated[
    Path, typer.Option("--data-dir", metavar="DIR", help="The broker's data directory.", show_default=False)
]
Json = Annotated[bool, typer.Option("--json", help="One JSON document instead of text.")]
Out = Annotated[
    Path | None, typer.Option("--out", metavar="FILE", help="Write to FILE.", show_default="standard output")
]
From = Annotated[Path | None, typer.Option("--from", metavar="FILE", help="Read FILE.", show_default="standard input")]


@app.callback()
def group() -> None:
    """Check, compact and export a broker's store, offline: stop the broker first."""


@app.command()
def check(data_dir: DataDir, as_json: Json = False) -> None:
    """Read the whole store and say whether it is sound.

    Exit code 5 if it is damaged. Entries that nothing names are listed, but are no damage: the next start removes them.

    Example: weft ctl store check --data-dir /var/lib/weft
    """
    from weft.runtime.store import maintenance
    from weft.runtime.store.errors import damaged

    with _progress(as_json) as progress:
        report = maintenance.check(data_dir, progress)
    if as_json:
        _print_json(report)
    else:
        typer.echo(f"{report.path}: {report.bytes:,} bytes, schema {report.schema}")
        for table, count in report.rows.items():
            typer.echo(f"  {count:>12,}  {table}")
        for what, count in report.orphans.items():
            typer.echo(f"  {count:>12,}  {what} (the next start removes them)")
        for problem in report.problems:
            typer.echo(f"  damaged: {problem}")
        if not report.problems:
            typer.echo("sound")
    if report.problems:
        raise damaged(Path(report.path), report.problems[0])


@app.command()
def compact(data_dir: DataDir, as_json: Json = False) -> None:
    """Write the file anew, without the room that deleted entries have left in it.

    Needs as much free space beside it as the new file takes.

    Example: weft ctl store compact --data-dir /var/lib/weft
    """
    from weft.runtime.store import maintenance

    with _progress(as_json) as progress:
        done = maintenance.compact(data_dir, progress)
    if as_json:
        _print_json(done)
        return
    for what, count in done.dropped.items():
        typer.echo(f"removed {count:,} {what}")
    typer.echo(f"{done.path}: {done.bytes_before:,} → {done.bytes_after:,} bytes")


@app.command()
def export(data_dir: DataDir, out: Out = None, as_json: Json = False) -> None:
    """Write the records, one JSON object per line: sessions, subscriptions, messages, queues, retained topics, wills.

    With --json, a document that says how many there were goes to standard output; it needs --out.

    Examples:

      weft ctl store export --data-dir /var/lib/weft > store.ndjson

      weft ctl store export --data-dir /var/lib/weft --out store.ndjson
    """
    from weft.core.errors import Misuse
    from weft.runtime.store import maintenance

    if as_json and out is None:
        raise Misuse("--json describes an export to a file: give --out FILE")
    count = 0
    with _progress(as_json) as progress:
        lines = maintenance.export(data_dir, progress)
        first = next(lines, b"")  # a store that cannot be read leaves no empty file
        stream = sys.stdout.buffer if out is None else out.open("wb")
        try:
            if first:
                stream.write(first)
                count = 1
            for line in lines:
                stream.write(line)
                count += 1
            stream.flush()
        finally:
            if out is not None:
                stream.close()
    if as_json:
        _print_json({"path": str(out), "records": count})
    elif out is not None:
        typer.echo(f"{out}: {count:,} records")


@app.command(name="import")
def restore(data_dir: DataDir, source: From = None, as_json: Json = False) -> None:
    """Make a store out of an export. There must be none yet, or an empty one.

    Example: weft ctl store import --data-dir /var/lib/weft-new --from store.ndjson
    """
    from weft.runtime.store import maintenance

    with _progress(as_json) as progress:
        stream = sys.stdin.buffer if source is None else source.open("rb")
        try:
            count = maintenance.restore(data_dir, stream, progress)
        finally:
            if source is not None:
                stream.close()
    if as_json:
        _print_json({"path": str(data_dir), "records": count})
    else:
        typer.echo(f"{data_dir}: {count:,} records")


def _print_json(document: Any) -> None:
    import msgspec

    typer.echo(msgspec.json.format(msgspec.json.encode(document)).decode())


@contextmanager
def _progress(silent: bool) -> "Iterator[Progress]":
    """A bar on stderr, if that is a terminal."""
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    console = Console(stderr=True)
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=console, disable=silent or not console.is_terminal, transient=True) as bars:
        task = bars.add_task("", total=None)

        def tell(what: str, done: int, total: int) -> None:
            bars.update(task, description=what, completed=done, total=total or None)

        yield tell
