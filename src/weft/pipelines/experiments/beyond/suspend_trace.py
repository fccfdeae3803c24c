"""beyond-suspend-trace: what suspending saves when subscribers come and go, RELAY's open question (§7)."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from weft.pipelines.experiments.beyond import suspending
from weft.pipelines.experiments.beyond.suspending import ALWAYS, SCRIBE, SUSPENDING
from weft.pipelines.experiments.claims import Claim
from weft.pipelines.experiments.experiment import Experiment, Point, Scale, Tables, points
from weft.pipelines.experiments.summaries import Total
from weft.pipelines.experiments.table import Missing, Table

MAIN: Mapping[str, float] = {"exponent": 1.0, "load": 1.0, "publishers": 10}
"""What is spoken of unless another value is named."""
LOADS = (0.1, 1.0, 10.0)
EXPONENTS = (0.6, 0.8, 1.0, 1.2)
PUBLISHERS = (1, 10, 100)
INTERVAL_S = 10.0
"""Between two publications of a publisher; a model's numbers are for any."""
INTERVALS_S = np.geomspace(0.1, 3_600, 60)
METHODS = (SUSPENDING, ALWAYS, SCRIBE)
SOURCE = "RELAY §7"
OPEN = "RELAY leaves it open."


def _grid(scale: Scale) -> Sequence[Point]:
    if scale is Scale.SMALL:
        return points(nodes=(2_000,), topics=(200,), exponent=(1.0,), load=LOADS[:2], publishers=(10,))
    nodes, topics = (10_000, 1_000) if scale is Scale.PAPER else (100_000, 10_000)
    return points(nodes=(nodes,), topics=(topics,), exponent=EXPONENTS, load=LOADS, publishers=PUBLISHERS)


def _one(table: Table, **wanted: float | str) -> Table:
    rows = table.where(**{**MAIN, **wanted})
    if not len(rows):
        raise Missing(str(wanted))
    return rows


def messages(table: Table, interval_s: float, **wanted: float | str) -> float:
    """All of a day's, signals and checks among them."""
    rows = _one(table, **wanted)
    return float((rows["data"] / interval_s + rows["signals"] + rows["checks"]).sum())


def saved(tables: Tables, method: str, interval_s: float = INTERVAL_S, **wanted: float) -> float:
    """The percentage of the messages of ``method`` that suspending saves."""
    ours = messages(tables["day"], interval_s, method=SUSPENDING, **wanted)
    return 100 * (1 - ours / messages(tables["day"], interval_s, method=method, **wanted))


def break_even(tables: Tables, method: str, *, checks: bool = True, **wanted: float) -> float:
    """The interval of publications, in seconds, beyond which suspending costs more than ``method``."""
    ours, theirs = (_one(tables["day"], method=each, **wanted) for each in (SUSPENDING, method))
    upkeep = ours["signals"].sum() + (ours["checks"].sum() if checks else 0.0)
    return float((theirs["data"].sum() - ours["data"].sum()) / upkeep)


def _saves(method: str, load: float) -> Claim:
    return Claim(
        what=f"Messages saved against {method}, {load:g} subscribers a topic",
        source=SOURCE,
        paper=None,
        ours=lambda tables: saved(tables, method, load=load),
        unit="%",
        why=OPEN,
    )


def _spread(tables: Tables) -> float:
    """Percentage points between the load that saves most and the one that saves least."""
    found = [saved(tables, ALWAYS, load=load) for load in sorted(set(tables["day"]["load"].tolist()))]
    if len(found) < 2:
        raise Missing("one load alone")
    return max(found) - min(found)


def _idle(load: float) -> Callable[[Tables], float]:
    def found(tables: Tables) -> float:
        rows = _one(tables["day"], method=SUSPENDING, load=load)
        return 100 * float(rows["idle"].sum() / rows["hours"].sum())

    return found


def _by_hour(tables: Tables, extreme: Callable[[np.ndarray[Any, Any]], Any]) -> float:
    """Percentage saved against ``ALWAYS`` hour by hour."""
    ours, theirs = (_hours(tables, method) for method in (SUSPENDING, ALWAYS))
    return 100 * float(extreme(1 - ours / theirs))


