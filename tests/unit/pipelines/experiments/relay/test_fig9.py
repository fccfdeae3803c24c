"""Figure 9's claims, on numbers made by hand."""

import pytest

from weft.pipelines.experiments.claims import ABSENT, AGREES, DIFFERS, FAILS, HOLDS
from weft.pipelines.experiments.relay.fig9 import EXPERIMENT
from weft.pipelines.experiments.relay.messages import PROPOSED, SCRIBE, SEEKING, SUBSCRIBERS, UNSUSPENDED
from weft.pipelines.experiments.scale import Scale
from weft.pipelines.experiments.table import Table

OURS = {1_000: 1_001, 100: 101, 10: 11, 0: 0}


def table(ratio: float, *, idle: int = 0, nodes: int = 100_000) -> dict[str, Table]:
    rows = []
    for publishers in (10, 100):
        for left in SUBSCRIBERS:
            ours = publishers * (OURS[left] or idle)
            theirs = publishers * (OURS[left] * ratio or 1)
            for method, sent in ((PROPOSED, ours), (UNSUSPENDED, ours), (SCRIBE, theirs), (SEEKING, theirs)):
                rows.append((nodes, publishers, method, left, sent, publishers - 1))
    names = ("nodes", "publishers", "method", "subscribers", "messages", "signals")
    return {"messages": Table({name: [row[at] for row in rows] for at, name in enumerate(names)})}


def verdicts(tables: dict[str, Table]) -> list[str]:
    return [claim.judge(tables).verdict for claim in EXPERIMENT.claims[:5]]


def test_as_the_paper_has_it():
    assert verdicts(table(8.0)) == [AGREES, HOLDS, HOLDS, HOLDS, HOLDS]


@pytest.mark.parametrize(("ratio", "wrong"), [(2.0, [2]), (50.0, [3])])
def test_two_times_is_no_digit_and_fifty_times_is_more(ratio, wrong):
    found = verdicts(table(ratio))
    assert [at for at, verdict in enumerate(found) if verdict == FAILS] == wrong


def test_a_message_without_subscribers_differs():
    assert verdicts(table(8.0, idle=2))[0] == DIFFERS


def test_the_papers_factor_is_judged_at_the_papers_size_only():
    assert verdicts(table(8.0, nodes=10_000))[2:4] == [ABSENT, ABSENT]
    assert EXPERIMENT.grid(Scale.PAPER)[0]["nodes"] == 100_000
