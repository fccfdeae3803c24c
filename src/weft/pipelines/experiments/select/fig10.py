"""SELECT fig. 10: how often each level of the finger tables is used (§4.5)."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

from weft.pipelines.experiments.experiment import Experiment, Point, Scale, Tables, points
from weft.pipelines.experiments.select import trials
from weft.pipelines.experiments.select.fig9 import ANYCAST, BY_VALUE, NEVER, SWEEP
from weft.pipelines.experiments.select.saying import said
from weft.pipelines.experiments.summaries import Total
from weft.pipelines.experiments.table import Table

SOURCE = "SELECT §4.5, fig. 10"
HIGHEST = 6
"""log2 Nr at Nr = 64."""


def grid(scale: Scale) -> Sequence[Point]:
    del scale
    return points(
        brokers=[trials.BROKERS], members=[64], wait=[NEVER, SWEEP], selection=ANYCAST, sweeps=[trials.TOGETHER]
    )


def bars(tables: Tables, selection: str, wait: float) -> Table:
    """Each entry's share of all that was chosen."""
    found = tables["chosen"].where(selection=selection, wait=wait)
    return Table({**found.columns, "share": found["chosen"] / max(1.0, float(found["chosen"].sum()))})


def share(tables: Tables, selection: str, wait: float, **wanted: Any) -> float:
    return float(bars(tables, selection, wait).where(**wanted)["share"].sum())


def mean_level(tables: Tables, selection: str, wait: float) -> float:
    """Of the forward fingers that were chosen, ourselves apart."""
    found = bars(tables, selection, wait).where(table="FFT", level=range(16))
    return float(np.average(found["level"], weights=found["share"]))


def moved(tables: Tables, selection: str) -> float:
    """How much of the use is elsewhere at (k+1)T than at Tw = 0 (total variation)."""
    one, other = (bars(tables, selection, wait).ordered("table", "level")["share"] for wait in (NEVER, SWEEP))
    return float(np.abs(one - other).sum() / 2)


_said = partial(said, SOURCE)

CLAIMS = (
    _said(
        "Few and Close at Tw = 0: share of FFT[0] and FFT[1] against Many's (least ratio)",
        "Few and Close use low levels frequently; Many uses higher ones",
        lambda tables: min(
            share(tables, name, NEVER, table="FFT", level=(0, 1))
            / share(tables, "many", NEVER, table="FFT", level=(0, 1))
            for name in ("few", "close")
        ),
        lambda ratio: ratio > 1,
    ),
    _said(
        "Few and Close: mean level of FFT, (k+1)T less Tw = 0 (least)",
        "at (k+1)T Few and Close use higher levels, around FFT[3]",
        lambda tables: min(
            mean_level(tables, name, SWEEP) - mean_level(tables, name, NEVER) for name in ("few", "close")
        ),
        lambda levels: levels > 0,
    ),
    _said(
        "Few and Close: share of FFT[3], (k+1)T against Tw = 0 (least ratio)",
        "at (k+1)T Few and Close use higher levels, around FFT[3]",
        lambda tables: min(
            share(tables, name, SWEEP, table="FFT", level=3) / share(tables, name, NEVER, table="FFT", level=3)
            for name in ("few", "close")
        ),
        lambda ratio: ratio > 1,
    ),
    _said(
        "use that is elsewhere at (k+1)T than at Tw = 0: Many against the least of Few and Close",
        "Many has a similar utilization rate at Tw = 0 and (k+1)T",
        lambda tables: moved(tables, "many") / min(moved(tables, name) for name in ("few", "close")),
        lambda ratio: ratio < 1,
    ),
    _said(
        "share of BFT at (k+1)T, all selections (largest)",
        "at (k+1)T all use FFTs rather than BFTs",
        lambda tables: max(share(tables, name, SWEEP, table="BFT") for name in ANYCAST),
        lambda part: part < 0.5,
    ),
    _said(
        "BFT against FFT, all selections and both Tw (largest ratio)",
        "the BFT utilization rate is significantly lower than that of the FFT",
        lambda tables: max(
            share(tables, name, wait, table="BFT") / share(tables, name, wait, table="FFT", level=range(16))
            for name in ANYCAST
            for wait in (NEVER, SWEEP)
        ),
        lambda ratio: ratio < 0.5,
        "significantly is taken as: less than half",
    ),
    _said(
        "share of BFT, Tw = 0 less (k+1)T, Many, Few and Close (least)",
        "the BFT utilization rate at Tw = 0 is higher than at (k+1)T",
        lambda tables: min(
            share(tables, name, NEVER, table="BFT") - share(tables, name, SWEEP, table="BFT") for name in BY_VALUE
        ),
        lambda part: part > 0,
    ),
    _said(
        f"share of levels above {HIGHEST}, all selections and both Tw (largest)",
        "a level higher than 6 is not used",
        lambda tables: max(
            share(tables, name, wait, level=range(HIGHEST + 1, 16)) for name in ANYCAST for wait in (NEVER, SWEEP)
        ),
        lambda part: part == 0,
        "by table 1 the highest forward finger's range goes round the ring up to its owner. A node in the middle of the search "
        "range that begins again finds the part to its left in it, so by the letter of Algorithm 1 it is a candidate, and the "
        "walk comes back from there over high levels. The paper's program seems not to see it; see select-table3 for what that "
        "changes",
    ),
    _said(
        f"share of levels above {HIGHEST} at (k+1)T, Many, Few and Close (largest)",
        "a level higher than 6 is not used",
        lambda tables: max(share(tables, name, SWEEP, level=range(HIGHEST + 1, 16)) for name in BY_VALUE),
        lambda part: part == 0,
    ),
)


def draw(wait: float) -> Callable[[Any, Tables], None]:
    def drawn(figure: Any, tables: Tables) -> None:
        axes = figure.subplots(1, 2, sharey=True)
        for axis, table in zip(axes, ("FFT", "BFT"), strict=True):
            for at, name in enumerate(ANYCAST):
                found = bars(tables, name, wait).where(table=table).ordered("level")
                axis.bar(found["level"] + (at - 1.5) * 0.2, found["share"], width=0.2, label=name)
            axis.set_xlabel(f"level of {table}")
            axis.set_xticks(range(-1 if table == "FFT" else 0, 9))
        axes[0].set_ylabel("share of all choices")
        axes[1].legend()

    return drawn


EXPERIMENT = Experiment(
    name="select-fig10",
    paper="SELECT",
    title="Use of each level of the finger tables",
    says="Few and Close use low levels without updates and higher ones with; Many does not change; backward tables are little "
    "used, and nothing above log2 Nr. The bars themselves are lost.",
    setting="Nr = 64 of 128 brokers, the trials of select-fig9. FFT[−1] is the node itself. Random picks among all entries "
    "that meet the range, whatever their values.",
    grid=grid,
    repeats={Scale.SMALL: 4, Scale.PAPER: 50, Scale.HUGE: 1_000},
    model=trials.choices,
    columns={"table": str, "level": int, "chosen": int},
    summaries={"chosen": Total(("wait", "selection", "table", "level"), ("chosen",))},
    claims=CLAIMS,
    plots={"Share of choices, Tw = 0": draw(NEVER), "Share of choices, Tw = (k+1)T": draw(SWEEP)},
    per_task=100,
    memory_mb=lambda point: trials.MEMORY_MB,
)
