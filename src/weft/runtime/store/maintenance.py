"""Work on a store that no broker has open: check, compact, export, import.

All of it locks the store like a broker does, and tells ``progress`` how far it is. An export is one record per line (NDJSON):
the record's name under ``record``, its fields beside it, bytes as base64. Its order is one in which it can be read back.
"""

import math
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import msgspec

from weft.broker import records as r
from weft.core.machine import Record
from weft.runtime.store import schema, tables
from weft.runtime.store.errors import StoreError
from weft.runtime.store.lock import Lock
from weft.runtime.store.store import FILE, Progress, Store, connect, translating

PROBLEMS_MAX = 100
IMPORT_RECORDS = 1_000
"""Lines of an import that make one transaction."""
EXPORTED: tuple[type[Record], ...] = (
    r.SessionKept, r.SubscriptionKept, r.MessageKept, r.Queued, r.Incoming, r.RetainedKept, r.WillKept,
)  # fmt: skip


def silent(what: str, done: int, total: int) -> None:
    """Nobody wants to know."""


class Report(msgspec.Struct):
    """What ``check`` found. ``orphans`` are what a broker's start drops: no harm. ``problems`` are harm."""

    path: str
    bytes: int
    schema: int
    rows: dict[str, int]
    orphans: dict[str, int]
    problems: list[str]


class Compacted(msgspec.Struct):
    path: str
    bytes_before: int
    bytes_after: int
    dropped: dict[str, int]


@contextmanager
def offline(folder: Path) -> Iterator[Store]:
    """The store as it is: neither made, nor checked, nor migrated."""
    path = folder / FILE
    if not path.is_file():
        raise StoreError(f"{path}: there is no store")
    lock = Lock.take(folder, "weft ctl store")
    try:
        connection = connect(path)
        with translating(path):
            version = schema.version_of(connection, path)
        store = Store(folder, connection, lock, (version, version))
    except BaseException:
        lock.release()
        raise
    try:
        yield store
    finally:
        store.close()


def current(store: Store) -> None:
    """Reading rows needs the tables as this version knows them."""
    with translating(store.path):
        schema.migrate(store.connection, store.path)


def check(folder: Path, progress: Progress = silent) -> Report:
    """Everything: SQLite's structures, contents against indexes, names against what they name, each row's decoding."""
    with offline(folder) as store:
        report = Report(str(store.path), store.path.stat().st_size, store.schema, {}, {}, [])
        total = 1 + len(tables.ORPHANS) + len(tables.READERS)
        progress("integrity", 0, total)
        found = _attempt(store, report, lambda: store.connection.execute(f"PRAGMA integrity_check({PROBLEMS_MAX})"))
        report.problems += [line for (line,) in found if line != "ok"]
        if report.problems:
            return report
        if store.schema != len(schema.MIGRATIONS):
            report.problems.append(f"schema {store.schema}; this weft knows {len(schema.MIGRATIONS)}")
            return report
        for step, (what, (table, where)) in enumerate(tables.ORPHANS.items(), 1):
            progress(what, step, total)
            for count in _attempt(store, report, lambda t=table, w=where: [tables.count(store.connection, t, w)]):
                if count:
                    report.orphans[what] = count
        for step, (table, read) in enumerate(tables.READERS.items(), 1 + len(tables.ORPHANS)):
            progress(table, step, total)
            report.rows[table] = 0
            for record in _attempt(store, report, lambda of=read: of(store.connection)):
                report.rows[table] += 1
                problem = _misfit(record)
                if problem and len(report.problems) < PROBLEMS_MAX:
                    report.problems.append(f"table {table}: {problem}")
        progress("done", total, total)
    return report


def _attempt(store: Store, report: Report, read: Any) -> Iterator[Any]:
    """What ``read`` gives; what stops it is one more problem."""
    try:
        with translating(store.path):
            yield from read()
    except StoreError as error:
        report.problems.append(str(error))


def _misfit(record: Record) -> str:
    """SQLite does not insist on a column's type, so a row may hold what its record may not."""
    try:
        msgspec.convert(msgspec.structs.asdict(record), type(record), from_attributes=True)
    except msgspec.ValidationError as error:
        return f"{error}"
    return ""


def compact(folder: Path, progress: Progress = silent) -> Compacted:
    """Drop what nothing names and write the file anew, without the room that deleted rows have left.

    Needs as much free space as the file will have.
    """
    with offline(folder) as store:
        before = store.path.stat().st_size
        progress("migrating", 0, 3)
        current(store)
        progress("dropping what nothing names", 1, 3)
        with store.transaction():
            dropped = tables.drop_orphans(store.connection)
        progress("writing the file anew", 2, 3)
        with translating(store.path):
            store.connection.execute("VACUUM")
            store.connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
        progress("done", 3, 3)
        return Compacted(str(store.path), before, store.path.stat().st_size, dropped)


def export(folder: Path, progress: Progress = silent) -> Iterator[bytes]:
    """The lines, with their line feeds; nothing but the line at hand is in memory."""
    with offline(folder) as store:
        current(store)
        with translating(store.path):
            total = sum(tables.count(store.connection, table) for table in tables.READERS)
            for done, record in enumerate(tables.everything(store.connection)):
                if done % IMPORT_RECORDS == 0:
                    progress("exporting", done, total)
                yield line_of(record)
        progress("exporting", total, total)


def restore(folder: Path, lines: Iterable[bytes], progress: Progress = silent) -> int:
    """Make a store out of an export; refuses if there is one with anything in it. Answers how many records went in."""
    store = Store.open(folder, owner="weft ctl store")
    try:
        kept = store.load()
        if kept.sessions or kept.retained:
            raise StoreError(f"{store.path}: the store is not empty")
        count = 0
        batch: list[Record] = []
        for number, line in enumerate(lines, 1):
            if not line.strip():
                continue
            batch.append(_record(line, number))
            if len(batch) >= IMPORT_RECORDS:
                store.write(batch)
                count += len(batch)
                batch.clear()
                progress("importing", count, 0)
        store.write(batch)
        count += len(batch)
        progress("importing", count, count)
        return count
    finally:
        store.close()


# ------------------------------------------------------------------------------------------------------ one line each


class _Head(msgspec.Struct):
    record: str


_head = msgspec.json.Decoder(_Head)
_decoders = {kind.__name__: msgspec.json.Decoder(kind, strict=False) for kind in EXPORTED}
_encode = msgspec.json.encode


def line_of(record: Record) -> bytes:
    """JSON has no number for "never" (infinity): it is written as text."""
    fields: dict[str, Any] = {"record": type(record).__name__}
    for name in record.__struct_fields__:
        value = getattr(record, name)
        fields[name] = str(value) if type(value) is float and math.isinf(value) else value
    return _encode(fields) + b"\n"


def _record(line: bytes, number: int) -> Record:
    try:
        name = _head.decode(line).record
        decoder = _decoders.get(name)
        if decoder is None:
            raise StoreError(f"line {number}: unknown record {name!r}")
        return decoder.decode(line)
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
        raise StoreError(f"line {number}: {error}") from None
