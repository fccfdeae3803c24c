"""beyond-planner: which topics get flow entries, by weft's planner and by thresholds."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from weft.pipelines.experiments.beyond.planning import (
    CASES,
    COLUMNS,
    DRIFT_SHARE,
    POLICIES,
    RULES,
    SMALL_SHARES,
    STANDS,
    WINDOW_S,
    WINDOWS,
    planned,
)
from weft.pipelines.experiments.claims import Claim
from weft.pipelines.experiments.experiment import Experiment, Point, Scale, Tables
from weft.pipelines.experiments.summaries import Mean, Quantiles
from weft.pipelines.experiments.table import Missing

FABRICS = ("tree", "line")
TOPICS = {Scale.SMALL: 500, Scale.PAPER: 10_000, Scale.HUGE: 100_000}
SMALL_TOPICS = 30
THRESHOLDS = ("deliveries", "busiest", "first come", "members")
METHODS = ("planner", "greedy", *THRESHOLDS)
CAREFUL = "planner, and a margin"
OURS = "the question is ours"


def grid(scale: Scale) -> Sequence[Point]:
    sizes = {"optimum": SMALL_TOPICS, "budgets": TOPICS[scale], "drift": min(TOPICS[scale], TOPICS[Scale.PAPER])}
    return [{"part": part, "fabric": fabric, "topics": topics} for part, topics in sizes.items() for fabric in FABRICS]


def least(summary: str, column: str, **which: Any) -> Callable[[Tables], float]:
    """The smallest number of a column."""
    return lambda tables: float(tables[summary].where(**which)[column].min(initial=np.inf))


def over(one: str, other: str) -> Callable[[Tables], float]:
    """The smallest ratio of what two methods save, over tables' sizes and fabrics."""

    return lambda tables: float(np.min(_ratios(tables, one, other)))


def _ratios(tables: Tables, one: str, other: str) -> Any:
    ours, theirs = (tables["budgets"].where(method=each).ordered("fabric", "share") for each in (one, other))
    return ours["achieved"] / theirs["achieved"]


def drifting(method: str, fabric: str, name: str) -> Callable[[Tables], float]:
    return lambda tables: tables["drift"].one(name, method=method, fabric=fabric)


def smaller(fabric: str, share: float) -> Callable[[Tables], float]:
    """Tables with which the planner saves what busiest first does with ``share``, by the latter (interpolated)."""

    def ratio(tables: Tables) -> float:
        goal = tables["budgets"].one("of_all", method="busiest", fabric=fabric, share=share)
        curve = tables["budgets"].where(method="planner", fabric=fabric).ordered("share")
        if goal < curve["of_all"][0]:
            raise Missing("smaller tables than were run")
        return float(np.interp(goal, curve["of_all"], curve["share"])) / share

    return ratio


