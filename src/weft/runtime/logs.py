"""The log: structlog on standard error, for people on a terminal, as JSON otherwise.

A field whose name sounds like a secret is never written, whoever puts it there.
"""

import logging
import sys
from collections.abc import MutableMapping
from typing import Any, Literal

import msgspec
import structlog

from weft.node.config import LogSettings

SECRET = ("password", "token", "secret", "authorization", "payload", "private_key")
VALUE_CHARS_MAX = 1_000

Level = Literal["debug", "info", "warning", "error"]

_LEVELS = {"debug": logging.DEBUG, "info": logging.INFO, "warning": logging.WARNING, "error": logging.ERROR}


def configure(settings: LogSettings, name: str = "") -> None:
    """May be called again: a reload changes level and format."""
    global _current  # noqa: PLW0603 - there is one log, as there is one standard error
    _current = (settings, name)
    as_json = settings.format == "json" or (settings.format == "auto" and not sys.stderr.isatty())
    render: Any = structlog.processors.JSONRenderer() if as_json else structlog.dev.ConsoleRenderer()
    processors: list[Any] = [
        structlog.contextvars.merge_contextvars,
        structlog.processors.add_log_level,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
        _keep_short_and_secret,
    ]
    if as_json:
        processors.append(structlog.processors.format_exc_info)
    structlog.configure(
        processors=[*processors, render],
        wrapper_class=structlog.make_filtering_bound_logger(_LEVELS[settings.level]),
        logger_factory=structlog.PrintLoggerFactory(sys.stderr),
        cache_logger_on_first_use=False,
    )
    structlog.contextvars.clear_contextvars()
    if name:
        structlog.contextvars.bind_contextvars(broker=name)
    # asyncio and uvloop report a connection's failures with tracebacks; ours say the same in one line
    logging.getLogger("asyncio").setLevel(logging.CRITICAL)


_current = (LogSettings(), "")


def level() -> Level:
    return _current[0].level


def set_level(chosen: Level) -> None:
    """Until the next reload or restart."""
    settings, name = _current
    configure(msgspec.structs.replace(settings, level=chosen), name)


def _keep_short_and_secret(_logger: Any, _method: str, event: MutableMapping[str, Any]) -> MutableMapping[str, Any]:
    for key, value in event.items():
        if any(word in key.lower() for word in SECRET):
            event[key] = "***"
        elif isinstance(value, str) and len(value) > VALUE_CHARS_MAX and key != "exception":
            event[key] = value[:VALUE_CHARS_MAX] + "…"
    return event
