"""What a result was made from, as a hash: the source of the model's module and of all of weft that it imports, however deep,
and the types of its parameters and columns, which its table has.

Results of another version are not mixed with ours, and a change elsewhere (a caption, the broker) makes nothing run again.
Imports are read, not executed; those inside functions count too. What only describes experiments, or lists them, computes no
row and does not count.
"""

import ast
import hashlib
import json
import sys
from collections.abc import Iterator
from functools import cache
from importlib.util import find_spec
from pathlib import Path

from weft.pipelines.experiments.experiment import Experiment, Point

ROOT = "weft"
DIGITS = 16
_HERE = "weft.pipelines.experiments"
_DESCRIBING = {f"{_HERE}.{name}" for name in ("experiment", "claims", "scale", "summaries", "table", "catalogue")}


def version_of(experiment: Experiment) -> str:
    """The hash of all source that the experiment's rows depend on, and of their form."""
    sources = _closure(experiment.model.__module__)
    form = [
        sorted((name, kind.__name__) for name, kind in kinds.items())
        for kinds in (experiment.parameters, experiment.columns)
    ]
    total = hashlib.sha256(json.dumps(form).encode())
    for name in sorted(sources):
        total.update(name.encode() + b"\0" + sources[name].read_bytes() + b"\0")
    return total.hexdigest()[:DIGITS]


def key_of(experiment: Experiment, version: str, point: Point, seed: int) -> str:
    """The hash that names a run: equal keys, equal rows."""
    text = json.dumps([experiment.name, version, sorted(point.items()), seed])
    return hashlib.sha256(text.encode()).hexdigest()[:DIGITS]


def _closure(name: str) -> dict[str, Path]:
    found: dict[str, Path] = {}
    waiting = [name]
    while waiting:
        name = waiting.pop()
        path = None if name in found or name in _DESCRIBING else _file_of(name)
        if path is None or (name.startswith(_HERE) and path.name == "__init__.py"):
            continue
        found[name] = path
        waiting.extend(_imports(path, name))
    return found


@cache
def _file_of(name: str) -> Path | None:
    loaded = sys.modules.get(name)
    if loaded is not None and getattr(loaded, "__file__", None):
        return Path(str(loaded.__file__))
    try:
        spec = find_spec(name)
    except ModuleNotFoundError:
        return None  # a name inside a module, not a module
    return Path(spec.origin) if spec is not None and spec.origin else None


@cache
def _imports(path: Path, importer: str) -> tuple[str, ...]:
    return tuple(_named(ast.parse(path.read_bytes()), importer))


def _named(tree: ast.Module, importer: str) -> Iterator[str]:
    """Modules of weft that a source names; a name in a module may be one, too."""
    for node in ast.walk(tree):
        names: list[str] = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module:
            names = [node.module, *(f"{node.module}.{alias.name}" for alias in node.names)]
        for name in names:
            if name.split(".")[0] == ROOT and name != importer:
                yield name
