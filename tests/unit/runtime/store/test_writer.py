"""The writing thread: order, merging, back-pressure, and a disk that is full for a while or broken for good."""

import threading
from queue import SimpleQueue

import pytest

from weft.broker import records as r
from weft.runtime.store import writer as module
from weft.runtime.store.store import FILE, Durability, Store
from weft.runtime.store.writer import Trouble, Writer

WAIT_S = 20.0


def message(number: int, size: int = 10) -> r.MessageKept:
    return r.MessageKept(number, "t", bytes(size), 1, False, b"\0", None, "p", None)


class Gate(Store):
    """A store whose next transactions wait until they may."""

    entered: threading.Event
    may: threading.Event

    def apply(self, changes):
        self.entered.set()
        assert self.may.wait(WAIT_S)
        super().apply(changes)


class Case:
    """A writer, and what it has said."""

    def __init__(self, folder, durability=Durability.NONE, kind=Store, sync_interval_s=0.01):
        self.store = kind.open(folder, durability)
        self.committed: SimpleQueue[int] = SimpleQueue()
        self.troubles: SimpleQueue[Trouble | None] = SimpleQueue()
        self.writer = Writer(self.store, self.committed.put, self.troubles.put, durability, sync_interval_s)
        if kind is Gate:
            self.store.entered, self.store.may = threading.Event(), threading.Event()
        self.writer.start()

    def until(self, batch: int) -> list[int]:
        """What was reported until ``batch`` was."""
        reported = [self.committed.get(timeout=WAIT_S)]
        while reported[-1] < batch:
            reported.append(self.committed.get(timeout=WAIT_S))
        return reported

    def numbers(self) -> list[int]:
        """What is in the file, after closing."""
        store = Store.open(self.store.folder, Durability.NONE)
        found = [number for (number,) in store.connection.execute("SELECT number FROM message ORDER BY number")]
        store.close()
        return found

    def fill(self) -> None:
        """No page more: SQLite says of it what it says of a full disk."""
        pages = self.store.connection.execute("PRAGMA page_count").fetchone()[0]
        self.store.connection.execute(f"PRAGMA max_page_count = {pages}")

    def make_room(self) -> None:
        self.store.connection.execute("PRAGMA max_page_count = 1000000")


@pytest.mark.parametrize("durability", list(Durability))
def test_batches_are_committed_in_order_and_reported(tmp_path, durability):
    case = Case(tmp_path, durability)
    for batch in range(1, 51):
        case.writer.put(batch, [message(batch)])
    reported = case.until(50)
    assert reported == sorted(set(reported))
    assert case.writer.close() == 0
    assert case.writer.committed == 50
    assert case.writer.records == 50
    assert case.numbers() == list(range(1, 51))
    assert case.troubles.empty()


def test_what_waits_becomes_one_transaction(tmp_path):
    case = Case(tmp_path, kind=Gate)
    case.writer.put(1, [message(1)])
    assert case.store.entered.wait(WAIT_S)
    for batch in range(2, 41):
        case.writer.put(batch, [message(batch)])
    assert case.writer.waiting == 40
    case.store.may.set()
    assert case.until(40) == [1, 40]
    assert case.writer.transactions == 2
    assert case.writer.waiting == 0
    assert case.writer.waiting_bytes == 0
    case.writer.close()


def test_a_transaction_has_a_bound(tmp_path, monkeypatch):
    monkeypatch.setattr(module, "TRANSACTION_RECORDS_MAX", 10)
    case = Case(tmp_path, kind=Gate)
    case.writer.put(1, [message(1)])
    assert case.store.entered.wait(WAIT_S)
    for batch in range(2, 32):
        case.writer.put(batch, [message(batch)])
    case.store.may.set()
    assert case.until(31) == [1, 11, 21, 31]
    case.writer.close()


@pytest.mark.parametrize(("records", "size"), [(60, 1), (3, 3_000)])
def test_too_much_waiting_asks_the_host_to_stop_reading_until_half_is_written(tmp_path, monkeypatch, records, size):
    monkeypatch.setattr(module, "WAITING_RECORDS_MAX", 100)
    monkeypatch.setattr(module, "WAITING_BYTES_MAX", 15_000)
    case = Case(tmp_path, kind=Gate)
    assert not case.writer.is_behind
    case.writer.put(1, [message(n, size) for n in range(records)])
    assert not case.writer.is_behind
    case.writer.put(2, [message(n, size) for n in range(records, 2 * records)])
    assert case.writer.is_behind
    assert case.store.entered.wait(WAIT_S)
    case.store.may.set()
    case.until(2)
    assert not case.writer.is_behind
    case.writer.close()


