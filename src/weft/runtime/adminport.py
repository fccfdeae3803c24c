"""The admin interface of a running broker: what this host lends it, and where it listens."""

import errno
from collections.abc import Callable
from pathlib import Path

from weft.core.errors import Misuse
from weft.node.addresses import host_and_port
from weft.runtime import logs
from weft.runtime.admin.desk import Desk, LogLevel
from weft.runtime.admin.guard import read_token
from weft.runtime.admin.server import AdminServer
from weft.runtime.clock import now
from weft.runtime.errors import PortTaken
from weft.runtime.parts import Parts


class AdminPort:
    """In: ``open``, ``close``. Nothing happens where ``admin.listen`` is empty."""

    def __init__(self, parts: Parts, reload: Callable[[], list[str]]) -> None:
        self._parts = parts
        self._reload = reload
        self._server: AdminServer | None = None

    @property
    def url(self) -> str | None:
        return self._server.url if self._server is not None else None

    async def open(self) -> None:
        """``Misuse`` or ``PortTaken`` if it cannot listen."""
        parts, settings = self._parts, self._parts.config.admin
        if not settings.listen:
            return
        host, port = host_and_port(settings.listen, settings.listen)
        desk = Desk(
            parts.broker,
            now,
            parts.host.wake,
            trouble=lambda: parts.trouble,
            gauges=parts.gauges,
            reload=self._reloaded,
            log_level=LogLevel(logs.level, logs.set_level),
        )
        server = AdminServer(desk, host=host or "0.0.0.0", port=port, token=self.token())  # noqa: S104 - "" means all
        try:
            await server.start()
        except OSError as error:
            if error.errno == errno.EADDRINUSE:
                raise PortTaken(f"admin {settings.listen}", f"port {port}") from error
            raise Misuse(f"admin {settings.listen}: cannot listen: {error.strerror}") from error
        self._server = server

    def token(self) -> str | None:
        file = self._parts.config.admin.token_file
        return read_token(Path(file)) if file else None

    def reload(self) -> bool:
        """Read the token again; False: there is nothing to read."""
        if self._server is None or not self._parts.config.admin.token_file:
            return False
        self._server.set_token(self.token())
        return True

    async def close(self) -> None:
        if self._server is not None:
            await self._server.stop()
            self._server = None

    async def _reloaded(self) -> list[str]:
        return self._reload()
