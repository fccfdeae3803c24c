"""``weft sim``: simulations in virtual time.

weft sim run SCENARIO    run a scenario file, show what happened, check what it expects
"""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.table import Table
from rich.tree import Tree

from weft.cli.exits import Failed, one_line

if TYPE_CHECKING:
    from weft.sim.scenario.outcome import Branch, Outcome, Spread
    from weft.sim.scenario.runner import Runner

app = typer.Typer(help="Simulate brokers, networks and faults, deterministically.", rich_markup_mode=None)

BRANCHES_MAX = 200
"""A multicast of more hand-overs than this is shown without its tree."""

Scenario = Annotated[Path, typer.Argument(help="A scenario file (TOML).", show_default=False)]
Json = Annotated[bool, typer.Option("--json", help="One JSON document instead of text.")]
Transcript = Annotated[
    Path | None, typer.Option("--transcript", metavar="FILE", help="Write a line for each delivered message to FILE.")
]
Story = Annotated[
    int | None, typer.Option("--story", metavar="ID", min=1, help="Tell what led to step ID, and what came of it.")
]


@app.callback()
def group() -> None:
    """Simulate brokers, networks and faults, deterministically."""


@app.command()
def run(scenario: Scenario, as_json: Json = False, transcript: Transcript = None, story: Story = None) -> None:
    """Run a scenario file, show what happened, and check what the file expects.

    The same file gives the same run, message by message, on every machine; the trace hash says so. Exit code 1 if an
    expectation does not hold, 2 if the file says something that means nothing or cannot be.

    Examples:

      weft sim run examples/first-ring.toml

      weft sim run examples/first-ring.toml --story 845

      weft sim run examples/first-ring.toml --json --transcript run.txt
    """
    from weft.sim.scenario.load import read
    from weft.sim.scenario.runner import Runner

    runner = Runner(read(scenario))
    outcome = runner.run()
    if transcript is not None:
        transcript.write_text("\n".join(runner.transcript()) + "\n", encoding="utf-8")
    if as_json:
        import msgspec

        typer.echo(msgspec.json.format(msgspec.json.encode(outcome)).decode())
    elif story is not None:
        typer.echo("\n".join(runner.story(story)))
    else:
        show(outcome, runner)
    if outcome.failures:
        more = f" (and {len(outcome.failures) - 1} more)" if len(outcome.failures) > 1 else ""
        raise Failed(f"{outcome.failures[0]}{more}")


def show(outcome: "Outcome", runner: "Runner") -> None:
    """The whole outcome for people: ring, multicasts, messages, expectations, trace hash."""
    console = Console(highlight=False)
    console.print(f"[bold]{outcome.title or 'scenario'}[/]  {outcome.overlay}, seed {outcome.seed}")
    console.print(f"{outcome.events} events in {outcome.time:g} simulated seconds\n")
    _show_ring(console, outcome)
    for spread in outcome.spreads:
        _show_spread(console, spread, runner)
    _show_messages(console, outcome)
    _show_links(console, outcome)
    for failure in outcome.failures:
        console.print(f"[red]✗[/] {one_line(failure)}", soft_wrap=True)
    total = outcome.held + len(outcome.failures)
    if total:
        mark = "[green]✓[/]" if not outcome.failures else "[red]✗[/]"
        console.print(f"{mark} {outcome.held} of {total} expectations hold")
    console.print(f"trace hash {outcome.trace_hash}")


def _show_ring(console: Console, outcome: "Outcome") -> None:
    if not outcome.ring:
        console.print("nobody is in the ring\n")
        return
    console.print("[bold]the ring[/], in key order")
    line: list[str] = []
    cluster = None
    for member in outcome.ring:
        if member.cluster != cluster:
            cluster = member.cluster
            line.append(f"[cyan]{cluster}[/]")
        line.append(f"{member.broker}")
    console.print("  ↻ " + " ".join(line) + "\n")


def _show_spread(console: Console, spread: "Spread", runner: "Runner") -> None:
    text = f" “{spread.text}”" if spread.text else ""
    console.print(f"[bold]{spread.what}[/]{text} from broker {spread.broker}  (step {spread.step})")
    if spread.hand_overs <= BRANCHES_MAX:
        console.print(_tree(spread.tree, runner))
    counts = f"{len(spread.reached)} keys reached, {spread.hand_overs} hand-overs"
    console.print(f"  {counts}, {spread.between_clusters} of them between clusters, {spread.links} links crossed")
    if spread.late:
        console.print(f"  reached by a repetition: {', '.join(spread.late)}")
    if spread.answered:
        missing = f", {spread.missing} sub-ranges missing" if spread.missing else ""
        console.print(f"  answer: {spread.value}{missing}")
    console.print()


def _tree(root: "Branch", runner: "Runner") -> Tree:
    begun = root.time
    top = Tree(_label(root, runner, begun), guide_style="dim")
    stack = [(top, root)]
    while stack:
        tree, branch = stack.pop()
        stack += [(tree.add(_label(inner, runner, begun)), inner) for inner in branch.branches]
    return top


def _label(branch: "Branch", runner: "Runner", begun: float) -> str:
    mark = "[green]●[/] " if branch.keys else "○ "
    label = f"{mark}broker {branch.broker} [cyan]{runner.cluster(branch.broker)}[/]"
    if branch.source is None:
        return label if branch.message == "command" else f"{label} [dim]({branch.message})[/]"
    links = "link" if branch.links == 1 else "links"
    return f"{label}  [dim]{branch.links} {links}, +{(branch.time - begun) * 1000:.1f} ms[/]"


def _show_messages(console: Console, outcome: "Outcome") -> None:
    table = Table("message", box=None, padding=(0, 2, 0, 0), header_style="bold")
    for name in ("sent", "delivered", "dropped", "links crossed"):
        table.add_column(name, justify="right")
    for name, traffic in outcome.messages.items():
        row = (traffic.sent, traffic.delivered, traffic.dropped, traffic.links)
        table.add_row(name, *(f"{number:,}" for number in row))
    console.print(table)
    console.print()


def _show_links(console: Console, outcome: "Outcome") -> None:
    if not outcome.links:
        return
    busiest = sorted(outcome.links.items(), key=lambda item: (-item[1], item[0]))[:5]
    console.print("[bold]busiest links[/]  " + ", ".join(f"{name} {count:,}" for name, count in busiest) + "\n")
