"""SELECT fig. 11: hops of Close over time, for waits of 0 to 9 T between two requests (§4.6)."""

from collections.abc import Callable, Sequence
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np

from weft.pipelines.experiments.claims import Claim
from weft.pipelines.experiments.experiment import Experiment, Point, Scale, Tables, points
from weft.pipelines.experiments.select import trials
from weft.pipelines.experiments.summaries import Mean

SOURCE = "SELECT §4.6, fig. 11"
MEMBERS = 64
WAITS = tuple(float(wait) for wait in range(10))
SWEEPS = (trials.TOGETHER, trials.APART)


def grid(scale: Scale) -> Sequence[Point]:
    del scale
    fixed = {"brokers": [trials.BROKERS], "members": [MEMBERS]}
    return [
        *points(**fixed, wait=WAITS, selection=["close"], sweeps=SWEEPS),
        *points(**fixed, wait=[0.0], selection=["multicast"], sweeps=[trials.TOGETHER]),
    ]


def mean(tables: Tables, wait: float, sweeps: str) -> float:
    return tables["trials"].one("hops", selection="close", wait=wait, sweeps=sweeps)


def multicast(tables: Tables) -> float:
    return tables["trials"].one("hops", selection="multicast")


def most_more(tables: Tables, sweeps: str) -> float:
    """By how much a longer wait costs more than a shorter one, at worst (below 0: it never does)."""
    hops = [mean(tables, wait, sweeps) for wait in WAITS]
    return max(later - sooner for sooner, later in pairwise(hops))


def dearer(tables: Tables, sweeps: str) -> float:
    found = tables["requests"].where(selection="close", wait=1.0, sweeps=sweeps)
    return float(np.count_nonzero(found["hops"] > multicast(tables)))


def last_reserved(tables: Tables) -> float:
    """In T: when the last of the requests at (k+1)T has had its interval."""
    found = tables["requests"].where(selection="close", wait=WAITS[-1], sweeps=trials.TOGETHER)
    return float(found["request"].max()) * WAITS[-1]


def _given(ours: Callable[[Tables, str], float], sweeps: str, tables: Tables) -> float:
    return ours(tables, sweeps)


def per_sweeps(
    what: str,
    paper: str | None,
    ours: Callable[[Tables, str], float],
    holds: Callable[[float], bool] | None = None,
    why: str = "",
) -> list[Claim]:
    """The same of both readings of where sweeps are when a trial begins."""
    return [
        Claim(
            what=f"{what} (sweeps {sweeps})",
            source=SOURCE,
            paper=paper,
            ours=partial(_given, ours, sweeps),
            holds=holds,
            why=why,
        )
        for sweeps in SWEEPS
    ]


CLAIMS = (
    *per_sweeps(
        "hops a request: most that one T more of waiting adds",
        "a shorter Tw increases the number of hops",
        most_more,
        lambda hops: hops <= 0.02,
        "from about 7 T on there is next to nothing left to save: 0.02 hops is allowed for the chance of 50 trials",
    ),
    *per_sweeps(
        "all requests at Tw = T against Multicast's 13 hops each",
        "at Tw = T the number of hops to reserve all components is lower than Multicast's",
        lambda tables, sweeps: mean(tables, 1.0, sweeps) / multicast(tables),
        lambda ratio: ratio < 1,
    ),
    *per_sweeps(
        "requests at Tw = T, of 64, that take more hops than Multicast",
        None,
        dearer,
        why="the paper compares the whole; the last components to be found are the expensive ones",
    ),
    Claim(
        what="time to reserve all at Tw = (k+1)T, in T",
        source=SOURCE,
        paper=576.0,
        within=0.0,
        ours=last_reserved,
        unit="T",
    ),
)


def draw(sweeps: str) -> Callable[[Any, Tables], None]:
    def drawn(figure: Any, tables: Tables) -> None:
        axis = figure.subplots()
        for wait in WAITS[1:]:
            found = tables["requests"].where(selection="close", wait=wait, sweeps=sweeps).ordered("request")
            if len(found):
                axis.plot(
                    (found["request"] - 1) * wait,
                    found["hops"],
                    label=f"$T_w={wait:g}T$",
                    linewidth=1,
                    linestyle="-" if wait < 8 else "--",
                )
        axis.axhline(multicast(tables), color="black", linestyle="--", linewidth=0.8, label="Multicast")
        axis.set_xlabel("time (T)")
        axis.set_ylabel("hops")
        axis.legend(ncols=2)

    return drawn


def draw_means(figure: Any, tables: Tables) -> None:
    axis = figure.subplots()
    for sweeps in SWEEPS:
        found = tables["trials"].where(selection="close", sweeps=sweeps).ordered("wait")
        axis.plot(found["wait"], found["hops"], marker="o", label=f"Close, sweeps {sweeps}")
    axis.axhline(multicast(tables), color="black", linestyle="--", linewidth=0.8, label="Multicast")
    axis.set_xlabel("$T_w$ (T)")
    axis.set_ylabel("hops per request")
    axis.set_yscale("log")
    axis.legend()


EXPERIMENT = Experiment(
    name="select-fig11",
    paper="SELECT",
    title="Hops of Close against the interval of the requests",
    says="The shorter the interval, the more hops; an interval of T is enough to stay below Multicast. The curves are lost.",
    setting="Nr = 64, 128 brokers, 50 trials. The paper does not say at which level of its sweep each node is when a trial "
    "begins: both extremes are run, all at the same level (together) and each at its own (apart).",
    grid=grid,
    repeats={Scale.SMALL: 4, Scale.PAPER: 50, Scale.HUGE: 1_000},
    model=trials.requests,
    columns={"request": int, "hops": int, "again": int, "messages": int},
    summaries={
        "requests": Mean(("wait", "selection", "sweeps", "request"), ("hops",)),
        "trials": Mean(("wait", "selection", "sweeps"), ("hops",)),
    },
    claims=CLAIMS,
    plots={
        "Hops over time, sweeps together": draw(trials.TOGETHER),
        "Hops over time, sweeps apart": draw(trials.APART),
        "Hops per request against the interval": draw_means,
    },
    per_task=100,
    memory_mb=lambda point: trials.MEMORY_MB,
)
