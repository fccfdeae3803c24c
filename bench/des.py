"""How fast the event simulator is: messages delivered per second of CPU time, on one core.

    python bench/des.py [--json] [--messages N] [--only NAME] [--profile] [--report FILE]

``trivial`` is a machine that hands each message on (``weft.sim.des.toys.Relay``), 1,024 of them: what is measured is the
engine. ``lookup`` is Suzaku: 1,024 brokers with converged tables, random lookups. Each case is run three times, and the
median is shown: machines are shared and noisy, so compare with ``loop``, the same machine driven by a bare loop over a heap
and nothing else (no counters, no trace, no timers), which says how fast this computer is today.
"""

import argparse
import cProfile
import io
import json
import platform
import pstats
import time
from collections.abc import Callable
from heapq import heappop, heappush
from itertools import count, islice
from pathlib import Path
from statistics import median
from typing import Any

from weft.core.ids import NodeId
from weft.core.machine import Machine, Message, Outbox, Send
from weft.core.rand import Rng
from weft.overlay.keys import number_key
from weft.overlay.peer import Peer
from weft.overlay.settings import Settings
from weft.sim.des.engine import Simulation
from weft.sim.des.network import Uniform
from weft.sim.des.physical import Physical
from weft.sim.des.shapes import fat_tree
from weft.sim.des.toys import Relay, Token
from weft.sim.des.trace import Level, Trace
from weft.sim.whole import whole_suzaku

NODES = 1_024
RUNS = 3


def cpu(work: Callable[[], int]) -> float:
    """Messages per CPU-second of ``work``, which answers how many it delivered."""
    begun = time.process_time()
    delivered = work()
    return delivered / (time.process_time() - begun)


def ready(network: Any, level: Level, in_flight: int) -> Simulation:
    simulation = Simulation(1, network, trace=Trace(level))
    for number in range(1, NODES + 1):
        simulation.add(NodeId(number), Relay(NodeId(number * 7 % NODES + 1)))

    def begin(machine: Machine, _: float, out: Outbox) -> None:
        assert isinstance(machine, Relay)
        out.send(machine.neighbour, Token(1))

    for number in range(in_flight):
        simulation.do(NodeId(number % NODES + 1), begin)
    simulation.run(events_max=in_flight)
    return simulation


def trivial(
    messages: int, level: Level = Level.OFF, jitter_s: float = 0.0, in_flight: int = 1_000, physical: bool = False
) -> Callable[[], int]:
    network: Any = Uniform(0.01, jitter_s)
    if physical:
        topology = fat_tree(8)
        topology.place_in_turn([NodeId(number) for number in range(1, NODES + 1)])
        network = Physical(topology)
    simulation = ready(network, level, in_flight)
    return lambda: simulation.run(events_max=messages)


def loop(messages: int) -> Callable[[], int]:
    """No simulator: a heap of (time, counter, source, to, message), the machines, their outbox."""
    relays = {number: Relay(NodeId(number * 7 % NODES + 1)) for number in range(1, NODES + 1)}
    heap: list[tuple[float, int, NodeId, NodeId, Message]] = []
    for number in range(1_000):
        heappush(heap, (0.01, number, NodeId(1), NodeId(number + 1), Token(1)))

    counters = count(1_000)

    def work() -> int:
        out = Outbox()
        effects = out.effects
        for counter in islice(counters, messages):
            now, _, source, to, message = heappop(heap)
            relays[to].receive(now, source, message, out)
            for effect in effects:
                if type(effect) is Send:
                    heappush(heap, (now + 0.01, counter, to, effect.to, effect.message))
            effects.clear()
        return messages

    return work


def lookup(messages: int, level: Level = Level.OFF) -> Callable[[], int]:
    """Lookups from random brokers for random keys, one every 0.1 ms, until ``messages`` messages have been delivered."""
    settings = Settings(ping_interval_s=None, lost_interval_s=None, update_interval_s=None)
    simulation = Simulation(1, Uniform(0.001), trace=Trace(level))
    rng = Rng(1)
    keys = [number_key(number, NodeId(number)) for number in range(1, NODES + 1)]
    peers = whole_suzaku({key.broker: [key] for key in keys}, settings)
    nodes = list(peers)
    for node, peer in peers.items():
        simulation.add(node, peer)

    def look(machine: Machine, now: float, out: Outbox) -> None:
        assert isinstance(machine, Peer)
        machine.lookup(now, rng.choice(keys), out)

    def work() -> int:
        before = simulation.delivered.total()
        while (delivered := simulation.delivered.total() - before) < messages:
            for number in range(1_000):
                simulation.do(rng.choice(nodes), look, at=simulation.now + number * 1e-4)
            simulation.run(until=simulation.now + 0.1)
            simulation.upward.clear()
        return delivered

    return work


