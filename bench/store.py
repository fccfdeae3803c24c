"""How fast durable messages are: SQLite as weft uses it, and LMDB if it can be imported, with the broker's real records.

    python bench/store.py [--json] [--seconds S] [--queued N] [--dir DIR] [--report FILE]

Each message is three records (MessageKept, Queued, Done) and is gone one batch later (MessageGone): nothing vanishes inside
a batch, which is the worst case. A batch is one synced transaction. ``cpu`` is user and system time of the process per message.
Then: how large the file is with N queued messages, how long a broker waits for it at a start, and how long the writer's thread
keeps an event loop from running (the largest and the 99th percentile of gaps between its turns), with the loop idle and busy.
Numbers depend on the disk: its own sync time is measured beside them.
"""

import argparse
import asyncio
import json
import os
import platform
import shutil
import sqlite3
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from statistics import median
from typing import Any, Protocol

import msgspec

from weft.broker import records as r
from weft.core.machine import Record
from weft.runtime.store.store import Store
from weft.runtime.store.writer import Writer

try:
    import lmdb
except ImportError:
    lmdb = None

BATCHES = (1, 10, 100, 1000)
CLIENTS = 100
PAYLOAD = b"x" * 64
RUNS = 3
LMDB_BYTES = 8 << 30


class Backend(Protocol):
    """What is compared."""

    def write(self, records: Sequence[Record]) -> None: ...

    def load(self) -> int: ...

    def close(self) -> None: ...


class Sqlite:
    """weft's store, as the broker uses it."""

    name = f"SQLite {sqlite3.sqlite_version}"

    def __init__(self, folder: Path) -> None:
        self.store = Store.open(folder)

    def write(self, records: Sequence[Record]) -> None:
        self.store.write(records)
        self.store.tidy()

    def load(self) -> int:
        kept = self.store.load()
        return sum(len(session.queue) for session in kept.sessions)

    def close(self) -> None:
        self.store.close()


class Lmdb:
    """The same records in two of LMDB's trees, values in MessagePack; no orphans, migrations or anything else of a store."""

    name = f"LMDB {'.'.join(map(str, lmdb.version()))}" if lmdb else "LMDB"

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.env: Any = lmdb.open(str(folder), map_size=LMDB_BYTES, max_dbs=2)
        self.messages = self.env.open_db(b"message")
        self.queue = self.env.open_db(b"queue")
        self.encode = msgspec.msgpack.encode

    def write(self, records: Sequence[Record]) -> None:
        with self.env.begin(write=True) as transaction:
            put, delete = transaction.put, transaction.delete
            for record in records:
                kind = type(record)
                if kind is r.MessageKept:
                    put(record.number.to_bytes(8, "big"), self.encode(record), db=self.messages)
                elif kind is r.Queued:
                    put(self.place(record), self.encode(record), db=self.queue)
                elif kind is r.Done:
                    delete(self.place(record), db=self.queue)
                elif kind is r.MessageGone:
                    delete(record.number.to_bytes(8, "big"), db=self.messages)

    @staticmethod
    def place(record: Any) -> bytes:
        return record.client_id.encode() + b"\0" + record.position.to_bytes(8, "big")

    def load(self) -> int:
        message, queued = msgspec.msgpack.Decoder(r.MessageKept), msgspec.msgpack.Decoder(r.Queued)
        with self.env.begin(buffers=True) as transaction:
            kept = [message.decode(value) for _, value in transaction.cursor(db=self.messages)]
            queue = [queued.decode(value) for _, value in transaction.cursor(db=self.queue)]
        assert kept
        return len(queue)

    def close(self) -> None:
        self.env.close()


def new(number: int) -> list[Record]:
    client = f"client-{number % CLIENTS:06}"
    return [
        r.MessageKept(number, f"plant/line/{number % 50}/state", PAYLOAD, 1, False, b"\0", None, "publisher", None),
        r.Queued(client, number, number, 1, False, (), number % 65_535 + 1),
    ]


def done(number: int) -> list[Record]:
    return [r.Done(f"client-{number % CLIENTS:06}", number), r.MessageGone(number)]


