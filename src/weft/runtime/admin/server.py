"""The admin interface's listener: starts, bounds, guards, answers, stops."""

import asyncio
import socket
import ssl
from collections.abc import Awaitable, Sequence

from weft.core.errors import Misuse
from weft.runtime.admin.desk import Desk
from weft.runtime.admin.endpoints import TABLE
from weft.runtime.admin.exchange import Problem, Reply, Request
from weft.runtime.admin.guard import Guard, require_token
from weft.runtime.admin.lag import LagMeter
from weft.runtime.admin.router import Asked, Endpoint, Router, read_body, read_query
from weft.runtime.admin.wire import Bounds, Wire

PORT = 9883
BACKLOG = 64
HANDSHAKE_S = 10.0


class AdminServer:
    """In: ``start``, requests. Out: answers. ``url`` says where, once started.

    ``token`` may be replaced while it runs; without one, only loopback addresses are listened on.
    """

    def __init__(
        self,
        desk: Desk,
        *,
        host: str = "127.0.0.1",
        port: int = PORT,
        token: str | None = None,
        tls: ssl.SSLContext | None = None,
        bounds: Bounds | None = None,
        endpoints: Sequence[Endpoint] = TABLE,
    ) -> None:
        self.desk = desk
        self.bounds = bounds or Bounds()
        self.addresses: list[tuple[str, int]] = []
        self._host = host
        self._port = port
        self._tls = tls
        self._guard = Guard(token)
        self._router = Router(endpoints)
        self._wires: dict[Wire, None] = {}
        """In the order in which they came."""
        self._servers: list[asyncio.Server] = []
        self._lag: LagMeter | None = None

    @property
    def url(self) -> str:
        """Where the interface is, for people and for ``weft ctl``."""
        host, port = self.addresses[0]
        return f"{'https' if self._tls else 'http'}://{f'[{host}]' if ':' in host else host}:{port}"

    def set_token(self, token: str | None) -> None:
        """From now on; refused if that would open an address to everybody."""
        for host, _ in self.addresses:
            require_token(host, token)
        self._guard = Guard(token)

    async def start(self) -> None:
        """Listen on every address that ``host`` means. Raises ``Misuse``, or ``OSError`` if an address cannot be had."""
        loop = asyncio.get_running_loop()
        try:
            found = await loop.getaddrinfo(
                self._host or None, self._port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE | socket.AI_NUMERICSERV
            )
        except socket.gaierror as error:
            raise Misuse(f"the admin interface cannot listen on {self._host}: {error.strerror}") from error
        hosts = list(dict.fromkeys(str(address[0]) for *_, address in found))
        for host in hosts:
            require_token(host, self._guard.token)
        port = self._port
        try:
            for host in hosts:
                server = await loop.create_server(
                    lambda: Wire(self),
                    host,
                    port,
                    backlog=BACKLOG,
                    ssl=self._tls,
                    ssl_handshake_timeout=HANDSHAKE_S if self._tls else None,
                )
                self._servers.append(server)
                port = server.sockets[0].getsockname()[1]  # port 0: the same one on all addresses
                self.addresses.append((host, port))
        except OSError:
            await self.stop()
            raise
        self._lag = LagMeter(loop, self.desk.histograms["weft_loop_lag_seconds"])

    async def stop(self) -> None:
        """Close everything; answers that are written leave."""
        if self._lag is not None:
            self._lag.stop()
        for server in self._servers:
            server.close()
        for wire in list(self._wires):
            wire.close()
        for server in self._servers:
            await server.wait_closed()
        self._servers = []
        self.addresses = []

    # ------------------------------------------------------------------------------------------------ for the wires

    def joined(self, wire: Wire) -> bool:
        """One more connection. If there are too many, the oldest that has not shown that it may ask has to go."""
        if len(self._wires) >= self.bounds.connections_max:
            self.desk.broker.counters["weft_admin_refused_total"] += 1
            stranger = next((other for other in self._wires if not other.trusted), None)
            if stranger is None:
                return False
            del self._wires[stranger]
            stranger.abort()
        self._wires[wire] = None
        return True

    def left(self, wire: Wire) -> None:
        self._wires.pop(wire, None)

    def admit(self, request: Request) -> None:
        """Who may ask is decided before a body is read."""
        self.desk.broker.counters["weft_admin_requests_total"] += 1
        try:
            endpoint, _ = self._router.find(request.method, request.path)
        except Problem:
            self._check(request)  # who may not ask does not learn what there is
            raise
        if not endpoint.is_open:
            self._check(request)

    def _check(self, request: Request) -> None:
        try:
            self._guard.check(request.headers)
        except Problem:
            self.desk.broker.counters["weft_admin_refused_total"] += 1
            raise

    def answer(self, request: Request) -> Reply | Awaitable[Reply]:
        """Decode, handle; a mistake of ours is a 500 and a line in the log, without its particulars in the answer."""
        begun = self._time()
        try:
            endpoint, path = self._router.find(request.method, request.path)
            query = read_query(request.query, endpoint.query) if endpoint.query is not None else None
            body = read_body(request, endpoint.body) if endpoint.body is not None else None
            found = endpoint.handler(self.desk, Asked(path, query, body, request.headers))
            return found if isinstance(found, Reply) else self._later(request, found)
        except Problem:
            raise
        except Misuse as misuse:
            raise Problem(400, str(misuse)) from misuse
        except Exception as error:
            raise self._mistake(request, error) from error
        finally:
            self.desk.histograms["weft_admin_request_seconds"].observe(self._time() - begun)

    async def _later(self, request: Request, reply: Awaitable[Reply]) -> Reply:
        try:
            return await reply
        except Problem:
            raise
        except Misuse as misuse:
            raise Problem(400, str(misuse)) from misuse
        except Exception as error:
            raise self._mistake(request, error) from error

    def _mistake(self, request: Request, error: Exception) -> Problem:
        broker = self.desk.broker
        broker.counters["weft_admin_errors_total"] += 1
        what = f"{type(error).__name__}: {error}"
        broker.notices.say_seldom(
            self.desk.clock(), "error", "admin request failed", request.path, path=request.path, error=what
        )
        return Problem(500, "the broker could not answer this; its log says why")

    @staticmethod
    def _time() -> float:
        return asyncio.get_running_loop().time()
