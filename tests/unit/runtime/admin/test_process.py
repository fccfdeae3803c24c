"""Numbers of this process, where the system says them."""

import os
from pathlib import Path

from weft.runtime.admin import process
from weft.telemetry.gauges import Gauges


def test_here_all_of_them_make_sense():
    gauges = Gauges()
    process.measure(gauges)
    assert gauges["process_cpu_seconds_total"] > 0
    assert gauges["process_resident_memory_bytes"] > 1_000_000
    assert 3 <= gauges["process_open_fds"] <= gauges["process_max_fds"]
    begun = Path("/proc/self").stat().st_ctime
    assert begun - 3600 < gauges["process_start_time_seconds"] < begun + 60


def test_without_proc_the_rest_is_said(tmp_path):
    gauges = Gauges()
    process.measure(gauges, tmp_path)
    assert set(gauges) == {"process_cpu_seconds_total", "process_max_fds"}


def test_old_kernels_count_entries(tmp_path, monkeypatch):
    folder = tmp_path / "self" / "fd"
    folder.mkdir(parents=True)
    for number in range(3):
        (folder / str(number)).touch()
    monkeypatch.setattr(process.os, "stat", lambda _: os.stat_result((0,) * 10))
    assert process.open_fds(tmp_path) == 3
