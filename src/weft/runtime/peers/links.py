"""The driver of a mesh: what arrives goes in at once, what comes out is written once per connection and tick.

As in ``runtime/host``: sockets hand over what they have read, the first of them asks for ``flush`` at the end of the tick, and
that writes, closes, starts dialling, logs, and arms the one timer. There is no task per message, and none per open link
but the keeper that waits for its end.
"""

import asyncio
import errno
import os
import socket
from collections.abc import Callable

import structlog

from weft.core.errors import Misuse
from weft.core.ids import NodeId
from weft.core.machine import Message
from weft.node.addresses import Endpoint
from weft.node.wire.conversation import Conversation, State
from weft.node.wire.handshake import NONCE_BYTES, Channel, Identity, Trust
from weft.node.wire.mesh import Heard, Mesh
from weft.node.wire.settings import Settings
from weft.runtime.clock import now
from weft.runtime.peers.link import PeerLink
from weft.runtime.peers.seeds import Address
from weft.runtime.peers.tls import PeerTls
from weft.runtime.sockets import bind
from weft.runtime.tasks import Tasks

OPENING_MAX = 256
"""Connections that have not proved who they are; whoever comes then is closed at once."""

BACKLOG = 256
DIAL_S = 10.0
"""For TCP and TLS; the handshake of the mesh has a time of its own."""

CLOSE_GRACE_S = 5.0
"""How long a socket that is to be closed may take to send what was written."""

PAUSE_S = 0.2
"""After an error of ``accept`` (no file descriptor left), before trying again."""

TIMER_S_MIN = 0.001
FULL = {errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM}

log = structlog.get_logger("weft.peers")