def claims() -> list[Claim]:
    where = "MIGRATE §4.1"
    found = [
        Claim(
            what="busiest first against first come: what is saved, mean ratio over tables and fabrics",
            source=where,
            paper="topics used most should come first",
            ours=lambda tables: float(np.mean(_ratios(tables, "busiest", "first come"))),
            holds=lambda ratio: ratio > 1,
            why=(
                "first come is nearly busiest first by itself, because a busy topic soon has three publishes within 5 s; "
                "where tables hold a handful of topics the two differ by chance, either way"
            ),
        ),
        Claim(
            what="the same, smallest ratio",
            source=where,
            paper=None,
            ours=over("busiest", "first come"),
            why="below 1 in some tables: the advice is one of the mean",
        ),
        Claim(
            what="planner against the best threshold on deliveries: smallest ratio over tables and fabrics",
            source=where,
            paper=None,
            ours=over("planner", "deliveries"),
            why=OURS,
        ),
        Claim(
            what="planner against the best threshold on publishes: smallest ratio over tables and fabrics",
            source=where,
            paper=None,
            ours=over("planner", "busiest"),
            why=OURS,
        ),
    ]
    for fabric in FABRICS:
        found += [
            Claim(what=text, source=source, paper=None, ours=ours, why=OURS)
            for text, source, ours in (
                (f"planner / optimum, {fabric}: mean", "own", _mean_of_small("planner", fabric)),
                (
                    f"planner / optimum, {fabric}: worst case",
                    "own",
                    least("small", "achieved_min", method="planner", fabric=fabric),
                ),
                (
                    f"greedy / optimum, {fabric}: worst case",
                    "own",
                    least("small", "achieved_min", method="greedy", fabric=fabric),
                ),
                (f"busiest / optimum, {fabric}: mean", where, _mean_of_small("busiest", fabric)),
                (
                    f"tables for a tenth, {fabric}: planner saves as much in this part of them",
                    where,
                    smaller(fabric, 0.1),
                ),
                *(
                    (
                        f"rates drift, {fabric}: {method}, less changes, of the bound",
                        source,
                        drifting(method, fabric, "net"),
                    )
                    for method, source in ((CAREFUL, "own"), *((rule, where) for rule in RULES))
                ),
                (
                    f"rates drift, {fabric}: entries that change in a window",
                    "own",
                    drifting(CAREFUL, fabric, "changed"),
                ),
            )
        ]
    return found


def _mean_of_small(method: str, fabric: str) -> Callable[[Tables], float]:
    return lambda tables: float(np.mean(tables["small"].where(method=method, fabric=fabric)["achieved"]))


def _curves(figure: Any, tables: Tables, summary: str, column: str, label: str, *, logarithmic: bool) -> None:
    for axes, fabric in zip(figure.subplots(1, len(FABRICS), sharey=True), FABRICS, strict=True):
        for method in METHODS:
            curve = tables[summary].where(method=method, fabric=fabric).ordered("share")
            axes.plot(curve["share"], curve[column], marker="o", markersize=3, label=method)
            if not logarithmic:
                axes.fill_between(curve["share"], curve[f"{column}_low"], curve[f"{column}_high"], alpha=0.2)
        axes.set_xscale("log")
        if logarithmic:
            axes.set_yscale("log")
        axes.set_title(fabric, fontsize="medium")
        axes.set_xlabel("table, by what all topics need")
    figure.axes[0].set_ylabel(label)
    figure.axes[-1].legend()


def draw_optimum(figure: Any, tables: Tables) -> None:
    for axes, fabric in zip(figure.subplots(1, len(FABRICS), sharey=True), FABRICS, strict=True):
        for place, method in enumerate(METHODS):
            row = tables["spread"].where(method=method, fabric=fabric)
            axes.barh(place, row["q50"], color=f"C{place}", alpha=0.8)
            axes.plot([row["q5"][0], 1.0], [place, place], color="black", linewidth=1)
        axes.set_yticks(range(len(METHODS)), METHODS)
        axes.invert_yaxis()
        axes.set_title(fabric, fontsize="medium")
        axes.set_xlabel("saved, of the optimum")


def draw_budgets(figure: Any, tables: Tables) -> None:
    _curves(figure, tables, "budgets", "achieved", "saved, of the bound", logarithmic=False)


def draw_of_all(figure: Any, tables: Tables) -> None:
    _curves(figure, tables, "budgets", "of_all", "saved, of all that could be", logarithmic=False)


def draw_per_entry(figure: Any, tables: Tables) -> None:
    _curves(figure, tables, "budgets", "per_entry", "crossings saved per second and entry", logarithmic=True)


