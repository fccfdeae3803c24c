"""The report says what was run, what was found, and how to see it again."""

from collections import Counter

import pytest

from weft.sim.campaign import Tally, Violation
from weft.sim.explore import Explored
from weft.sim.report import markdown
from weft.sim.schedule import Bounds

TALLY = Tally(
    schedules=1_000,
    events=4_000_000,
    messages=3_000_000,
    queries=13_000,
    overlays=Counter(suzaku=600, skipgraph=400),
    faults=Counter(Drop=300, Crash=100),
    healed=Counter({0: 900, 1: 91, 4: 8, 17: 1}),
    converged=Counter({2: 499, 3: 490, 12: 11}),
)
CASES = [
    Explored("stay-join", 9, 12, 1, 3),
    Explored("stay-leave", 5, 14, 1, 2),
    Explored("stay-join+14t", 60, 60, 1, 108),
    Explored("stay-join-leave+12t+1lost", 4_433, 3_029, 102, 515_397),
]


def report(tally: Tally = TALLY, cases=CASES, first: int = 0) -> list[str]:
    return markdown(tally, cases, Bounds(), first, 1_234.5).splitlines()


def test_the_summary_has_what_was_run():
    lines = report(first=5_000)
    assert "| seeds | 5,000 … 5,999 |" in lines
    assert "| overlays | skipgraph (400), suzaku (600) |" in lines
    assert "| schedules | 1,000 |" in lines
    assert "| events / messages / queries | 4,000,000 / 3,000,000 / 13,000 |" in lines
    assert "| cases explored whole | 4 (515,510 message orders) |" in lines
    assert "| **violations** | **0** |" in lines
    assert "| wall time | 1,234 s |" in lines


def test_faults_are_listed_by_name():
    lines = report()
    assert lines.index("| Crash | 100 |") < lines.index("| Drop | 300 |")


def test_times_are_quantiles_of_schedules():
    lines = report()
    assert "| ring whole (s) | ≤ 0 | ≤ 1 | ≤ 17 |" in lines
    assert "| tables exact (s) | ≤ 3 | ≤ 12 | ≤ 12 |" in lines


def test_cases_are_summed_by_size_and_by_what_went_wrong_in_them():
    lines = report()
    assert "| 2 | – | 2 | 14 | 2 | 5 |" in lines
    assert "| 2 | 14t | 1 | 60 | 1 | 108 |" in lines
    assert "| 3 | 12t, 1lost | 1 | 4,433 | 102 | 515,397 |" in lines


def test_without_cases_nothing_is_said_of_orders():
    assert not any("Every order" in line for line in report(cases=[]))


def test_a_violation_is_a_line_with_its_replay_and_its_hash():
    tally = Tally(schedules=1)
    tally.violate(Violation(7, "I1: somebody\n  and a table", "weft sim replay 7", "abc123"))
    lines = report(tally, [])
    assert "- `weft sim replay 7` (trace hash abc123): I1: somebody" in lines
    assert "| **violations** | **1** |" in lines


def test_a_case_with_a_violation_is_told_with_the_whole_way_to_it():
    tally = Tally()
    tally.violate(
        Violation(None, "I2: numbers\ncase stay-join, after:\n  2→1 Seek()", "weft sim campaign --exhaustive 2")
    )
    lines = report(tally, CASES[:1])
    at = lines.index("- `weft sim campaign --exhaustive 2`: I2: numbers")
    assert [line.strip() for line in lines[at + 1 : at + 3]] == ["case stay-join, after:", "2→1 Seek()"]


@pytest.mark.parametrize("tally", [Tally(), TALLY])
def test_it_is_markdown_that_ends_with_one_line_break(tally):
    text = markdown(tally, [], Bounds(), 0, 1.0)
    assert text.startswith("# Campaign report\n")
    assert text.endswith("\n")
    assert all(line == line.rstrip() for line in text.splitlines())
