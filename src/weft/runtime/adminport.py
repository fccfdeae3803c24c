"""The admin interface of a running broker: what this host lends it, and where it listens."""

import errno
from pathlib import Path
from typing import TYPE_CHECKING

from weft.core.errors import Misuse
from weft.node.addresses import host_and_port
from weft.runtime import logs
from weft.runtime.admin.desk import Desk, LogLevel
from weft.runtime.admin.guard import read_token
from weft.runtime.admin.server import AdminServer
from weft.runtime.clock import now
from weft.runtime.errors import PortTaken

if TYPE_CHECKING:
    from weft.runtime.serve import Service


class AdminPort:
    """In: ``open``, ``close``. Nothing happens where ``admin.listen`` is empty."""

    def __init__(self, service: "Service") -> None:
        self._service = service
        self._server: AdminServer | None = None

    @property
    def url(self) -> str | None:
        return self._server.url if self._server is not None else None

    async def open(self) -> None:
        """``Misuse`` or ``PortTaken`` if it cannot listen."""
        service, settings = self._service, self._service.config.admin
        if not settings.listen:
            return
        host, port = host_and_port(settings.listen, settings.listen)
        desk = Desk(
            service.broker,
            now,
            service.host.wake,
            trouble=lambda: service.trouble,
            gauges=self._gauges,
            reload=self._reload,
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
        file = self._service.config.admin.token_file
        return read_token(Path(file)) if file else None

    def reload(self) -> bool:
        """Read the token again; False: there is nothing to read."""
        if self._server is None or not self._service.config.admin.token_file:
            return False
        self._server.set_token(self.token())
        return True

    async def close(self) -> None:
        if self._server is not None:
            await self._server.stop()
            self._server = None

    def _gauges(self) -> dict[str, float]:
        service = self._service
        found = {"weft_out_buffer_bytes": float(service.host.pressure.total)}
        return found | service.durable.gauges() if service.durable is not None else found

    async def _reload(self) -> list[str]:
        return self._service.reload()