class Links:
    """In: ``listen``, ``dial``, ``send``, ``close``. Out: ``heard`` of the mesh; ``on_wanted`` with who should be dialled."""

    def __init__(
        self,
        identity: Identity,
        trust: Trust,
        heard: Heard,
        tasks: Tasks,
        tls: PeerTls | None = None,
        settings: Settings | None = None,
    ) -> None:
        if tls is None and not trust.plaintext:
            raise Misuse("links between brokers need TLS, or plaintext = true if the network is trusted")
        if tls is not None and not tls.is_mutual and trust.key is None and not trust.plaintext:
            raise Misuse("links between brokers need a cluster key, or an authority for certificates")
        self.mesh = Mesh(identity, trust, heard, settings)
        self.tasks = tasks
        self.on_wanted: Callable[[NodeId], None] = lambda node: None
        self._tls = tls
        self._loop = asyncio.get_running_loop()
        self._links: dict[Conversation, PeerLink] = {}
        self._listening: list[tuple[socket.socket, asyncio.Task[None]]] = []
        self._shaking = 0
        self._is_awake = False
        self._timer: asyncio.TimerHandle | None = None
        self._timer_at = 0.0
        self._has_new = False
        """There is a connection that the timer does not know of."""

    # ------------------------------------------------------------------------------------------------ from above

    def listen(self, host: str, port: int) -> int:
        """Accept on ``host`` ("": all addresses); the port that was given, which for 0 is any that is free."""
        found = bind(Endpoint("weft", host, port), f"weft://{host}:{port}", BACKLOG)
        for each in found:
            self._listening.append((each, self.tasks.spawn(self._accept(each), f"peers on {host}:{port}")))
        return int(found[0].getsockname()[1])

    async def dial(self, address: Address) -> PeerLink | None:
        """A connection to ``address``, or None if there is none to be had."""
        host, port = address

        def make() -> PeerLink:
            return PeerLink(self, True, f"{host}:{port}", self._tls is not None and self._tls.is_mutual)

        context = self._tls.dialling if self._tls is not None else None
        try:
            async with asyncio.timeout(DIAL_S):
                _, link = await self._loop.create_connection(
                    make, host, port, ssl=context, server_hostname="" if context is not None else None
                )
        except (OSError, TimeoutError) as error:
            self.mesh.counts["dials.failed"] += 1
            why = getattr(error, "strerror", None) or str(error) or type(error).__name__
            self._say_seldom("info", "cannot reach a peer", f"{host}:{port}", why)
            return None
        return link

    def send(self, to: NodeId, message: Message) -> None:
        """Queue ``message``; it is written at the end of this tick."""
        self.mesh.send(now(), to, message)
        self.wake()

    async def close(self) -> None:
        """Say bye, write what is left, close all."""
        for _, accepting in self._listening:
            accepting.cancel()
        await asyncio.gather(*(accepting for _, accepting in self._listening), return_exceptions=True)
        for each, _ in self._listening:
            each.close()
        self.mesh.close(now())
        self.flush()
        links = list(self._links.values())
        if links:
            await asyncio.wait([link.ended for link in links], timeout=CLOSE_GRACE_S)
        for link in list(self._links.values()):
            link.transport.abort()
        if self._timer is not None:
            self._timer.cancel()

    def wake(self) -> None:
        """Something happened: ``flush`` at the end of this tick."""
        if not self._is_awake:
            self._is_awake = True
            self._loop.call_soon(self.flush)

    # ------------------------------------------------------------------------------------------------ from links

    def opened(self, link: PeerLink, channel: Channel) -> Conversation | None:
        if sum(each.state is State.OPENING for each in self._links) >= OPENING_MAX:
            self._refused(link.address, "too many connections that have not proved who they are")
            return None
        conversation = self.mesh.connect(now(), channel, os.urandom(NONCE_BYTES))
        self._links[conversation] = link
        self._has_new = True
        self.wake()
        return conversation

    def heard(self, link: PeerLink, data: bytes) -> None:
        assert link.conversation is not None
        try:
            self.mesh.receive(now(), link.conversation, data)
        except Exception:  # a bug met this link; it pays, the others go on
            log.exception("internal error while hearing a peer", peer=link.address)
            link.transport.abort()
        self.wake()

    def relieved(self, link: PeerLink) -> None:
        if link.conversation is not None:
            self.mesh.dirty[link.conversation] = None
            self.wake()

    def gone(self, link: PeerLink, why: str) -> None:
        conversation = link.conversation
        if conversation is not None and self._links.pop(conversation, None) is not None:
            conversation.lost(now(), why)
            self.wake()

    # --------------------------------------------------------------------------------------------------- one tick

    def flush(self) -> None:
        """The end of a tick."""
        self._is_awake = False
        mesh = self.mesh
        dirty = list(mesh.dirty)
        mesh.dirty.clear()
        for conversation in dirty:
            link = self._links.get(conversation)
            if link is not None:
                self._write(link, conversation)
        while mesh.wanted:
            node = next(iter(mesh.wanted))
            del mesh.wanted[node]
            self.on_wanted(node)
        for notice in mesh.notices.take():
            getattr(log, notice.level)(notice.event, **notice.fields)
        self._arm()

    def _write(self, link: PeerLink, conversation: Conversation) -> None:
        while not link.is_behind and (data := self.mesh.take(conversation)):
            link.transport.write(data)
        if conversation.is_over and not link.transport.is_closing():
            link.transport.write(b"".join(conversation.out))  # why it is refused, also to who is behind
            link.transport.close()
            self._loop.call_later(CLOSE_GRACE_S, link.transport.abort)

    def _arm(self) -> None:
        """One timer for whatever is due first; if it fires early because something moved away, it is armed anew.

        What comes to be due earlier than it was (a retired connection) is seen with the next ping, a few seconds late.
        """
        if self._timer is not None and not self._has_new:
            return
        self._has_new = False
        deadline = self.mesh.deadline
        if deadline is None:
            return
        if self._timer is not None:
            if self._timer_at <= deadline:
                return
            self._timer.cancel()
        self._timer_at = deadline
        self._timer = self._loop.call_later(max(TIMER_S_MIN, deadline - now()), self._fire)

    def _fire(self) -> None:
        self._timer = None
        self.mesh.timeout(now())
        if not self._is_awake:
            self.flush()

    # -------------------------------------------------------------------------------------------------- accepting

    async def _accept(self, listening: socket.socket) -> None:
        while True:
            try:
                peer, address = await self._loop.sock_accept(listening)
            except OSError as error:
                if error.errno in FULL:
                    self._say_seldom("error", "cannot accept peers", "", error.strerror or "")
                    await asyncio.sleep(PAUSE_S)
                continue
            if self._shaking >= OPENING_MAX or self.tasks.is_full:
                self._refused(str(address[0]), "too many handshakes under way")
                peer.close()
                continue
            self._shaking += 1
            self.tasks.spawn(self._welcome(peer, str(address[0])), "handshake with a peer")

    async def _welcome(self, peer: socket.socket, address: str) -> None:
        """TLS, if it is asked for; then the link."""
        tls = self._tls

        def make() -> PeerLink:
            return PeerLink(self, False, address, tls is not None and tls.is_mutual)

        try:
            if tls is None:
                await self._loop.connect_accepted_socket(make, peer)
            else:
                await self._loop.connect_accepted_socket(
                    make, peer, ssl=tls.accepting, ssl_handshake_timeout=self.mesh.settings.handshake_s
                )
        except (OSError, TimeoutError) as error:  # ssl.SSLError is an OSError
            self._refused(address, getattr(error, "reason", None) or str(error) or type(error).__name__)
            peer.close()
        except asyncio.CancelledError:
            peer.close()
            raise
        finally:
            self._shaking -= 1

    def _refused(self, address: str, why: str) -> None:
        self.mesh.counts["refused.connection"] += 1
        self._say_seldom("warning", "peer refused", address, why)

    def _say_seldom(self, level: str, event: str, address: str, why: str) -> None:
        self.mesh.notices.say_seldom(now(), level, event, address, address=address, why=why)
        self.wake()
