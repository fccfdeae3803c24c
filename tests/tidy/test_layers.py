"""The list of layers, the folders and the picture in docs/ARCHITECTURE.md are the same."""

import re
from collections.abc import Collection
from pathlib import Path

TREE_LINE = re.compile(r"^  (\w+)/\s+(\S.*)$")
ARRIVES = re.compile(r"\(arrives with [^)]+\)$")

# Contracts that cannot be written before their folder is there (import-linter refuses unknown modules).
OWED = {
    "pubsub": "a 'forbidden' contract with id 'pubsub': pubsub imports neither weft.mqtt nor weft.openflow",
    "console": "a 'forbidden' contract with id 'console': console imports no engine (nothing but core and telemetry)",
}


def built(root: Path) -> set[str]:
    """The folders of the package that hold a module."""
    return {path.name for path in (root / "src" / "weft").iterdir() if path.is_dir() and any(path.glob("*.py"))}


def picture(root: Path) -> list[tuple[str, str]]:
    """The tree block of docs/ARCHITECTURE.md: folder and description."""
    text = (root / "docs" / "ARCHITECTURE.md").read_text(encoding="utf-8")
    block = text.split("```\nsrc/weft/\n", 1)[1].split("```", 1)[0]
    return [(match[1], match[2]) for line in block.splitlines() if (match := TREE_LINE.match(line))]


def test_each_layer_is_listed_once(layers):
    names = [layer.name for layer in layers]
    assert sorted(names) == sorted(set(names))


def test_every_folder_is_listed(root, layers):
    assert built(root) - {layer.name for layer in layers} == set(), "add it to the contract 'layers' in pyproject.toml"


def test_parentheses_mean_not_built(root, layers):
    assert {layer.name for layer in layers if not layer.waiting} == built(root), (
        "in the contract 'layers' of pyproject.toml, parentheses stand around the folders that do not exist, no others"
    )


def test_the_picture_has_the_same_order(root, layers):
    assert [name for name, _ in picture(root)] == [layer.name for layer in layers]


def test_the_picture_says_what_is_not_built(root):
    waiting = {name for name, description in picture(root) if ARRIVES.search(description)}
    assert {name for name, _ in picture(root)} - waiting == built(root), (
        "in docs/ARCHITECTURE.md, '(arrives with …)' ends the lines of the folders that do not exist, no others"
    )


def owed(folders: Collection[str], ids: Collection[str]) -> list[str]:
    """The contracts that are due, given the folders that exist."""
    return [text for folder, text in OWED.items() if folder in folders and folder not in ids]


def test_contracts_arrive_with_their_folders(root, contracts):
    assert owed(built(root), contracts) == []


def test_a_folder_without_its_contract_is_noticed():
    assert owed({"core", "pubsub"}, {"layers"}) == [OWED["pubsub"]]
    assert owed({"core", "pubsub"}, {"layers", "pubsub"}) == []
