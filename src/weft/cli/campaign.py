"""``weft sim campaign`` and ``weft sim replay``: many seeded schedules, and one of them again.

Spreads a campaign's chunks over processes, shows how far it is, and writes its report.
"""

import os
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from weft.cli.exits import Failed, one_line
from weft.cli.spark import explained
from weft.core.errors import Misuse

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID

    from weft.sim.campaign import Tally
    from weft.sim.explore import Explored
    from weft.sim.schedule import Bounds

CHUNK = 40
STORY_LINES = 40
"""Of the story that led to a violation, the last so many lines are shown."""
CORES = os.cpu_count() or 1

Seeds = Annotated[int, typer.Option("--seeds", min=1, help="How many schedules, one per seed.")]
First = Annotated[int, typer.Option("--first", min=0, help="The first seed.")]
Nodes = Annotated[int, typer.Option("--nodes", min=2, max=512, help="At most so many brokers in a schedule.")]
Faults = Annotated[str, typer.Option("--faults", help="Kinds of faults, by commas; 'all' or 'none'.")]
DownShare = Annotated[
    float, typer.Option("--down-share", min=0.0, max=1.0, help="At most this share of the brokers crashes.")
]
Overlay = Annotated[str, typer.Option("--overlay", help="Overlays to draw from, by commas.")]
Exhaustive = Annotated[
    int,
    typer.Option(
        "--exhaustive", min=0, max=4, metavar="N", help="Explore every message order for rings up to N first."
    ),
]
Jobs = Annotated[int, typer.Option("--jobs", min=1, help="Processes.", show_default="one per core")]
Spark = Annotated[
    str, typer.Option("--spark", metavar="MASTER", help="Spread over a Spark cluster, not over processes.")
]
Report = Annotated[Path | None, typer.Option("--report", metavar="FILE", help="Write a report in Markdown to FILE.")]
Json = Annotated[bool, typer.Option("--json", help="One JSON document instead of text.")]
Seed = Annotated[int, typer.Argument(help="The seed of the schedule.", show_default=False)]
Transcript = Annotated[
    Path | None, typer.Option("--transcript", metavar="FILE", help="Write a line for each step to FILE.")
]


def _bounds(nodes: int, faults: str, overlay: str, down_share: float) -> "Bounds":
    from weft.sim.des.faults import FaultPlan
    from weft.sim.overlays import OVERLAYS
    from weft.sim.schedule import Bounds

    kinds = {"all": FaultPlan.KINDS, "none": ()}.get(faults) or tuple(
        kind for kind in faults.split(",") if kind != "none"
    )
    overlays = tuple(overlay.split(","))
    for given, known, what in ((kinds, FaultPlan.KINDS, "fault"), (overlays, tuple(OVERLAYS), "overlay")):
        unknown = [name for name in given if name not in known]
        if unknown:
            raise Misuse(f"unknown {what} {unknown[0]}; known: {', '.join(known)}")
    return Bounds(overlays=overlays, nodes_max=nodes, faults=kinds, down_share=down_share)


def _spread(work: Callable[..., Any], items: list[Any], rest: tuple[Any, ...], jobs: int) -> Iterator[Any]:
    """``work(item, *rest)`` for each item, results as they come."""
    if jobs == 1:
        yield from (work(item, *rest) for item in items)
        return
    from concurrent.futures import ProcessPoolExecutor, as_completed
    from multiprocessing import get_context

    with ProcessPoolExecutor(jobs, mp_context=get_context("spawn")) as pool:
        futures = [pool.submit(work, item, *rest) for item in items]
        try:
            for future in as_completed(futures):
                yield future.result()
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise


def _by_spark(
    master: str, parts: list[range], bounds: "Bounds", progress: "Progress", task: "TaskID"
) -> "Iterator[Tally]":
    """The same on a cluster: it shows how far it is, and answers at the end."""
    with explained():
        from weft.pipelines.jobs.spreading import spread
        from weft.sim.campaign import Tally, run_seeds

        yield from spread(
            master,
            run_seeds,
            Tally,
            parts,
            (bounds,),
            lambda told: progress.update(task, completed=told.done * CHUNK),
        )


