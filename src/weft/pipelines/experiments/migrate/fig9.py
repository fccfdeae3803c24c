"""migrate-fig9: hops of each publish by ALM while members move, the conventional way and the proposed."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from weft.pipelines.experiments.claims import Claim
from weft.pipelines.experiments.experiment import Experiment, Point, Scale, Tables, points
from weft.pipelines.experiments.migrate.line import LATENCY_MS, MEMBERS, query_hops
from weft.pipelines.experiments.migrate.publishing import COLUMNS, EVERY_S, TICKS, publishes
from weft.pipelines.experiments.summaries import Mean
from weft.pipelines.experiments.table import Table

METHODS = ("conventional", "proposed")
BEFORE, AFTER = TICKS[0], TICKS[-1]
FALLEN = 0.9
"""Hops have begun to fall below this part of what they were."""


def grid(scale: Scale) -> Sequence[Point]:
    return points(method=list(METHODS))


def over_time(method: str, tables: Tables) -> Table:
    return tables["publishes"].where(method=method).ordered("tick")


def hops(method: str, tick: int, name: str = "hops") -> Callable[[Tables], float]:
    """Of one publish, on average."""
    return lambda tables: tables["publishes"].one(name, method=method, tick=tick)


def _apart(tables: Tables) -> npt.NDArray[np.float64]:
    """Conventional less proposed, publish by publish."""
    one, other = (over_time(method, tables)["hops"] for method in METHODS)
    return np.asarray(one - other, np.float64)


def settled(method: str) -> Callable[[Tables], float]:
    """Seconds from the migration's start to the first publish from which on hops are what they stay."""

    def found(tables: Tables) -> float:
        rows = over_time(method, tables)
        moving = np.flatnonzero(rows["hops"] != rows["hops"][-1])
        return float(rows["tick"][moving[-1]] + 1) * EVERY_S

    return found


def falling(method: str) -> Callable[[Tables], float]:
    """Seconds from the start to the first publish to the ALM topic that is clearly below what it was at the start."""

    def found(tables: Tables) -> float:
        rows = over_time(method, tables)
        after = rows["tick"] > 0
        level = rows["hops"][after][0] if method == METHODS[0] else rows["hops"][~after][-1]
        return float(rows["tick"][after][rows["hops"][after] < FALLEN * level][0]) * EVERY_S

    return found


def draw(figure: Any, tables: Tables) -> None:
    axes = figure.subplots()
    for method in METHODS:
        rows = over_time(method, tables)
        (line,) = axes.plot(rows["tick"] * EVERY_S, rows["hops"], marker="o", markersize=3, label=method)
        axes.fill_between(
            rows["tick"] * EVERY_S, rows["hops_low"], rows["hops_high"], alpha=0.2, color=line.get_color()
        )
    axes.axvline(0, linestyle=":", color="grey", label="the migration is set off")
    axes.set_xlabel("time [s]")
    axes.set_ylabel("physical hops per publish, by ALM")
    axes.set_ylim(bottom=0)
    axes.legend()


