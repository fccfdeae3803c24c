"""A disk that is really full: nothing is confirmed, nothing is lost, it goes on by itself, and a start says it in one line."""

import os
import resource
import subprocess
import sys
from pathlib import Path
from queue import SimpleQueue

import pytest

from weft.broker import records as r
from weft.runtime.store.errors import StoreError, StoreFull
from weft.runtime.store.store import Store
from weft.runtime.store.writer import Trouble, Writer

pytestmark = pytest.mark.live

WAIT_S = 30.0
MOUNT = ["mount", "-t", "tmpfs", "-o", "size=4m", "weft-test"]


def message(number: int) -> r.MessageKept:
    return r.MessageKept(number, "t", bytes(50_000), 1, False, b"\0", None, "p", None)


@pytest.fixture
def small_disk(tmp_path):
    if os.geteuid() != 0:
        pytest.skip("mounting a small disk needs root")
    disk = tmp_path / "disk"
    disk.mkdir()
    if subprocess.run([*MOUNT, str(disk)], check=False, capture_output=True).returncode:
        pytest.skip("this root may not mount")
    yield disk
    subprocess.run(["umount", "--lazy", str(disk)], check=True)


def occupy(disk: Path) -> Path:
    """Somebody else's file takes all that is left."""
    other = disk / "other"
    with other.open("wb", buffering=0) as file:
        try:
            while True:
                file.write(bytes(4096))
        except OSError:
            return other


def test_a_full_disk_holds_what_was_not_written_until_there_is_room(small_disk):
    store = Store.open(small_disk / "data")
    committed: SimpleQueue[int] = SimpleQueue()
    troubles: SimpleQueue[Trouble | None] = SimpleQueue()
    writer = Writer(store, committed.put, troubles.put)
    writer.start()
    writer.put(1, [message(1)])
    assert committed.get(timeout=WAIT_S) == 1
    other = occupy(small_disk)
    for number in range(2, 22):
        writer.put(number, [message(number)])
    trouble = troubles.get(timeout=WAIT_S)
    assert trouble is not None
    assert not trouble.fatal
    assert "no space left on the disk" in trouble.text
    confirmed = writer.committed
    assert confirmed < 21
    other.unlink()
    while confirmed < 21:
        confirmed = committed.get(timeout=WAIT_S)
    assert troubles.get(timeout=WAIT_S) is None
    assert writer.close() == 0
    store = Store.open(small_disk / "data")
    assert store.connection.execute("SELECT count(*) FROM message").fetchone() == (21,)
    store.close()


def test_a_start_on_a_full_disk_says_so(small_disk):
    occupy(small_disk)
    with pytest.raises(StoreFull, match="no space left on the disk"):
        Store.open(small_disk / "data")
    (small_disk / "other").unlink()
    Store.open(small_disk / "data").close()


LIMITED = """
import resource, sys
from pathlib import Path
from queue import SimpleQueue
from weft.broker import records as r
from weft.runtime.store.store import Store
from weft.runtime.store.writer import Writer

def message(number):
    return r.MessageKept(number, "t", bytes(50_000), 1, False, b"\\0", None, "p", None)

committed, troubles = SimpleQueue(), SimpleQueue()
writer = Writer(Store.open(Path(sys.argv[1])), committed.put, troubles.put)
writer.start()
writer.put(1, [message(1)])
assert committed.get(timeout=30) == 1
resource.setrlimit(resource.RLIMIT_FSIZE, (200_000, resource.RLIM_INFINITY))
writer.put(2, [message(number) for number in range(2, 12)])
trouble = troubles.get(timeout=30)
assert not trouble.fatal and committed.empty()
print(trouble.text)
resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
assert committed.get(timeout=30) == 2
assert troubles.get(timeout=30) is None
assert writer.close() == 0
"""


def test_an_error_of_the_disk_is_held_out_too(tmp_path):
    """A limit on the size of files gives SQLite an I/O error instead of a full disk."""
    folder = tmp_path / "data"
    done = subprocess.run([sys.executable, "-c", LIMITED, str(folder)], check=False, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "store.db: " in done.stdout
    store = Store.open(folder)
    assert store.connection.execute("SELECT count(*) FROM message").fetchone() == (11,)
    store.close()


def test_a_start_that_may_not_write_is_one_line(tmp_path):
    limit = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (8_192, limit[1]))
    try:
        with pytest.raises(StoreError, match=r"store\.db: "):
            Store.open(tmp_path / "data")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limit)
    Store.open(tmp_path / "data").close()
