"""The store against the meaning of its records: whatever a broker says, in whatever batches, the file comes to the same."""

import random
import tempfile
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from kept import History, Model
from weft.runtime.store.changes import Changes
from weft.runtime.store.maintenance import check
from weft.runtime.store.store import Durability, Store

SIZES = st.lists(st.integers(1, 60), min_size=1, max_size=8)


@settings(max_examples=150)
@given(seed=st.integers(0, 2**32), sizes=SIZES, reopen=st.sets(st.integers(0, 7)))
def test_batches_come_to_what_their_records_say_one_by_one(seed, sizes, reopen):
    history = History(random.Random(seed))
    model = Model()
    with tempfile.TemporaryDirectory() as folder:
        store = Store.open(Path(folder), Durability.NONE)
        for number, size in enumerate(sizes):
            batch = history.batch(size)
            store.write(batch)
            for record in batch:
                model.apply(record)
            if number in reopen:
                store.close()
                store = Store.open(Path(folder), Durability.NONE)
        kept = store.load()
        assert kept == model.kept()
        assert store.load() == kept
        assert store.dropped == {}
        store.close()
        assert check(Path(folder)).problems == []


@settings(max_examples=100)
@given(seed=st.integers(0, 2**32), sizes=SIZES)
def test_loading_in_between_does_not_matter(seed, sizes):
    """Loading drops orphans, which the broker that loaded does not know of: it would never name them again."""
    history = History(random.Random(seed))
    with tempfile.TemporaryDirectory() as folder:
        store = Store.open(Path(folder), Durability.NONE)
        for size in sizes:
            store.write(history.batch(size))
        kept = store.load()
        store.close()
        store = Store.open(Path(folder), Durability.NONE)
        assert store.load() == kept
        assert store.dropped == {}
        store.close()


@given(seed=st.integers(0, 2**32), sizes=SIZES)
def test_it_does_not_matter_how_batches_are_merged(seed, sizes):
    history = History(random.Random(seed))
    batches = [history.batch(size) for size in sizes]
    with tempfile.TemporaryDirectory() as folder:
        one_by_one = Store.open(Path(folder) / "1", Durability.NONE)
        for batch in batches:
            one_by_one.write(batch)
        merged = Store.open(Path(folder) / "2", Durability.NONE)
        changes = Changes()
        for batch in batches:
            changes.add(batch)
        merged.apply(changes)
        assert merged.load() == one_by_one.load()
        one_by_one.close()
        merged.close()
