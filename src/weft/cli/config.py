"""``weft config``: check a configuration, show what it comes to, translate mosquitto's.

weft config check FILE     is it good? one line with file and line if not
weft config show [FILE]    every setting with its value, as TOML
weft config import FILE    a mosquitto.conf as weft.toml
"""

from pathlib import Path
from typing import Annotated

import typer

app = typer.Typer(help="Check, show and translate configurations.", rich_markup_mode=None)

Json = Annotated[bool, typer.Option("--json", help="One JSON document instead of text.")]


@app.callback()
def group() -> None:
    """Check, show and translate configurations."""


@app.command()
def check(
    file: Annotated[Path, typer.Argument(help="A configuration (TOML).", show_default=False)], as_json: Json = False
) -> None:
    """Say whether a broker would start with this configuration: its values, and the files that it names.

    Exit code 2 and one line with file and line if not.

    Example: weft config check /etc/weft/weft.toml
    """
    from weft.runtime.check import examine

    found = examine(file)
    if as_json:
        import msgspec

        typer.echo(msgspec.json.encode(found).decode())
        return
    for url in found.listeners:
        typer.echo(f"listens on {url}")
    for warning in found.warnings:
        typer.echo(f"warning: {warning}")
    typer.echo(f"{file}: good")


@app.command()
def show(
    file: Annotated[Path | None, typer.Argument(help="A configuration (TOML); without one, the defaults.")] = None,
    as_json: Json = False,
) -> None:
    """Print every setting with its value, what was said and what was not.

    Examples:

      weft config show

      weft config show weft.toml --json
    """
    from weft.core.strict import load
    from weft.node import config as configs
    from weft.node.toml import to_toml

    config = configs.Config() if file is None else configs.checked(load(file, configs.Config))
    if as_json:
        import msgspec

        typer.echo(msgspec.json.format(msgspec.json.encode(config)).decode())
    else:
        typer.echo(to_toml(config))


@app.command(name="import")
def import_(
    file: Annotated[Path, typer.Argument(help="A mosquitto.conf, or with --acl its acl_file.", show_default=False)],
    acl: Annotated[bool, typer.Option("--acl", help="FILE is an acl_file: print it as rules of ours.")] = False,
) -> None:
    """Print a mosquitto.conf as a weft.toml; what has no counterpart becomes a comment.

    mosquitto's password files work as they are.

    Example: weft config import /etc/mosquitto/mosquitto.conf > weft.toml

    Example: weft config import --acl /etc/mosquitto/acl > rules.acl
    """
    from weft.broker.access import mosquitto_acl
    from weft.core.errors import Misuse
    from weft.node.mosquitto import translate

    try:
        data = file.read_bytes()
        if acl:
            typer.echo(mosquitto_acl.convert(data, str(file)), nl=False)
            return
        text = data.decode()
    except (OSError, UnicodeDecodeError) as error:
        raise Misuse(f"{file}: cannot be read: {getattr(error, 'strerror', None) or 'it is not UTF-8'}") from error
    typer.echo(translate(text, str(file)), nl=False)
