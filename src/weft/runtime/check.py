"""``weft config check``: everything that a start would read, without starting anything."""

import os
from functools import partial
from pathlib import Path

import msgspec

from weft.broker.access.authority import build
from weft.node import plugins
from weft.node.addresses import host_and_port
from weft.node.config import Config, read
from weft.runtime.admin.guard import read_token, require_token
from weft.runtime.bridge import prepare
from weft.runtime.parts import read as read_file
from weft.runtime.serve import doors_without_keys
from weft.runtime.tls import Tls


class Found(msgspec.Struct, frozen=True):
    """A good configuration: where it would listen, and what is allowed but rarely meant."""

    listeners: list[str]
    warnings: list[str]


def examine(file: Path) -> Found:
    """``Misuse`` with one line if a broker could not start with ``file``."""
    config = read(file)

    build(config.access, partial(read_file, file.parent), os.urandom, plugins.load(config.access.plugins))
    for listener in config.listeners():
        if listener.tls is not None:
            Tls(listener.tls, [])
    for bridge in config.bridge:
        prepare(bridge, partial(read_file, file.parent))
    _admin(config)
    warnings = [f"{url}: nobody can connect from another machine" for url in doors_without_keys(config)]
    return Found([listener.endpoint.url() for listener in config.listeners()], warnings)


def _admin(config: Config) -> None:
    token = read_token(Path(config.admin.token_file)) if config.admin.token_file else None
    if config.admin.listen:
        host, _ = host_and_port(config.admin.listen, config.admin.listen)
        if host != "localhost":
            require_token(host or "::", token)
