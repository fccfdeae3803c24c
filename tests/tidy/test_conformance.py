"""docs/CONFORMANCE.md: each normative statement of both standards, and its tests or why there is none.

The statements are in docs/conformance.toml. Sources and tests cite them as ``[MQTT-x.y.z-n]`` (5.0) or with `` (3.1.1)`` before
the bracket closes. A citation in a test counts for that test; one in a table at a module's top counts for the tests that use
the table. Run as a script, this writes the page anew.
"""

import ast
import re
import sys
import tomllib
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

ROOT = Path(__file__).parents[2]
LIST = ROOT / "docs" / "conformance.toml"
PAGE = ROOT / "docs" / "CONFORMANCE.md"
CITED = re.compile(r"\[MQTT-(\d[\d.-]*-\d+)(?: \((3\.1\.1)\))?\]")
ANYHOW = re.compile(r"MQTT-\d[\d.-]*")
DUTIES = ("server", "client", "both")
WORDS_MAX = 12
SHOWN_MAX = 4
"""Tests of one statement on the page; the rest is a number."""

Id = tuple[str, str]
"""Standard and number."""


class Statement(NamedTuple):
    duty: str
    text: str
    reason: str = ""


def statements(text: str) -> dict[Id, Statement]:
    """The list, in the order of the standards."""
    return {
        (standard, number): Statement(*row)
        for standard, rows in tomllib.loads(text).items()
        for number, row in rows.items()
    }


def cited(text: str) -> Iterator[Id]:
    for number, standard in CITED.findall(text):
        yield standard or "5.0", number


def odd(text: str, known: dict[Id, Statement]) -> list[str]:
    """Citations in another form than CITED, or of a statement that does not exist."""
    wrong = ANYHOW.findall(CITED.sub("", text))
    return wrong + [
        f"MQTT-{number} of {standard}" for standard, number in cited(text) if (standard, number) not in known
    ]


def source_of(lines: list[str], node: ast.stmt) -> str:
    """With decorators and comments."""
    first = min([node.lineno, *(each.lineno for each in getattr(node, "decorator_list", []))])
    return "\n".join(lines[first - 1 : node.end_lineno])


def those_in(body: list[ast.stmt], within: str = "") -> Iterator[tuple[str, ast.stmt]]:
    for node in body:
        if isinstance(node, ast.ClassDef):
            yield from those_in(node.body, f"{node.name}::")
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name.startswith("test_"):
            yield within + node.name, node


def proofs(text: str) -> dict[Id, list[str]]:
    """By statement, the tests of one module that cite it."""
    module, lines = ast.parse(text), text.splitlines()
    found: dict[Id, list[str]] = defaultdict(list)
    tables: dict[str, list[Id]] = {}
    for node in module.body:
        targets = (
            node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(node, ast.AnnAssign) else []
        )
        for target in targets:
            if isinstance(target, ast.Name):
                tables[target.id] = list(cited(source_of(lines, node)))
    for test, node in those_in(module.body):
        ids = list(cited(source_of(lines, node)))
        for name in ast.walk(node):
            if isinstance(name, ast.Name):
                ids += tables.get(name.id, [])
        for each in dict.fromkeys(ids):
            found[each].append(test)
    return found


def modules(folder: str) -> Iterator[tuple[str, str]]:
    """Python files below ``folder`` of the checkout: the name below it, and the text."""
    for path in sorted((ROOT / folder).rglob("*.py")):
        if path != Path(__file__).resolve():
            yield path.relative_to(ROOT / folder).as_posix(), path.read_text(encoding="utf-8")


def shown() -> dict[Id, list[str]]:
    found: dict[Id, list[str]] = defaultdict(list)
    for name, text in modules("tests"):
        if name.rpartition("/")[2].startswith("test_"):
            for each, tests in proofs(text).items():
                found[each] += [f"{name}::{test}" for test in tests]
    return found


def obeyed() -> dict[Id, list[str]]:
    found: dict[Id, list[str]] = defaultdict(list)
    for name, text in modules("src/weft"):
        for each in dict.fromkeys(cited(text)):
            found[each].append(name)
    return found


def bare(known: dict[Id, Statement], found: dict[Id, list[str]]) -> list[Id]:
    """What a server must do, and nothing shows."""
    return [each for each, one in known.items() if one.duty != "client" and not one.reason and not found.get(each)]


def stale(known: dict[Id, Statement], found: dict[Id, list[str]]) -> list[Id]:
    """What has a reason for having no test, and a test."""
    return [each for each, one in known.items() if one.reason and found.get(each)]


