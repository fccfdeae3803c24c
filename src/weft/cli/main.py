"""The ``weft`` command: the list of command groups, and the two commands that belong to none.

A new group is one file beside this one and one ``app.add_typer`` line below; a command of its own, one ``app.command`` line.
"""

import json
import sys
from typing import Annotated

import typer

from weft import __version__
from weft.cli import broker, config, ctl, experiments, passwd, sim
from weft.cli import doctor as examination
from weft.cli.exits import Lacking, run
from weft.cli.properties import Command
from weft.cli.pub import pub
from weft.cli.sub import sub

app = typer.Typer(
    help="A distributed MQTT broker for many sites, held together by a structured overlay.",
    no_args_is_help=False,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)
app.command()(broker.broker)
app.add_typer(config.app, name="config")
app.add_typer(ctl.app, name="ctl")
app.add_typer(experiments.app, name="experiments")
app.add_typer(sim.app, name="sim")
app.command()(passwd.passwd)
app.command(cls=Command)(pub)
app.command(cls=Command)(sub)

Json = Annotated[bool, typer.Option("--json", help="One JSON document instead of text.")]


@app.callback(invoke_without_command=True)
def root(
    context: typer.Context,
    says_version: Annotated[bool, typer.Option("--version", help="Print the version and end.")] = False,
) -> None:
    """A distributed MQTT broker for many sites, held together by a structured overlay."""
    if says_version:
        typer.echo(__version__)
        raise typer.Exit
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())


@app.command()
def version(as_json: Json = False) -> None:
    """Print the version.

    Example: weft version --json
    """
    typer.echo(json.dumps({"version": __version__}) if as_json else __version__)


@app.command()
def doctor(as_json: Json = False) -> None:
    """Say what this machine has, what it lacks, and what that leaves out.

    Exit code 3 if something is missing without which weft does not work at all; optional things never fail.

    Example: weft doctor --json
    """
    findings = examination.examine()
    typer.echo(examination.as_json(findings) if as_json else examination.as_text(findings))
    missing = [finding for finding in findings if finding.required and not finding.ok]
    if missing:
        raise Lacking(", ".join(finding.name for finding in missing), missing[0].install)


def main() -> None:
    """The entry point of the ``weft`` script."""
    sys.exit(run(app))
