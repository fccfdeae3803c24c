"""The file: what is written comes back, what is broken or taken is refused in one line."""

import os
import stat

import pytest

from weft.broker import records as r
from weft.broker.records import Kept, KeptSession
from weft.mqtt.codec.packets import Request, Will
from weft.mqtt.codec.properties import Properties
from weft.runtime.store.errors import StoreBroken, StoreBusy, StoreError
from weft.runtime.store.store import FILE, Durability, Store

SESSION = r.SessionKept("a", float("inf"), None, "u")
SUBSCRIPTION = r.SubscriptionKept("a", Request("$share/g/x/#", 2, True, True, 1), 268_435_455, "x/#")
MESSAGE = r.MessageKept(2**53 + 1, "x/ü", b"\0\xff", 1, True, b"\x02\x01\x01", 1.5e9 + 0.25, "p", None)
QUEUED = r.Queued("a", 7, MESSAGE.number, 1, True, (1, 268_435_455), 65_535)
RETAINED = r.RetainedKept("x/ü", MESSAGE.number)
WILL = r.WillKept("a", Will("w", b"\xfe", 2, True, Properties(user=(("k", "1"), ("k", "2")))), 5.0, 1.5e9, "u")
EVERYTHING = [SESSION, SUBSCRIPTION, MESSAGE, QUEUED, r.Incoming("a", 65_535), RETAINED, WILL]


def message(number: int) -> r.MessageKept:
    return r.MessageKept(number, "t", bytes(4_000), 1, False, b"\0", None, "p", None)


class Home:
    """A store that is opened again and again."""

    def __init__(self, folder):
        self.store = Store.open(folder, Durability.NONE)

    def again(self) -> Kept:
        """What a broker finds at its next start."""
        self.store.close()
        self.store = Store.open(self.store.folder, Durability.NONE)
        return self.store.load()


@pytest.fixture
def home(tmp_path):
    home = Home(tmp_path / "data")
    yield home
    home.store.close()


def test_every_field_of_every_record_comes_back(home):
    home.store.write(EVERYTHING)
    kept = home.again()
    assert kept == Kept([MESSAGE], [RETAINED], [KeptSession(SESSION, [SUBSCRIPTION], [QUEUED], [65_535], WILL)])
    assert type(kept.messages[0].retain) is bool
    assert type(kept.sessions[0].subscriptions[0].request.no_local) is bool


def test_an_empty_store_keeps_nothing(home):
    assert home.store.load() == Kept()
    home.store.write([])
    assert home.again() == Kept()


def test_a_queue_comes_back_by_position(home):
    home.store.write([SESSION, MESSAGE])
    for position in (300, 2, 70_000, 1):
        home.store.write([r.Queued("a", position, MESSAGE.number, 1, False, (), 0)])
    assert [entry.position for entry in home.again().sessions[0].queue] == [1, 2, 300, 70_000]


def test_what_is_owed_a_release_needs_no_message(home):
    home.store.write([SESSION, MESSAGE, QUEUED])
    home.store.write([r.Sent("a", 7, 9), r.Released("a", 7), r.MessageGone(MESSAGE.number)])
    kept = home.again()
    assert [(entry.number, entry.packet_id) for entry in kept.sessions[0].queue] == [(0, 9)]
    assert kept.messages == []


def test_a_session_takes_all_it_has_with_it(home):
    home.store.write(EVERYTHING)
    home.store.write([r.SessionGone("a"), r.SessionKept("a", 1.0, None, None)])
    assert home.again() == Kept([MESSAGE], [RETAINED], [KeptSession(r.SessionKept("a", 1.0, None, None))])
    assert home.store.dropped == {}


def test_what_nothing_names_is_dropped_from_the_file_too(home):
    home.store.write([SUBSCRIPTION, MESSAGE, QUEUED, r.Incoming("a", 1), WILL, r.RetainedKept("y", 5)])
    assert home.again() == Kept()
    assert home.store.dropped == {
        "subscriptions without a session": 1,
        "incoming identifiers without a session": 1,
        "wills without a session": 1,
        "queue entries without a session": 1,
        "retained topics without a message": 1,
        "messages that nothing names": 1,
    }
    assert home.again() == Kept()
    assert home.store.dropped == {}


