"""Tables as CSV, and numbers as a reader wants them."""

import csv
import math
from pathlib import Path

from weft.pipelines.experiments.claims import Verdict
from weft.pipelines.report.judged import Judged

SMALL, LARGE = 1e-3, 1e7


def write_csv(judged: Judged, folder: Path) -> list[str]:
    """``NAME.SUMMARY.csv`` for each summary; the names."""
    names = []
    for summary, table in judged.tables.items():
        name = f"{judged.experiment.name}.{summary}.csv"
        with (folder / name).open("w", encoding="utf-8", newline="") as file:
            writer = csv.writer(file, lineterminator="\n")
            writer.writerow(table.columns)
            writer.writerows(zip(*(_plain(values.tolist()) for values in table.columns.values()), strict=True))
        names.append(name)
    return names


def _plain(values: list[object]) -> list[object]:
    """Ten digits are enough, and the same on every machine."""
    return [f"{value:.10g}" if isinstance(value, float) else value for value in values]


def number(value: float) -> str:
    """Four digits, thousands apart; a dash for what is not there."""
    if math.isnan(value):
        return "–"
    if value and not SMALL <= abs(value) < LARGE:
        return f"{value:.3g}"
    if value == int(value):
        return f"{int(value):,}"
    digits = max(0, 3 - math.floor(math.log10(abs(value))))
    return f"{value:,.{digits}f}"


def tenths(value: float) -> str:
    """Seconds and rates, to a tenth."""
    return "–" if math.isnan(value) else f"{value:,.1f}"


def compared(verdict: Verdict) -> tuple[str, str, str, str, str, str]:
    """What, source, paper, ours, ratio, verdict."""
    unit = f" {verdict.unit}" if verdict.unit else ""
    paper = verdict.paper + (unit if verdict.paper[:1].isdigit() else "")
    ours = number(verdict.ours)
    return (
        verdict.what,
        verdict.source,
        paper,
        ours + (unit if ours != "–" else ""),
        number(verdict.ratio),
        verdict.verdict,
    )