EXPERIMENT = Experiment(
    name="migrate-fig9",
    paper="MIGRATE",
    title="Hops per publish while members move (figure 9, tables 3 and 4)",
    says="The proposed way is below before and after, as it sends nothing to a topic without members, and its "
    "hops fall sooner.",
    setting="As migrate-fig8 at its stated latency; a publishes every .2 s, ten overlays with PeerIDs drawn, Suzaku with "
    "`split` range multicast; M_OFM and M_Q are left out, as in the paper. Conventional members rejoin under 350, 350 and "
    "250 ms in an order that is drawn; proposed ones rename. When the curve falls is intervals for the one and the stated "
    "latency for the other; how far it falls is not.",
    grid=grid,
    repeats={Scale.SMALL: 4, Scale.PAPER: 10, Scale.HUGE: 1_000},
    model=publishes,
    columns=COLUMNS,
    summaries={"publishes": Mean(by=("method", "tick"), of=("hops", "empty"))},
    per_task=20,
    memory_mb=lambda point: 300.0,
    claims=[
        Claim(
            what="Conventional less proposed before: hops saved",
            source="MIGRATE §6.2, fig. 9",
            paper="proposed is below before",
            ours=lambda tables: float(np.min(_apart(tables)[np.array(TICKS) <= 0])),
            holds=lambda saved: saved > 0,
            unit="hops",
        ),
        Claim(
            what="That less M_OFMt, the largest difference",
            source="MIGRATE table 3",
            paper="M_ALMt + M_OFMt against M_ALMt",
            ours=lambda tables: float(
                np.max(np.abs(_apart(tables) - over_time(METHODS[0], tables)["empty"])[np.array(TICKS) <= 0])
            ),
            holds=lambda off: off < 1e-9,
            why="Machines for the one, the bulk model for the other.",
        ),
        Claim(
            what="Proposed, after",
            source="MIGRATE §6.2, table 3",
            paper=0.0,
            within=0.0,
            ours=hops("proposed", AFTER),
            unit="hops",
        ),
        Claim(
            what="Conventional, after: M_ALMt to no members",
            source="MIGRATE §6.2, table 3",
            paper="above the proposed way",
            ours=hops("conventional", AFTER),
            holds=lambda more: more > 0,
            unit="hops",
        ),
        Claim(
            what="Proposed to topics without members, before",
            source="MIGRATE abstract, §7",
            paper="none is sent to a topic without members",
            ours=hops("proposed", BEFORE, "empty"),
            holds=lambda empty: empty == 0,
            unit="hops",
        ),
        Claim(
            what="Proposed to topics without members while members move, at most at one publish",
            source="MIGRATE abstract, §7",
            paper="none is sent to a topic without members",
            ours=lambda tables: float(np.max(over_time("proposed", tables)["empty"])),
            holds=lambda empty: empty == 0,
            unit="hops",
            why="Between the last rename and the moment at which a has been told to stop, a publish finds the ALM topic empty: "
            "'stop' is relayed member by member.",
        ),
        Claim(
            what="Until hops are what they stay: proposed by conventional",
            source="MIGRATE §6.2, fig. 9",
            paper="ALM ends sooner",
            ours=lambda tables: settled("proposed")(tables) / settled("conventional")(tables),
            holds=lambda ratio: ratio < 1,
            why=f"At a latency of {LATENCY_MS:g} ms a message.",
        ),
        Claim(
            what="Conventional: when hops begin to fall",
            source="MIGRATE §6.2",
            paper="later still, as members leave only after all have begun to join (2.8 s)",
            ours=falling("conventional"),
            holds=lambda second: second >= 2.8,
            unit="s",
        ),
        Claim(
            what="Conventional: the most hops at one publish while members leave, by those before",
            source="own",
            paper=None,
            ours=lambda tables: float(
                np.max(over_time(METHODS[0], tables)["hops"][np.array(TICKS) > 0]) / hops(METHODS[0], BEFORE)(tables)
            ),
            why="Own: fingers still point at members that have just left, and each such entry costs a publish two messages, "
            "once; the next finds it gone. It shows where nearly all have left, in some overlays and not in others.",
        ),
        Claim(
            what="Proposed: when hops begin to fall",
            source="MIGRATE fig. 9",
            paper=None,
            ours=falling("proposed"),
            unit="s",
            why="The curve's values are lost; it is the stated latency times the messages until the first renames.",
        ),
        Claim(
            what="Most by which the proposed way is above the conventional at any publish",
            source="MIGRATE fig. 9",
            paper="below",
            ours=lambda tables: float(np.max(-_apart(tables))),
            holds=lambda more: more <= 0,
            unit="hops",
        ),
        Claim(
            what=f"Places of OFGate, of {MEMBERS}, at which the proposed BOTH is below EITHER before and after",
            source="MIGRATE §6.2, table 4",
            paper="below EITHER but while members move",
            ours=lambda tables: float(
                sum(
                    hops("proposed", BEFORE, "empty")(tables) + hops("proposed", AFTER)(tables) < query_hops(gate)
                    for gate in range(MEMBERS)
                )
            ),
            holds=lambda places: places == MEMBERS,
            why="M_Q is what EITHER has more, before and after: 2 … 14 hops at seven places, and none with OFGate behind "
            "a's own switch, where the two are equal.",
        ),
    ],
    plots={"Hops per publish, means of ten overlays and 95 % bands": draw},
)
