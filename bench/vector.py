"""How fast the bulk models are, and how much memory they take, on one core.

    python bench/vector.py [--json] [--sizes N,N…] [--report FILE]

Each case is a process of its own, so that its peak of memory is its own, and is first run small, so that no compiling is
measured. Times are CPU time: machines are shared. A graph is built once at 10,000,000 nodes, three times below (the median
counts); multicasts are counted per delivery, over all nodes of a ring and to 1,000 neighbours in it.
"""

import argparse
import json
import platform
import resource
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median
from typing import Any

import numba
import numpy as np

from weft.sim.vector.ageing import Ageing
from weft.sim.vector.draws import Draws
from weft.sim.vector.layout import Layout, Span
from weft.sim.vector.multicast import STRATEGIES, multicast
from weft.sim.vector.select import Selector
from weft.sim.vector.skipgraph import SkipGraph, seeded
from weft.sim.vector.suzaku import Suzaku

SIZES = (100_000, 1_000_000, 10_000_000)
TARGETS = {100_000: (0.05, None), 1_000_000: (1.0, 0.34), 10_000_000: (13.0, 2.3)}
"""Seconds and GB of a graph; twice that is the limit."""
DELIVERY_US = (0.5, 1.0)
"""Most µs per delivery: as measured when this was planned, and the limit."""
RING = 1_000_000
CLUSTERS = 1_000
FEW = 1_000
RUNS = 3

Numbers = dict[str, Any]


def cpu(work: Callable[[], object], runs: int = RUNS) -> float:
    """CPU-seconds, the median."""
    times = []
    for _ in range(runs):
        begun = time.process_time()
        work()
        times.append(time.process_time() - begun)
    return median(times)


