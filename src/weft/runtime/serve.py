"""The life of ``weft broker``: start, serve, reload, drain, end.

Start: access files, store, broker, listeners, admin interface, in this order, and each failure is one line and an
exit code. Then ready is said. SIGTERM and SIGINT drain (a second one ends at once), SIGHUP reloads. What each step
does is in the module that it calls.
"""

import asyncio
import os
import signal
import socket
from collections.abc import Callable
from functools import partial
from pathlib import Path

import msgspec
import structlog

from weft.broker.access.authority import build
from weft.broker.broker import Broker
from weft.broker.records import Kept
from weft.core.errors import Misuse
from weft.node import plugins
from weft.node.config import Config
from weft.runtime import logs, process
from weft.runtime.adminport import AdminPort
from weft.runtime.bridge import Bridges
from weft.runtime.clock import now
from weft.runtime.durable import Durable
from weft.runtime.host import Host
from weft.runtime.listeners import Listening
from weft.runtime.notify import Notifier
from weft.runtime.parts import Parts, read
from weft.runtime.reload import Reloading
from weft.runtime.tasks import Tasks

STORE_CLOSE_S = 30.0
KILLED = 1  # the exit code of a second signal

log = structlog.get_logger("weft")


class Ready(msgspec.Struct, frozen=True):
    """What a started broker says: where it really listens."""

    id: str
    pid: int
    listeners: list[str]
    admin: str | None = None


