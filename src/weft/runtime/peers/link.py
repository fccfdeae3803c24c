"""One socket to another broker: bytes to its conversation, and what the conversation says to the socket."""

import asyncio
from typing import Protocol, cast

from weft.node.wire.conversation import Conversation
from weft.node.wire.handshake import Channel
from weft.runtime.peers.tls import binding


class Driver(Protocol):
    """What a link tells the driver."""

    def opened(self, link: "PeerLink", channel: Channel) -> Conversation | None:
        """None: there are too many that have not proved who they are."""

    def heard(self, link: "PeerLink", data: bytes) -> None: ...

    def relieved(self, link: "PeerLink") -> None: ...

    def gone(self, link: "PeerLink", why: str) -> None: ...


class PeerLink(asyncio.Protocol):
    """``ended`` is done when the socket is closed. ``is_behind``: it takes no more for now."""

    def __init__(self, driver: Driver, is_dialler: bool, address: str, is_mutual: bool) -> None:
        self.driver = driver
        self.address = address
        self.conversation: Conversation | None = None
        self.transport: asyncio.Transport = cast("asyncio.Transport", None)
        self.is_behind = False
        self.ended: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._is_dialler = is_dialler
        self._is_mutual = is_mutual

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = cast("asyncio.Transport", transport)
        # What the socket does not take stays with the mesh, where it can still be counted and dropped.
        self.transport.set_write_buffer_limits(high=1, low=0)
        tls = transport.get_extra_info("ssl_object")
        if tls is None:
            channel = Channel(self._is_dialler, self.address)
        else:  # where certificates are asked for, a handshake without one has failed before
            channel = Channel(self._is_dialler, self.address, True, self._is_mutual, binding(tls))
        self.conversation = self.driver.opened(self, channel)
        if self.conversation is None:
            self.transport.abort()

    def data_received(self, data: bytes) -> None:
        if self.conversation is not None:
            self.driver.heard(self, data)

    def connection_lost(self, error: Exception | None) -> None:
        why = "closed by the peer" if error is None else str(error) or type(error).__name__
        self.driver.gone(self, why)
        if not self.ended.done():
            self.ended.set_result(None)

    def pause_writing(self) -> None:
        self.is_behind = True

    def resume_writing(self) -> None:
        self.is_behind = False
        self.driver.relieved(self)
