"""Brokers with pub/sub on a real overlay in the simulator: told what to do by number, asked what came of it."""

from collections import Counter
from typing import Any

from weft.core.ids import NodeId
from weft.core.machine import Event, Outbox
from weft.overlay.keys import ALM, PUB, Key, filter_parts
from weft.overlay.settings import Settings as OverlaySettings
from weft.overlay.spread.messages import Scatter
from weft.pubsub.boundary import place_of
from weft.pubsub.engine import Arrived, Engine
from weft.pubsub.messages import Signal
from weft.pubsub.publishers import Publisher
from weft.pubsub.settings import Settings
from weft.sim.des.engine import Faults, Simulation
from weft.sim.des.network import Uniform
from weft.sim.overlays import make
from weft.sim.schedule import SETTINGS as QUICK

QUIET = OverlaySettings(ping_interval_s=None, update_interval_s=None, lost_interval_s=None, walk_interval_s=None)
"""An overlay that sends nothing by itself, so that what is counted is what pub/sub did."""
NEVER_S = 1e6
CALM = Settings(join_after=1, idle_s=NEVER_S, check_s=NEVER_S, check_first_s=NEVER_S)
"""Publishers that join at once and stay, and do not look whether a signal was lost."""


class Bench:
    """``count`` brokers, numbered from 1; broker n is in cluster n modulo ``clusters``."""

    def __init__(
        self,
        overlay: str,
        count: int,
        settings: Settings = CALM,
        quick: OverlaySettings = QUICK,
        seed: int = 1,
        faults: Faults | None = None,
        clusters: int = 2,
    ) -> None:
        self.clusters = clusters
        self.kind, self.settings, self.overlay_settings, self.seed = overlay, settings, quick, seed
        self.simulation = Simulation(seed, Uniform(0.005), faults)
        self.simulation.on_deliver = self._heard
        self.arrived: dict[bytes, Counter[NodeId]] = {}
        self._published = 0
        for number in range(1, count + 1):
            self.add(number)
            self.wait(0.5)
        self.wait(5.0)

    def life(self, number: int, run: int = 0) -> Engine:
        node = NodeId(number)
        overlay = make(self.kind, node, self.overlay_settings, self.seed, run)
        return Engine(node, overlay, (f"c{number % self.clusters}",), self.settings, self.seed, run)

    def add(self, number: int) -> None:
        self.simulation.add(NodeId(number), self.life(number))
        self.start(number)

    def start(self, number: int) -> None:
        others = tuple(node for node in self.simulation.machines if node != number)
        self.do(number, lambda engine, now, out: engine.start(now, others, out))

    # what a test does

    def do(self, number: int, call: Any) -> Any:
        results: list[Any] = []
        node = NodeId(number)
        self.simulation.do(node, lambda engine, now, out: results.append(call(engine, now, out)))
        self.simulation.run(until=self.simulation.now)
        return results[0] if results else None

    def wait(self, seconds: float = 3.0) -> None:
        self.simulation.run(until=self.simulation.now + seconds)

    def subscribe(self, *numbers: int, topic: str = "t") -> None:
        for number in numbers:
            self.do(number, lambda engine, now, out: engine.subscribe(now, topic, out))
        self.wait()

    def unsubscribe(self, *numbers: int, topic: str = "t") -> None:
        for number in numbers:
            self.do(number, lambda engine, now, out: engine.unsubscribe(now, topic, out))
        self.wait()

    def publish(self, number: int, topic: str = "t", reliable: bool = False) -> bytes:
        """The body, which is another each time."""
        self._published += 1
        body = b"%d" % self._published
        self.arrived[body] = Counter()
        self.do(number, lambda engine, now, out: engine.publish(now, topic, body, out, reliable=reliable))
        return body

    def way(self, number: int, topic: str = "t") -> tuple[bytes, list[tuple[NodeId, NodeId]]]:
        """``number`` publishes; the body, and who sent it to whom."""
        crossed: dict[int, tuple[NodeId, NodeId]] = {}

        def look(simulation: Simulation) -> None:
            for source, to, message in simulation.in_flight:
                if type(message) is Scatter:
                    crossed[id(message)] = source, to
                    kept.append(message)

        kept: list[Any] = []  # so that no other message gets the id of one that is over
        self.simulation.observers.append(look)
        body = self.publish(number, topic)
        self.wait()
        self.simulation.observers.remove(look)
        return body, list(crossed.values())

    def publishers(self, *numbers: int, topic: str = "t") -> None:
        """Each of them is in ``pub`` after this."""
        for number in numbers:
            self.publish(number, topic)
            self.wait()

    def mislead(self, answer: int, *numbers: int, topic: str = "t") -> None:
        """An old signal reaches each of them late."""
        signal = Signal(filter_parts(topic), answer)
        for number in numbers:
            self.do(number, lambda engine, now, out: engine.receive(now, NodeId(1), signal, out))

    def cut(self, number: int) -> None:
        """``number`` crashes."""
        self.simulation.crash(NodeId(number))

    # what a test looks at

    def engine(self, number: int) -> Engine:
        return self.simulation.machines[NodeId(number)]  # type: ignore[return-value]

    @property
    def engines(self) -> dict[NodeId, Engine]:
        return self.simulation.machines  # type: ignore[return-value]

    def publisher(self, number: int, topic: str = "t") -> Publisher:
        return self.engine(number).publishers.topics[filter_parts(topic)]

    def segment(self, segment: Any = PUB, topic: str = "t") -> list[Key]:
        """Who is in it, in order."""
        keys = [key for engine in self.engines.values() for key in engine.port.overlay.keys()]
        return sorted(key for key in keys if key.segment == segment and place_of(key) == filter_parts(topic))

    def rp(self, topic: str = "t") -> int:
        return self.segment(PUB, topic)[-1].broker

    def subscribers(self, topic: str = "t") -> set[int]:
        return {key.broker for key in self.segment(ALM, topic)}

    def sends(self, *numbers: int, topic: str = "t") -> list[bool]:
        return [self.publisher(number, topic).sends for number in numbers]

    def sent(self) -> Counter[str]:
        return self.simulation.sent

    def cost(self, call: Any, seconds: float = 3.0) -> Counter[str]:
        """The messages that ``call()`` led to."""
        before = Counter(self.sent())
        call()
        self.wait(seconds)
        return Counter(self.sent()) - before

    def counts(self, what: str) -> int:
        return sum(engine.counts[what] for engine in self.engines.values())

    def violations(self) -> int:
        overlays = [engine.port.overlay for engine in self.engines.values()]
        return self.counts("violation") + sum(peer.local.counts["violation"] for peer in overlays)  # type: ignore[attr-defined]

    def _heard(self, now: float, node: NodeId, event: Event, out: Outbox) -> None:
        assert isinstance(event, Arrived)
        self.arrived[event.body][node] += 1
