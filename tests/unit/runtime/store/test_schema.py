"""Schema versions: made by migrating, migrated in transactions, and what is newer or not ours is refused."""

import sqlite3

import pytest

from weft.runtime.store import schema
from weft.runtime.store.errors import StoreBroken
from weft.runtime.store.store import FILE, Durability, Store


def add_colour(connection: sqlite3.Connection) -> None:
    connection.execute("ALTER TABLE session ADD COLUMN colour TEXT NOT NULL DEFAULT 'grey'")


def fail_halfway(connection: sqlite3.Connection) -> None:
    connection.execute("DROP TABLE will")
    connection.execute("THIS IS NOT SQL")


def version_in(folder) -> int:
    connection = sqlite3.connect(folder / FILE)
    version = connection.execute("PRAGMA user_version").fetchone()[0]
    connection.close()
    return version


def opened(folder, *more: schema.Migration) -> Store:
    return Store.open(folder, Durability.NONE, migrations=(*schema.MIGRATIONS, *more))


def test_a_new_store_has_the_newest_schema(tmp_path):
    store = opened(tmp_path)
    assert (store.migrated_from, store.schema) == (0, len(schema.MIGRATIONS))
    store.close()
    assert version_in(tmp_path) == len(schema.MIGRATIONS)


def test_an_old_store_is_migrated_and_keeps_what_it_holds(tmp_path):
    store = opened(tmp_path)
    store.connection.execute("INSERT INTO session VALUES ('a', 60, NULL, NULL)")
    store.close()
    store = opened(tmp_path, add_colour)
    assert (store.migrated_from, store.schema) == (1, 2)
    assert store.connection.execute("SELECT * FROM session").fetchall() == [("a", 60.0, None, None, "grey")]
    store.close()


def test_a_store_made_new_and_one_migrated_have_the_same_tables(tmp_path):
    opened(tmp_path / "old").close()
    old, new = opened(tmp_path / "old", add_colour), opened(tmp_path / "new", add_colour)
    tables = "SELECT sql FROM sqlite_master ORDER BY name"
    assert old.connection.execute(tables).fetchall() == new.connection.execute(tables).fetchall()
    old.close()
    new.close()


def test_a_migration_that_fails_leaves_the_version_before(tmp_path):
    opened(tmp_path).close()
    with pytest.raises(Exception, match=r"store\.db: near"):
        opened(tmp_path, add_colour, fail_halfway)
    assert version_in(tmp_path) == 2
    store = opened(tmp_path, add_colour)
    assert store.connection.execute("SELECT count(*) FROM will").fetchone() == (0,)
    store.close()


def test_a_newer_store_is_refused_in_one_line_and_left_alone(tmp_path):
    opened(tmp_path, add_colour).close()
    before = (tmp_path / FILE).read_bytes()
    with pytest.raises(StoreBroken, match="has schema 2 and this weft knows 1; use the newer weft that wrote it"):
        opened(tmp_path)
    assert (tmp_path / FILE).read_bytes() == before


def test_another_programs_database_is_refused_and_left_alone(tmp_path):
    connection = sqlite3.connect(tmp_path / FILE)
    connection.execute("CREATE TABLE recipe (name TEXT)")
    connection.commit()
    connection.close()
    before = (tmp_path / FILE).read_bytes()
    with pytest.raises(StoreBroken, match="not a store of weft"):
        opened(tmp_path)
    assert (tmp_path / FILE).read_bytes() == before
