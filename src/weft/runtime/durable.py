"""A broker's store at work: opened and loaded before the broker is, written by a thread of its own, closed last."""

import asyncio
from collections.abc import Callable, Sequence
from pathlib import Path

import structlog

from weft.broker.journal import Journal
from weft.broker.records import Kept
from weft.core.machine import Record
from weft.node.config import Config
from weft.runtime.host import Host
from weft.runtime.store.errors import StoreBroken
from weft.runtime.store.store import Durability, Store
from weft.runtime.store.writer import Trouble, Writer

log = structlog.get_logger("weft.store")


class Durable:
    """In: ``open``, ``start``, ``commit``, ``close``. Out: what was kept; ``Host.committed``; ``trouble`` for whoever asks."""

    def __init__(self, config: Config) -> None:
        """Open the store; ``StoreError`` if it cannot be used."""
        self._durability = Durability(config.store.durability)
        self._interval_s = config.store.interval_ms / 1000
        self._store = Store.open(Path(config.data_dir), self._durability)
        self._writer: Writer | None = None
        self.trouble: str | None = None
        """Why nothing can be written at the moment."""

    @property
    def path(self) -> Path:
        return self._store.path

    def load(self) -> Kept:
        return self._store.load()

    def journal(self) -> Journal:
        """Acknowledgements wait for the disk if they are to."""
        return Journal(keeps=True, holds=self._durability is Durability.ALWAYS)

    def start(self, host: Host, fatal: Callable[[Exception], None]) -> None:
        """Write from now on. ``fatal``: the store is broken, the broker should end."""
        loop = asyncio.get_running_loop()

        def committed(batch: int) -> None:
            loop.call_soon_threadsafe(host.committed, batch)

        def told(trouble: Trouble | None) -> None:
            loop.call_soon_threadsafe(self._told, trouble, fatal)

        self._writer = Writer(self._store, committed, told, self._durability, self._interval_s)
        self._writer.start()
        host.commit = self.commit
        host.pressure.is_store_behind = lambda: self._writer is not None and self._writer.is_behind

    def commit(self, batch: int, records: Sequence[Record]) -> None:
        assert self._writer is not None
        self._writer.put(batch, records)

    def gauges(self) -> dict[str, float]:
        """For the admin interface."""
        files = [self.path, self.path.with_name(self.path.name + "-wal")]
        return {"weft_store_bytes": float(sum(file.stat().st_size for file in files if file.exists()))}

    def close(self, timeout_s: float) -> int:
        """Everything that waits is written; how many records could not be."""
        if self._writer is None:
            self._store.close()
            return 0
        return self._writer.close(timeout_s)

    def _told(self, trouble: Trouble | None, fatal: Callable[[Exception], None]) -> None:
        if trouble is None:
            log.info("the store writes again")
            self.trouble = None
            return
        self.trouble = trouble.text
        log.error("the store cannot write", why=trouble.text, fatal=trouble.fatal)
        if trouble.fatal:
            fatal(StoreBroken(trouble.text))
