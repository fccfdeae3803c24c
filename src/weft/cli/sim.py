"""``weft sim``: simulations in virtual time.

weft sim run SCENARIO    run a scenario file, show what happened, check what it expects
weft sim campaign        many seeded fault schedules (see ``campaign``)
weft sim replay SEED     one of them again
"""

from pathlib import Path
from typing import Annotated

import typer

from weft.cli.campaign import campaign, replay
from weft.cli.exits import Failed

app = typer.Typer(help="Simulate brokers, networks and faults, deterministically.", rich_markup_mode=None)

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


app.command()(campaign)
app.command()(replay)


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
        from weft.cli.picture import show

        show(outcome, runner.cluster)
    if outcome.failures:
        more = f" (and {len(outcome.failures) - 1} more)" if len(outcome.failures) > 1 else ""
        raise Failed(f"{outcome.failures[0]}{more}")