class Service:
    """One broker process. ``source``: the configuration file, read again on SIGHUP; ``reread`` reads it."""

    def __init__(self, config: Config, reread: Callable[[], Config] | None = None, source: Path | None = None) -> None:
        self.config = config
        self.id = config.id or socket.gethostname()
        self._folder = source.parent if source is not None else Path()
        self._reread = reread
        self._notifier = Notifier()
        self._failure: Exception | None = None
        self._stopping = asyncio.Event()
        self._tasks = Tasks()

    async def run(self, announce: Callable[[Ready], None]) -> None:
        """From start to end; raises what ended it, if it was a failure."""
        loop = asyncio.get_running_loop()
        process.report_failures(loop)
        process.raise_descriptors()
        self._make()
        try:
            await self._open()
            self._handle_signals(loop)
            process.warn_of_descriptors(self.config.broker.limits.connections_total_max)
            process.settle_memory()
            ready = self._ready()
            announce(ready)
            log.info("ready", listeners=ready.listeners, admin=ready.admin, data_dir=self.config.data_dir or None)
            self._notifier.ready(f"listening on {', '.join(ready.listeners)}")
            self._beat()
            await self._stopping.wait()
            await self._drain()
        finally:
            await self._end()
        if self._failure is not None:
            raise self._failure

    # ------------------------------------------------------------------------------------------------------- start

    def _make(self) -> None:
        """Access, store, broker: nothing that a client could see."""
        config = self.config
        hooks = plugins.load(config.access.plugins)
        access = build(config.access, partial(read, self._folder), os.urandom, hooks)
        durable = Durable(config) if config.data_dir else None
        kept = durable.load() if durable is not None else Kept()
        journal = durable.journal() if durable is not None else None
        broker = Broker(config.broker, access, int.from_bytes(os.urandom(8), "big"), journal)
        access.bind(broker.counters, broker.notices)
        broker.plugins, broker.rewriter = hooks, config.rewriter()
        host = Host(broker, asyncio.get_running_loop())
        broker.restore(now(), kept)
        if durable is not None:
            durable.start(host, self.fail)
        self.parts = Parts(config, self._folder, access, durable, broker, host)
        self._bridges = Bridges(config.bridge, self.id, broker, host, self._tasks, self.parts.read)
        self._admin = AdminPort(self.parts, self.reload)
        self._reloading = Reloading(self.parts, self._admin)

    async def _open(self) -> None:
        """Listeners and the admin interface."""
        parts = self.parts
        for settings in self.config.listeners():
            parts.listening.append(Listening(settings, parts.host, self._tasks))
        for url in doors_without_keys(self.config):
            log.warning(
                "nobody can connect here from another machine: no authentication is configured",
                listener=url,
                advice="add [access] password_file (weft passwd), or anonymous = true to the listener",
            )
        for each in parts.listening:
            await each.open()
        await self._admin.open()
        self._bridges.start()
        parts.host.wake()

    def _ready(self) -> Ready:
        urls = [url for each in self.parts.listening for url in each.urls]
        return Ready(self.id, os.getpid(), urls, self._admin.url)

    # ------------------------------------------------------------------------------------------------------- serve

    def fail(self, error: Exception) -> None:
        """Something that the broker cannot go on without is broken."""
        self._failure = error
        self._stopping.set()

    def reload(self) -> list[str]:
        """SIGHUP, or the admin interface: what has changed. ``Misuse`` leaves everything as it was."""
        if self._reread is None:
            raise Misuse("there is no configuration file to read again")
        return self._reloading.to(self._reread())

    def _handle_signals(self, loop: asyncio.AbstractEventLoop) -> None:
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(number, self._asked_to_stop, number)
        loop.add_signal_handler(signal.SIGHUP, self._asked_to_reload)

    def _asked_to_stop(self, number: int) -> None:
        if self._stopping.is_set():
            log.warning("a second signal: ending at once", signal=signal.Signals(number).name)
            os._exit(KILLED)
        log.info("draining", signal=signal.Signals(number).name, seconds=self.parts.config.drain_timeout_s)
        self._stopping.set()

    def _asked_to_reload(self) -> None:
        self._notifier.reloading()
        try:
            changed = self.reload()
        except Misuse as error:
            log.error("not reloaded, the old configuration stands", why=str(error))  # noqa: TRY400 - one line is all
        else:
            log.info("reloaded", changed=changed)
        self._notifier.ready("reloaded")

    def _beat(self) -> None:
        """systemd's watchdog: said by the loop, so a loop that hangs is noticed."""
        if self._notifier.watchdog_s is not None:
            self._notifier.beat()
            asyncio.get_running_loop().call_later(self._notifier.watchdog_s, self._beat)

    # --------------------------------------------------------------------------------------------------------- end

    async def _drain(self) -> None:
        """Nobody new; clients are told, and their output leaves."""
        parts = self.parts
        parts.is_draining = True
        self._notifier.stopping()
        self._bridges.stop()
        for each in parts.listening:
            each.close()
        parts.host.begin_drain()
        cut = await parts.host.drained(parts.config.drain_timeout_s)
        if cut:
            log.warning("clients that did not leave in time were cut off", clients=cut)

    async def _end(self) -> None:
        parts = self.parts
        for each in parts.listening:
            each.close()
        await self._admin.close()
        parts.host.flush()
        parts.host.close()
        await self._tasks.close()
        if parts.durable is not None:
            lost = await asyncio.to_thread(parts.durable.close, STORE_CLOSE_S)
            if lost:
                log.error("records could not be written", records=lost)
        if self._stopping.is_set():
            log.info("ended")


def doors_without_keys(config: Config) -> list[str]:
    """Listeners that others can reach though nobody could be let in: they deny everybody, which is safe and rarely meant."""
    access = config.access
    if access.password_file or access.jwt or access.certificate_user or access.plugins:
        return []
    return [
        each.url
        for each in config.listeners()
        if not each.endpoint.is_local and not (access.anonymous if each.anonymous is None else each.anonymous)
    ]


def serve(
    config: Config, reread: Callable[[], Config] | None, source: Path | None, announce: Callable[[Ready], None]
) -> None:
    """Run a broker until it is told to stop; failures are raised."""
    logs.configure(config.log, config.id)

    async def life() -> None:
        await Service(config, reread, source).run(announce)

    with asyncio.Runner(loop_factory=process.new_loop) as runner:
        runner.run(life())
