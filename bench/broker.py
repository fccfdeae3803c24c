"""What a broker costs: weft beside mosquitto, both fresh for each run, driven by the same compiled generator.

    python bench/broker.py [--quick] [--json] [--runs N] [--seconds S] [--only WORD] [--connections N] [--report FILE]

The figure is CPU-seconds of the broker per million deliveries, from the system's own account of the process, during the
counted seconds only; rate, delay, memory and the generator's share of a processor stand beside it. Broker and generator
have a processor each. Runs alternate between the brokers; medians are shown, with the spread. Without mosquitto weft is
measured alone.
``--quick`` is one short run of a few scenarios.
"""

import argparse
import json
import os
import tempfile
from pathlib import Path
from typing import Any

from brokers import load, within
from brokers.page import markdown
from brokers.scenarios import SCENARIOS, Bench
from brokers.servers import has_mosquitto, mosquitto_version

QUICK = ("fan-out 1 → 100", "pairs 100 → 100", "pairs, QoS 1, window 20", "pairs, one outstanding")


def measure(options: argparse.Namespace, folder: Path) -> dict[str, Any]:
    program = load.build(folder)
    peers = ["weft", "mosquitto"] if has_mosquitto() else ["weft"]
    if len(peers) == 1:
        print("mosquitto is not installed (apt install mosquitto): weft alone")
    bench = Bench(
        program, peers, options.runs, (lambda _: None) if options.json else lambda text: print(text, flush=True)
    )
    chosen = [each for each in SCENARIOS if options.only in each.name and (not options.quick or each.name in QUICK)]
    found: dict[str, Any] = {
        "runs": options.runs,
        "seconds": options.seconds,
        "connections": options.connections,
        "mosquitto": mosquitto_version() if len(peers) > 1 else "",
        "load_before": os.getloadavg(),
        "messages": bench.messages(chosen, options.seconds),
    }
    if not options.quick and not options.only:
        count = options.connections
        found["churn"] = bench.repeat(
            "connect and disconnect", lambda server: load.connections(program, server, count // 2)
        )
        found["idle"] = bench.repeat("idle connections", lambda server: load.idle(program, server, count, False))
        found["subscribed"] = bench.repeat(
            "idle connections with a subscription", lambda server: load.idle(program, server, count, True)
        )
        found["subscriptions"] = within.subscriptions(1_000_000)
        found["python_ns"] = within.python_ns()
        found["profiles"] = {name: within.profile(name) for name in ("QoS 0, one in a read", "QoS 1, 20 in a read")}
    found["load_after"] = os.getloadavg()
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description="Measure the broker.")
    parser.add_argument("--quick", action="store_true", help="one short run of a few scenarios")
    parser.add_argument("--json", action="store_true", help="one JSON object")
    parser.add_argument("--runs", type=int, help="of each scenario (3; quick: 1)")
    parser.add_argument("--seconds", type=float, help="counted in each run (3; quick: 1)")
    parser.add_argument("--only", default="", metavar="WORD", help="scenarios whose name has it")
    parser.add_argument("--connections", type=int, default=10_000, help="for memory per connection")
    parser.add_argument("--report", metavar="FILE", type=Path, help="write the results to FILE (Markdown)")
    options = parser.parse_args()
    options.runs = options.runs or (1 if options.quick else 3)
    options.seconds = options.seconds or (1.0 if options.quick else 3.0)
    with tempfile.TemporaryDirectory() as folder:
        found = measure(options, Path(folder))
    print(json.dumps(found, indent=2) if options.json else "\n" + markdown(found))
    if options.report:
        options.report.parent.mkdir(parents=True, exist_ok=True)
        options.report.write_text(markdown(found), encoding="utf-8")


if __name__ == "__main__":
    main()