def page(known: dict[Id, Statement], tests: dict[Id, list[str]], places: dict[Id, list[str]]) -> str:
    parts = [
        "# The standards, statement by statement\n",
        "Made by `tests/tidy/test_conformance.py` of [conformance.toml](conformance.toml), the sources and the tests; do not",
        "edit. The paraphrases are ours: the standards' own words are what counts. Where a statement has no test, the last",
        "column says why. Files are below `src/weft` and `tests`.",
    ]
    for standard in dict.fromkeys(each[0] for each in known):
        mine = {number: one for (of, number), one in known.items() if of == standard}
        ours = [number for number, one in mine.items() if one.duty != "client"]
        seen = sum(bool(tests.get((standard, number))) for number in ours)
        others = sum(bool(tests.get((standard, number))) for number, one in mine.items() if one.duty == "client")
        parts += [
            f"\n## MQTT {standard}\n",
            f"{len(mine)} statements. A server's duty, alone or with the client: {len(ours)}; {seen} are tested,",
            f"{len(ours) - seen} have a reason. A client's duty: {len(mine) - len(ours)}; {others} are tested, on our own",
            "client or by what the broker makes of a client that breaks them.\n",
            "| Statement | Duty | What it asks | Where | Tests |",
            "| --- | --- | --- | --- | --- |",
        ]
        for number, one in mine.items():
            where = ", ".join(f"`{name}`" for name in places.get((standard, number), []))
            said = proof_of(one, tests.get((standard, number), []))
            parts.append(f"| {number} | {one.duty} | {one.text} | {where} | {said} |")
    return "\n".join(parts) + "\n"


def proof_of(one: Statement, tests: list[str]) -> str:
    if not tests:
        return one.reason or "a client's duty"
    more = f" and {len(tests) - SHOWN_MAX} more" if len(tests) > SHOWN_MAX else ""
    return ", ".join(f"`{test}`" for test in tests[:SHOWN_MAX]) + more


@pytest.fixture(scope="module")
def known() -> dict[Id, Statement]:
    return statements(LIST.read_text(encoding="utf-8"))


def test_the_lists_are_complete(known):
    """As many as the appendices have."""
    counts = {standard: sum(of == standard for of, _ in known) for standard in ("5.0", "3.1.1")}
    assert counts == {"5.0": 251, "3.1.1": 141}
    assert {one.duty for one in known.values()} == set(DUTIES)


def test_the_paraphrases_are_short(known):
    assert [each for each, one in known.items() if not 0 < len(one.text.split()) <= WORDS_MAX] == []


@pytest.mark.parametrize("folder", ["src/weft", "tests"])
def test_every_citation_names_a_statement(known, folder):
    assert {name: wrong for name, text in modules(folder) if (wrong := odd(text, known))} == {}


def test_every_duty_of_a_server_has_a_test_or_a_reason(known):
    assert bare(known, shown()) == []


def test_no_reason_outlives_its_cause(known):
    assert stale(known, shown()) == [], "there is a test now: delete the reason"


def test_the_page_is_up_to_date(known):
    assert PAGE.read_text(encoding="utf-8") == page(known, shown(), obeyed()), (
        "run .venv/bin/python tests/tidy/test_conformance.py"
    )


def test_what_is_wrong_is_noticed():
    """The checks above on a list and a module that are wrong in each way."""
    known = statements(
        '["5.0"]\n"1.2.3-4" = ["server", "a"]\n"1.2.3-5" = ["client", "b"]\n"1.2.3-6" = ["both", "c", "why"]'
    )
    mark = "[" + "MQTT-"
    text = f'''
CASES = [1]  # {mark}1.2.3-6]

class TestIt:
    @parametrize("a", [2])  # {mark}1.2.3-5]
    def test_one(self):
        """Nothing of {mark}1.2.3-7]."""

def test_two():
    assert CASES

def another():
    """{mark}1.2.3-4]"""
'''
    found = proofs(text)
    assert found == {
        ("5.0", "1.2.3-5"): ["TestIt::test_one"],
        ("5.0", "1.2.3-7"): ["TestIt::test_one"],
        ("5.0", "1.2.3-6"): ["test_two"],
    }
    assert odd(text, known) == ["MQTT-1.2.3-7 of 5.0"]
    assert odd(f"{mark}1.2.3-4 (3.1.1)] {mark}1.2.3-4, -5]", known) == ["MQTT-1.2.3-4", "MQTT-1.2.3-4 of 3.1.1"]
    assert bare(known, found) == [("5.0", "1.2.3-4")]
    assert stale(known, found) == [("5.0", "1.2.3-6")]


if __name__ == "__main__":
    listed = statements(LIST.read_text(encoding="utf-8"))
    PAGE.write_text(page(listed, shown(), obeyed()), encoding="utf-8")
    for standard, number in bare(listed, shown()):
        sys.stderr.write(f"{PAGE.name}: {number} of {standard} has neither test nor reason\n")
