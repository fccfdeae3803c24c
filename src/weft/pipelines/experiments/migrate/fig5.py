"""migrate-fig5: hops of each publish before, while and after a topic moves to OFM, under EITHER and BOTH."""

from collections.abc import Callable, Sequence
from typing import Any

from weft.pipelines.experiments.claims import Claim
from weft.pipelines.experiments.experiment import Experiment, Point, Scale, Tables, points
from weft.pipelines.experiments.migrate.line import MEMBERS, query_hops
from weft.pipelines.experiments.migrate.switching import AFTER, BEFORE, BUILT_S, COLUMNS, MOVING, publishes
from weft.pipelines.experiments.summaries import Mean

HOPS = ("either", "both", "to_alm", "to_ofm", "switches", "off")
SCHEDULES = ("example", "drawn")
FARTHEST = max(query_hops(gate) for gate in range(MEMBERS))


def grid(scale: Scale) -> Sequence[Point]:
    return points(schedule=list(SCHEDULES))


def mean(name: str, phase: str, schedule: str = "example") -> Callable[[Tables], float]:
    """Hops per publish in one phase."""
    return lambda tables: tables["phases"].one(name, phase=phase, schedule=schedule)


def above(tables: Tables, phases: Sequence[str] = (BEFORE, MOVING, AFTER)) -> float:
    """How far BOTH is above EITHER without M_Q, in the phase where it is least so."""
    return min(
        mean("both", phase, schedule)(tables) - mean("either", phase, schedule)(tables)
        for phase in phases
        for schedule in SCHEDULES
    )


def draw(figure: Any, tables: Tables) -> None:
    """Means over overlays, publish by publish; EITHER's band is M_Q, OFGate behind any switch."""
    axes = figure.subplots()
    for schedule, text in (("example", "BOTH, b … h and then a, 2 s apart"), ("drawn", "BOTH, waits U[500, 5000] ms")):
        rows = tables["publishes"].where(schedule=schedule).ordered("second")
        (line,) = axes.plot(rows["second"], rows["both"], marker="o", markersize=3, label=text)
        axes.fill_between(rows["second"], rows["both_low"], rows["both_high"], alpha=0.2, color=line.get_color())
    rows = tables["publishes"].where(schedule=SCHEDULES[0]).ordered("second")
    (line,) = axes.plot(rows["second"], rows["either"], label="EITHER, OFGate beside a: M_Q = 0")
    band = f"EITHER, OFGate behind any switch: M_Q ≤ {FARTHEST}"
    axes.fill_between(
        rows["second"], rows["either"], rows["either"] + FARTHEST, alpha=0.15, color=line.get_color(), label=band
    )
    axes.axvline(BUILT_S, color="grey", linestyle=":", label="OFM is there")
    axes.set_xlabel("time [s]")
    axes.set_ylabel("physical hops per publish")
    axes.set_ylim(bottom=0)
    axes.legend(fontsize="small", loc="upper center", bbox_to_anchor=(0.5, -0.14), ncols=2)


