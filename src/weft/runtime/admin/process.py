"""What the operating system knows about this process, under the names that Prometheus expects; silence is not an error."""

import os
import resource
from pathlib import Path

from weft.telemetry.gauges import Gauges

PROC = Path("/proc")


def measure(gauges: Gauges, proc: Path = PROC) -> None:
    """Read it now; a few system calls, whatever the number of connections."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    gauges.say("process_cpu_seconds_total", used.ru_utime + used.ru_stime)
    limit = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    gauges.say("process_max_fds", float("inf") if limit == resource.RLIM_INFINITY else limit)
    try:
        pages = int((proc / "self/statm").read_text(encoding="ascii").split()[1])
        gauges.say("process_resident_memory_bytes", pages * resource.getpagesize())
        gauges.say("process_open_fds", open_fds(proc))
        gauges.say("process_start_time_seconds", started_at(proc))
    except (OSError, ValueError, IndexError):
        return  # another system than Linux


def open_fds(proc: Path = PROC) -> int:
    """Linux says it as the folder's size since 6.2; before, the folder has to be read, which costs with 100,000 connections."""
    folder = proc / "self/fd"
    return os.stat(folder).st_size or len(os.listdir(folder))  # noqa: PTH116, PTH208 - nothing but a number is wanted


def started_at(proc: Path = PROC) -> float:
    """In seconds since the epoch: the machine's start, and the ticks from there to ours (proc(5), stat field 22)."""
    fields = (proc / "self/stat").read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()
    booted = next(
        line.split()[1]
        for line in (proc / "stat").read_text(encoding="ascii").splitlines()
        if line.startswith("btime ")
    )
    return float(booted) + int(fields[19]) / os.sysconf("SC_CLK_TCK")
