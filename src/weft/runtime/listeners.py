"""Listeners: a configured URL, its sockets, and the links of whoever connects there."""

import asyncio
import socket
import ssl
from functools import partial

from weft.node.config import Listener
from weft.runtime import sockets
from weft.runtime.accepting import Accepting
from weft.runtime.host import Host
from weft.runtime.link import Link
from weft.runtime.origins import Origins
from weft.runtime.tasks import Tasks
from weft.runtime.tcp import TcpLink
from weft.runtime.tls import Tls
from weft.runtime.websocket import WebSocketLink


class Listening:
    """One open listener. ``urls``: what it is bound to, with real ports."""

    def __init__(self, settings: Listener, host: Host, tasks: Tasks) -> None:
        """Reads certificates and binds; ``Misuse`` or ``PortTaken`` if that cannot be."""
        self.settings = settings
        self._host = host
        self._tasks = tasks
        self._endpoint = settings.endpoint
        self._origins = Origins(settings.url, self._endpoint.transport, settings.mount, settings.anonymous)
        protocols = ["http/1.1"] if self._endpoint.is_websocket else ["mqtt"]
        self._tls = Tls(settings.tls, protocols) if settings.tls is not None else None
        self._sockets = sockets.bind(self._endpoint, settings.url, settings.backlog, settings.mode)
        self._servers: list[asyncio.Server] = []
        self._accepting: list[asyncio.Task[None]] = []
        self.urls = [self._bound(each) for each in self._sockets]

    async def open(self) -> None:
        """Accept from now on."""
        loop = asyncio.get_running_loop()
        for each in self._sockets:
            if self._tls is not None or self.settings.proxy is not None:
                broker = self._host.broker
                accepting = Accepting(
                    each,
                    self.settings,
                    self._origins,
                    self._make,
                    self._tls,
                    broker.counters,
                    broker.notices,
                    self._tasks,
                )
                self._accepting.append(self._tasks.spawn(accepting.run(), f"accepting on {self.settings.url}"))
            elif self._endpoint.scheme == "unix":
                server = await loop.create_unix_server(partial(self._make, self._origins), sock=each)
                self._servers.append(server)
            else:
                make = partial(self._make, self._origins)
                server = await loop.create_server(make, sock=each, backlog=self.settings.backlog)
                self._servers.append(server)

    def close(self) -> None:
        """Accept no more; connections stay."""
        for task in self._accepting:
            task.cancel()
        for server in self._servers:
            server.close()
        for each in self._sockets:
            each.close()
        if self._endpoint.scheme == "unix":
            sockets.remove_unix(self._endpoint.path)
        self._accepting, self._servers, self._sockets = [], [], []

    def prepare(self) -> ssl.SSLContext | None:
        """Read the certificates again, without using them yet; None: there are none."""
        return self._tls.build() if self._tls is not None else None

    def use(self, context: ssl.SSLContext) -> None:
        """For handshakes from now on."""
        assert self._tls is not None
        self._tls.context = context

    def _make(self, origins: Origins) -> Link:
        if self._endpoint.is_websocket:
            return WebSocketLink(self._host, origins, self.settings.websocket)
        return TcpLink(self._host, origins)

    def _bound(self, listening: socket.socket) -> str:
        if self._endpoint.scheme == "unix":
            return self._endpoint.url()
        host, port = listening.getsockname()[:2]
        return self._endpoint.url(host, port)
