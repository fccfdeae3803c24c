"""What OFGate is asked while subscribers join and leave: counted in the event simulator (SAPS §4.2)."""

from weft.core.rand import Rng
from weft.pipelines.experiments.experiment import Point, Rows
from weft.sim.migration.ofgate import Method, Query
from weft.sim.migration.turnover import Newcomers, Rates, Turnover

SUBSCRIBERS, PUBLISHERS, PUBLISH_RATE = 100, 10, 1.0
"""SAPS §4.2."""
EITHER, BOTH, MIGRATING = "EITHER", "BOTH", "BOTH, newcomers migrate"
CASES = {
    EITHER: (Method.EITHER, Newcomers.SETTLED),
    BOTH: (Method.BOTH, Newcomers.SETTLED),
    MIGRATING: (Method.BOTH, Newcomers.MIGRATING),
}
COLUMNS = {
    "case": str,
    "publish": float,
    "join": float,
    "leave": float,
    "queries": float,
    "constructs": float,
    "by_ofm": float,
}


def model(point: Point, seed: int) -> Rows:
    """A row for each case: queries per second by kind; ``queries``, those that the equations have; publishes by OFM, in part.

    The same joins and leaves in each case.
    """
    rates = Rates(
        subscribers=SUBSCRIBERS,
        publishers=PUBLISHERS,
        publish=PUBLISH_RATE,
        join=float(point["join_rate"]),
        leave=float(point["leave_rate"]),
    )
    seconds = float(point["seconds"])
    own = Rng(seed, round(1_000 * rates.join), round(1_000 * rates.leave)).bits()  # each point has processes of its own
    rows = []
    for case, (method, newcomers) in CASES.items():
        group = Turnover(method, rates, newcomers, own)
        group.run(seconds)
        publish, join, leave, constructs = (group.queries[query] / seconds for query in Query)
        by_ofm = group.published[True] / group.published.total()
        rows.append((case, publish, join, leave, publish + join + leave, constructs, by_ofm))
    return {name: [row[at] for row in rows] for at, name in enumerate(COLUMNS)}
