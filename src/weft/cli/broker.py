"""``weft broker``: one broker process, from the start to the signal that ends it."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from weft.node.config import Config
    from weft.runtime.serve import Ready


def broker(
    config: Annotated[
        Path | None, typer.Option("--config", "-c", metavar="FILE", help="The configuration (TOML); see weft config.")
    ] = None,
    listen: Annotated[
        list[str] | None,
        typer.Option(
            "--listen",
            "-l",
            metavar="URL",
            help="mqtt://HOST:PORT, ws://…, unix://PATH; instead of the file's listeners.",
        ),
    ] = None,
    data_dir: Annotated[
        Path | None, typer.Option("--data-dir", metavar="DIR", help="Where sessions and messages are kept.")
    ] = None,
    name: Annotated[str | None, typer.Option("--id", metavar="NAME", help="The broker's name.")] = None,
    cluster: Annotated[
        str | None, typer.Option("--cluster", metavar="PLACE", help="Where it stands, such as jp/kyoto/pop1.")
    ] = None,
    admin: Annotated[
        str | None, typer.Option("--admin", metavar="HOST:PORT", help="Open the admin API and metrics there.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Say where it listens as one line of JSON.")] = False,
) -> None:
    """Run a broker until SIGTERM or Ctrl-C; SIGHUP reads the configuration again.

    Without options it listens on mqtt://127.0.0.1:1883 and keeps nothing across a restart. When it is ready it prints
    one line for each listener. Exit codes: 2 a wrong configuration, 4 a port is taken, 5 the store cannot be used, 6
    the disk is full.

    Examples:

      weft broker

      weft broker --listen mqtt://127.0.0.1:0 --listen ws://127.0.0.1:0 --json

      weft broker --config /etc/weft/weft.toml

      weft broker --data-dir /var/lib/weft --id kyoto-1 --admin 127.0.0.1:9883
    """
    from weft.runtime.serve import serve

    def read() -> "Config":
        return _effective(config, listen, data_dir, name, cluster, admin)

    def announce(ready: "Ready") -> None:
        if as_json:
            import msgspec

            typer.echo(msgspec.json.encode(ready).decode())
        else:
            for url in ready.listeners:
                typer.echo(f"listening on {url}")
            if ready.admin is not None:
                typer.echo(f"admin on {ready.admin}")

    serve(read(), None if config is None else read, config, announce)


def _effective(
    file: Path | None,
    listen: list[str] | None,
    data_dir: Path | None,
    name: str | None,
    cluster: str | None,
    admin: str | None,
) -> "Config":
    """The file's configuration, or the default one, with the options put over it."""
    from msgspec.structs import replace

    from weft.core.errors import Misuse
    from weft.node import config as configs
    from weft.node.addresses import host_and_port

    config = configs.Config() if file is None else configs.read(file)
    if listen:
        config = replace(config, listener=[configs.Listener(url) for url in listen])
        for listener in config.listener:
            wrong = configs.problem(listener)
            if wrong is not None:
                raise Misuse(f"--listen: {wrong[1]}")
    if admin is not None:
        host_and_port(admin, admin)
        config = replace(config, admin=replace(config.admin, listen=admin))
    if data_dir is not None:
        config = replace(config, data_dir=str(data_dir))
    return replace(
        config, id=config.id if name is None else name, cluster=config.cluster if cluster is None else cluster
    )
