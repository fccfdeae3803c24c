"""The import contracts bite: on a skeleton of the finished tree, each offence is reported and a clean tree is not."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

# Where the line stands, the line, and the import that the report must name.
OFFENCES = {
    "core/upward.py": ("import weft.telemetry", "weft.core.upward -> weft.telemetry"),
    "mqtt/sideways.py": ("import weft.openflow", "weft.mqtt.sideways -> weft.openflow"),
    "broker/sideways.py": ("import weft.sdn", "weft.broker.sideways -> weft.sdn"),
    "sim/sideways.py": ("import weft.runtime", "weft.sim.sideways -> weft.runtime"),
    "overlay/suzaku/sideways.py": ("import weft.overlay.skipgraph", "weft.overlay.suzaku.sideways -> weft.overlay.ski"),
    "overlay/ring/upward.py": ("import weft.overlay.suzaku", "weft.overlay.ring.upward -> weft.overlay.suzaku"),
    "pubsub/concrete.py": ("import weft.overlay.suzaku", "weft.pubsub.concrete -> weft.overlay.suzaku"),
    "pubsub/protocol.py": ("import weft.mqtt", "weft.pubsub.protocol -> weft.mqtt"),
    "core/lazy.py": ("def clock():\n    import time\n    return time", "weft.core.lazy -> time"),
    "telemetry/threads.py": ("import threading", "weft.telemetry.threads -> threading"),
    "openflow/socketed.py": ("import socket", "weft.openflow.socketed -> socket"),
    "node/loop.py": ("import asyncio", "weft.node.loop -> asyncio"),
    "sim/dice.py": ("import random", "weft.sim.dice -> random"),
    "broker/typing_only.py": (
        "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    import ssl",
        "weft.broker.typing_only -> ssl",
    ),
    "cli/spark.py": ("import pyspark", "weft.cli.spark -> pyspark"),
    "pipelines/experiments/spark.py": ("import pyspark", "weft.pipelines.experiments.spark -> pyspark"),
    "pipelines/planner/upward.py": (
        "import weft.pipelines.jobs",
        "weft.pipelines.planner.upward -> weft.pipelines.jobs",
    ),
}

PIPELINES = ("experiments", "jobs", "planner", "transforms")

ALLOWED = {
    "cli/good.py": "import asyncio, time\nimport weft.pipelines, weft.runtime, weft.sim",
    "runtime/good.py": "import asyncio, socket, time\nimport weft.node",
    "pipelines/good.py": "import pyspark\nimport weft.telemetry",
    "pipelines/jobs/good.py": "import pandas, pyspark\nimport weft.pipelines.experiments, weft.pipelines.transforms",
    "node/good.py": "import weft.overlay.suzaku, weft.broker",
    "sim/good.py": "import weft.overlay.suzaku, weft.core",
    "pubsub/good.py": "import weft.overlay.api",
    "overlay/suzaku/good.py": "import weft.overlay.ring, weft.overlay.api",
}


def lint(root: Path, at: Path, layers, parts, files: dict[str, str]) -> subprocess.CompletedProcess[str]:
    """Build the finished tree with ``files`` in it, and run the project's own contracts over it."""
    folders = [
        "",
        *(layer.name for layer in layers),
        *(f"overlay/{name}" for name in parts),
        *(f"pipelines/{name}" for name in PIPELINES),
    ]
    for folder in folders:
        (at / "weft" / folder).mkdir(parents=True, exist_ok=True)
        (at / "weft" / folder / "__init__.py").touch()
    for name, text in files.items():
        (at / "weft" / name).write_text(text + "\n", encoding="utf-8")
    return subprocess.run(
        [str(Path(sys.executable).with_name("lint-imports")), "--no-cache", "--config", str(root / "pyproject.toml")],
        cwd=at,
        env={**os.environ, "PYTHONPATH": str(at), "COLUMNS": "400", "NO_COLOR": "1"},
        check=False,
        capture_output=True,
        text=True,
    )


def test_a_clean_tree_passes(root, tmp_path, layers, overlay_parts):
    result = lint(root, tmp_path, layers, overlay_parts, ALLOWED)
    assert result.returncode == 0, result.stdout + result.stderr


@pytest.fixture(scope="module")
def report(root, tmp_path_factory, layers, overlay_parts) -> str:
    """What the linter says of a tree with every offence in it."""
    offences = {name: line for name, (line, _) in OFFENCES.items()}
    result = lint(root, tmp_path_factory.mktemp("skeleton"), layers, overlay_parts, offences)
    assert result.returncode == 1, result.stdout + result.stderr
    return result.stdout


@pytest.mark.parametrize("name", OFFENCES)
def test_each_offence_is_reported(report, name):
    assert OFFENCES[name][1] in report, report
