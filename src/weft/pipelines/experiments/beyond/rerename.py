"""beyond-rerename: rename with ranks against rejoin, for the second and later migrations of a topic."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from weft.pipelines.experiments.beyond.rounds import (
    CLUSTERS,
    COLUMNS,
    LATENCY_MS,
    METHODS,
    NEWCOMERS,
    ROUNDS,
    rounds,
)
from weft.pipelines.experiments.claims import Claim
from weft.pipelines.experiments.experiment import Experiment, Point, Scale, Tables, points
from weft.pipelines.experiments.summaries import Mean

NAMES = {
    "rejoin": "rejoin",
    "rename": "rename, successor's rank − 1",
    "fitting": "rename, successor's rank where it fits",
}
PANELS = {
    "messages": "messages per member",
    "time_ms": "time of a round [ms]",
    "stretches": "stretches per cluster",
    "crossings_first": "crossings, cluster-first",
}
OWN = "Own: MIGRATE renames in the first round only, and leaves the others to future work (§5.3)."


def grid(scale: Scale) -> Sequence[Point]:
    return points(method=list(METHODS))


def mean(name: str, method: str, number: int = ROUNDS) -> Callable[[Tables], float]:
    """Of one round, the last by default."""
    return lambda tables: tables["rounds"].one(name, method=method, round=number)


def draw(figure: Any, tables: Tables) -> None:
    """Four panels over the rounds."""
    for axes, (name, text) in zip(figure.subplots(2, 2).flat, PANELS.items(), strict=True):
        for method in METHODS:
            rows = tables["rounds"].where(method=method).ordered("round")
            (line,) = axes.plot(rows["round"], rows[name], marker="o", markersize=3, label=NAMES[method])
            axes.fill_between(
                rows["round"], rows[f"{name}_low"], rows[f"{name}_high"], alpha=0.2, color=line.get_color()
            )
        axes.set_xlabel("migration of the topic")
        axes.set_ylabel(text)
        axes.set_ylim(bottom=0)
        axes.set_xticks(np.arange(1, ROUNDS + 1))
    figure.axes[0].legend(fontsize="x-small")


def _alone(what: str, name: str, method: str, unit: str = "", why: str = OWN) -> Claim:
    return Claim(what=what, source="own", paper=None, ours=mean(name, method), unit=unit, why=why)


EXPERIMENT = Experiment(
    name="beyond-rerename",
    paper="beyond",
    title="Renaming for second and later migrations",
    says="MIGRATE can rename while the OFM topic is empty only; with ranks in the keys every migration can be one. What does "
    "that save against rejoining, and what does it do to the order of clusters?",
    setting=f"{ROUNDS} rounds; in each, {NEWCOMERS} newcomers of {CLUSTERS} clusters join the ALM topic and move. Rejoin as in "
    f"migrate-fig8 (350/350/250 ms, Suzaku machines), {LATENCY_MS:g} ms a message; rename by the hand-over with ranks. "
    "Telling the members that ALM is allowed, or over, is in the rename's messages and time; a rejoin as in the paper tells "
    "nobody. Order: stretches of one cluster in the OFM topic, 1 per cluster at best; crossings between clusters of a "
    "multicast to the OFM topic by the overlay (bulk model).",
    grid=grid,
    repeats={Scale.SMALL: 4, Scale.PAPER: 100, Scale.HUGE: 1_000},
    model=rounds,
    columns=COLUMNS,
    summaries={"rounds": Mean(by=("method", "round"), of=tuple(name for name in COLUMNS if name != "round"))},
    per_task=25,
    memory_mb=lambda point: 300.0,
    claims=[
        _alone("Messages for each member that moves, sixth round, rejoin", "messages", "rejoin"),
        _alone("Messages for each member that moves, sixth round, rename", "messages", "rename"),
        _alone(
            "Of these: telling",
            "telling",
            "rename",
            why="Own: 'stop' goes to all of the OFM topic, also to old members.",
        ),
        Claim(
            what="Messages to rename (telling left out), sixth round by first",
            source="MIGRATE §5.3",
            paper=None,
            ours=lambda tables: (
                (mean("messages", "rename")(tables) - mean("telling", "rename")(tables))
                / (mean("messages", "rename", 1)(tables) - mean("telling", "rename", 1)(tables))
            ),
            why="The paper expects later rounds to need more, as PeerIDs have changed; with ranks only the tables to be told "
            "of grow, like the logarithm of the members.",
        ),
        _alone("Time of the sixth round, rejoin", "time_ms", "rejoin", "ms"),
        _alone("Time of the sixth round, rename", "time_ms", "rename", "ms"),
        _alone(
            "Of these: telling",
            "telling_ms",
            "rename",
            "ms",
            "Own: relayed from member to member as in the paper, it grows with all members of the topic; a tree would not.",
        ),
        _alone("Stretches per cluster after six rounds, rejoin", "stretches", "rejoin"),
        _alone("Stretches per cluster after six rounds, rename", "stretches", "rename"),
        _alone("Stretches per cluster after six rounds, fitting", "stretches", "fitting"),
        _alone(
            "Ranks in use after six rounds, rename",
            "ranks",
            "rename",
            why="Own: one for each member, so no two share a locality.",
        ),
        _alone("Ranks in use after six rounds, fitting", "ranks", "fitting"),
        _alone("Crossings of a cluster-first multicast after six rounds, rejoin", "crossings_first", "rejoin"),
        _alone("Crossings of a cluster-first multicast after six rounds, rename", "crossings_first", "rename"),
        _alone("Crossings of a cluster-first multicast after six rounds, fitting", "crossings_first", "fitting"),
        Claim(
            what="Crossings of a cluster-first multicast after the first round, rename by rejoin",
            source="ADR 0003",
            paper="members that move in one round keep their cluster order",
            ours=lambda tables: (
                mean("crossings_first", "rename", 1)(tables) / mean("crossings_first", "rejoin", 1)(tables)
            ),
            holds=lambda ratio: ratio <= 1,
            why="The order is kept, but each member has a rank of its own, and locality is told by the key up to the cluster, "
            "rank included: to cluster-first every member is a cluster of its own.",
        ),
        Claim(
            what="The same, fitting by rejoin",
            source="ADR 0003",
            paper="members that move in one round keep their cluster order",
            ours=lambda tables: (
                mean("crossings_first", "fitting", 1)(tables) / mean("crossings_first", "rejoin", 1)(tables)
            ),
            holds=lambda ratio: ratio <= 1,
            why="All of a round take one rank where the order allows it, so localities stay whole.",
        ),
    ],
    plots={"Rounds of eight newcomers: messages, time, and what becomes of the order of clusters; 95 % bands": draw},
)
