"""``weft experiments``: the papers' figures, run on Spark, compared with what was published.

weft experiments list | show NAME      what there is (needs no Spark)
weft experiments run NAME… | all       run what is missing, show verdicts and plots
weft experiments report                pages of everything that is there
"""

import json
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from weft.cli.exits import Failed, one_line
from weft.cli.spark import explained
from weft.pipelines.experiments.scale import Scale

if TYPE_CHECKING:
    from weft.pipelines.experiments.experiment import Experiment
    from weft.pipelines.jobs.series import Options
    from weft.pipelines.jobs.sweep import Outcome
    from weft.pipelines.report.judged import Judged

app = typer.Typer(help="Run the papers' experiments on Spark, and compare.", rich_markup_mode=None)

OUT = Path("out/experiments")

Names = Annotated[
    list[str], typer.Argument(help="Experiments, as `weft experiments list` names them.", show_default=False)
]
Name = Annotated[str, typer.Argument(help="An experiment.", show_default=False)]
Master = Annotated[str, typer.Option("--master", help="local[N], local[*] or spark://HOST:PORT.")]
Size = Annotated[Scale, typer.Option("--scale", help="small: seconds; paper: the papers' sizes; huge: beyond them.")]
Out = Annotated[Path, typer.Option("--out", metavar="DIR", help="Where results are kept.")]
Resume = Annotated[
    bool,
    typer.Option(
        "--resume/--no-resume",
        help="Leave runs that are there as they are, or drop those of every scale and run all again.",
    ),
]
Environment = Annotated[
    Path | None,
    typer.Option("--environment", metavar="FILE", help="A packed environment for executors on other machines."),
]
To = Annotated[Path, typer.Option("--to", metavar="DIR", help="Where the pages go.")]
Json = Annotated[bool, typer.Option("--json", help="One JSON document instead of text.")]


@app.callback()
def group() -> None:
    """Run the papers' experiments on Spark, and compare."""


@app.command(name="list")
def list_all(as_json: Json = False) -> None:
    """Name every experiment.

    Example: weft experiments list
    """
    from weft.pipelines.experiments.catalogue import EXPERIMENTS

    if as_json:
        typer.echo(json.dumps([_described(experiment) for experiment in EXPERIMENTS]))
        return
    width = max(len(experiment.name) for experiment in EXPERIMENTS)
    for experiment in EXPERIMENTS:
        typer.echo(f"{experiment.name:{width}}  {experiment.paper:8}{experiment.title}")


@app.command()
def show(name: Name, as_json: Json = False) -> None:
    """Say what an experiment asks, how it is run, and what it is compared with.

    Example: weft experiments show relay-fig10
    """
    from weft.pipelines.experiments.catalogue import named

    experiment = named(name)
    described = _described(experiment)
    if as_json:
        typer.echo(json.dumps(described))
        return
    typer.echo(f"{experiment.name} ({experiment.paper}): {experiment.title}\n")
    typer.echo(
        f"{'Asked' if experiment.paper == 'beyond' else 'The paper says'}: {' '.join(experiment.says.split())}\n"
    )
    typer.echo(f"Here: {' '.join(experiment.setting.split())}\n")
    for scale in Scale:
        most = max(experiment.memory_mb(point) for point in experiment.grid(scale))
        typer.echo(f"  --scale {scale.value:6} {experiment.planned(scale):7,} runs, up to {most:,.0f} MB each")
    typer.echo("\nParameters: " + ", ".join(experiment.parameters))
    typer.echo("Compared with:")
    for claim in experiment.claims:
        paper = "nothing published" if claim.paper is None else f"{claim.paper} {claim.unit}".strip()
        typer.echo(f"  {claim.what} ({claim.source}): {paper}")


@app.command()
def run(
    names: Names,
    master: Master = "local[*]",
    scale: Size = Scale.PAPER,
    out: Out = OUT,
    resume: Resume = True,
    environment: Environment = None,
    as_json: Json = False,
) -> None:
    """Run experiments: what is there of this code is kept, what is missing is run; then verdicts and plots.

    Examples:

      weft experiments run relay-fig10

      weft experiments run saps-fig8 saps-fig9 --scale small --out /tmp/trial

      weft experiments run relay-fig10 --master spark://127.0.0.1:7077
    """
    from weft.pipelines.experiments.catalogue import named

    chosen = [named(name) for name in dict.fromkeys(names)]
    with explained():
        from weft.pipelines.jobs.series import Options

        _run(chosen, Options(master, scale, out, resume, environment), as_json)


@app.command(name="all")
def run_all(
    master: Master = "local[*]",
    scale: Size = Scale.PAPER,
    out: Out = OUT,
    resume: Resume = True,
    environment: Environment = None,
    as_json: Json = False,
) -> None:
    """Run every experiment.

    Example: weft experiments all --scale paper && weft experiments report
    """
    with explained():
        from weft.pipelines.experiments.catalogue import EXPERIMENTS
        from weft.pipelines.jobs.series import Options

        _run(EXPERIMENTS, Options(master, scale, out, resume, environment), as_json)