def campaign(  # noqa: PLR0917  options, by name
    seeds: Seeds = 1_000,
    first: First = 0,
    nodes: Nodes = 8,
    faults: Faults = "all",
    overlay: Overlay = "suzaku,skipgraph",
    down_share: DownShare = 0.25,
    exhaustive: Exhaustive = 0,
    jobs: Jobs = CORES,
    spark: Spark = "",
    report: Report = None,
    as_json: Json = False,
) -> None:
    """Run many seeded schedules of joins, leaves, queries and faults, and check every rule in each.

    A violation is printed with the command that replays it; then the exit code is 1.

    Examples:

      weft sim campaign --seeds 1000

      weft sim campaign --seeds 200 --nodes 64 --faults crash,drop,pause

      weft sim campaign --seeds 100000 --exhaustive 4 --report docs/reports/campaign.md

      weft sim campaign --seeds 1000000 --spark spark://127.0.0.1:7077
    """
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    from weft.sim.campaign import Tally, Violation, chunks, exhaustive_cases, explore, run_seeds

    bounds = _bounds(nodes, faults, overlay, down_share)
    begun = time.monotonic()
    total = Tally()
    explored: list[Explored] = []
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), disable=as_json) as progress:
        if exhaustive:
            found = exhaustive_cases(exhaustive)
            task = progress.add_task("every order", total=len(found))
            for result in _spread(explore, found, (), jobs):  # few, and short: not worth a cluster
                explored.append(result)
                if result.violation:
                    total.violate(
                        Violation(None, result.violation, f"weft sim campaign --seeds 1 --exhaustive {exhaustive}")
                    )
                progress.advance(task)
        task = progress.add_task("schedules", total=seeds)
        parts = list(chunks(first, seeds, CHUNK))
        for tally in (
            _by_spark(spark, parts, bounds, progress, task) if spark else _spread(run_seeds, parts, (bounds,), jobs)
        ):
            total.add(tally)
            progress.update(task, completed=total.schedules, description=_progress(total))
    seconds = time.monotonic() - begun
    if report is not None:
        from weft.sim.report import markdown

        report.parent.mkdir(parents=True, exist_ok=True)
        report.write_text(markdown(total, explored, bounds, first, seconds), encoding="utf-8")
    if as_json:
        import msgspec

        document = {"seed": first, "seconds": round(seconds, 3), "bounds": bounds, "explored": explored}
        typer.echo(msgspec.json.encode({**msgspec.structs.asdict(total), **document}))
    else:
        _show(total, explored, seconds)
    if total.violated:
        raise Failed(f"{total.violated} violations in {total.schedules} schedules and {len(explored)} cases")


def _progress(total: "Tally") -> str:
    return f"schedules, {total.violated} violations" if total.violated else "schedules"


def _show(total: "Tally", explored: "list[Explored]", seconds: float) -> None:
    if explored and not any(case.violation for case in explored):
        states, orders = sum(case.states for case in explored), sum(case.orders for case in explored)
        typer.echo(f"{len(explored)} cases explored whole: {states:,} states, {orders:,} message orders, no violation")
    rate = total.schedules / seconds
    typer.echo(
        f"{total.schedules:,} schedules in {seconds:.1f} s ({rate:.0f}/s): {total.events:,} events, {total.queries:,} queries"
    )
    for violation in total.violations:
        hashed = f"  (trace hash {violation.trace_hash})" if violation.trace_hash else ""
        typer.echo(f"{one_line(violation.rule)}\n  replay: {violation.replay}{hashed}")
    if not total.violated:
        typer.echo(f"no violation; rings whole at most {max(total.healed)} s after the last fault (virtual time)")


def replay(
    seed: Seed,
    nodes: Nodes = 8,
    faults: Faults = "all",
    overlay: Overlay = "suzaku,skipgraph",
    down_share: DownShare = 0.25,
    transcript: Transcript = None,
    as_json: Json = False,
) -> None:
    """Run one schedule of a campaign again, with every step traced. Give the campaign's own options with it.

    Examples:

      weft sim replay 4711

      weft sim replay 4711 --nodes 64 --transcript run.txt
    """
    from weft.sim.campaign import trial
    from weft.sim.des.trace import Level
    from weft.sim.des.transcript import transcript as lines_of

    done = trial(seed, _bounds(nodes, faults, overlay, down_share), Level.FULL)
    schedule, simulation = done.schedule, done.schedule.simulation
    trace_hash = simulation.trace.hash()
    if transcript is not None:
        transcript.write_text("\n".join(lines_of(simulation.trace)) + "\n", encoding="utf-8")
    if as_json:
        import msgspec

        document = {"seed": seed, "violation": done.broken or None, "trace_hash": trace_hash, "outcome": done.outcome}
        typer.echo(msgspec.json.encode(document))
    else:
        typer.echo(f"seed {seed}: {schedule.overlay}, {len(schedule.nodes)} brokers\n{schedule.plan}")
        typer.echo(f"{simulation.steps:,} events, trace hash {trace_hash}")
        if done.broken:
            typer.echo("\n".join(simulation.story(simulation.steps)[-STORY_LINES:]))
    if done.broken:
        raise Failed(f"seed {seed}, at {simulation.now:.3f} s: {done.broken}")
