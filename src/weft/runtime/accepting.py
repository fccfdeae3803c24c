"""Accepting where something comes before MQTT: a TLS handshake, a PROXY header.

Plain listeners leave accepting to the loop. Here each connection has a task until its handshake is over; their number and their
time are bounded, so that clients that never finish cost a listener little.
"""

import asyncio
import contextlib
import errno
import ipaddress
import socket
from collections.abc import Callable

from weft.broker.notices import Notices
from weft.core.errors import Violation
from weft.node.config import Listener
from weft.runtime import proxy
from weft.runtime.clock import now
from weft.runtime.link import Link
from weft.runtime.origins import Origins, ProxiedOrigins, plain
from weft.runtime.tasks import Tasks
from weft.runtime.tls import Tls
from weft.telemetry.counters import Counters

HANDSHAKES_MAX = 2_000
"""Connections of one listener whose handshake is under way; whoever comes then is closed at once."""

PAUSE_S = 0.2
"""After an error of ``accept`` (no file descriptor left), before trying again."""

REFUSED = {"handshake": "weft_handshakes_refused_total", "proxy": "weft_proxies_refused_total"}

FULL = {errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM}


class Accepting:
    """One listening socket. ``make`` builds the link for a connection, given its origins."""

    def __init__(
        self,
        listening: socket.socket,
        listener: Listener,
        origins: Origins,
        make: Callable[[Origins], Link],
        tls: Tls | None,
        counters: Counters,
        notices: Notices,
        tasks: Tasks,
    ) -> None:
        self._listening = listening
        self._listener = listener
        self._origins = origins
        self._make = make
        self._tls = tls
        self._counters = counters
        self._notices = notices
        self._tasks = tasks
        self._trusted = listener.proxy.networks() if listener.proxy is not None else []
        self._shaking = 0

    async def run(self) -> None:
        """Accept until cancelled."""
        loop = asyncio.get_running_loop()
        while True:
            try:
                peer, address = await loop.sock_accept(self._listening)
            except OSError as error:
                if error.errno in FULL:
                    self._notices.say_seldom(now(), "error", "cannot accept", self._listener.url, why=error.strerror)
                    await asyncio.sleep(PAUSE_S)
                continue
            if self._shaking >= HANDSHAKES_MAX or self._tasks.is_full:
                self._refused("handshake", plain(address)[0], "too many handshakes under way")
                peer.close()
                continue
            self._shaking += 1
            self._tasks.spawn(self._welcome(peer, plain(address)[0]), f"handshake on {self._listener.url}")

    async def _welcome(self, peer: socket.socket, address: str) -> None:
        """What comes before MQTT, then the link."""
        try:
            origins = self._origins
            if self._listener.proxy is not None:
                origins = ProxiedOrigins(origins, await self._proxied(peer, address))
            await self._connect(peer, origins)
        except Violation as violation:
            self._refused("proxy", address, str(violation))
            peer.close()
        except (OSError, TimeoutError) as error:  # ssl.SSLError is an OSError
            self._refused("handshake", address, getattr(error, "reason", None) or str(error) or type(error).__name__)
            peer.close()
        except asyncio.CancelledError:
            peer.close()
            raise
        finally:
            self._shaking -= 1

    async def _connect(self, peer: socket.socket, origins: Origins) -> None:
        loop = asyncio.get_running_loop()
        if self._tls is None:
            await loop.connect_accepted_socket(lambda: self._make(origins), peer)
            return
        assert self._listener.tls is not None
        await loop.connect_accepted_socket(
            lambda: self._make(origins),
            peer,
            ssl=self._tls.context,
            ssl_handshake_timeout=self._listener.tls.handshake_timeout_s,
        )

    async def _proxied(self, peer: socket.socket, address: str) -> proxy.Proxied:
        """The header, read to its end and not a byte further."""
        assert self._listener.proxy is not None
        if address and not any(ipaddress.ip_address(address) in network for network in self._trusted):
            raise Violation("not a trusted proxy")
        loop = asyncio.get_running_loop()
        header = b""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(self._listener.proxy.timeout_s):
                while (size := proxy.missing(header)) > 0:
                    more = await loop.sock_recv(peer, size)
                    if not more:
                        raise Violation("closed before its PROXY header was complete")
                    header += more
                return proxy.parse(header)
        raise Violation("the PROXY header took too long")

    def _refused(self, what: str, address: str, why: str) -> None:
        self._counters[REFUSED[what]] += 1
        said = f"{what} refused"
        self._notices.say_seldom(now(), "info", said, address, listener=self._listener.url, address=address, why=why)
