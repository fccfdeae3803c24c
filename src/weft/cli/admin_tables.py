"""What ``weft ctl`` shows to people: tables and a few words. Imported only when something is shown: rich is slow to load."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from rich.console import Console
from rich.markup import escape
from rich.table import Table

Row = Mapping[str, Any]
Show = Callable[[Any], str]

VERSIONS = {3: "3.1", 4: "3.1.1", 5: "5"}
NEVER_S = 0xFFFF_FFFF
KIB = 1024


def show_rows(rows: Sequence[Row], columns: Mapping[str, Show], nothing: str) -> None:
    """A table; numbers to the right. ``columns``: field → how to write it."""
    console = Console(highlight=False)
    if not rows:
        console.print(nothing)
        return
    table = Table(box=None, padding=(0, 2, 0, 0), header_style="bold")
    for name in columns:
        is_number = isinstance(rows[0].get(name), int | float) and not isinstance(rows[0].get(name), bool)
        heading = name.removesuffix("_s").removesuffix("_at").removesuffix("_bytes").replace("_", " ")
        table.add_column(heading, justify="right" if is_number else "left", overflow="fold")
    for row in rows:
        table.add_row(*(escape(write(row.get(name))) for name, write in columns.items()))
    console.print(table)


def show_fields(row: Row, fields: Mapping[str, Show], exact: bool = False) -> None:
    """One thing: a line for each field; ``exact``: by its name as a configuration has it."""
    table = Table(box=None, padding=(0, 2, 0, 0), show_header=False)
    table.add_column(style="bold")
    table.add_column(overflow="fold")
    for name, write in fields.items():
        heading = name if exact else name.removesuffix("_s").removesuffix("_at").replace("_", " ")
        table.add_row(heading, escape(write(row.get(name))))
    Console(highlight=False).print(table)


def show_heading(text: str) -> None:
    Console(highlight=False).print(f"\n[bold]{escape(text)}[/]")


def show_line(text: str) -> None:
    Console(highlight=False).print(escape(text), soft_wrap=True)


def plain(value: Any) -> str:
    """As it is; control characters made visible, because clients choose their ids and topics."""
    if value is None:
        return "-"
    if isinstance(value, bool):
        return "yes" if value else "no"
    return "".join(letter if letter.isprintable() else repr(letter)[1:-1] for letter in str(value))


def count(value: Any) -> str:
    return f"{value:,}"


def size(value: Any) -> str:
    """Bytes."""
    amount = float(value)
    for unit in ("B", "KiB", "MiB", "GiB"):
        if amount < KIB:
            return f"{amount:.0f} {unit}" if unit == "B" else f"{amount:.1f} {unit}"
        amount /= KIB
    return f"{amount:.1f} TiB"


def duration(value: Any) -> str:
    """Seconds."""
    if value is None:
        return "-"
    if value >= NEVER_S:
        return "for ever"
    seconds = round(value)
    days, rest = divmod(seconds, 86_400)
    hours, rest = divmod(rest, 3_600)
    minutes, seconds = divmod(rest, 60)
    parts = ((days, "d"), (hours, "h"), (minutes, "min"), (seconds, "s"))
    return " ".join(f"{number} {unit}" for number, unit in parts if number) or "0 s"


def moment(value: Any) -> str:
    """Seconds since the epoch, as the wall clock here says it."""
    from datetime import UTC, datetime

    return "-" if value is None else f"{datetime.fromtimestamp(value, UTC).astimezone():%Y-%m-%d %H:%M:%S}"


def version(value: Any) -> str:
    """A protocol level by its name."""
    return VERSIONS.get(value, str(value))
