"""What a broker asks of its process: file descriptors, a garbage collector that does not get in the way, a loop.

Most of what a broker holds lives long and has no cycles, so looking at all of it again and again finds nothing: what
exists when it is ready is frozen, and the young generation is larger than Python's 700.
"""

import asyncio
import contextlib
import gc
import resource
from typing import Any

import structlog

from weft.broker.settings import Limits

RESERVED = 100
"""Descriptors for listeners, the store, the log."""

GC_THRESHOLDS = (50_000, 20, 100)

log = structlog.get_logger("weft")


def new_loop() -> asyncio.AbstractEventLoop:
    """uvloop where it is installed."""
    try:
        import uvloop
    except ImportError:
        return asyncio.new_event_loop()
    return uvloop.new_event_loop()


def raise_descriptors() -> None:
    """As many file descriptors as the hard limit allows."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft != hard:
        with contextlib.suppress(ValueError, OSError):  # some systems refuse "unlimited"
            resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))


def warn_of_descriptors(connections_max: int) -> None:
    """If there are fewer than connections could come."""
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft != resource.RLIM_INFINITY and connections_max + RESERVED > soft:
        say = log.info if connections_max == Limits().connections_total_max else log.warning  # who chose it should know
        say(
            "fewer file descriptors than connections",
            descriptors=soft,
            connections_total_max=connections_max,
            advice="raise LimitNOFILE, or lower broker.limits.connections_total_max",
        )


def settle_memory() -> None:
    """Everything that exists now is here to stay."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(*GC_THRESHOLDS)


def report_failures(loop: asyncio.AbstractEventLoop) -> None:
    """What a callback raises is one line in the log; the connection that it concerned is closed by its transport."""

    def report(_loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        error = context.get("exception")
        if isinstance(error, OSError):
            log.debug("connection error", error=str(error))
        else:
            log.error("internal error", said=context.get("message"), exc_info=error)

    loop.set_exception_handler(report)