def plain(size: int) -> Layout:
    places = np.arange(size)
    return Layout.plain(places + 1, run=places * CLUSTERS // size, site=places * CLUSTERS // size)


def several(size: int) -> Layout:
    """Four keys a broker, anywhere."""
    places = np.arange(size)
    return Layout.shared(np.arange(1, size // 4 + 1), Draws(1).shuffled(size) // 4, run=places * CLUSTERS // size)


def build(size: int) -> Numbers:
    seeded(Layout.plain(np.arange(1, 1_001)), 1)
    bare = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    seconds = cpu(lambda: seeded(Layout.plain(np.arange(1, size + 1)), 1), 1 if size > RING else RUNS)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return {"size": size, "s": seconds, "gb": peak / 1e6, "gb_before": bare / 1e6}


def spread(overlay: str, keys_each: int) -> Numbers:
    made = plain if keys_each == 1 else several

    def model(size: int) -> SkipGraph | Suzaku:
        return Suzaku(made(size)) if overlay == "suzaku" else seeded(made(size), 1)

    small, ring = model(4_000), model(RING)
    results: Numbers = {"overlay": overlay, "keys_each": keys_each}
    for strategy in STRATEGIES:
        multicast(small, 7, Span(0, 4_000), strategy)
        multicast(small, 7, Span(1_000, 2_000), strategy)

        def all_of_them(strategy: str = strategy) -> None:
            multicast(ring, 7, Span(0, RING), strategy)

        def a_few(strategy: str = strategy) -> None:
            for _ in range(50):
                multicast(ring, 7, Span(RING // 2, RING // 2 + FEW), strategy)

        results[strategy] = {
            "all_us": cpu(all_of_them) / RING * 1e6,
            "few_us": cpu(a_few) / 50 / FEW * 1e6,
        }
    return results


def ageing() -> Numbers:
    def sweep(size: int) -> tuple[float, int]:
        model = Ageing(np.ones(size), Draws(2).random(size) * 60)
        intervals = 20
        return cpu(lambda: model.run(model.now + intervals * 60), 3), size * intervals

    sweep(100)
    seconds, updates = sweep(100_000)
    layout = Layout.shared(range(1, 129), [at % 128 for at in range(512)])
    span = Span(256, 320)
    values = np.zeros(512)
    values[span.low : span.high] = 1.0

    def trial() -> int:
        selector = Selector.seeded(layout, values, 1, span, "close")
        selector.remember, selector.ttl = False, 1_000
        return sum(walk.hops for walk in selector.reserve_all(span.low, 60.0))

    trial()
    return {"update_us": seconds / updates * 1e6, "trial_ms": cpu(trial) * 1e3}


def run(case: str) -> Numbers:
    """One case, here."""
    kind, _, rest = case.partition(":")
    if kind == "build":
        return build(int(rest))
    if kind == "spread":
        overlay, _, keys_each = rest.partition(":")
        return spread(overlay, int(keys_each))
    return ageing()


def apart(case: str) -> Numbers:
    """One case, in a process of its own."""
    answer = subprocess.run(
        [sys.executable, __file__, "--case", case], check=True, capture_output=True, text=True
    ).stdout
    numbers: Numbers = json.loads(answer)
    return numbers


def measured(sizes: list[int]) -> Numbers:
    return {
        "build": [apart(f"build:{size}") for size in sizes],
        "spread": [apart(f"spread:{overlay}:{each}") for overlay in ("skipgraph", "suzaku") for each in (1, 4)],
        "select": apart("select:"),
    }


def verdict(value: float, target: float | None, limit: float | None) -> str:
    if target is None or limit is None:
        return "–"
    return "within target" if value <= target else "within limit" if value <= limit else "**over**"


def markdown(results: Numbers) -> str:
    lines = [
        "# How fast the bulk models are",
        "",
        "Generated by `python bench/vector.py --report docs/reports/vector.md`; not edited by hand. CPU time on one core,",
        f"median of {RUNS} runs (one at 10,000,000 nodes), compiled beforehand; Python {platform.python_version()},",
        f"numpy {np.__version__}, numba {numba.__version__}. Target: what was measured when the models were planned;",
        "limit: twice that.",
        "",
        "## A Skip Graph, from seed to tables",
        "",
        "Peak memory is the whole process's; the interpreter with numpy and numba is the part in parentheses.",
        "",
        "| nodes | s | target | limit | | peak GB | target | limit | |",
        "|---:|---:|---:|---:|---|---:|---:|---:|---|",
    ]
    for row in results["build"]:
        seconds, gigabytes = TARGETS.get(row["size"], (None, None))
        cells = [f"{row['size']:,}"]
        for value, target in ((row["s"], seconds), (row["gb"], gigabytes)):
            limit = None if target is None else 2 * target
            shown = f"{value:.3g}" if value is row["s"] else f"{value:.2f} ({row['gb_before']:.2f})"
            bounds = ["–", "–"] if target is None else [f"{target:g}", f"{limit:g}"]
            cells += [shown, *bounds, verdict(value, target, limit)]
        lines.append(f"| {' | '.join(cells)} |")
    lines += [
        "",
        "## Range multicast, µs per delivery",
        "",
        f"Rings of {RING:,} nodes in {CLUSTERS:,} clusters. Target {DELIVERY_US[0]:g}, limit {DELIVERY_US[1]:g}.",
        f"`few`: to {FEW:,} nodes by a sender outside, the fixed cost of a call included.",
        "",
        "| overlay | keys a broker | strategy | all | | few |",
        "|---|---:|---|---:|---|---:|",
    ]
    for row in results["spread"]:
        for strategy in STRATEGIES:
            found = row[strategy]
            lines.append(
                f"| {row['overlay']} | {row['keys_each']} | {strategy} | {found['all_us']:.2f} | "
                f"{verdict(found['all_us'], *DELIVERY_US)} | {found['few_us']:.2f} |"
            )
    select = results["select"]
    lines += [
        "",
        "## Values and selection",
        "",
        f"- one update of one level of a finger table (100,000 nodes): {select['update_us']:.2f} µs",
        f"- one trial of SELECT (512 nodes, 64 requests by Close, one per T): {select['trial_ms']:.1f} ms",
        "",
    ]
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description="Measure the bulk models.")
    parser.add_argument("--json", action="store_true", help="one JSON object instead of a page")
    parser.add_argument("--sizes", default=",".join(map(str, SIZES)), help="nodes of the graphs, with commas between")
    parser.add_argument("--report", metavar="FILE", type=Path, help="write the page to FILE (Markdown)")
    parser.add_argument("--case", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.case:
        print(json.dumps(run(options.case)))
        return
    results = measured([int(size) for size in options.sizes.split(",")])
    print(json.dumps(results) if options.json else markdown(results))
    if options.report:
        options.report.parent.mkdir(parents=True, exist_ok=True)
        options.report.write_text(markdown(results), encoding="utf-8")


if __name__ == "__main__":
    main()