EXPERIMENT = Experiment(
    name="migrate-fig5",
    paper="MIGRATE",
    title="Hops per publish in each phase, EITHER and BOTH (figure 5, table 2)",
    says="BOTH is above EITHER in every phase, because it sends to topics without members: M_OFMt before, M_ALMt after.",
    setting="Eight switches in a line, a broker on each, `a` at one end publishes each second (§6.2 recalls it as two); Skip "
    "Graph machines with `binary` range multicast in the event simulator, PeerIDs and membership vectors drawn anew for each "
    "seed. Hops are links between switches. OFGate's place in figure 4 is lost, so M_Q, question and answer, is 0 … "
    f"{FARTHEST} for OFGate behind each switch in turn. The example's order and pace (b … h, then a, about 2 s apart) and the "
    "waits of the text (U[500, 5000] ms from the first OFM publish on) are run both.",
    grid=grid,
    repeats={Scale.SMALL: 3, Scale.PAPER: 100, Scale.HUGE: 1_000},
    model=publishes,
    columns=COLUMNS,
    summaries={
        "phases": Mean(by=("schedule", "phase"), of=HOPS),
        "publishes": Mean(by=("schedule", "second"), of=HOPS),
    },
    per_task=50,
    memory_mb=lambda point: 300.0,
    claims=[
        Claim(
            what="Hops of a BOTH publish before, less M_ALMt + M_OFMt: the largest difference",
            source="MIGRATE §4.4, table 2",
            paper="M_ALMt + M_OFMt",
            ours=lambda tables: max(mean("off_max", BEFORE, schedule)(tables) for schedule in SCHEDULES),
            holds=lambda off: off == 0,
            unit="hops",
            why="Machines against the terms by the bulk model.",
        ),
        Claim(
            what="Hops of a BOTH publish after, less M_ALMt + M_OFM: the mean difference",
            source="MIGRATE §4.4, table 2",
            paper="M_ALMt + M_OFM",
            ours=lambda tables: max(mean("off", AFTER, schedule)(tables) for schedule in SCHEDULES),
            holds=lambda off: off < 0.1,
            unit="hops",
            why="Not 0, as a Skip Graph's upper levels are looked after for up to half a minute when moves have crossed.",
        ),
        Claim(
            what="Least by which BOTH is above EITHER in a phase, OFGate beside a (M_Q = 0)",
            source="MIGRATE §4.4, fig. 5",
            paper="BOTH above EITHER in every phase",
            ours=above,
            holds=lambda least: least > 0,
            unit="hops",
        ),
        Claim(
            what=f"Places of OFGate, of {MEMBERS}, at which BOTH is above EITHER in every phase",
            source="MIGRATE §4.4, fig. 5",
            paper="BOTH above EITHER in every phase",
            ours=lambda tables: float(sum(above(tables) > query_hops(gate) for gate in range(MEMBERS))),
            holds=lambda places: places == MEMBERS,
            why="What BOTH sends to a topic without members is about five hops; M_Q is 2 for each switch between a and "
            "OFGate. Past two switches EITHER costs more before and after. Figure 4, where OFGate is to be seen, is lost.",
        ),
        Claim(
            what="The same without the phase of moving",
            source="MIGRATE §4.4",
            paper="even without what moving adds, BOTH is never below EITHER",
            ours=lambda tables: float(
                sum(above(tables, (BEFORE, AFTER)) >= query_hops(gate) for gate in range(MEMBERS))
            ),
            holds=lambda places: places == MEMBERS,
            why="As above.",
        ),
        Claim(
            what="M_Q, OFGate behind the farthest switch",
            source="MIGRATE table 2",
            paper=None,
            ours=lambda tables: float(FARTHEST),
            unit="hops",
            why="OFGate's place is lost; 0, 2, 4 … 14 for the eight places, 7 on average.",
        ),
        Claim(
            what="M_OFMt before: hops to a topic without members",
            source="MIGRATE §4.5",
            paper="a query travels to the nearest key even if the topic has no members",
            ours=mean("to_ofm", BEFORE),
            holds=lambda hops: hops > 0,
            unit="hops",
        ),
        Claim(
            what="M_ALMt after: hops to a topic without members",
            source="MIGRATE §4.5",
            paper="a query travels to the nearest key even if the topic has no members",
            ours=mean("to_alm", AFTER),
            holds=lambda hops: hops > 0,
            unit="hops",
        ),
        Claim(
            what="First publish over both ways by one before OFM",
            source="MIGRATE §4.4, fig. 5",
            paper="more hops while members move",
            ours=lambda tables: (
                tables["publishes"].one("both", schedule="example", second=int(BUILT_S)) / mean("both", BEFORE)(tables)
            ),
            holds=lambda ratio: ratio > 1,
            why="M_OFM for M_OFMt, and all members still in the ALM topic; it falls with each that moves.",
        ),
        *(
            Claim(what=what, source="MIGRATE fig. 5", paper=None, ours=mean(name, phase), unit="hops", why=why)
            for what, name, phase, why in (
                ("M_ALM: all eight members by the overlay", "to_alm", BEFORE, "Figure 5's values are lost."),
                ("M_OFM: the tree of switches", "switches", AFTER, "Seven links; the loopback packet crosses none."),
                ("BOTH while members move, figure 5's order", "both", MOVING, "Figure 5's values are lost."),
            )
        ),
    ],
    plots={"Hops per publish, means over overlays and 95 % bands": draw},
)
