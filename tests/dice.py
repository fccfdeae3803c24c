"""An experiment as it is after it was run, without anything having been run: for what is made of results."""

from collections.abc import Mapping
from typing import Any

from weft.pipelines.experiments.claims import Claim
from weft.pipelines.experiments.experiment import Experiment, Scale, points
from weft.pipelines.experiments.summaries import Mean
from weft.pipelines.experiments.table import Table
from weft.pipelines.report.judged import Cost, Judged

EYES = {"sides": [4, 6], "eyes": [2.5, 3.52], "eyes_low": [2.4, 3.4], "eyes_high": [2.6, 3.6]}
WHY = "The dice are not ours."
CAPTION = "Eyes over sides (|mean| and 95 %)"


def mean_of(sides: int):
    return lambda tables: tables["eyes"].one("eyes", sides=sides)


def draw(figure: Any, tables: Mapping[str, Table]) -> None:
    rows = tables["eyes"]
    axes = figure.subplots()
    axes.plot(rows["sides"], rows["eyes"], label=f"up to {rows['sides'].max()}")
    axes.legend()


DICE = Experiment(
    name="dice",
    paper="SAPS",
    title="Eyes of a die",
    says="A die of n sides shows (n + 1)/2 in the mean; *literal* is another.",
    setting="Thrown by `Rng`.",
    grid=lambda scale: points(sides=(4, 6)),
    repeats=dict.fromkeys(Scale, 5),
    model=lambda point, seed: {"eyes": [1]},
    columns={"eyes": int},
    summaries={"eyes": Mean(("sides",), ("eyes",))},
    claims=(
        Claim(what="eyes, six sides", source="a book", paper=3.5, ours=mean_of(6), unit="eyes", why=WHY),
        Claim(what="eyes, four sides", source="a book", paper=5, ours=mean_of(4), unit="eyes", why=WHY),
        Claim(what="most eyes | a mean", source="a book", paper="more | less", ours=mean_of(6), holds=lambda m: m > 3),
        Claim(what="eyes, nine sides", source="a book", paper=None, ours=mean_of(9), why="The page is lost."),
        Claim(what="least of all", source="a book", paper=2.5, ours=lambda tables: float(tables["eyes"]["eyes"].min())),
    ),
    plots={CAPTION: draw},
)


def judged(columns: Mapping[str, Any] = EYES, **cost: Any) -> Judged:
    """``columns`` as what Spark has made of the runs; whole, unless ``cost`` says otherwise."""
    known = {
        "planned": 10,
        "runs": 10,
        "failed": 0,
        "error": "",
        "cpu_s": 2.5,
        "peak_mb": 99.6,
        "seconds": 5.0,
        "cores": 2,
    }
    return Judged(DICE, Scale.SMALL, {"eyes": Table(columns)}, Cost(**(known | cost)))


NOTHING = {name: [] for name in EYES}
