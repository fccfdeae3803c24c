"""One holder at a time, known by name; its end, however it ends, frees the lock."""

import subprocess
import sys

import pytest

from weft.runtime.store.errors import StoreBusy, StoreError
from weft.runtime.store.lock import FILE, Lock


def test_the_second_is_told_who_is_first(tmp_path):
    first = Lock.take(tmp_path, "weft broker kyoto-1")
    with pytest.raises(StoreBusy, match=r"the store is in use by weft broker kyoto-1, process \d+ on "):
        Lock.take(tmp_path, "another")
    first.release()
    second = Lock.take(tmp_path, "short")
    assert (tmp_path / FILE).read_text(encoding="utf-8").startswith("short, process ")
    second.release()
    second.release()


def test_a_dead_holder_holds_nothing(tmp_path):
    code = "import os,sys; from pathlib import Path; from weft.runtime.store.lock import Lock;"
    code += "Lock.take(Path(sys.argv[1]), 'dead'); os._exit(9)"
    assert subprocess.run([sys.executable, "-c", code, str(tmp_path)], check=False).returncode == 9
    assert "dead" in (tmp_path / FILE).read_text(encoding="utf-8")
    Lock.take(tmp_path, "alive").release()


def test_a_lock_file_that_cannot_be_is_one_line(tmp_path):
    (tmp_path / FILE).mkdir()
    with pytest.raises(StoreError, match=r"store\.lock: Is a directory"):
        Lock.take(tmp_path, "x")