def draw_drift(figure: Any, tables: Tables) -> None:
    axes = figure.subplots()
    for place, method in enumerate((*POLICIES, *RULES)):
        for fabric, marker in zip(FABRICS, "os", strict=True):
            row = tables["drift"].where(method=method, fabric=fabric)
            axes.errorbar(
                row["changed"],
                row["achieved"],
                xerr=[row["changed"] - row["changed_low"], row["changed_high"] - row["changed"]],
                yerr=[row["achieved"] - row["achieved_low"], row["achieved_high"] - row["achieved"]],
                color=f"C{place}",
                marker=marker,
                linestyle="",
                label=f"{method}, {fabric}",
            )
    axes.set_xscale("symlog", linthresh=10)
    axes.set_xlabel("entries that change in a window")
    axes.set_ylabel("saved, of the bound")
    axes.legend(fontsize="small", ncols=3, loc="lower center", bbox_to_anchor=(0.5, 1.0))


EXPERIMENT = Experiment(
    name="beyond-planner",
    paper="beyond",
    title="Which topics get flow entries: a planner against thresholds",
    says=(
        "MIGRATE §4.1 moves a topic to OFM when a threshold is exceeded (members, publishes; for example three publishes "
        "within 5 s), says that the best setting is not known, and asks that topics used most come first. How much of what "
        "OFM could save does that save, and how much does a planner that knows benefits and entries?"
    ),
    setting=(
        "16 clusters of 64 brokers, on a line of switches and in a tree of height 2 (SAPS §4.1). The topic of popularity rank "
        "r has 1,000 / r members, at least 2; half of them in its home cluster, the others anywhere. Publishes: 100 / r per "
        "second, in an order of ranks of its own. A topic saves the link crossings of cluster-first unicasts less those of "
        "its OFM tree, and needs an entry on each switch of the tree and one for each member behind it. All switches have the "
        "same table, whose size is given by what all topics together need on the fullest switch. A threshold rule takes "
        "topics in an order while tables have room and passes over what finds none; the best threshold for given tables is "
        "the one that just fills them, so it is the order that counts. First come: Poisson publishes, within an hour. "
        f"Small cases: {SMALL_TOPICS} topics, 5 clusters of 8 brokers, {CASES} draws a run, tables for "
        f"{', '.join(map(str, SMALL_SHARES))} of all, against the optimum by branch and bound; larger ones against the bound "
        f"that prices give. Drift: {WINDOWS} windows of {WINDOW_S:g} s; the logarithm of each rate wanders, plans are made "
        f"from the counts (Poisson) of the window before; tables for {DRIFT_SHARE:g} of all; an entry that comes or goes "
        f"costs a message, which the planner that counts them spreads over {STANDS} windows; the margin is a fifth. A topic "
        "that has become quiet goes back in every window, or never: MIGRATE does not say."
    ),
    grid=grid,
    repeats={Scale.SMALL: 2, Scale.PAPER: 20, Scale.HUGE: 20},
    model=planned,
    columns=COLUMNS,
    summaries={
        "small": Mean(
            by=("fabric", "method", "share"), of=("achieved", "of_all", "per_entry"), where="part = 'optimum'"
        ),
        "spread": Quantiles(by=("fabric", "method"), of="achieved", at=(0.05, 0.5), where="part = 'optimum'"),
        "budgets": Mean(
            by=("fabric", "method", "share"), of=("achieved", "of_all", "per_entry"), where="part = 'budgets'"
        ),
        "drift": Mean(by=("fabric", "method"), of=("achieved", "changed", "net"), where="part = 'drift'"),
    },
    claims=claims(),
    plots={
        (
            "Small cases: the median of what is saved, of the optimum, over all sizes of tables; lines reach down to the "
            "worst twentieth."
        ): draw_optimum,
        "What is saved, over the size of tables; bands are 95 % confidence.": draw_budgets,
        "What is saved, of what tables without limit would save, over the size of tables.": draw_of_all,
        "What an entry saves, over the size of tables.": draw_per_entry,
        "Rates that drift, known by counting: what is saved, and how much changes from window to window.": draw_drift,
    },
    per_task=4,
    memory_mb=lambda point: 320.0 + 0.002 * float(point["topics"]),
)
