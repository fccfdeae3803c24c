"""Who publishes what to whom, and how fast; each on fresh brokers, in turn, several times."""

import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from brokers import load
from brokers.servers import PEERS, Server

Result = dict[str, float]
Results = dict[str, dict[str, list[Result]]]
"""By scenario and peer: one result per run."""

PAIRS = "--pubs 100 --subs 100 --topics 100"


@dataclass(frozen=True)
class Scenario:
    """``target``: at most so much of mosquitto's CPU per delivery (0: none was set)."""

    name: str
    arguments: str
    target: float = 0.0
    per: str = "delivered"
    durable: bool = False

    def run(self, program: Path, server: Server, seconds: float) -> Result:
        return load.messages(program, server, [*self.arguments.split(), "--seconds", str(seconds)], self.per)


SATURATED, PACED = 1 / 8, 1.0

SCENARIOS = [
    *(Scenario(f"fan-out 1 → {n}", f"--pubs 1 --subs {n}", SATURATED) for n in (1, 10, 100, 1000)),
    Scenario("fan-in 100 → 1", "--pubs 100 --subs 1", SATURATED),
    Scenario("pairs 100 → 100", PAIRS, SATURATED),
    Scenario("pairs, 1 KiB", f"{PAIRS} --payload 1024", SATURATED),
    Scenario("fan-out 1 → 1, lengths vary", "--pubs 1 --subs 1 --vary 64", SATURATED),
    Scenario("pairs, lengths vary", f"{PAIRS} --vary 64", SATURATED),
    Scenario("pairs, QoS 1, lengths vary", f"{PAIRS} --qos 1 --vary 64", SATURATED),
    Scenario("pairs, MQTT 5", f"{PAIRS} --version 5", SATURATED),
    Scenario("wildcard subscribers 1 → 100", "--pubs 1 --subs 100 --filter t/+", SATURATED),
    Scenario("shared 100 → 10", "--pubs 100 --subs 10 --share group", SATURATED),
    Scenario("pairs, QoS 1, window 20", f"{PAIRS} --qos 1", SATURATED),
    Scenario("pairs, QoS 2, window 20", f"{PAIRS} --qos 2"),
    Scenario("fan-out 1 → 1, one outstanding", "--pubs 1 --subs 1 --paced", PACED),
    Scenario("fan-out 1 → 100, one outstanding", "--pubs 1 --subs 100 --paced", PACED),
    Scenario("pairs, one outstanding", f"{PAIRS} --paced", PACED),
    Scenario("pairs, 50,000/s", f"{PAIRS} --rate 50000", PACED),
    Scenario("pairs, QoS 1, durable", f"{PAIRS} --qos 1 --keep", durable=True),
    Scenario("pairs, QoS 1, durable, subscribers away", f"{PAIRS} --qos 1 --away", per="acknowledged", durable=True),
]


class Bench:
    """``runs`` times each, weft and its peers in turn, so that a busy minute of the machine hits all."""

    def __init__(self, program: Path, peers: list[str], runs: int, say: Callable[[str], None]) -> None:
        self.program = program
        self.peers = peers
        self.runs = runs
        self.say = say

    def messages(self, scenarios: list[Scenario], seconds: float) -> Results:
        return {
            scenario.name: self.repeat(
                scenario.name, lambda server, s=scenario: s.run(self.program, server, seconds), scenario.durable
            )
            for scenario in scenarios
        }

    def repeat(self, name: str, measure: Callable[[Server], Result], durable: bool = False) -> dict[str, list[Result]]:
        found: dict[str, list[Result]] = {peer: [] for peer in self.peers}
        for _ in range(self.runs):
            for peer in self.peers:
                with tempfile.TemporaryDirectory() as folder, PEERS[peer](Path(folder), durable) as server:
                    found[peer].append(measure(server))
        self.say(f"{name}: " + ", ".join(f"{peer} {_brief(runs)}" for peer, runs in found.items()))
        return found


def middle(runs: list[Result], key: str) -> float:
    return median(run[key] for run in runs)


def spread(runs: list[Result], key: str) -> float:
    """From the least to the most, as a part of the median."""
    values = [run[key] for run in runs]
    return (max(values) - min(values)) / median(values) if median(values) else 0.0


def _brief(runs: list[Result]) -> str:
    for key, unit in (("cpu_s_per_million", "s/M"), ("cpu_us", "µs")):
        if key in runs[0]:
            return f"{middle(runs, key):.2f} {unit} ±{spread(runs, key) / 2:.0%}"
    return ""