@app.command()
def report(
    master: Master = "local[*]",
    scale: Size = Scale.PAPER,
    out: Out = OUT,
    to: To = Path("docs/experiments"),
) -> None:
    """Write pages (Markdown and HTML), plots (SVG and PNG) and CSV of every result that is there.

    Example: weft experiments all && weft experiments report
    """
    with explained():
        from weft.pipelines.experiments.catalogue import EXPERIMENTS
        from weft.pipelines.jobs.series import Options, judged
        from weft.pipelines.report.page import write

        found = judged(EXPERIMENTS, Options(master, scale, out))
        if not found:
            raise Failed(
                f"no results of scale {scale.value} in {out}; run `weft experiments all --scale {scale.value}`"
            )
        command = f"weft experiments all --scale {scale.value} && weft experiments report --scale {scale.value}"
        typer.echo(write(found, to, command))
        for each in found:
            if not each.cost.complete:
                there = f"{each.cost.runs} of {each.cost.planned} runs are there"
                typer.echo(f"{each.experiment.name} is incomplete: {there}; run it again", err=True)


def _described(experiment: "Experiment") -> dict[str, object]:
    return {
        "name": experiment.name,
        "paper": experiment.paper,
        "title": experiment.title,
        "parameters": {name: kind.__name__ for name, kind in experiment.parameters.items()},
        "columns": {name: kind.__name__ for name, kind in experiment.columns.items()},
        "runs": {scale.value: experiment.planned(scale) for scale in Scale},
    }


def _run(experiments: "Sequence[Experiment]", options: "Options", as_json: bool) -> None:
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    from weft.pipelines.jobs.progress import Told
    from weft.pipelines.jobs.series import Started, run

    broken: list[str] = []
    documents: list[dict[str, object]] = []
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TextColumn("{task.fields[rate]}"))
    # rich would send what is printed meanwhile to its own console: to stderr, although stdout may be a file.
    shown, console = sys.stdout.isatty(), Console(stderr=True)
    silent = as_json or not console.is_terminal  # rich would end with an empty line
    with Progress(*columns, TimeRemainingColumn(), console=console, redirect_stdout=shown, disable=silent) as progress:
        bars = {
            experiment.name: progress.add_task(experiment.name, total=None, rate="", visible=False)
            for experiment in experiments
        }

        def tell(told: Told) -> None:
            rate = f"{told.rate:.1f}/s"
            progress.update(bars[told.name], total=told.total, completed=told.done, rate=rate, visible=True)

        for step in run(experiments, options, tell):
            if isinstance(step, Started):
                if step.ui and not as_json:
                    progress.console.print(f"Spark: {step.ui}, history in {options.out / 'events'}", highlight=False)
                continue
            progress.update(bars[step.judged.experiment.name], visible=False)
            outcome = step.outcome
            documents.append(_answered(step.judged, outcome, options.out / "plots", as_json))
            if outcome.failed:
                name = step.judged.experiment.name
                broken.append(f"{name}: {outcome.failed} of {outcome.planned} runs failed ({outcome.error})")
    if as_json:
        typer.echo(json.dumps(documents))
    if broken:
        raise Failed("; ".join(broken))


def _answered(judged: "Judged", outcome: "Outcome", plots: Path, as_json: bool) -> dict[str, object]:
    """Show verdicts and where the plots are; the same as a document."""
    from weft.pipelines.report.drawing import draw
    from weft.pipelines.report.values import compared, write_csv

    plots.mkdir(parents=True, exist_ok=True)
    drawn = [str(plots / f"{name}.png") for _, name in draw(judged, plots)] if judged.cost.runs else []
    files = [str(plots / name) for name in write_csv(judged, plots)] if judged.cost.runs else []
    experiment, cost = judged.experiment, judged.cost
    if not as_json:
        kept = (
            f", {outcome.planned - outcome.new - outcome.failed:,} were there" if outcome.new < outcome.planned else ""
        )
        typer.echo(f"{experiment.name}: {experiment.title}")
        typer.echo(
            f"  {outcome.new:,} runs in {outcome.seconds:.1f} s{kept}; {cost.cpu_s:.1f} CPU-s, at most {cost.peak_mb:.0f} MB"
        )
        _table([compared(verdict) for verdict in judged.verdicts])
        for path in (*drawn, *files):
            typer.echo(f"  {path}")
    return {
        "name": experiment.name,
        "scale": judged.scale.value,
        "runs": {"planned": cost.planned, "there": cost.runs, "new": outcome.new, "failed": outcome.failed},
        "error": one_line(outcome.error),
        "seconds": round(outcome.seconds, 3),
        "cpu_s": round(cost.cpu_s, 3),
        "peak_mb": round(cost.peak_mb, 1),
        "verdicts": [
            {key: None if value != value else value for key, value in verdict._asdict().items()}  # noqa: PLR0124  NaN
            for verdict in judged.verdicts
        ],
        "plots": drawn,
        "data": files,
    }


def _table(rows: Sequence[tuple[str, ...]]) -> None:
    from rich import box
    from rich.console import Console
    from rich.table import Table

    if not rows:
        return
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, 1))
    for name, right in (("claim", 0), ("source", 0), ("paper", 0), ("ours", 1), ("ratio", 1), ("verdict", 0)):
        table.add_column(name, justify="right" if right else "left", overflow="fold")
    for row in rows:
        table.add_row(*row)
    Console(width=max(100, shutil.get_terminal_size().columns), markup=False).print(table)
