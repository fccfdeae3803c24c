"""kill -9 at any moment: each batch that was reported is there, batches are whole, and the next process goes on from there.

What a power loss does beyond this is a matter of when the disk is synced; that ``always`` syncs before it reports is tested by
looking at the system calls, where strace is there to look.
"""

import os
import random
import re
import runpy
import shutil
import signal
import subprocess
import sys
from itertools import islice
from pathlib import Path

import pytest

from kept import Model
from weft.runtime.store.maintenance import check
from weft.runtime.store.store import Store

pytestmark = pytest.mark.live

HERE = Path(__file__).parent
KILLS = 15
AHEAD = 32
SEED = 20_261_119


def batches(seed: int):
    return runpy.run_path(str(HERE / "store_writer.py"))["batches"](seed)


def start(folder: Path, first: int, durability: str, *before: str) -> subprocess.Popen[bytes]:
    command = [*before, sys.executable, str(HERE / "store_writer.py"), str(folder), str(SEED), str(first), durability]
    environment = {**os.environ, "PYTHONPATH": str(HERE.parent)}
    pipe = subprocess.PIPE
    return subprocess.Popen(command, stdout=pipe, stderr=pipe, env=environment, start_new_session=True)


def kill(process: subprocess.Popen[bytes]) -> None:
    """It and, if it is a tracer, what it traces."""
    os.killpg(process.pid, signal.SIGKILL)


def killed_after(process: subprocess.Popen[bytes], reports: int) -> int:
    """Kill it when it has reported that often; the highest batch that it reported before it died."""
    with process:
        assert process.stdout is not None
        assert process.stderr is not None
        for _ in range(reports + 1):  # the first says that the store is open
            line = process.stdout.readline()
            assert line, process.stderr.read()
        kill(process)
        rest = process.stdout.read()
        numbers = [int(text) for text in (line + rest).split(b"\n") if text]
    assert process.returncode == -signal.SIGKILL
    return numbers[-1]


@pytest.mark.parametrize("durability", ["always", "interval", "none"])
def test_what_was_reported_survives_being_killed(tmp_path, durability):
    rng = random.Random(f"{SEED}{durability}")
    folder = tmp_path / "data"
    model, written = Model(), 0
    history = batches(SEED)
    survivors = 0
    for _ in range(KILLS):
        reported = killed_after(start(folder, written + 1, durability), rng.choice((0, 1, rng.randint(2, 12))))
        for batch in islice(history, max(0, reported - written)):
            for record in batch:
                model.apply(record)
            written += 1
        store = Store.open(folder)
        kept = store.load()
        store.close()
        for _ in range(AHEAD):  # what was committed and not reported any more: whole batches too
            if model.kept() == kept:
                break
            for record in next(history):
                model.apply(record)
            written += 1
        assert model.kept() == kept, f"after batch {reported} was reported"
        assert check(folder).problems == []
        survivors += len(kept.messages)
        model = Model.of(kept)
    assert written > KILLS
    assert survivors > 0


@pytest.mark.skipif(shutil.which("strace") is None, reason="strace is not installed")
def test_always_syncs_before_it_reports_and_none_does_not(tmp_path):
    for durability, promised in (("always", True), ("none", False)):
        log = tmp_path / f"{durability}.strace"
        tracer = ("strace", "-f", "-o", str(log), "-e", "trace=write,pwrite64,fdatasync,fsync")
        process = start(tmp_path / durability, 1, durability, *tracer)
        with process:
            assert process.stdout is not None
            reported = [process.stdout.readline() for _ in range(6)]
            kill(process)
        assert reported[-1]
        calls = log.read_text(encoding="utf-8").splitlines()
        opened = next(n for n, call in enumerate(calls) if 'write(1, "0\\n"' in call)
        reports = [n for n, call in enumerate(calls) if re.search(r' write\(1, "[1-9]', call)]
        assert len(reports) >= 5
        unsynced = 0
        for report, before in zip(reports, [opened, *reports], strict=False):
            between = calls[before:report]
            writes = [n for n, call in enumerate(between) if "pwrite64(" in call]
            syncs = [n for n, call in enumerate(between) if "sync(" in call]
            unsynced += not syncs or (bool(writes) and syncs[-1] < writes[-1])
        assert (unsynced == 0) == promised
