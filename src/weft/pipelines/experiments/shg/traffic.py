"""What shg-fig4 and shg-fig5 have in common: sizes, claims about both, and SHG's traffic drawn relative to Scribe's.

Both curves of the paper are lost. The claims are what its text says of them.
"""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from weft.pipelines.experiments.claims import Claim
from weft.pipelines.experiments.experiment import Point, Scale, Tables
from weft.pipelines.experiments.table import Table

MAPPINGS = {"pattern": "a group for each pattern", "kind": "a group for each event type"}
SWEPT = 8
"""The dimension at which every k is run, for what the paper says of the partitions' size."""

REPEATS = {Scale.SMALL: 3, Scale.PAPER: 100, Scale.HUGE: 100}

LOST = "The curve is lost; nothing to compare with."


def lost(what: str, source: str) -> list[Claim]:
    """A lost curve's values, ours, at three sizes, for both mappings and both variants."""
    return [
        Claim(
            what=f"{what}, {variant}, {text}, {1 << n:,} nodes",
            source=source,
            paper=None,
            ours=at(f"ratio_{mapping}", n, variant=variant),
            why=LOST,
        )
        for variant in ("corrected", "literal")
        for mapping, text in MAPPINGS.items()
        for n in (6, 8, 10)
    ]


def steady(what: str, why: str = "") -> Claim:
    """That traffic relative to Scribe's does not grow with the overlay."""
    return Claim(
        what=f"{what} at 1,024 nodes by that at 64, the larger of both mappings",
        source="SHG §V",
        paper="very good scalability: it does not grow",
        ours=lambda tables: max(slope(f"ratio_{mapping}")(tables) for mapping in MAPPINGS),
        holds=lambda growth: growth <= 1,
        why=why,
    )


def halves(n: int) -> list[int]:
    """k = n/2: the floor, and the ceiling where that is another."""
    return sorted({n // 2, n - n // 2})


def grid(scale: Scale) -> Sequence[Point]:
    """64 … 1,024 corners with k about half of the dimension; all k at 256."""
    dimensions = {Scale.SMALL: range(6, 8), Scale.PAPER: range(6, 11), Scale.HUGE: range(6, 14)}[scale]
    swept = (2, 4, 6) if scale is Scale.SMALL else range(1, SWEPT)
    pairs = {(n, k) for n in dimensions for k in halves(n)} | {(SWEPT, k) for k in swept}
    return [{"dimension": n, "k": k} for n, k in sorted(pairs)]


def memory_mb(point: Point) -> float:
    """A worker, and some twenty matrices of patterns × corners of 4 or 8 bytes."""
    return 280 + 20 * 100 * 8 * (1 << int(point["dimension"])) / 1e6


def at(name: str, n: int, k: int | None = None, variant: str = "corrected") -> Callable[[Tables], float]:
    """A mean over all runs at one point; k is ⌊n/2⌋ by default."""
    return lambda tables: tables["means"].one(name, dimension=n, k=n // 2 if k is None else k, variant=variant)


def halved(table: Table, variant: str) -> tuple[Table, Table]:
    """The points with k = ⌊n/2⌋, by size, and those with the ceiling of an odd n."""
    rows = table.where(variant=variant).ordered("dimension")
    floor, ceiling = (
        rows["k"] == rows["dimension"] // 2,
        (rows["k"] == rows["dimension"] - rows["dimension"] // 2) & (rows["dimension"] % 2 == 1),
    )
    one, other = (Table({name: values[flags] for name, values in rows.columns.items()}) for flags in (floor, ceiling))
    return one, other


def slope(name: str) -> Callable[[Tables], float]:
    """Over the sizes with k = ⌊n/2⌋: a mean at the largest divided by that at the smallest."""

    def found(tables: Tables) -> float:
        rows, _ = halved(tables["means"], "corrected")
        return float(rows[name][-1] / rows[name][0])

    return found


def swept(name: str) -> Callable[[Tables], Any]:
    """Means over k at ``SWEPT``, k ascending."""
    return lambda tables: tables["means"].where(dimension=SWEPT, variant="corrected").ordered("k")[name]


def draw_ratios(figure: Any, tables: Tables, what: str) -> None:
    """BT over the number of nodes, for both mappings and both variants."""
    axes = figure.subplots()
    sizes = 2 ** np.unique(halved(tables["means"], "corrected")[0]["dimension"])
    for variant in ("corrected", "literal"):
        for mapping, text in MAPPINGS.items():
            name = f"ratio_{mapping}"
            floor, ceiling = halved(tables["means"], variant)
            style = {"linestyle": "-" if variant == "corrected" else "--", "marker": "o"}
            (line,) = axes.plot(
                2.0 ** floor["dimension"], floor[name], label=f"{variant}, {text}", markersize=4, **style
            )
            axes.fill_between(
                2.0 ** floor["dimension"],
                floor[f"{name}_low"],
                floor[f"{name}_high"],
                alpha=0.2,
                color=line.get_color(),
            )
            axes.plot(2.0 ** ceiling["dimension"], ceiling[name], "x", color=line.get_color())
    axes.plot([], [], "x", color="grey", label="k = ⌈n/2⌉ where n is odd")
    axes.axhline(1, color="grey", linewidth=0.8)
    axes.set_xscale("log", base=2)
    axes.set_xticks(sizes, [f"{size:,}" for size in sizes])
    axes.set_xlabel("nodes")
    axes.set_ylabel(f"{what}: messages of SHG / messages of Scribe")
    axes.set_ylim(bottom=0)
    axes.legend(fontsize="small", loc="upper center", bbox_to_anchor=(0.5, -0.14), ncols=2)


def draw_parts(figure: Any, tables: Tables, parts: dict[str, str], what: str) -> None:
    """Messages over k at ``SWEPT``."""
    axes = figure.subplots()
    rows = tables["means"].where(dimension=SWEPT, variant="corrected").ordered("k")
    for name, text in parts.items():
        axes.plot(rows["k"], rows[name], marker="o", markersize=4, label=text)
    axes.set_xlabel(f"k, the dimension of a subscription partition (n = {SWEPT})")
    axes.set_ylabel(what)
    axes.set_xticks(np.arange(1, SWEPT))
    axes.set_ylim(bottom=0)
    axes.legend(fontsize="small")
