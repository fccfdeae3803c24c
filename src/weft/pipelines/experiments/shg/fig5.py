"""shg-fig5: traffic of subscriptions relative to Scribe's, from 64 to 1,024 nodes."""

import numpy as np

from weft.pipelines.experiments.claims import Claim
from weft.pipelines.experiments.experiment import Experiment, Tables
from weft.pipelines.experiments.shg.traffic import (
    MAPPINGS,
    REPEATS,
    at,
    draw_parts,
    draw_ratios,
    grid,
    lost,
    memory_mb,
    steady,
    swept,
)
from weft.pipelines.experiments.shg.workload import SUBSCRIPTION_COLUMNS, subscriptions
from weft.pipelines.experiments.summaries import Mean

MEANS = tuple(name for name in SUBSCRIPTION_COLUMNS if name != "variant")
PARTS = {"shg": "SHG", "by_pattern": "Scribe, a group for each pattern"}


def _entries(tables: Tables) -> float:
    """Scribe's table entries by SHG's; the mapping that is better for Scribe."""
    return min(at(f"entries_{mapping}", 10)(tables) for mapping in MAPPINGS) / at("entries", 10)(tables)


EXPERIMENT = Experiment(
    name="shg-fig5",
    paper="SHG",
    title="Traffic of subscriptions relative to Scribe (figure 5)",
    says="BT(p), the messages that SHG sends for subscriptions divided by Scribe's, from 64 to 1,024 nodes; the curve is lost.",
    setting="As shg-fig4. A node subscribes to each of 100 patterns with probability α = .65 %; in Scribe it joins the group "
    "of each pattern, or the groups of all event types that one of its patterns asks for. Messages until all have subscribed.",
    grid=grid,
    repeats=REPEATS,
    model=subscriptions,
    columns=SUBSCRIPTION_COLUMNS,
    summaries={"means": Mean(by=("dimension", "k", "variant"), of=MEANS)},
    per_task=50,
    memory_mb=memory_mb,
    claims=[
        *lost("BT(p)", "SHG §V, fig. 5"),
        Claim(
            what="BT(p), the largest over all sizes, k and mappings",
            source="SHG abstract",
            paper="control message overhead of others is enormous",
            ours=lambda tables: max(
                float(np.max(tables["means"].where(variant="corrected")[f"ratio_{mapping}"])) for mapping in MAPPINGS
            ),
            holds=lambda worst: worst < 1,
        ),
        Claim(
            what="Scribe's table entries by SHG's, 1,024 nodes, the mapping with fewer",
            source="SHG abstract",
            paper="routing state of others is enormous",
            ours=_entries,
            holds=lambda ratio: ratio > 1,
        ),
        steady(
            "BT(p)",
            "With k = n/2 a subscription partition grows with n, and a subscription's way is up to ⌊k/2⌋; a way in "
            "Scribe's tree is up to n, shortened where ways meet. Both grow like n, SHG's in steps of two dimensions.",
        ),
        Claim(
            what="Traffic of subscriptions from k = 1 to k = 7, 256 nodes: the smallest step",
            source="SHG §IV.B",
            paper="less traffic of events at some additional cost for routing subscriptions",
            ours=lambda tables: float(np.min(np.diff(swept("shg")(tables)))),
            holds=lambda step: step >= 0,
        ),
        Claim(
            what="Messages as printed by messages corrected, 1,024 nodes",
            source="SHG §IV.A, sub_table_constructing",
            paper=None,
            ours=lambda tables: at("shg", 10, variant="literal")(tables) / at("shg", 10)(tables),
            why="Own: as printed every way leads to the bare dominating node, however far, and never stops on the way.",
        ),
    ],
    plots={
        "Messages of subscriptions, SHG by Scribe, 95 % bands; k = ⌊n/2⌋ (crosses: ⌈n/2⌉)": lambda figure, tables: (
            draw_ratios(figure, tables, "BT(p)")
        ),
        "Messages of all subscriptions at 256 nodes over the size of a subscription partition": lambda figure, tables: (
            draw_parts(figure, tables, PARTS, "messages until all have subscribed")
        ),
    },
)
