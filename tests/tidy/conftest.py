"""What the tidy tests look at: the files of the working tree, and the list of layers in pyproject.toml."""

import subprocess
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]


@dataclass(frozen=True)
class Layer:
    """One folder in the contract; ``waiting`` if it is in parentheses there, that is, not built yet."""

    name: str
    waiting: bool


@pytest.fixture(scope="session")
def root() -> Path:
    """The checkout."""
    return ROOT


@pytest.fixture(scope="session")
def files() -> list[Path]:
    """Every file that is tracked or would be: what git ignores is not ours."""
    listing = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        check=True,
        capture_output=True,
        text=True,
    ).stdout
    return [path for name in sorted(set(listing.split("\0"))) if name and (path := ROOT / name).is_file()]


@pytest.fixture(scope="session")
def pyproject() -> dict[str, Any]:
    """The parsed pyproject.toml."""
    return tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))


@pytest.fixture(scope="session")
def contracts(pyproject: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """The import-linter contracts by id."""
    return {contract["id"]: contract for contract in pyproject["tool"]["importlinter"]["contracts"]}


@pytest.fixture(scope="session")
def layers(contracts: dict[str, dict[str, Any]]) -> list[Layer]:
    """The list of layers, top to bottom, left to right."""
    names = [name.strip() for line in contracts["layers"]["layers"] for name in line.split("|")]
    return [Layer(name.strip("()"), waiting=name.startswith("(")) for name in names]


@pytest.fixture(scope="session")
def overlay_parts(contracts: dict[str, dict[str, Any]]) -> list[str]:
    """What stands under overlay/, built or not."""
    lines = contracts["overlays"]["layers"]
    return [name.strip(" ()") for line in lines for name in line.replace(":", "|").split("|")]
