"""MQTT on a stream of bytes: TCP, TLS, unix sockets. ``data_received`` is the hot path of all input."""

from weft.runtime.clock import now
from weft.runtime.link import Link


class TcpLink(Link):
    """See the module."""

    __slots__ = ()

    def data_received(self, data: bytes) -> None:
        if not self.is_closing:
            self.connection.receive(now(), data)
            host = self.host
            if not host.is_awake:
                host.wake()
