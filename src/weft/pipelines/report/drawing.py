"""Pictures: each plot as SVG and PNG, in one style that reads in print and on a screen, in colours that all can tell apart.

The same data give the same bytes: no date, no random ids.
"""

from pathlib import Path
from typing import Any

import matplotlib as mpl
from cycler import cycler
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from weft.pipelines.experiments.table import PARTIAL, Missing
from weft.pipelines.report.judged import Judged

STYLE: Any = {
    "font.size": 9,
    "axes.labelsize": 9,
    "axes.grid": True,
    "axes.axisbelow": True,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "grid.color": "#d8d8d8",
    "grid.linewidth": 0.6,
    "lines.linewidth": 1.4,
    "lines.markersize": 4,
    "legend.frameon": False,
    "legend.fontsize": 8,
    # Okabe and Ito's colours, the pale yellow left out.
    "axes.prop_cycle": cycler(
        color=["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#56b4e9", "#e69f00", "#000000"],
    ),
    "svg.hashsalt": "weft",
    "svg.fonttype": "path",
    "figure.constrained_layout.use": True,
}
SIZE_INCHES = (6.4, 4.0)
DOTS_PER_INCH = 144


def draw(judged: Judged, folder: Path) -> list[tuple[str, str]]:
    """Write ``NAME-1.svg``, ``NAME-1.png``, …; (caption, name without ending) of each. A plot without data is left out."""
    lacking = (Missing,) if judged.cost.complete else PARTIAL
    drawn = []
    for number, (caption, plot) in enumerate(judged.experiment.plots.items(), 1):
        name = f"{judged.experiment.name}-{number}"
        with mpl.rc_context(STYLE):
            figure = Figure(figsize=SIZE_INCHES)
            FigureCanvasAgg(figure)
            try:
                plot(figure, judged.tables)
            except lacking:
                continue
            figure.savefig(folder / f"{name}.svg", metadata={"Date": None})
            figure.savefig(folder / f"{name}.png", dpi=DOTS_PER_INCH, metadata={"Software": None})
        drawn.append((caption, name))
    return drawn
