"""The lock names the public index only, has a hash for each file, and agrees with pyproject.toml."""

import re
import tomllib
from typing import Any
from urllib.parse import urlsplit

import pytest

PUBLIC = {"pypi.org", "files.pythonhosted.org"}


@pytest.fixture(scope="module")
def lock(root) -> dict[str, Any]:
    """The parsed uv.lock."""
    return tomllib.loads((root / "uv.lock").read_text(encoding="utf-8"))


def test_only_the_public_index_is_named(root):
    text = (root / "uv.lock").read_text(encoding="utf-8")
    urls = re.findall(r"\w+://[^\"'\s]+", text)
    assert urls
    assert {urlsplit(url).scheme for url in urls} == {"https"}
    assert {urlsplit(url).netloc for url in urls} == PUBLIC


def test_every_file_has_a_hash(lock):
    loose = [
        file["url"]
        for package in lock["package"]
        for file in [*package.get("wheels", []), *([package["sdist"]] if "sdist" in package else [])]
        if not file.get("hash", "").startswith("sha256:")
    ]
    assert loose == []


def requirement(text: str) -> tuple[str, frozenset[str], frozenset[str], str]:
    """``name[extras]specifiers; marker``, taken apart."""
    match = re.fullmatch(r"([\w.-]+)(?:\[([^\]]*)\])?([^;]*)(?:;\s*(.*))?", text)
    assert match, text
    name = re.sub(r"[-_.]+", "-", match[1]).lower()
    extras, specifiers = (frozenset(part.replace(" ", "").split(",")) - {""} for part in (match[2] or "", match[3]))
    return name, extras, specifiers, (match[4] or "").replace('"', "'")


def locked(entry: dict[str, Any]) -> tuple[str, frozenset[str], frozenset[str], str]:
    """The same from an entry of the lock's metadata."""
    extras = frozenset(entry.get("extras", []))
    specifiers = frozenset(entry.get("specifier", "").replace(" ", "").split(",")) - {""}
    return entry["name"], extras, specifiers, re.sub(r"( and )?extra == '[\w-]+'", "", entry.get("marker", ""))


def test_the_lock_is_of_this_pyproject(lock, pyproject):
    own = next(package for package in lock["package"] if package["name"] == "weft")
    project = pyproject["project"]
    extras = project["optional-dependencies"].items()
    texts = [*project["dependencies"], *(text for extra, group in extras if extra != "all" for text in group)]
    advice = "pyproject.toml has changed: run `.venv/bin/uv lock`"
    assert {locked(entry) for entry in own["metadata"]["requires-dist"]} == {requirement(text) for text in texts}, (
        advice
    )
    assert project["optional-dependencies"]["all"] == [
        f"weft[{','.join(extra for extra, _ in extras if extra != 'all')}]"
    ]
    assert set(own["metadata"]["provides-extras"]) == set(project["optional-dependencies"]), advice
    assert {locked(entry) for entry in own["metadata"]["requires-dev"]["dev"]} == {
        requirement(text) for text in pyproject["dependency-groups"]["dev"]
    }, advice
    assert lock["requires-python"] == project["requires-python"], advice