def _hours(tables: Tables, method: str) -> np.ndarray[Any, Any]:
    rows = _one(tables["hours"], method=method).ordered("hour")
    return np.asarray(rows["data"] / INTERVAL_S + rows["signals"] + rows["checks"])


def _draw_intervals(figure: Any, tables: Tables) -> None:
    left, right = figure.subplots(1, 2)
    for method in METHODS:
        sent = [messages(tables["day"], interval, method=method) / _traces(tables) for interval in INTERVALS_S]
        left.plot(INTERVALS_S, sent, label=method)
    left.axvline(break_even(tables, ALWAYS), linestyle=":", color="grey")
    left.set_xscale("log")
    left.set_yscale("log")
    left.set_xlabel("seconds between publications")
    left.set_ylabel("messages a day, all topics")
    figure.legend(*left.get_legend_handles_labels(), loc="outside upper center", ncols=3)
    for method in METHODS:
        right.plot(np.arange(24), _hours(tables, method) / _traces(tables), marker="o", label=method)
    right.set_xlabel("hour of the day")
    right.set_ylabel(f"messages an hour, a publication each {INTERVAL_S:g} s")
    right.set_ylim(bottom=0)


def _draw_saved(figure: Any, tables: Tables) -> None:
    left, right = figure.subplots(1, 2, sharey=True)
    loads = sorted(set(tables["day"]["load"].tolist()))
    for axes, method in ((left, ALWAYS), (right, SCRIBE)):
        for exponent in sorted(set(tables["day"]["exponent"].tolist())):
            part = [saved(tables, method, exponent=exponent, load=load) for load in loads]
            axes.plot(loads, part, marker="o", label=f"Zipf's exponent {exponent:g}")
        axes.set_xscale("log")
        axes.set_xlabel(f"subscribers a topic, mean\nagainst {method}")
    left.set_ylabel("messages saved [%]")
    left.legend()


def _traces(tables: Tables) -> float:
    """How many days are added up: all hours of the topics there are, in one day."""
    rows = _one(tables["day"], method=SUSPENDING)
    return float(rows["n"].sum() / (24 * (len(suspending.BANDS) + 1)))


BY = ("exponent", "load", "publishers", "method")
OF = ("data", "signals", "checks", "idle", "subscribed", "hours")

