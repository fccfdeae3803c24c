"""docs/PAPERS.md names modules and tests that exist, and no page links to what is not there."""

import ast
import re
from pathlib import Path

import pytest

MODULE = re.compile(r"`((?:\w+/)*\w+\.py)(?::(\w+))?`")
TEST = re.compile(r"`((?:\w+/)+\w+)::(\w+)`")
LINK = re.compile(r"\]\(([^)\s]+)\)")
CITED = re.compile(r"\boverlay §(\d+)", re.IGNORECASE)


@pytest.fixture(scope="module")
def page(root: Path) -> str:
    return (root / "docs" / "PAPERS.md").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def rows(page: str) -> list[list[str]]:
    """The cells of each row of each table that names a module."""
    tables = [line.strip("|").split(" | ") for line in page.splitlines() if line.startswith("| ")]
    return [cells for cells in tables if MODULE.search(" ".join(cells))]


def defined(path: Path) -> set[str]:
    """What a module defines at its top: functions, classes, constants."""
    names: set[str] = set()
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            names.add(node.name)
        elif isinstance(node, ast.Assign):
            names.update(target.id for target in node.targets if isinstance(target, ast.Name))
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            names.add(node.target.id)
    return names


def missing_modules(text: str, package: Path) -> list[str]:
    """Modules, or names in them, that are not there."""
    wrong = []
    for module, name in MODULE.findall(text):
        path = package / module
        if not path.is_file() or (name and name not in defined(path)):
            wrong.append(f"{module}:{name}" if name else module)
    return wrong


def missing_tests(text: str, tests: Path) -> list[str]:
    """Tests, in the page's short form, that are not there."""
    wrong = []
    for file, name in TEST.findall(text):
        folder, _, stem = file.rpartition("/")
        path = tests / folder / f"test_{stem}.py"
        if not path.is_file() or f"test_{name}" not in defined(path):
            wrong.append(f"{file}::{name}")
    return wrong


def dead_links(page: Path, text: str) -> list[str]:
    """Relative links of a page whose file is not there."""
    targets = [link.partition("#")[0] for link in LINK.findall(text) if "://" not in link and not link.startswith("#")]
    return [target for target in targets if not (page.parent / target).exists()]


def test_every_module_on_the_page_exists(root, page):
    package_paths = re.sub(r"`tests/[^`]*`", "", page)  # the page's own introduction names its test by its path
    assert missing_modules(package_paths, root / "src" / "weft") == []


def test_every_test_on_the_page_exists(root, page):
    assert missing_tests(page.replace("`folder/file::name`", ""), root / "tests") == []


def test_every_rule_has_a_module_and_a_test(rows):
    assert len(rows) > 60
    assert [cells for cells in rows if not TEST.search(cells[-1])] == []


def test_every_section_that_the_code_cites_is_there(root, page, files):
    sections = set(re.findall(r"^## (\d+)\. ", page, re.MULTILINE))
    cited = {
        number for path in files if path.suffix == ".py" for number in CITED.findall(path.read_text(encoding="utf-8"))
    }
    assert cited
    assert cited - sections == set(), "comments cite 'overlay §n': section n of docs/PAPERS.md"


def test_no_page_links_to_what_is_not_there(root, files):
    pages = [path for path in files if path.suffix == ".md"]
    dead = {
        path.relative_to(root).as_posix(): found
        for path in pages
        if (found := dead_links(path, path.read_text(encoding="utf-8")))
    }
    assert len(pages) > 10
    assert dead == {}


def test_what_does_not_exist_is_noticed(root, tmp_path):
    """The checks above on a page that is wrong in each way."""
    package, tests = root / "src" / "weft", root / "tests"
    assert missing_modules("`overlay/keys.py:Key` `overlay/keys.py:Quay` `overlay/quays.py`", package) == [
        "overlay/keys.py:Quay",
        "overlay/quays.py",
    ]
    assert missing_tests("`tidy/papers::no_page_links_to_what_is_not_there` `tidy/papers::x` `tidy/x::y`", tests) == [
        "tidy/papers::x",
        "tidy/x::y",
    ]
    assert dead_links(tmp_path / "a.md", "[a](b.md) [b](https://weft.invalid/c) [c](#d) [d](./)") == ["b.md"]
