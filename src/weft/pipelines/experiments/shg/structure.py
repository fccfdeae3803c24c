"""shg-structure: figures 2 and 3, the hypercube of 32 corners and the ways of its events, counted."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from weft.pipelines.experiments.claims import Claim
from weft.pipelines.experiments.experiment import Experiment, Point, Scale, Tables
from weft.pipelines.experiments.shg.partition import COLUMNS, counted
from weft.pipelines.experiments.summaries import Mean

PAPERS = {"dimension": 5, "k": 3}
MORE = ((4, 2), (6, 4), (7, 4), (7, 5))


def grid(scale: Scale) -> Sequence[Point]:
    """Figure 2's, corrected and as printed; and others, which the general statements are about."""
    found: list[Point] = [{**PAPERS, "variant": variant} for variant in ("corrected", "literal")]
    return found + [
        {"dimension": n, "k": k, "variant": "corrected"} for n, k in MORE[: 1 if scale is Scale.SMALL else None]
    ]


def of(name: str, variant: str = "corrected") -> Callable[[Tables], float]:
    """What was counted on figure 2's graph."""
    return lambda tables: tables["counts"].one(name, **PAPERS, variant=variant)


def _everywhere(excess: Callable[[Any], Any]) -> Callable[[Tables], float]:
    return lambda tables: float(np.max(excess(tables["counts"].where(variant="corrected"))))


def _number(what: str, source: str, paper: float, name: str) -> Claim:
    return Claim(what=what, source=source, paper=paper, ours=of(name), within=0.0)


def draw_counts(figure: Any, tables: Tables) -> None:
    """How often a dominating node is handed an event, and a subscriber receives it."""
    axes = figure.subplots()
    bars = [("a dominating node is handed an event", "handed"), ("a subscriber receives an event", "received")]
    for offset, variant in ((0.18, "corrected"), (-0.18, "literal")):
        rows = tables["counts"].where(**PAPERS, variant=variant)
        low = np.array([rows[f"{name}_least"][0] for _, name in bars])
        high = np.array([rows[f"{name}_most"][0] for _, name in bars])
        places = np.arange(len(bars)) + offset
        axes.barh(places, high - low + 0.06, height=0.3, left=low - 0.03, label=variant)
    axes.axvline(1, linestyle="--", color="grey", label="paper: once")
    axes.set_yticks(np.arange(len(bars)), [text for text, _ in bars])
    axes.set_xlabel("times, least to most over all events")
    axes.set_xlim(left=-0.2)
    axes.legend()


EXPERIMENT = Experiment(
    name="shg-structure",
    paper="SHG",
    title="Partitions, dominating nodes, and the ways of events (figures 2 and 3)",
    says="32 nodes in 4 subscription partitions of 8, 8 dominating nodes, 8 sub-partitions of 4; an event crosses the event "
    "partition and meets every subscription partition.",
    setting="n = 5, k = 3, machines in the event simulator: every corner publishes once, every third wants everything. "
    "*Corrected* are the rules that the text and the figures describe; *literal* are the two procedures as printed, where "
    "diff2 is always 0, the choice of dominating node is inverted, and three broadcasts overlap.",
    grid=grid,
    repeats=dict.fromkeys(Scale, 1),
    model=counted,
    columns=COLUMNS,
    summaries={"counts": Mean(by=("dimension", "k", "variant"), of=tuple(COLUMNS))},
    per_task=20,
    claims=[
        _number("Nodes", "SHG §III.C, fig. 2", 32, "corners"),
        _number("Subscription partitions", "SHG §III.C, fig. 2", 4, "partitions"),
        _number("Nodes of each", "SHG §III.C, fig. 2", 8, "partition_size"),
        _number("Dominating nodes of each", "SHG §III.C, definition 7", 2, "dominating_each"),
        _number("Dominating nodes: the event partition", "SHG §III.C, fig. 2", 8, "dominating"),
        Claim(
            what="Event partition by definition 6",
            source="SHG §III.C, definition 6",
            paper="it is formed by just all dominating nodes",
            ours=of("as_defined"),
            holds=lambda size: size == 8,
            why="Definition 6 takes subsets of the high letters alone, 4 nodes; the ε that the text then lists has 8, the "
            "full dominating nodes too. The list is what is built.",
        ),
        _number("Sub-partitions", "SHG §III.C, fig. 2", 8, "sub_partitions"),
        _number("Nodes of the largest sub-partition", "SHG fig. 2", 4, "sub_partition_size"),
        Claim(
            what="Steps to the dominating node beyond ⌊k/2⌋, the most over all sizes",
            source="SHG §III.C: t-DS(SHG) is ⌊k/2⌋",
            paper="at most ⌊k/2⌋",
            ours=_everywhere(lambda table: table["farthest"] - table["k"] // 2),
            holds=lambda excess: excess <= 0,
        ),
        Claim(
            what="Partitions in which one subscription is installed, the most",
            source="SHG §III.C",
            paper="restricted to a single subscription partition",
            ours=_everywhere(lambda table: table["abroad"]),
            holds=lambda most: most == 1,
        ),
        Claim(
            what="How often a dominating node is handed an event, farthest from once",
            source="SHG §III.C, §IV.B, fig. 3",
            paper="the event partition is crossed whole, each node once",
            ours=_everywhere(lambda table: np.maximum(table["handed_most"] - 1, 1 - table["handed_least"])),
            holds=lambda off: off == 0,
        ),
        Claim(
            what="How often a subscriber receives an event, farthest from once",
            source="SHG §III.C, §IV.A: no loops are created",
            paper="each matching subscriber once, nobody else",
            ours=_everywhere(
                lambda table: np.maximum(table["received_most"] - 1, 1 - table["received_least"]) + table["strangers"]
            ),
            holds=lambda off: off == 0,
        ),
        Claim(
            what="The same by the procedures as printed: times that a subscriber receives one event, the least",
            source="SHG §IV, procedures",
            paper="each matching subscriber once",
            ours=of("received_least", "literal"),
            holds=lambda least: least == 1,
            why="event_routing sends to supersets of the publisher's dominating node and to nodes of nearly its size; "
            "nobody hands on. It reaches some dominating nodes more than once and others never.",
        ),
        Claim(
            what="The same by the procedures as printed: times that a subscriber receives one event, the most",
            source="SHG §IV, procedures",
            paper="each matching subscriber once",
            ours=of("received_most", "literal"),
            holds=lambda most: most == 1,
            why="The three broadcasts of event_routing overlap, and nobody remembers what it has had.",
        ),
        Claim(
            what="Nodes that handle both of two publishers' events, of those that handle either",
            source="SHG §V",
            paper="event propagation involves each time a different set of nodes according to publisher",
            ours=of("alike"),
            holds=lambda alike: alike < 0.5,
            why="Every event crosses the whole event partition and goes down the same installed paths, so two publishers' "
            "events share all but the ways to their dominating nodes. What does change is who hands on across: with "
            "binomial trees one half of the dominating nodes or the other.",
        ),
        Claim(
            what="Nodes that can never be dominating nodes, as a share",
            source="SHG §II (2)",
            paper="the probability that a node is selected as dominating node is equal",
            ours=lambda tables: 1 - of("dominating")(tables) / of("corners")(tables),
            holds=lambda share: share == 0,
            why="Definition 7 fixes the dominating nodes by their ids, and no procedure moves them; only the choice of k "
            "and of the letters does.",
        ),
    ],
    plots={
        "n = 5, k = 3: how often an event comes to a dominating node and to a subscriber, corrected and as printed": draw_counts
    },
)
