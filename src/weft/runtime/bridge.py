"""The asyncio host of ``broker.bridge``: a socket to far on one side, a connection of our own broker on the other.

``Near`` stands where a client's socket would: the host writes the connection's output to it, and asks it to stop reading. What
is written there is handed to the machine in the next turn of the loop, never inside the host's own tick.
"""

import asyncio
import os
import ssl
from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

import msgspec

from weft.broker.access.api import Origin
from weft.broker.bridge.relay import Bridge
from weft.broker.bridge.settings import BridgeSettings, check_all
from weft.broker.broker import Broker
from weft.broker.routes import BRIDGE
from weft.core.rand import Rng
from weft.mqtt.client.endpoint import Endpoint, TlsFiles, parse
from weft.runtime.client import Retry, Wire, dial, explain
from weft.runtime.clienttls import context
from weft.runtime.clock import now
from weft.runtime.host import Host
from weft.runtime.link import Link
from weft.runtime.tasks import Tasks


class Bridges:
    """All bridges of one broker. ``read`` gives a file that the configuration names, relative to it."""

    def __init__(
        self,
        settings: list[BridgeSettings],
        broker_id: str,
        broker: Broker,
        host: Host,
        tasks: Tasks,
        read: Callable[[Path], bytes],
    ) -> None:
        check_all(settings)
        self.all = [Bridging(each, broker_id, broker, host, prepare(each, read)) for each in settings]
        self._tasks = tasks

    def start(self) -> None:
        """After the store's sessions are back."""
        for each in self.all:
            each.watch()
            self._tasks.spawn(each.run(), f"bridge {each.settings.name}")

    def stop(self) -> None:
        """Before the broker drains: sessions stay, on both sides."""
        for each in self.all:
            each.stop()


class Prepared(msgspec.Struct, frozen=True):
    """What of a bridge's settings lies in files."""

    endpoint: Endpoint
    tls: ssl.SSLContext | None
    password: bytes | None


def prepare(settings: BridgeSettings, read: Callable[[Path], bytes]) -> Prepared:
    """Read the files; ``Misuse`` names what cannot be used."""
    tls = settings.tls
    files = TlsFiles(
        cafile=Path(tls.ca) if tls.ca else None,
        cert=Path(tls.cert) if tls.cert else None,
        key=Path(tls.key) if tls.key else None,
        insecure=tls.insecure,
        server_name=tls.server_name or None,
    )
    endpoint = parse(settings.url, files).endpoint
    password = None
    if settings.password_file:
        password = read(Path(settings.password_file)).split(b"\n", 1)[0].rstrip(b"\r")
    return Prepared(endpoint, context(files) if endpoint.is_secure else None, password)


