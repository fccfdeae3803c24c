"""beyond-split: path length and fan-out of the three strategies of range multicast (overlay §5)."""

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np

from weft.pipelines.experiments.beyond import shapes
from weft.pipelines.experiments.beyond.shapes import SKIP_GRAPH, SUZAKU
from weft.pipelines.experiments.claims import Claim
from weft.pipelines.experiments.experiment import Experiment, Point, Scale, Tables, points
from weft.pipelines.experiments.saps.costs import CLUSTERS
from weft.pipelines.experiments.saps.drawing import curves, finish, legend, panels
from weft.pipelines.experiments.summaries import Mean
from weft.pipelines.experiments.table import Missing
from weft.sim.vector.multicast import STRATEGIES

BINARY, SPLIT, CLUSTER_FIRST = STRATEGIES
MEMBERS = {
    Scale.SMALL: (100, 1_000),
    Scale.PAPER: (100, 200, 500, 1_000, 2_000, 5_000, 10_000, 20_000, 50_000, 100_000),
    Scale.HUGE: (100, 1_000, 10_000, 100_000, 1_000_000),
}
REPEATS = {Scale.SMALL: 10, Scale.PAPER: 20, Scale.HUGE: 10}
QUESTION = "ADR 0004"
NO_FIGURE = "The question is ours."
SHAPE = (("mean path length [hops]", "depth_mean"), ("most copies by one broker", "fanout_max"))
LAST = (("copies are free", "depth_max"), ("a copy takes 0.1 hops", "last_quick"), ("a copy takes a hop", "last_slow"))


def _grid(scale: Scale) -> Sequence[Point]:
    return points(overlay=(SKIP_GRAPH, SUZAKU), members=MEMBERS[scale])


def _most(tables: Tables, column: str, strategy: str, overlay: str) -> float:
    """At most members."""
    rows = tables["shapes"].where(strategy=strategy, overlay=overlay).ordered("members")
    if not len(rows):
        raise Missing("not run")
    return float(rows[column][-1])


def _extra(tables: Tables) -> float:
    """Messages beyond one for each member but the sender, in any run of any strategy."""
    table = tables["shapes"]
    return float(np.abs(table["messages_max"] - (table["members"] - 1)).max())


def _draw_shape(overlay: str, figure: Any, tables: Tables) -> None:
    table = tables["shapes"].where(overlay=overlay)
    for axes, (label, column) in zip(panels(figure), SHAPE, strict=True):
        curves(axes, table, "members", column, "strategy", tuple(STRATEGIES))
        finish(axes, "members", label)
    legend(figure)


def _draw_last(overlay: str, figure: Any, tables: Tables) -> None:
    table = tables["shapes"].where(overlay=overlay)
    for axes, (label, column) in zip(panels(figure, 3), LAST, strict=True):
        curves(axes, table, "members", column, "strategy", tuple(STRATEGIES))
        best = table.where(strategy=SPLIT).ordered("members")
        if column != "depth_max" and len(best):
            axes.plot(best["members"], best[f"{column}_sorted"], "--", color="C1", label=f"{SPLIT}, largest part first")
        finish(axes, f"members ({label})", "last member has it [hops]")
    legend(figure, columns=4)


def _ratio(what: str, column: str, strategy: str, overlay: str, why: str = NO_FIGURE) -> Claim:
    return Claim(
        what=f"{overlay}: {what} of {strategy} over that of {BINARY}, at most members",
        source=QUESTION,
        paper=None,
        ours=lambda tables: _most(tables, column, strategy, overlay) / _most(tables, column, BINARY, overlay),
        why=why,
    )


EXPERIMENT = Experiment(
    name="beyond-split",
    paper="beyond",
    title="Three ways to spread over a range: path length and fan-out",
    says="What do `binary` (at most two copies a broker), `split` (cut at all entries at once) and `cluster-first` (each "
    "cluster entered once) come to in path length, in copies that one broker sends, and in the time until the last member "
    "has it?",
    setting=f"The range is a whole ring of brokers with one key each, in {CLUSTERS} clusters by key, on a Skip Graph and on "
    "Suzaku; a random member sends. The time until the last member has it is in hops, where a broker's copies leave one "
    "after the other, in key order, and each takes none, a tenth, or all of a hop's time; also with the largest part first.",
    grid=_grid,
    repeats=REPEATS,
    model=shapes.model,
    columns=shapes.COLUMNS,
    summaries={
        "shapes": Mean(
            by=("overlay", "members", "strategy"),
            of=tuple(name for name in shapes.COLUMNS if name != "strategy"),
        )
    },
    claims=(
        Claim(
            what="messages beyond one for each member but the sender, in any run",
            source=QUESTION,
            paper="nobody is reached twice, and nobody relays in vain",
            ours=_extra,
            holds=lambda extra: extra == 0,
        ),
        Claim(
            what="binary: most copies by one broker, in any run",
            source="RELAY §5.2, footnote 5",
            paper="at most 2",
            ours=lambda tables: float(tables["shapes"].where(strategy=BINARY)["fanout_max_max"].max()),
            holds=lambda copies: copies <= 2,
        ),
        *(
            _ratio(what, column, strategy, overlay)
            for overlay in (SKIP_GRAPH, SUZAKU)
            for what, column, strategy in (
                ("mean path length", "depth_mean", SPLIT),
                ("mean path length", "depth_mean", CLUSTER_FIRST),
                ("most copies", "fanout_max", SPLIT),
                ("time until the last member has it, if a copy takes a hop,", "last_slow", SPLIT),
                ("time until the last member has it, if a copy takes a tenth,", "last_quick", SPLIT),
                ("the latter, largest part first,", "last_quick_sorted", SPLIT),
            )
        ),
    ),
    plots={
        f"{caption}; on {overlay}.": partial(draw, overlay)
        for draw, caption in (
            (_draw_shape, "Mean path length (left) and most copies by one broker (right)"),
            (_draw_last, "Time until the last member has it, by how long a broker takes to send a copy"),
        )
        for overlay in (SKIP_GRAPH, SUZAKU)
    },
    per_task=20,
    memory_mb=lambda point: 320.0 + 600.0 * int(point["members"]) / 1_000_000,
)
