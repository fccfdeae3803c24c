"""Two brokers in memory and bridges between them: what crosses, step by step, and what happens when a wire is cut.

``Wired`` is a bridge's driver: it carries the bytes of both links to and from the brokers' connections. ``budget`` counts the
pieces that it still carries; at 0 the wire to far is cut, so a test can cut it after each piece.
"""

from typing import Any

from broker_bench import Bench, Client
from weft.broker.access.api import Origin
from weft.broker.bridge.relay import Bridge
from weft.broker.bridge.settings import BridgeSettings, Topic, check
from weft.mqtt.codec.packets import Packet, Puback, Pubcomp, Publish, Pubrec, Pubrel


class End:
    """The driver's end of one connection: bytes wait here until they are carried."""

    def __init__(self, bench: Bench, origin: Origin) -> None:
        self.bench = bench
        connection = bench.broker.accept(bench.now, origin)
        assert connection is not None
        self.connection = connection
        self.arrived: list[bytes] = []
        bench.clients[connection.number] = self  # type: ignore[assignment]

    def flush(self) -> None:
        self.arrived += self.connection.out
        self.connection.out.clear()

    def push(self, data: bytes) -> None:
        self.connection.receive(self.bench.now, data)
        self.bench.tick()


class Wired:
    """One bridge, driven."""

    def __init__(self, near: Bench, far: Bench, *topics: Topic, name: str = "b", **options: Any) -> None:
        settings = BridgeSettings(name, "mqtt://far", list(topics), **options)
        check(settings)
        self.near_bench, self.far_bench = near, far
        broker = near.broker
        self.bridge = Bridge(settings, f"id-{id(near)}", broker.limits, broker.counters, broker.notices)
        for live in broker.routes.filters():
            self.bridge.demand(near.now, live, True)
        broker.routes.watchers.append(lambda filter_, is_added: self.bridge.demand(near.now, filter_, is_added))
        self.near: End | None = None
        self.far: End | None = None
        self.budget: int | None = None

    def dial(self) -> None:
        """A new network connection to far."""
        self.far = End(self.far_bench, Origin("test", "tcp", "127.0.0.1", 2, True))
        self.near = None
        self.bridge.far_opened(self.near_bench.now)
        self.run()

    def run(self) -> None:
        """Carry bytes until nothing moves."""
        while self.step():
            pass

    def step(self) -> bool:
        bridge, now = self.bridge, self.near_bench.now
        if self.far is None:
            return False
        if bridge.wants_near:
            session = self.near_bench.broker.sessions.by_client.get(bridge.client_id)
            self.near = End(self.near_bench, Origin("bridge", "bridge", "b", 0, True))
            bridge.near_opened(now, list(session.subscriptions) if session is not None else ())
            return True
        moved = False
        for end, side in ((self.far, bridge.far), (self.near, bridge.near)):
            if end is None or side is None:
                continue
            if data := side.link.take():
                moved = True
                if not self.carry():
                    return True
                end.push(data)
            elif end.arrived:
                moved = True
                data = end.arrived.pop(0)
                if not self.carry():
                    return True
                (bridge.far_received if end is self.far else bridge.near_received)(now, data)
        if bridge.is_over or self.far.connection.closing:
            self.cut()
            return True
        return moved

    def carry(self) -> bool:
        if self.budget is None:
            return True
        self.budget -= 1
        if self.budget < 0:
            self.cut()
            return False
        return True

    def cut(self) -> None:
        """The wire to far is cut; our broker sees the bridge leave."""
        far, near = self.far, self.near
        self.far = self.near = None
        self.bridge.far_lost(self.near_bench.now, "cut")
        for end in (far, near):
            if end is not None:
                end.connection.lost(end.bench.now, "cut")
                end.bench.tick()

    def later(self, seconds: float) -> None:
        """Time passes for everybody."""
        end = self.near_bench.now + seconds
        while (deadline := self.bridge.deadline) is not None and deadline <= end:
            self._to(max(deadline, self.near_bench.now))
            self.bridge.timeout(self.near_bench.now)
            self.run()
        self._to(end)

    def _to(self, at: float) -> None:
        for bench in (self.near_bench, self.far_bench):
            bench.later(max(0.0, at - bench.now))
        self.run()


def acknowledge(client: Client) -> list[Publish]:
    """Read what has come, answer as QoS wants, until nothing comes any more; the messages, each once at QoS 2."""
    heard: list[Publish] = []
    known: set[int] = set()
    while packets := client.take():
        for packet in packets:
            answer: Packet | None = None
            if isinstance(packet, Publish):
                if packet.qos == 2:
                    answer = Pubrec(packet.packet_id)
                    if packet.packet_id in known:
                        client.send(answer)
                        continue
                    known.add(packet.packet_id)
                elif packet.qos == 1:
                    answer = Puback(packet.packet_id)
                heard.append(packet)
            elif isinstance(packet, Pubrel):
                answer = Pubcomp(packet.packet_id)
                known.discard(packet.packet_id)
            elif isinstance(packet, Pubrec):
                answer = Pubrel(packet.packet_id)
            if answer is not None:
                client.send(answer)
    return heard
