"""Tasks that are kept and reported: the only place that starts one.

The loop holds tasks weakly, and an exception in a task that nobody awaits is said when the garbage collector finds it, if ever.
``Tasks`` holds them until they end, logs what they raised, and ends all of them at once.
"""

import asyncio
from collections.abc import Coroutine
from typing import Any

import structlog

TASKS_MAX = 10_000
"""Tasks at once; there is one per listener and per handshake, none per message."""

log = structlog.get_logger("weft.tasks")


class Tasks:
    """In: ``spawn``. Out: ``close`` ends all that still run."""

    def __init__(self) -> None:
        self._running: set[asyncio.Task[Any]] = set()

    def __len__(self) -> int:
        return len(self._running)

    @property
    def is_full(self) -> bool:
        return len(self._running) >= TASKS_MAX

    def spawn(self, work: Coroutine[Any, Any, Any], name: str) -> asyncio.Task[Any]:
        """Start ``work`` under ``name``, which is what the log calls it if it fails."""
        task = asyncio.get_running_loop().create_task(work, name=name)
        self._running.add(task)
        task.add_done_callback(self._ended)
        return task

    async def close(self) -> None:
        """Cancel what runs and wait until it has ended."""
        running = list(self._running)
        for task in running:
            task.cancel()
        await asyncio.gather(*running, return_exceptions=True)

    def _ended(self, task: asyncio.Task[Any]) -> None:
        self._running.discard(task)
        if not task.cancelled() and (error := task.exception()) is not None:
            log.error("task failed", task=task.get_name(), error=f"{type(error).__name__}: {error}")
