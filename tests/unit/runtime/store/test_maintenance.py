"""Check, compact, export and import of a store that no broker has open."""

import json
import random
import sqlite3

import pytest

from kept import History
from weft.broker import records as r
from weft.mqtt.codec.packets import Will
from weft.mqtt.codec.properties import Properties
from weft.runtime.store import maintenance
from weft.runtime.store.errors import StoreBusy, StoreError
from weft.runtime.store.store import FILE, Durability, Store


@pytest.fixture
def folder(tmp_path):
    """With a store that has something of everything."""
    store = Store.open(tmp_path / "data", Durability.NONE)
    history = History(random.Random(5))
    for _ in range(40):
        store.write(history.batch(50))
    will = r.WillKept("z", Will("w", b"\0", properties=Properties(user=(("k", "v"),))), 5.0, None, None)
    store.write([r.SessionKept("z", 60.0, 1.5e9, "u"), will, r.Incoming("z", 1)])
    kept = store.load()
    assert kept.messages
    assert kept.retained
    for field in ("subscriptions", "queue", "incoming", "will"):
        assert any(getattr(session, field) for session in kept.sessions), field
    store.close()
    return tmp_path / "data"


def do(folder, statement: str) -> None:
    connection = sqlite3.connect(folder / FILE)
    connection.execute(statement)
    connection.commit()
    connection.close()


def test_a_sound_store_is_sound(folder):
    report = maintenance.check(folder)
    assert report.problems == []
    assert report.orphans == {}
    assert set(report.rows) == {"session", "subscription", "message", "queue", "incoming", "retained", "will"}
    assert all(report.rows.values())


def test_what_nothing_names_is_found_and_is_no_damage(folder):
    do(folder, "INSERT INTO queue VALUES ('nobody', 1, 0, 1, 0, '', 0)")
    report = maintenance.check(folder)
    assert report.orphans == {"queue entries without a session": 1}
    assert report.problems == []


@pytest.mark.parametrize(
    ("statement", "problem"),
    [
        ("UPDATE message SET topic = x'00'", "table message: Expected `str`, got `bytes` - at `$.topic`"),
        ("UPDATE queue SET identifiers = 'one'", "invalid literal for int"),
        ("UPDATE will SET properties = x'c1'", "damaged"),
        ("UPDATE session SET expiry_s = 'never'", "table session: Expected `float`, got `str` - at `$.expiry_s`"),
    ],
)
def test_a_row_that_is_no_record_is_found(folder, statement, problem):
    do(folder, statement)
    assert problem in maintenance.check(folder).problems[0]


def test_a_damaged_page_is_found(folder):
    with (folder / FILE).open("r+b") as file:
        file.seek(4 * 4096)  # the root of a table
        file.write(b"\xa5" * 4096)
    assert maintenance.check(folder).problems


def test_compacting_gives_room_back_and_keeps_what_is_kept(folder):
    store = Store.open(folder, Durability.NONE)
    before = store.load()
    numbers = range(10**6, 10**6 + 500)
    store.write([r.MessageKept(n, "t", bytes(10_000), 1, False, b"\0", None, "p", None) for n in numbers])
    store.write([r.MessageGone(n) for n in numbers if n % 2])
    store.close()
    done = maintenance.compact(folder)
    assert done.bytes_after < done.bytes_before - 4_000_000
    assert done.dropped == {"messages that nothing names": 250}
    store = Store.open(folder, Durability.NONE)
    assert store.load() == before
    store.close()


def test_an_export_has_one_record_per_line_and_imports_to_the_same(folder, tmp_path):
    store = Store.open(folder, Durability.NONE)
    store.write([r.SessionKept("forever", float("inf"), None, None)])
    kept = store.load()
    store.close()
    lines = list(maintenance.export(folder))
    documents = [json.loads(line) for line in lines]
    assert {document["record"] for document in documents} == {kind.__name__ for kind in maintenance.EXPORTED}
    assert maintenance.restore(tmp_path / "copy", lines) == len(lines)
    store = Store.open(tmp_path / "copy", Durability.NONE)
    assert store.load() == kept
    store.close()
    assert list(maintenance.export(tmp_path / "copy")) == lines


def test_an_import_goes_into_an_empty_store_only(folder):
    with pytest.raises(StoreError, match="the store is not empty"):
        maintenance.restore(folder, [])


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (b"{", "line 2: Input data was truncated"),
        (b"\xff", "line 2: "),
        (b'{"record":"Done","client_id":"a","position":1}', "line 2: unknown record 'Done'"),
        (b'{"record":"Incoming","client_id":"a"}', "line 2: Object missing required field `packet_id`"),
        (b'{"record":"Incoming","client_id":"a","packet_id":"x"}', "line 2: Expected `int`, got `str`"),
    ],
)
def test_a_bad_line_is_named(tmp_path, line, message):
    with pytest.raises(StoreError, match=message):
        maintenance.restore(tmp_path, [b"\n", line])


@pytest.mark.parametrize(
    "work", [maintenance.check, maintenance.compact, lambda folder: next(maintenance.export(folder))]
)
def test_a_store_in_use_is_left_alone(folder, work):
    store = Store.open(folder, Durability.NONE)
    with pytest.raises(StoreBusy, match="in use by weft broker, process"):
        work(folder)
    store.close()


@pytest.mark.parametrize(
    "work", [maintenance.check, maintenance.compact, lambda folder: next(maintenance.export(folder))]
)
def test_no_store_is_said_and_none_is_made(tmp_path, work):
    with pytest.raises(StoreError, match="there is no store"):
        work(tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_progress_is_told(folder):
    told: list[tuple[str, int, int]] = []
    for work in (maintenance.check, maintenance.compact):
        told.clear()
        work(folder, lambda *step: told.append(step))
        assert [done for _, done, _ in told] == sorted(done for _, done, _ in told)
        assert told[-1][1] == told[-1][2]