def batches(size: int) -> Iterator[list[Record]]:
    first = 1
    while True:
        batch: list[Record] = []
        for number in range(first, first + size):
            batch += new(number)
            if number > size:
                batch += done(number - size)
        yield batch
        first += size


def sync_ms(folder: Path, times: int = 100) -> float:
    """The median time in which the disk syncs 4 KiB at the end of a file."""
    taken = []
    with (folder / "sync").open("wb", buffering=0) as file:
        for _ in range(times):
            file.write(b"x" * 4096)
            begun = time.perf_counter()
            os.fdatasync(file.fileno())
            taken.append(time.perf_counter() - begun)
    return sorted(taken)[times // 2] * 1e3


def rate(backend: Backend, size: int, seconds: float) -> dict[str, float]:
    source = batches(size)
    backend.write(next(source))
    ready = [next(source) for _ in range(max(20, 20_000 // size))]
    begun, cpu = time.perf_counter(), time.process_time()
    written = 0
    for batch in ready:
        backend.write(batch)
        written += size
        if time.perf_counter() - begun > seconds:
            break
    took, cpu = time.perf_counter() - begun, time.process_time() - cpu
    return {"messages_per_s": round(written / took), "cpu_us": round(cpu / written * 1e6, 1)}


def size_of(folder: Path) -> int:
    return sum(path.stat().st_blocks * 512 for path in folder.iterdir())


def queued(make: Callable[[Path], Backend], folder: Path, count: int) -> dict[str, float]:
    """Fill it with ``count`` queued messages, close, and open again as a broker does: look it through, load it."""
    backend = make(folder)
    backend.write([r.SessionKept(f"client-{number:06}", 3600.0, None, None) for number in range(CLIENTS)])
    for first in range(1, count + 1, 5_000):
        backend.write([record for number in range(first, min(first + 5_000, count + 1)) for record in new(number)])
    backend.close()
    begun = time.perf_counter()
    backend = make(folder)
    opened = time.perf_counter()
    assert backend.load() == count
    loaded = time.perf_counter()
    backend.close()
    return {"open_s": round(opened - begun, 2), "load_s": round(loaded - opened, 2), "MB": round(size_of(folder) / 1e6)}


async def stalls(folder: Path, size: int, busy: bool, seconds: float, writes: bool = True) -> dict[str, float]:
    """One batch per turn of a loop, and what the turns wait. ``busy``: the loop also works 0.5 ms in each turn.

    A turn makes its next batch in time that counts as its own, so what remains in a gap is waiting for the interpreter.
    """
    loop = asyncio.get_running_loop()
    writer: Writer
    gaps: list[float] = []
    resumed = asyncio.Event()
    writer = Writer(Store.open(folder), lambda _: loop.call_soon_threadsafe(resumed.set), print)
    writer.start()
    source, number, spent = batches(size), 0, 0.0
    begun = time.perf_counter()
    while time.perf_counter() - begun < seconds:
        number += 1
        batch = next(source)
        before = time.thread_time()
        if writes:
            writer.put(number, batch)
        spent += time.thread_time() - before
        if busy:
            until = time.thread_time() + 0.0005
            while time.thread_time() < until:
                pass
        if writer.is_behind:
            resumed.clear()
            await resumed.wait()
        wall, own = time.perf_counter(), time.thread_time()
        passed = loop.create_future()
        loop.call_soon(passed.set_result, None)
        await passed
        sum(range(1_000))
        gaps.append(max(0.0, (time.perf_counter() - wall) - (time.thread_time() - own)))
    took = time.perf_counter() - begun
    await asyncio.to_thread(writer.close)
    gaps.sort()
    return {
        "messages_per_s": round(writer.committed * size / took),
        "put_us": round(spent / number / size * 1e6, 2),
        "p99_ms": round(gaps[int(len(gaps) * 0.99)] * 1e3, 2),
        "max_ms": round(gaps[-1] * 1e3, 1),
    }


def measure(folder: Path, seconds: float, count: int) -> dict[str, Any]:
    makers: dict[str, Callable[[Path], Backend]] = {Sqlite.name: Sqlite}
    if lmdb:
        makers[Lmdb.name] = Lmdb
    found: dict[str, Any] = {"sync_ms": round(sync_ms(folder), 2), "queued": count, "stores": {}, "stalls": {}}
    rates: dict[tuple[str, int], list[dict[str, float]]] = {}
    for _ in range(RUNS):  # in turn, so that a busy minute of the machine hits both
        for size in BATCHES:
            for name, make in makers.items():
                backend = make(folder / name)
                rates.setdefault((name, size), []).append(rate(backend, size, seconds))
                backend.close()
                shutil.rmtree(folder / name)
    for name, make in makers.items():
        store = found["stores"][name] = {}
        for size in BATCHES:
            store[f"batch {size}"] = {
                key: median(run[key] for run in rates[name, size]) for key in ("messages_per_s", "cpu_us")
            }
        store["start"] = queued(make, folder / name, count)
        shutil.rmtree(folder / name)
    for busy in (False, True):
        for size in (10, 100):
            place = folder / f"stalls-{size}-{busy}"
            found["stalls"][f"{size} messages per turn, loop {'busy' if busy else 'idle'}"] = asyncio.run(
                stalls(place, size, busy, seconds)
            )
            shutil.rmtree(place)
    for busy in (False, True):
        name = f"no writer, loop {'busy' if busy else 'idle'}"
        found["stalls"][name] = asyncio.run(stalls(folder / name, 10, busy, seconds, writes=False))
    return found


def markdown(found: dict[str, Any]) -> str:
    columns = [*(f"batch {size}" for size in BATCHES)]
    lines = [
        "# How fast the store is",
        "",
        "Generated by `python bench/store.py --report docs/reports/store.md`; not edited by hand. Python",
        f"{platform.python_version()}; a sync of 4 KiB took {found['sync_ms']} ms (median) on this disk, and the machine was",
        "shared. Each message is MessageKept + Queued + Done + MessageGone, spread over two batches; a batch is a synced",
        f"transaction. Messages per second, and µs of CPU per message in parentheses, medians of {RUNS} runs:",
        "",
        f"| | {' | '.join(columns)} |",
        f"|---|{'---:|' * len(columns)}",
        *(
            f"| {name} | "
            + " | ".join(f"{store[c]['messages_per_s']:,} ({store[c]['cpu_us']})" for c in columns)
            + " |"
            for name, store in found["stores"].items()
        ),
        "",
        f"A start with {found['queued']:,} queued messages of {len(PAYLOAD)} bytes:",
        "",
        "| | open (SQLite: and quick check) | load | file |",
        "|---|---:|---:|---:|",
        *(
            f"| {name} | {s['start']['open_s']} s | {s['start']['load_s']} s | {s['start']['MB']:,} MB |"
            for name, s in found["stores"].items()
        ),
        "",
        "What an event loop feels of the writer's thread: messages per second (more than above: while a transaction is synced,",
        "later batches gather, and what came and went among them is not written), CPU of the loop per message handed over, and",
        "how long a turn of the loop waited for the interpreter or the processor. The last lines are without a writer: so long",
        "this machine itself keeps a thread waiting.",
        "",
        "| | messages/s | put | 99 % of the waits below | longest |",
        "|---|---:|---:|---:|---:|",
        *(
            f"| {case} | {s['messages_per_s']:,} | {s['put_us']} µs | {s['p99_ms']} ms | {s['max_ms']} ms |"
            for case, s in found["stalls"].items()
        ),
    ]
    return "\n".join(lines) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(description="Measure the store.")
    parser.add_argument("--json", action="store_true", help="one JSON object")
    parser.add_argument("--seconds", type=float, default=2.0, help="per measurement of a rate")
    parser.add_argument("--queued", type=int, default=1_000_000, help="messages for the start")
    parser.add_argument("--dir", type=Path, help="where to write (default: a temporary directory)")
    parser.add_argument("--report", metavar="FILE", type=Path, help="write the results to FILE (Markdown)")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=options.dir) as folder:
        found = measure(Path(folder), options.seconds, options.queued)
    assert threading.active_count() == 1
    print(json.dumps(found, indent=2) if options.json else markdown(found))
    if options.report:
        options.report.parent.mkdir(parents=True, exist_ok=True)
        options.report.write_text(markdown(found), encoding="utf-8")


if __name__ == "__main__":
    main()
