"""Habits that a reader relies on, for each file: a header, a glossary, a size, a name, and no left-overs."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

LINES_MAX = 600
CODE_FOLDERS = ("src", "tests", "bench", "scripts")
VAGUE_NAMES = {"util", "utils", "helper", "helpers", "misc", "common", "stuff"}
GLOSSARY_LINES = ("In", "Out", "Never")

# Written in halves, so that this file does not contain what it forbids.
UNFINISHED = tuple(
    "".join(halves)
    for halves in (
        ("TO", "DO"),
        ("FIX", "ME"),
        ("XX", "X"),
        ("HA", "CK"),
        ("NotImplemented", "Error"),
        ("pragma: no ", "cover"),
    )
)
SKIPPED = ("mark." + "xfail", "pytest." + "xfail", "mark." + "skip(", "mark." + "skip\n")  # skipif says its reason
MACHINE_PATHS = tuple(
    "".join(halves)
    for halves in (
        ("../", "shared"),
        ("/wo", "rk/"),
        ("/ro", "ot/"),
        ("/fa", "rm/"),
        ("/opt/", "pypi"),
        ("/tmp/", "bash_jobs"),
    )
)


def relative(root: Path, path: Path) -> str:
    """The name that a message shows."""
    return path.relative_to(root).as_posix()


@pytest.fixture(scope="module")
def code(root, files) -> dict[str, str]:
    """The Python files, as text, by name."""
    python = [path for path in files if path.suffix == ".py" and path.relative_to(root).parts[0] in CODE_FOLDERS]
    return {relative(root, path): path.read_text(encoding="utf-8") for path in python}


@pytest.fixture(scope="module")
def headers(code) -> dict[str, str]:
    """The module docstrings, by file name."""
    return {name: ast.get_docstring(ast.parse(text, name)) or "" for name, text in code.items()}


def in_package(names: dict[str, str]) -> Iterator[str]:
    """Those that belong to the package."""
    return (name for name in names if name.startswith("src/weft/"))


def test_every_module_says_what_it_owns(headers, code):
    assert [name for name, header in headers.items() if not header and code[name].strip()] == []
    assert [name for name in in_package(headers) if not headers[name]] == []


def test_every_package_has_a_glossary(headers):
    poor = [
        f"{name}: {line}"
        for name in in_package(headers)
        if name.endswith("/__init__.py")
        for line in GLOSSARY_LINES
        if not re.search(rf"^\*?{line}\*?:?\s+\S", headers[name], re.MULTILINE)
    ]
    assert poor == [], "a package's header has the lines In, Out, Never"


def test_every_folder_of_the_package_is_a_package(root, code):
    folders = {Path(name).parent.as_posix() for name in in_package(code)}
    assert [folder for folder in sorted(folders) if f"{folder}/__init__.py" not in code] == []


def test_long_files_say_why(headers, code):
    long = {name: text.count("\n") for name, text in code.items() if text.count("\n") > LINES_MAX}
    assert {n: lines for n, lines in long.items() if not re.search(r"^Size:?\s+\S", headers[n], re.MULTILINE)} == {}, (
        f"past {LINES_MAX} lines: split by concern, or give the reason in a header line that starts with 'Size'"
    )


def test_names_say_something(root, files):
    assert [relative(root, path) for path in files if path.suffix == ".py" and path.stem in VAGUE_NAMES] == []


def test_nothing_is_left_unfinished(root, code):
    found = [
        f"{name}: {mark}"
        for name, text in code.items()
        for mark in (*UNFINISHED, *SKIPPED)
        if re.search(rf"(?<!\w){re.escape(mark)}" + (r"(?!\w)" if mark[-1].isalnum() else ""), text)
    ]
    assert found == []


def test_the_project_stands_alone(root, files):
    found = []
    for path in files:
        text = path.read_bytes().decode("utf-8", errors="ignore")
        found += [f"{relative(root, path)}: {mark}" for mark in MACHINE_PATHS if mark in text]
    assert found == [], "no file names a machine's path or what lies outside the repository"


def mirrored(test: str, modules: set[str]) -> bool:
    """Whether ``unit/a/test_b_c.py`` belongs to ``a/b_c``, ``a/b`` or the package of either name."""
    folder, _, name = test.rpartition("/")
    words = name.removeprefix("test_").split("_")
    return any(f"{folder}/{'_'.join(words[:count])}".strip("/") in modules for count in range(len(words), 0, -1))


def test_unit_tests_mirror_the_package(code):
    modules = {
        name.removeprefix("src/weft/").removesuffix(".py").removesuffix("/__init__") for name in in_package(code)
    }
    tests = [
        name.removeprefix("tests/unit/").removesuffix(".py")
        for name in code
        if name.startswith("tests/unit/") and Path(name).name.startswith("test_")
    ]
    assert tests
    assert [test for test in tests if not mirrored(test, modules)] == [], "tests/unit/a/test_b.py tests src/weft/a/b.py"


def test_nothing_sleeps(code):
    sleepers = [
        f"{name}:{node.lineno}"
        for name, text in code.items()
        if name.startswith("tests/")
        for node in ast.walk(ast.parse(text, name))
        if isinstance(node, ast.Attribute) and node.attr == "sleep"
    ]
    assert sleepers == [], "a test waits for an event, not for time"
