"""The driver with listeners on free ports, in a test's own loop: ``async with driving(broker, Listener(...)) as driven``."""

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager
from typing import Any
from urllib.parse import urlsplit

import structlog

from weft.node.config import Listener
from weft.runtime.host import Host
from weft.runtime.listeners import Listening
from weft.runtime.process import new_loop, report_failures
from weft.runtime.tasks import Tasks

LOOPS: dict[str, Callable[[], asyncio.AbstractEventLoop]] = {"asyncio": asyncio.SelectorEventLoop, "uvloop": new_loop}
PATIENCE_S = 20.0


def run(work: Coroutine[Any, Any, Any], loop: str = "uvloop") -> None:
    """``work`` on a loop of that kind, with a bound on its time."""
    structlog.configure(
        processors=[structlog.processors.KeyValueRenderer()], logger_factory=structlog.ReturnLoggerFactory()
    )
    with asyncio.Runner(loop_factory=LOOPS[loop]) as runner:
        runner.run(asyncio.wait_for(work, PATIENCE_S))


class Driven:
    """A driver at work. ``ports``: of each listener in order."""

    def __init__(self, host: Host, listening: list[Listening], tasks: Tasks) -> None:
        self.host = host
        self.listening = listening
        self.tasks = tasks

    @property
    def ports(self) -> list[int]:
        return [urlsplit(each.urls[0]).port or 0 for each in self.listening]

    async def until(self, holds: Callable[[], Any]) -> None:
        """Let the loop turn until ``holds``; there is nothing else that says so."""
        turned = asyncio.get_running_loop()
        while not holds():
            turn: asyncio.Future[None] = turned.create_future()
            turned.call_later(0.002, turn.set_result, None)
            await turn


@asynccontextmanager
async def driving(broker: Any, *listeners: Listener) -> AsyncIterator[Driven]:
    loop = asyncio.get_running_loop()
    report_failures(loop)
    tasks = Tasks()
    host = Host(broker, loop)
    listening = [Listening(each, host, tasks) for each in listeners]
    for each in listening:
        await each.open()
    driven = Driven(host, listening, tasks)
    try:
        yield driven
    finally:
        for each in listening:
            each.close()
        host.close()
        await tasks.close()
        await driven.until(lambda: not host.links)