CASES: dict[str, Callable[[int], Callable[[], int]]] = {
    "loop": loop,
    "trivial": trivial,
    "trivial, digest": lambda messages: trivial(messages, Level.DIGEST),
    "trivial, full trace": lambda messages: trivial(messages, Level.FULL),
    "trivial, jitter": lambda messages: trivial(messages, jitter_s=0.01),
    "trivial, 100,000 in flight": lambda messages: trivial(messages, in_flight=100_000),
    "trivial, 100,000 in flight, jitter": lambda messages: trivial(messages, jitter_s=0.01, in_flight=100_000),
    "trivial, fat-tree": lambda messages: trivial(messages, physical=True),
    "lookup": lambda messages: lookup(messages // 4),
    "lookup, digest": lambda messages: lookup(messages // 4, Level.DIGEST),
}


LEAST = {"trivial": 300_000, "lookup": 100_000}
"""What the simulator is held to."""


def profile(case: str, messages: int, functions: int = 25) -> str:
    """Where ``case``'s time goes, the most expensive functions first."""
    work = CASES[case](messages)
    profiler = cProfile.Profile()
    profiler.runcall(work)
    text = io.StringIO()
    pstats.Stats(profiler, stream=text).strip_dirs().sort_stats("tottime").print_stats(functions)
    lines = text.getvalue().splitlines()
    first = next(number for number, line in enumerate(lines) if "tottime" in line)
    return "\n".join(line.rstrip() for line in lines[first:] if line.strip())


def report(results: dict[str, int], messages: int) -> str:
    """The page that the docs show."""
    rows = [f"| {case} | {rate:,} | {f'{LEAST[case]:,}' if case in LEAST else ''} |" for case, rate in results.items()]
    parts = [
        "# How fast the event simulator is\n",
        "Generated by `python bench/des.py --report docs/reports/simulator.md`; not edited by hand. Messages delivered per",
        f"CPU-second on one core, median of {RUNS} runs, {NODES:,} machines, Python {platform.python_version()}. `trivial`",
        "hands each message on: what is measured is the engine. `lookup` is Suzaku with converged tables. `loop` is the",
        "trivial machine driven by a bare loop over a heap: how fast this computer was that day.\n",
        "| case | messages per CPU-second | at least |\n|---|---:|---:|",
        *rows,
    ]
    for case in ("trivial", "lookup"):
        parts += [
            f"\n## Where the time of `{case}` goes\n",
            "Under the profiler, which slows small functions down most; the dearest first.\n",
            "```",
            profile(case, messages, 12),
            "```",
        ]
    return "\n".join(parts) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(description="Measure the event simulator.")
    parser.add_argument("--json", action="store_true", help="one JSON object: case → messages per CPU-second")
    parser.add_argument("--messages", type=int, default=500_000, help="messages per run (a quarter for lookups)")
    parser.add_argument("--only", metavar="NAME", help="only cases whose name contains NAME")
    parser.add_argument("--profile", action="store_true", help="where the time goes, instead of how much it is")
    parser.add_argument("--report", metavar="FILE", type=Path, help="write numbers and profile to FILE (Markdown)")
    options = parser.parse_args()
    chosen = [case for case in CASES if options.only is None or options.only in case]
    results: dict[str, int] = {}
    for case in chosen:
        if options.profile:
            print(profile(case, options.messages))
            continue
        work = CASES[case](options.messages)
        results[case] = round(median(cpu(work) for _ in range(RUNS)))
        if not options.json:
            print(f"{case:<36} {results[case]:>12,} messages per CPU-second")
    if options.json:
        print(json.dumps(results))
    if options.report:
        options.report.parent.mkdir(parents=True, exist_ok=True)
        options.report.write_text(report(results, options.messages), encoding="utf-8")


if __name__ == "__main__":
    main()
