"""An experiment small enough for tests of what runs it: coins that are thrown, and one that cannot be."""

from collections.abc import Mapping

from weft.pipelines.experiments.claims import Claim
from weft.pipelines.experiments.experiment import Experiment, Point, Rows, Scale, points
from weft.pipelines.experiments.summaries import Mean
from weft.sim.vector.draws import Draws


def throw(point: Point, seed: int) -> Rows:
    if point["coin"] == "broken":
        raise ValueError("this coin has no sides")
    heads = Draws(seed, int(point["throws"])).below(2, int(point["throws"]))
    return {"heads": [int(heads.sum())], "share": [float(heads.mean())]}


def made(name: str = "coins", coins: tuple[str, ...] = ("fair",), **more) -> Experiment:
    settings: Mapping = {
        "name": name,
        "paper": "beyond",
        "title": "Coins",
        "says": "Half of them.",
        "setting": "Thrown.",
        "grid": lambda scale: points(coin=coins, throws=(10, 100)),
        "repeats": {Scale.SMALL: 5, Scale.PAPER: 20, Scale.HUGE: 20},
        "model": throw,
        "columns": {"heads": int, "share": float},
        "summaries": {"shares": Mean(by=("coin", "throws"), of=("share",))},
        "claims": (
            Claim(
                what="Half are heads",
                source="nobody",
                paper=0.5,
                within=0.2,
                ours=lambda tables: tables["shares"].one("share", coin="fair", throws=100),
            ),
        ),
        "per_task": 3,
    }
    return Experiment(**{**settings, **more})