EXPERIMENT = Experiment(
    name="beyond-suspend-trace",
    paper="beyond",
    title="What suspending saves when subscribers come and go",
    says="RELAY §7: the effect of suspending is considered to depend on how the number of subscribers is "
    "distributed over time; it leaves that to future work. How many messages are saved in a day, and what does "
    "suspending itself cost?",
    setting="10,000 edge brokers, 1,000 topics with 1, 10 or 100 publishers each. Sessions of subscribers begin "
    "as a Poisson process that goes through a day (90 % up at 20 h, 90 % down at 8 h), choose a topic by Zipf's "
    "law (exponent 0.6 … 1.2) and last half an hour in the mean, exponentially; 0.1, 1 or 10 subscribers a topic "
    "in the mean. One day after a day of warming up, 3 traces. A publication's messages are measured on the "
    "models for some numbers of subscribers and read off between. Suspending costs a multicast over the segment "
    "of publishers at each change between none and some, and two messages for each suspended publisher each "
    "minute (RELAY §5.3.6 ii prints no period). *Not suspended* is the same overlay whose publishers always send: "
    "messages end at the rendezvous point when nobody subscribes. Joining and leaving are not counted. Where "
    "nothing else is said: exponent 1, 1 subscriber a topic, 10 publishers, each publishing every 10 s.",
    grid=_grid,
    repeats={Scale.SMALL: 2, Scale.PAPER: 3, Scale.HUGE: 3},
    model=suspending.model,
    columns=suspending.COLUMNS,
    summaries={
        "day": Total(by=BY, of=OF),
        "hours": Total(by=(*BY, "hour"), of=OF),
        "bands": Total(by=(*BY, "band"), of=OF),
    },
    per_task=9,
    memory_mb=lambda point: 300.0 + int(point["topics"]) * (0.05 + 0.03 * float(point["load"])),
    claims=(
        *(_saves(ALWAYS, load) for load in LOADS),
        *(_saves(SCRIBE, load) for load in LOADS),
        Claim(
            what="Messages saved, where most against where least over the three loads",
            source=SOURCE,
            paper="the effect of suspending depends on the distribution of the number of subscribers over time",
            ours=_spread,
            holds=lambda spread: spread > 10,
            unit="points",
        ),
        Claim(
            what="Time in which a topic has no subscribers, 0.1 subscribers a topic",
            source="own",
            paper=None,
            ours=_idle(0.1),
            unit="%",
            why="What the trace is like.",
        ),
        Claim(what="the same, 1 a topic", source="own", paper=None, ours=_idle(1.0), unit="%", why="As above."),
        Claim(what="the same, 10 a topic", source="own", paper=None, ours=_idle(10.0), unit="%", why="As above."),
        Claim(
            what="Messages saved against not suspending, in the hour that saves most",
            source=SOURCE,
            paper=None,
            ours=lambda tables: _by_hour(tables, np.max),
            unit="%",
            why=OPEN,
        ),
        Claim(
            what="the same, in the hour that saves least",
            source=SOURCE,
            paper=None,
            ours=lambda tables: _by_hour(tables, np.min),
            unit="%",
            why=OPEN,
        ),
        Claim(
            what="Signals, as a part of the messages they save",
            source="RELAY §5.3.4",
            paper=None,
            ours=lambda tables: 100 * INTERVAL_S / break_even(tables, ALWAYS) * _signals_part(tables),
            unit="%",
            why="Suspending and resuming by the rendezvous point's multicasts.",
        ),
        Claim(
            what="Checks of suspended publishers, as a part of the messages saved",
            source="RELAY §5.3.6 (ii)",
            paper=None,
            ours=lambda tables: 100 * INTERVAL_S / break_even(tables, ALWAYS) * (1 - _signals_part(tables)),
            unit="%",
            why="Two messages a minute for each suspended publisher but the rendezvous point: the larger cost by far.",
        ),
        Claim(
            what="Interval of publications beyond which suspending costs more than it saves",
            source=SOURCE,
            paper=None,
            ours=lambda tables: break_even(tables, ALWAYS),
            unit="s",
            why="It follows the period of the checks: about that times the hops to the rendezvous point, over two.",
        ),
        Claim(
            what="the same without the checks",
            source=SOURCE,
            paper=None,
            ours=lambda tables: break_even(tables, ALWAYS, checks=False),
            unit="s",
            why="What the signals alone would allow.",
        ),
        Claim(
            what="the same with 100 publishers",
            source=SOURCE,
            paper=None,
            ours=lambda tables: break_even(tables, ALWAYS, publishers=100),
            unit="s",
            why="A longer way to the rendezvous point.",
        ),
        Claim(
            what="Interval of publications beyond which suspending costs more than Scribe",
            source=SOURCE,
            paper=None,
            ours=lambda tables: break_even(tables, SCRIBE),
            unit="s",
            why="Scribe's own upkeep is not counted.",
        ),
        Claim(
            what="Not suspending over Scribe, 0.1 subscribers a topic",
            source=SOURCE,
            paper=None,
            ours=lambda tables: (
                messages(tables["day"], INTERVAL_S, method=ALWAYS, load=0.1)
                / messages(tables["day"], INTERVAL_S, method=SCRIBE, load=0.1)
            ),
            why="Without suspending an idle topic's publication goes through the publishers to the rendezvous "
            "point, where Scribe's goes to the root at once: relay-free alone is no gain for exhaust data.",
        ),
    ),
    plots={
        "Messages of a day over the interval of publications (left; dotted: suspending begins to cost more than it saves), and "
        "over its hours (right). Zipf's exponent 1, one subscriber a topic, 10 publishers.": _draw_intervals,
        "Messages that suspending saves against the same overlay without it (left) and against Scribe (right), 10 publishers "
        "that publish every 10 s.": _draw_saved,
    },
)


def _signals_part(tables: Tables) -> float:
    """Of signals and checks together."""
    ours = _one(tables["day"], method=SUSPENDING)
    return float(ours["signals"].sum() / (ours["signals"].sum() + ours["checks"].sum()))
