"""Where a connection came from, as the broker is told: by listener, socket and certificate."""

import asyncio
import ipaddress
from typing import Any

from weft.broker.access.api import Certificate, Origin
from weft.runtime.proxy import Proxied
from weft.runtime.tls import certificate_of


class Origins:
    """Makes origins for one listener. ``transport`` is tcp, tls, ws, wss or unix."""

    __slots__ = ("anonymous", "listener", "mount", "transport")

    def __init__(self, listener: str, transport: str, mount: str = "", anonymous: bool | None = None) -> None:
        self.listener = listener
        self.transport = transport
        self.mount = mount
        self.anonymous = anonymous

    def of(self, transport: asyncio.Transport) -> Origin:
        """The origin of a connection just accepted."""
        address, port = plain(transport.get_extra_info("peername"))
        tls = transport.get_extra_info("ssl_object")
        certificate = None if tls is None else certificate_of(tls)
        return self._make(address, port, is_local(address), certificate)

    def _make(self, address: str, port: int, local: bool, certificate: Certificate | None) -> Origin:
        return Origin(self.listener, self.transport, address, port, local, self.mount, self.anonymous, certificate)


class ProxiedOrigins(Origins):
    """For one connection behind a proxy, which has said whose it is."""

    __slots__ = ("_proxied",)

    def __init__(self, origins: Origins, proxied: Proxied) -> None:
        super().__init__(origins.listener, origins.transport, origins.mount, origins.anonymous)
        self._proxied = proxied

    def of(self, transport: asyncio.Transport) -> Origin:
        """Not local, whatever the address: what stands behind a proxy came over a network."""
        said = super().of(transport)
        proxied = self._proxied
        if not proxied.address:
            return self._make(said.address, said.port, False, proxied.certificate or said.certificate)
        return self._make(proxied.address, proxied.port, False, proxied.certificate or said.certificate)


def plain(peer: Any) -> tuple[str, int]:
    """A peer name as address and port; a unix socket has neither."""
    if isinstance(peer, tuple) and len(peer) >= 2:
        address = str(peer[0])
        return address.removeprefix("::ffff:") if "." in address else address, int(peer[1])
    return "", 0


def is_local(address: str) -> bool:
    """Loopback, or a unix socket; ``address`` is as the system writes it."""
    if ":" not in address:
        return not address or address.startswith("127.")
    try:
        return ipaddress.ip_address(address.partition("%")[0]).is_loopback
    except ValueError:
        return False
