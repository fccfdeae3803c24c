"""SELECT fig. 12: size of the update query and its reply, by level, with and without aggregated values (§4.7)."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from weft.pipelines.experiments.claims import Claim
from weft.pipelines.experiments.experiment import Experiment, Point, Scale, Tables, points
from weft.pipelines.experiments.select import trials, updates
from weft.pipelines.experiments.summaries import Total

SOURCE = "SELECT §4.7, fig. 12"
LEVELS = 9
OTHER_BYTES = (
    "the paper's bytes are those of PIAX's serialisation, which the text does not give (about 770 a message before any label): "
    "they cannot be derived; ours are the simulator's encoding of our machines' messages"
)


def grid(scale: Scale) -> Sequence[Point]:
    wide = points(brokers=[1_024], members=[8], carried=updates.CARRIED) if scale is Scale.HUGE else []
    return [*points(brokers=[trials.BROKERS], members=[8], carried=updates.CARRIED), *wide]


def lines(tables: Tables, carried: str, message: str) -> Any:
    found = tables["sizes"].where(brokers=trials.BROKERS, carried=carried, message=message)
    return found.ordered("level")


def sweep(tables: Tables, carried: str, column: str = "mean") -> float:
    """Of one node in (k+1)T: each level's query and reply once."""
    return sum(float(lines(tables, carried, message)[column].sum()) for message in ("query", "reply"))


def kilobytes(carried: str) -> Callable[[Tables], float]:
    return lambda tables: sweep(tables, carried) / 1000


def per_second(carried: str) -> Callable[[Tables], float]:
    return lambda tables: sweep(tables, carried) / (LEVELS * trials.INTERVAL_S)


def least_step(tables: Tables) -> float:
    """With values: the least by which a message of the next level is larger on average."""
    return min(float(np.diff(lines(tables, "all", message)["mean"]).min()) for message in ("query", "reply"))


def paper_bytes_a_pair(tables: Tables) -> float:
    return (20.00 - 13.80) * 1000 / sweep(tables, "all", "pairs")


def our_bytes_a_pair(tables: Tables) -> float:
    return (sweep(tables, "all") - sweep(tables, "none")) / sweep(tables, "all", "pairs")


def at_home(tables: Tables) -> float:
    """Levels 7 and 8 of 512 nodes: 128 and 256 places away are the same broker's nodes for other topics."""
    highest = (lines(tables, "all", message)["mean"][-2:].sum() for message in ("query", "reply"))
    return float(sum(highest)) / sweep(tables, "all")


CLAIMS = (
    Claim(
        what="message size, next level less this one, with values (least)",
        source=SOURCE,
        paper="the message size increases with the level",
        ours=least_step,
        holds=lambda step: step >= 0,
        unit="B",
        why="the queries of levels 0 and 1 both speak for one node, so they are equal",
    ),
    Claim(
        what="reply against query at the highest level, with values",
        source="SELECT §6",
        paper="the reply to the update query, with all labels and values, is what is large",
        ours=lambda tables: lines(tables, "all", "reply")["mean"][-1] / lines(tables, "all", "query")["mean"][-1],
        holds=lambda ratio: ratio > 1,
    ),
    Claim(
        what="one node's updates in (k+1)T, with values",
        source=SOURCE,
        paper=20.00,
        within=0.02,
        ours=kilobytes("all"),
        unit="KB",
        why=OTHER_BYTES,
    ),
    Claim(
        what="one node's updates in (k+1)T, without values",
        source=SOURCE,
        paper=13.80,
        within=0.02,
        ours=kilobytes("none"),
        unit="KB",
        why=OTHER_BYTES,
    ),
    Claim(
        what="the same per second, with values",
        source=SOURCE,
        paper=37.04,
        within=0.02,
        ours=per_second("all"),
        unit="B/s",
        why=OTHER_BYTES,
    ),
    Claim(
        what="the same per second, without values",
        source=SOURCE,
        paper=25.56,
        within=0.02,
        ours=per_second("none"),
        unit="B/s",
        why=OTHER_BYTES,
    ),
    Claim(
        what="20.00 and 13.80 KB over 9 T of 60 s, as their ratio: with values against without",
        source=SOURCE,
        paper=20.00 / 13.80,
        within=0.1,
        ours=lambda tables: sweep(tables, "all") / sweep(tables, "none"),
        why="a ratio is less of a matter of the encoding: labels and fixed parts are both longer in Java",
    ),
    Claim(
        what="bytes of a label and its value on the paper's wire: 6.20 KB over the pairs that a sweep of ours carries",
        source=SOURCE,
        paper=None,
        ours=paper_bytes_a_pair,
        unit="B",
        why="derived: the number of pairs follows from the tables (48 labels, stretches of 2^i nodes), their bytes do not",
    ),
    Claim(
        what="bytes of a label and its value in our encoding",
        source=SOURCE,
        paper=None,
        ours=our_bytes_a_pair,
        unit="B",
        why="the paper gives none",
    ),
    Claim(
        what="part of a sweep's bytes, with values, that is in the two highest levels",
        source=SOURCE,
        paper=None,
        ours=at_home,
        why="not in the paper: in its ring those fingers are 128 and 256 places away, which is another node of the same "
        "broker, so the largest messages of all need not leave it",
    ),
    Claim(
        what="part of what values add that goes when levels above log2 Nr carry none",
        source="SELECT §4.7",
        paper="skipping those levels reduces the traffic",
        ours=lambda tables: (
            (sweep(tables, "all") - sweep(tables, "used")) / (sweep(tables, "all") - sweep(tables, "none"))
        ),
        holds=lambda part: part > 0,
        why="left for future work by the paper; here Nr = 8, so levels 4 to 8 carry nothing",
    ),
)


def draw(figure: Any, tables: Tables) -> None:
    axes = figure.subplots(1, 2, sharey=True)
    for axis, message in zip(axes, ("query", "reply"), strict=True):
        for at, (carried, name) in enumerate(
            (("all", "with values"), ("none", "without"), ("used", "levels ≤ log2 Nr"))
        ):
            found = lines(tables, carried, message)
            if len(found):
                spread = np.abs(np.array([found["mean"] - found["least"], found["most"] - found["mean"]]))
                place = found["level"] + (at - 1) * 0.28
                axis.bar(place, found["mean"], width=0.28, yerr=spread, error_kw={"linewidth": 0.7}, label=name)
        axis.set_xlabel(f"level of FFT ({message})")
        axis.set_xticks(range(LEVELS))
    axes[0].set_ylabel("bytes")
    axes[0].legend(loc="upper left")


EXPERIMENT = Experiment(
    name="select-fig12",
    paper="SELECT",
    title="Size of the update messages by level",
    says="20.00 KB a sweep of nine levels with aggregated values, 13.80 KB without: 37.04 and 25.56 B/s a node at T = 60 s.",
    setting="512 nodes, Nr = 8: 48 labels. Our machines' messages as the simulator encodes them (msgpack), over all nodes; "
    "bars are means, with the least and the largest. KB is 1000 bytes, as 20.00 KB in 540 s being 37.04 B/s shows.",
    grid=grid,
    repeats={Scale.SMALL: 1, Scale.PAPER: 1, Scale.HUGE: 1},
    model=updates.sizes,
    columns={"message": str, "level": int, "mean": float, "least": float, "most": float, "pairs": float},
    summaries={"sizes": Total(("brokers", "carried", "message", "level"), ("mean", "least", "most", "pairs"))},
    claims=CLAIMS,
    plots={"Bytes of a message by level": draw},
    per_task=3,
    memory_mb=lambda point: trials.MEMORY_MB,
)