def test_what_comes_and_goes_in_one_batch_is_never_written(home):
    home.store.write([SESSION])
    before = home.store.connection.total_changes
    home.store.write([MESSAGE, QUEUED, r.Sent("a", 7, 1), r.Done("a", 7), r.MessageGone(MESSAGE.number)])
    assert home.store.connection.total_changes == before


def test_a_batch_is_written_whole_or_not_at_all(home):
    home.store.write([SESSION])
    with pytest.raises(StoreError):
        home.store.write([MESSAGE, RETAINED, r.SessionKept("b", None, None, None)])  # expiry_s must not be NULL
    assert home.again() == Kept(sessions=[KeptSession(SESSION)])


@pytest.mark.parametrize(("durability", "synchronous"), [("always", 2), ("interval", 1), ("none", 0)])
def test_each_durability_has_its_synchronous(tmp_path, durability, synchronous):
    store = Store.open(tmp_path, Durability(durability))
    assert store.connection.execute("PRAGMA synchronous").fetchone() == (synchronous,)
    assert store.connection.execute("PRAGMA journal_mode").fetchone() == ("wal",)
    store.close()


def test_others_may_not_read_it(home):
    home.store.write([SESSION])
    files = {path.name: stat.S_IMODE(path.stat().st_mode) for path in home.store.folder.iterdir()}
    assert set(files) == {"store.db", "store.db-wal", "store.db-shm", "store.lock"}
    assert set(files.values()) == {0o600}
    assert stat.S_IMODE(home.store.folder.stat().st_mode) == 0o700


def test_a_second_broker_is_told_who_has_the_store(home):
    with pytest.raises(StoreBusy, match=rf"is in use by weft broker, process {os.getpid()} on "):
        Store.open(home.store.folder)
    assert home.again() == Kept()


def test_a_file_that_is_no_database_is_refused_in_one_line(tmp_path):
    (tmp_path / FILE).write_bytes(b"mqtt " * 1000)
    with pytest.raises(StoreBroken, match=r"damaged .*; restore a backup, or move the file away"):
        Store.open(tmp_path)
    (tmp_path / FILE).unlink()
    Store.open(tmp_path).close()


@pytest.mark.parametrize("page", range(1, 12))
def test_a_damaged_page_is_noticed_at_the_start_or_not_needed(tmp_path, page):
    store = Store.open(tmp_path, Durability.NONE)
    store.write(EVERYTHING)
    store.write([r.SubscriptionKept("a", Request(f"f/{n}"), 0, "x" * 200) for n in range(200)])
    kept = store.load()
    store.close()
    with (tmp_path / FILE).open("r+b") as file:
        file.seek(page * 4096)
        file.write(b"\xa5" * 4096)
    with pytest.raises(StoreBroken, match="damaged"):
        Store.open(tmp_path)
    assert kept.sessions


def test_a_damaged_row_is_refused_in_one_line(home):
    home.store.write(EVERYTHING)
    home.store.connection.execute("UPDATE will SET properties = x'c1'")
    with pytest.raises(StoreBroken, match="damaged"):
        home.again()


def test_a_folder_that_cannot_be_made_is_one_line(tmp_path):
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(StoreError, match="file/data: Not a directory"):
        Store.open(tmp_path / "file" / "data")


def test_the_log_stays_short_however_much_is_written(home):
    for number in range(1, 90):
        home.store.write([message(n) for n in range(number % 30 + 1, 9_000, 30)])
        home.store.tidy()
    assert (home.store.folder / FILE).stat().st_size > 30_000_000
    assert (home.store.folder / "store.db-wal").stat().st_size < 30_000_000


def test_a_sync_reaches_the_log_of_an_open_store(home):
    home.store.write([SESSION])
    home.store.sync()
    home.store.write([MESSAGE])
    home.store.sync()
