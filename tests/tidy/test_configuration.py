"""docs/CONFIGURATION.md says what the structs say, and every setting has a text."""

import importlib.util
import re
from typing import Any

import pytest


@pytest.fixture(scope="module")
def script(root) -> Any:
    """scripts/configuration.py, as a module."""
    spec = importlib.util.spec_from_file_location("configuration", root / "scripts" / "configuration.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_page_is_up_to_date(root, script):
    assert (root / "docs" / "CONFIGURATION.md").read_text(encoding="utf-8") == script.page(), (
        "run .venv/bin/python scripts/configuration.py"
    )


def test_every_table_is_there(script):
    headings = re.findall(r"^## `?(.*?)`?$", script.page(), re.MULTILINE)
    assert {"[broker]", "[broker.limits]", "[[listener]]", "[listener.tls]", "[[listener.tls.sni]]", "[access]"} <= set(
        headings
    )
    assert len(headings) == len(set(headings))


def test_every_setting_says_what_it_means(script):
    rows = re.findall(r"^\| `(\w+)` .*\|([^|]*)\|$", script.page(), re.MULTILINE)
    assert len(rows) > 80
    assert [name for name, text in rows if not text.strip()] == [], (
        "a docstring below the field, or a comment behind it"
    )