class Bridging:
    """One bridge. ``Host.clocked`` has it, so its deadlines are the broker's."""

    def __init__(
        self, settings: BridgeSettings, broker_id: str, broker: Broker, host: Host, prepared: Prepared
    ) -> None:
        self.settings = settings
        self.endpoint = prepared.endpoint
        self.machine = Bridge(settings, broker_id, broker.limits, broker.counters, broker.notices, prepared.password)
        self._tls = prepared.tls
        self._broker = broker
        self._host = host
        self._near: Near | None = None
        self._wire: Wire | None = None
        self._heard: list[bytes] = []
        self._stopped = asyncio.Event()
        self._retry = Retry(settings.retry_first_s, settings.retry_max_s)
        self._rng = Rng(int.from_bytes(os.urandom(8), "big"))
        self._was_up = False

    def watch(self) -> None:
        """Local demand, from now on."""
        for filter_ in self._broker.routes.filters():
            self.machine.demand(now(), filter_, True)
        self._broker.routes.watchers.append(lambda filter_, is_added: self.machine.demand(now(), filter_, is_added))
        self._host.clocked.append(self)

    async def run(self) -> None:
        """Dial, relay, and again."""
        attempt = 0
        while not self._stopped.is_set():
            self._was_up = False
            try:
                wire = await dial(self.endpoint, self, self._tls, self.settings.buffer_bytes_max)
            except OSError as error:
                why = explain(error, self.endpoint)
                name = self.settings.name
                self._broker.notices.say_seldom(now(), "warning", "bridge not connected", name, bridge=name, why=why)
                self._host.wake()
            else:
                await wire.gone.wait()
            attempt = 0 if self._was_up else attempt + 1
            try:
                await asyncio.wait_for(self._stopped.wait(), self._retry.wait_s(attempt, self._rng))
            except TimeoutError:
                continue

    def stop(self) -> None:
        self._stopped.set()
        self.machine.stop(now())
        self._carry()

    # ----------------------------------------------------------------------------------------------------- from the host

    @property
    def deadline(self) -> float | None:
        return self.machine.deadline

    def timeout(self, at: float) -> None:
        self.machine.timeout(at)
        self._carry()

    # -------------------------------------------------------------------------------------------------- from far's socket

    def on_open(self, wire: Wire) -> None:
        self._wire = wire
        self.machine.far_opened(now())
        self._carry()

    def on_data(self, data: bytes) -> None:
        self.machine.far_received(now(), data)
        self._carry()

    def on_lost(self, why: str) -> None:
        self.machine.far_lost(now(), why)
        self._carry()
        self._wire = None
        self._let_go(why)

    def on_writable(self, is_writable: bool) -> None:
        near = self._near
        if near is not None:
            near.is_behind = not is_writable
            if is_writable:
                self._host.relieved(near)
            else:
                self._host.pressure.begins(near, self.settings.buffer_bytes_max)

    # ------------------------------------------------------------------------------------------------------ from our broker

    def on_near(self, data: bytes) -> None:
        """What our broker says; the machine hears it in the next turn of the loop."""
        if not self._heard:
            self._host.loop.call_soon(self._hear)
        self._heard.append(data)

    def on_near_reading(self, is_reading: bool) -> None:
        if self._wire is not None:
            self._wire.read(is_reading)

    def on_near_closed(self) -> None:
        self._host.loop.call_soon(self._near_closed)

    def _hear(self) -> None:
        data = b"".join(self._heard)
        self._heard.clear()
        self.machine.near_received(now(), data)
        self._carry()

    def _near_closed(self) -> None:
        self.machine.near_lost(now())
        self._let_go("closed by our broker")
        self._carry()

    # -------------------------------------------------------------------------------------------------------------- within

    def _carry(self) -> None:
        """Bytes of both links to where they belong, until there are none."""
        machine, at = self.machine, now()
        while True:
            if machine.wants_near:
                self._open_near(at)
            far = machine.far.link.take() if machine.far is not None else b""
            if far and self._wire is not None:
                self._wire.write(far)
            near = machine.near.link.take() if machine.near is not None else b""
            if near and self._near is not None:
                self._near.connection.receive(at, near)
            if not near and not machine.wants_near:
                break
        self._was_up = self._was_up or machine.is_relaying
        if machine.is_over and self._wire is not None:
            self._wire.close()
        self._host.wake()

    def _open_near(self, at: float) -> None:
        session = self._broker.sessions.by_client.get(self.machine.client_id)
        kept = [] if session is None else list(session.subscriptions)
        self._let_go("the bridge connects again")
        near = Near(self._host, self)
        self.machine.wants_near = False
        if not self._host.opened(near, Origin(BRIDGE, BRIDGE, self.settings.name, 0, True)):
            self.machine.near_lost(at)  # full, or draining: try again later
            return
        self._near = near
        self.machine.near_opened(at, kept)

    def _let_go(self, why: str) -> None:
        near, self._near = self._near, None
        self._heard.clear()
        if near is not None:
            self._host.gone(near, why)


class Near(Link):
    """The host's view of a bridge: a link whose socket is the machine."""

    __slots__ = ("_bridging",)

    def __init__(self, host: Host, bridging: Bridging) -> None:
        super().__init__(host, cast(Any, None))
        self._bridging = bridging
        self.transport = cast(asyncio.Transport, self)

    def write(self, data: bytes) -> None:
        self._bridging.on_near(data)

    def finish(self) -> None:
        self._bridging.on_near_closed()

    # What the host asks of a transport.

    def abort(self) -> None:
        self._bridging.on_near_closed()

    def pause_reading(self) -> None:
        self._bridging.on_near_reading(False)

    def resume_reading(self) -> None:
        self._bridging.on_near_reading(True)
