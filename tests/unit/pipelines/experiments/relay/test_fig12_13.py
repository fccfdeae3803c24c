"""Table 3's claims, on coefficients made by hand."""

import pytest

from weft.pipelines.experiments.relay.fig12_13 import EXPERIMENT
from weft.pipelines.experiments.relay.loads import PROPOSED, PUBLISHER, SCRIBE, SUBSCRIBER
from weft.pipelines.experiments.table import Table

COEFFICIENTS = {
    (PROPOSED, PUBLISHER): 1.0,
    (PROPOSED, SUBSCRIBER): 0.5483,
    (SCRIBE, PUBLISHER): 0.1310,
    (SCRIBE, SUBSCRIBER): -0.0045,
}


def judged(coefficients: dict[tuple[str, str], float], subscribers: int = 1_000) -> list[str]:
    rows = [
        (subscribers, method, role, 0, 100 if role == PUBLISHER else 100_000, r)
        for (method, role), r in coefficients.items()
    ]
    names = ("subscribers", "method", "role", "seed", "n", "r")
    tables = {"correlations": Table({name: [row[at] for row in rows] for at, name in enumerate(names)})}
    return [claim.judge(tables).verdict for claim in EXPERIMENT.claims[:8]]


def test_the_papers_own_coefficients():
    assert judged(COEFFICIENTS) == ["agrees", "holds", "agrees", "agrees", "agrees", "holds", "holds", "holds"]


@pytest.mark.parametrize(
    ("which", "r", "wrong"),
    [
        ((PROPOSED, PUBLISHER), 0.99, [0]),
        ((PROPOSED, SUBSCRIBER), 0.56, [2, 3, 4]),
        ((SCRIBE, PUBLISHER), 0.4, [1, 6]),
        ((SCRIBE, SUBSCRIBER), 0.01, [5, 7]),
    ],
)
def test_other_coefficients_are_told_apart(which, r, wrong):
    found = judged({**COEFFICIENTS, which: r})
    assert [at for at, verdict in enumerate(found) if verdict in {"differs", "does not hold"}] == wrong


def test_fewer_subscribers_are_not_the_papers():
    assert set(judged(COEFFICIENTS, subscribers=100)) == {"not run"}
