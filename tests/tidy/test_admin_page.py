"""docs/ADMIN.md says what is there: its tables are those of the code. Write them anew with

.venv/bin/python tests/tidy/test_admin_page.py
"""

import re
from pathlib import Path

from weft.runtime.admin.endpoints import TABLE
from weft.telemetry import counters, gauges, histograms


def endpoints() -> str:
    """A line for each endpoint."""
    lines = ["| request | what it does | parameters | body |", "|---|---|---|---|"]
    for endpoint in TABLE:
        query = [f"`{field}`" for field in endpoint.query.__struct_fields__] if endpoint.query else []
        body = [f"`{field}`" for field in endpoint.body.__struct_fields__] if endpoint.body else []
        lines.append(
            f"| `{endpoint.method} {endpoint.path}` | {endpoint.summary} | {', '.join(query)} | {', '.join(body)} |"
        )
    return "\n".join(lines)


def metrics() -> str:
    """A line for each metric."""
    lines = ["| metric | kind | what it says |", "|---|---|---|"]
    lines += [f"| `{name}` | counter | {text} |" for name, text in counters.TABLE.items()]
    for name, text in gauges.TABLE.items():
        lines.append(f"| `{name}` | {'counter' if name in gauges.COUNTERS else 'gauge'} | {text} |")
    lines += [f"| `{name}` | histogram | {text} |" for name, text in histograms.TABLE.items()]
    return "\n".join(lines)


def filled(page: str) -> str:
    """``page`` with its tables as they should be."""
    for name, table in (("endpoints", endpoints()), ("metrics", metrics())):
        pattern = rf"(<!-- {name}: generated -->\n).*?(<!-- end -->)"
        assert re.search(pattern, page, re.DOTALL), f"the page has no place for its {name}"
        page = re.sub(pattern, lambda found, table=table: f"{found[1]}{table}\n{found[2]}", page, flags=re.DOTALL)
    return page


def test_the_page_has_the_tables_of_the_code(root):
    page = (root / "docs" / "ADMIN.md").read_text(encoding="utf-8")
    assert page == filled(page), "write it anew with: .venv/bin/python tests/tidy/test_admin_page.py"


def test_every_metric_says_something():
    tables = {**counters.TABLE, **gauges.TABLE, **histograms.TABLE}
    assert [name for name, text in tables.items() if not text or text.endswith(".") or "|" in text] == []


if __name__ == "__main__":
    PAGE = Path(__file__).parents[2] / "docs" / "ADMIN.md"
    PAGE.write_text(filled(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