def test_behind_ends_below_half(tmp_path, monkeypatch):
    monkeypatch.setattr(module, "WAITING_RECORDS_MAX", 100)
    case = Case(tmp_path, kind=Gate)
    case.writer.put(1, [message(n) for n in range(45)])
    assert case.store.entered.wait(WAIT_S)
    case.writer.put(2, [message(n) for n in range(60, 120)])
    assert case.writer.is_behind
    case.store.entered.clear()
    case.store.may.set()
    case.until(1)
    assert case.writer.waiting in {0, 60}
    assert case.writer.is_behind == (case.writer.waiting == 60)
    case.until(2)
    assert not case.writer.is_behind
    case.writer.close()


def test_a_full_disk_is_said_once_nothing_is_lost_and_it_goes_on_by_itself(tmp_path):
    case = Case(tmp_path)
    case.writer.put(1, [message(1)])
    case.until(1)
    case.fill()
    case.writer.put(2, [message(2, 100_000)])
    trouble = case.troubles.get(timeout=WAIT_S)
    assert trouble == Trouble(f"{case.store.path}: no space left on the disk", fatal=False)
    case.writer.put(3, [message(3)])
    assert case.committed.empty()
    assert case.writer.trouble == trouble
    case.make_room()
    assert case.until(3)[-1] == 3
    assert case.troubles.get(timeout=WAIT_S) is None
    assert case.troubles.empty()
    assert case.writer.trouble is None
    assert case.writer.failures >= 1
    assert case.writer.close() == 0
    assert case.numbers() == [1, 2, 3]


def test_closing_with_a_full_disk_ends_in_time_and_says_how_much_is_unwritten(tmp_path):
    case = Case(tmp_path)
    case.writer.put(1, [message(1)])
    case.until(1)
    case.fill()
    case.writer.put(2, [message(2, 100_000), message(3)])
    case.troubles.get(timeout=WAIT_S)
    case.writer.put(3, [message(4, 100_000)])
    assert case.writer.close(timeout_s=0.2) == 3
    assert case.committed.empty()
    assert case.numbers() == [1]


def test_a_store_that_breaks_is_fatal_and_confirms_nothing_more(tmp_path):
    case = Case(tmp_path)
    case.writer.put(1, [message(number, 2_000) for number in range(2_000)])
    case.until(1)
    case.store.connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
    case.store.connection.execute("PRAGMA cache_size = 0")
    case.store.connection.execute("PRAGMA shrink_memory")
    size = (tmp_path / FILE).stat().st_size
    with (tmp_path / FILE).open("r+b") as file:
        file.seek(4096)
        file.write(b"\xa5" * (size - 4096))
    case.writer.put(2, [r.MessageGone(number) for number in range(2_000)])
    trouble = case.troubles.get(timeout=WAIT_S)
    assert trouble.fatal
    assert "damaged" in trouble.text
    assert case.writer.is_behind
    case.writer.put(3, [message(5)])
    case.writer.close()
    assert case.committed.empty()
    assert case.writer.committed == 1


def test_a_failure_of_our_own_is_fatal_and_not_silent(tmp_path):
    case = Case(tmp_path)
    case.writer.put(1, [r.MessageKept(2**70, "t", b"", 1, False, b"\0", None, "p", None)])
    trouble = case.troubles.get(timeout=WAIT_S)
    assert trouble.fatal
    assert "OverflowError" in trouble.text
    case.writer.close()


class Syncs(Store):
    """Says when it has been synced."""

    synced: SimpleQueue[int]

    def sync(self):
        super().sync()
        self.synced.put(1)


def test_the_interval_syncs_what_was_committed_and_only_then(tmp_path):
    store = Syncs.open(tmp_path, Durability.INTERVAL)
    store.synced = SimpleQueue()
    committed: SimpleQueue[int] = SimpleQueue()
    writer = Writer(store, committed.put, print, Durability.INTERVAL, sync_interval_s=0.01)
    writer.start()
    writer.put(1, [message(1)])
    assert committed.get(timeout=WAIT_S) == 1
    assert store.synced.get(timeout=WAIT_S)
    writer.put(2, [message(2)])
    assert store.synced.get(timeout=WAIT_S)
    assert store.synced.empty()
    writer.close()


def test_closing_syncs_what_an_interval_owes(tmp_path):
    store = Syncs.open(tmp_path, Durability.INTERVAL)
    store.synced = SimpleQueue()
    writer = Writer(store, lambda _: None, print, Durability.INTERVAL, sync_interval_s=3_600.0)
    writer.start()
    writer.put(1, [message(1)])
    assert writer.close() == 0
    assert store.synced.qsize() == 1
