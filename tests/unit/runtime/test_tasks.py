"""Tasks that are kept, reported and ended."""

import asyncio

import pytest
from structlog.testing import capture_logs

from weft.runtime import tasks
from weft.runtime.tasks import Tasks


def test_a_task_is_kept_until_it_ends_and_its_failure_is_said() -> None:
    async def scene() -> None:
        kept, gate = Tasks(), asyncio.Event()

        async def fail() -> None:
            await gate.wait()
            raise ZeroDivisionError("x")

        task = kept.spawn(fail(), "the failing one")
        assert len(kept) == 1
        gate.set()
        with pytest.raises(ZeroDivisionError):
            await task
        assert len(kept) == 0

    with capture_logs() as said:
        asyncio.run(scene())
    assert said == [
        {"event": "task failed", "task": "the failing one", "error": "ZeroDivisionError: x", "log_level": "error"}
    ]


def test_all_are_ended_at_once_and_there_is_a_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tasks, "TASKS_MAX", 2)

    async def scene() -> None:
        kept = Tasks()
        waiting = [kept.spawn(asyncio.Event().wait(), f"{number}") for number in range(2)]
        assert kept.is_full
        await kept.close()
        assert all(task.cancelled() for task in waiting)
        assert not kept.is_full

    with capture_logs() as said:
        asyncio.run(scene())
    assert said == []
