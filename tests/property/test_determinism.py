"""A run is a function of its seed: not of the process, nor of the order in which Python iterates over hashes."""

import json
import os
import subprocess
import sys

import pytest

from weft.sim.des.trace import Level
from weft.sim.overlays import OVERLAYS
from weft.sim.schedule import Bounds, Schedule

HASH_SEEDS = ("0", "1", "4711")
SEEDS = range(40, 44)
PROGRAM = """
import json, sys
from weft.sim.des.trace import Level
from weft.sim.schedule import Bounds, Schedule
bounds = Bounds((sys.argv[1],))
hashes = [Schedule(int(seed), bounds, Level.DIGEST).run().trace_hash for seed in sys.argv[2:]]
print(json.dumps([hash("weft"), hashes]))
"""


@pytest.mark.parametrize("overlay", OVERLAYS)
def test_the_same_seeds_give_the_same_trace_hashes_whatever_the_hash_seed_is(overlay):
    """Overlay §11: the same seed gives the same trace hash."""
    processes = [
        subprocess.Popen(
            [sys.executable, "-c", PROGRAM, overlay, *map(str, SEEDS)],
            env={**os.environ, "PYTHONHASHSEED": hash_seed},
            stdout=subprocess.PIPE,
            text=True,
        )
        for hash_seed in HASH_SEEDS
    ]
    answers = [json.loads(process.communicate()[0]) for process in processes]
    assert len({string_hash for string_hash, _ in answers}) == len(HASH_SEEDS), "the hash seeds took effect"
    here = [Schedule(seed, Bounds((overlay,)), Level.DIGEST).run().trace_hash for seed in SEEDS]
    assert [hashes for _, hashes in answers] == [here] * len(HASH_SEEDS)
    assert len(set(here)) == len(SEEDS)
