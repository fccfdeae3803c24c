"""Pub/sub on both overlays while everything goes wrong; when that has stopped, suspend state is right and publications arrive.

A schedule is a function of its seed: a failure is replayed by its number.
"""

import pytest

from pubsub_bench import Bench
from weft.core.ids import NodeId
from weft.core.rand import Rng
from weft.mqtt.topics import matches
from weft.overlay.keys import PUB, filter_parts
from weft.pubsub.boundary import LISTENING, NOBODY
from weft.pubsub.settings import Settings
from weft.pubsub.shapes import is_wild
from weft.sim.des.faults import Bounds as Harm
from weft.sim.des.faults import Crash, CrashRestart, FaultPlan
from weft.sim.des.injection import Injector
from weft.sim.invariants import Broken, RingCheck

QUICK = Settings(join_after=2, idle_s=8.0, check_s=2.0, check_first_s=0.5, rejoin_s=1.0, announce_s=2.0, expire_s=7.0)
TOPICS = ("a", "b/c")
FILTERS = (*TOPICS, *TOPICS, "+", "b/+", "b/#", "#")
KINDS = tuple(kind for kind in FaultPlan.KINDS if kind != "join-storm")
HORIZON_S = 25.0
SETTLE_S = 120.0
STEP_S = 1.0
SEEDS = 12


class Schedule:
    """Brokers subscribe, unsubscribe and publish while faults last; then it must all come right."""

    def __init__(self, overlay: str, seed: int) -> None:
        self.rng = rng = Rng(seed, 11)
        self.nodes = [NodeId(number + 1) for number in range(2 + rng.below(6))]
        kinds = tuple(kind for kind in KINDS if rng.below(2))
        plan = FaultPlan(seed)
        if kinds:
            plan = FaultPlan.random(seed, self.nodes, HORIZON_S, kinds, Harm(down_share_max=0.35), [])
            first = self.nodes[0]  # the others need somebody to join through
            kept = (f for f in plan.faults if not (isinstance(f, Crash | CrashRestart) and f.node == first))
            plan = FaultPlan(plan.seed, tuple(kept))
        self.plan = plan
        self.wanted: set[tuple[int, str]] = set()
        self.injector = Injector(plan, make=self._life, rejoin=self._rejoin)
        self.bench = Bench(overlay, 0, QUICK, seed=seed, faults=self.injector)

    def _life(self, node, run):
        self.wanted -= {(node, topic) for topic in FILTERS}
        return self.bench.life(node, run)

    def _rejoin(self, engine, now, out):
        others = tuple(node for node in self.bench.engines if node != engine.node)
        engine.start(now, others, out)

    def run(self) -> None:
        bench, rng = self.bench, self.rng
        for node in self.nodes:
            bench.add(node)
            bench.wait(0.2)
        while bench.simulation.now < max(HORIZON_S, self.plan.over_at):
            self._act(rng.choice(self.nodes), rng.choice(FILTERS), rng.choice(TOPICS))
            bench.wait(rng.uniform(0.0, 1.0))
        silent = rng.choice(TOPICS)
        for node, wanted in sorted(self.wanted):
            if matches(wanted, silent) and rng.below(4):
                self._unsubscribe(node, wanted)
        self._until(self._whole)
        self._until(self._informed)
        self._until(self._suspended_rightly)
        for topic in TOPICS:
            for node in list(bench.engines):
                self._publish(node, topic)
        assert bench.violations() == 0

    # What brokers are told (a paused one hears it later, one that is down never)

    def _act(self, node: NodeId, wanted: str, topic: str) -> None:
        kind = self.rng.below(5)
        if kind == 0:
            self.bench.do(node, lambda engine, now, out: self._subscribe(engine, now, wanted, out))
        elif kind == 1:
            self._unsubscribe(node, wanted)
        elif kind == 2:  # a signal went astray, another came late
            self.bench.mislead(self.rng.below(2), node, topic=topic)
        else:
            self.bench.publish(node, topic, reliable=bool(self.rng.below(2)))

    def _subscribe(self, engine, now, topic, out) -> None:
        if (engine.node, topic) not in self.wanted:
            self.wanted.add((engine.node, topic))
            engine.subscribe(now, topic, out)

    def _unsubscribe(self, node: NodeId, topic: str) -> None:
        def call(engine, now, out):
            if (node, topic) in self.wanted:
                self.wanted.discard((node, topic))
                engine.unsubscribe(now, topic, out)

        self.bench.do(node, call)

    # What must hold

    def _until(self, holds) -> None:
        since = self.bench.simulation.now
        while True:
            try:
                holds()
            except Broken:
                if self.bench.simulation.now - since > SETTLE_S:
                    raise
            else:
                return
            self.bench.wait(STEP_S)

    def _whole(self) -> None:
        """The ring is one, and everybody is in it with the nodes that it wants: no more, no fewer."""
        peers = [engine.port.overlay for engine in self.bench.engines.values()]
        RingCheck().at_rest(peers)
        for node, engine in self.bench.engines.items():
            held = engine.nodes.held
            if set(held) != set(engine.port.overlay.keys()) or engine.nodes.home not in held:
                raise Broken(f"broker {node} wants {held}, is in the ring with {engine.port.overlay.keys()}")
        for topic in FILTERS:
            wanted = {node for node, wanted in self.wanted if wanted == topic and node in self.bench.engines}
            if self.bench.subscribers(topic) != wanted:
                raise Broken(f"{self.bench.subscribers(topic)} subscribe to {topic}, wanted {wanted}")

    def _informed(self) -> None:
        """Everybody knows each shape with wildcards that somebody uses, and no other."""
        live = {filter_parts(wanted)[0] for node, wanted in self.wanted if node in self.bench.engines}
        live = {shape for shape in live if is_wild(shape)}
        for node, engine in self.bench.engines.items():
            engine.shapes.places(self.bench.simulation.now, TOPICS[0])  # forgets those that have expired
            if set(engine.shapes.live) != live:
                raise Broken(f"broker {node} knows {sorted(engine.shapes.live)}, live are {sorted(live)}")

    def _suspended_rightly(self) -> None:
        """Who is in ``pub`` knows whether anybody is in ``alm``; one of them is the rp; who subscribes is not in ``pub``."""
        for topic in FILTERS:
            place = filter_parts(topic)
            members, subscribers = self.bench.segment(PUB, topic), self.bench.subscribers(topic)
            right = LISTENING if subscribers else NOBODY
            topics = {key.broker: self.bench.engine(key.broker).publishers.topics for key in members}
            states = {broker: known[place] for broker, known in topics.items() if place in known}
            if len(states) < len(members):
                raise Broken(f"{topic}: some of {members} are on their way out")
            if [key.broker for key in members if states[key.broker].edge] != [key.broker for key in members[-1:]]:
                raise Broken(f"{topic}: the rp is not the last of {members}")
            wrong = {broker: state.answer for broker, state in states.items() if state.answer != right}
            if wrong or subscribers & set(states):
                raise Broken(f"{topic}: wrong are {wrong}, subscribers {subscribers}")

    def _publish(self, node: NodeId, topic: str) -> None:
        """Every subscriber hears it once; where nobody subscribes it costs nothing."""
        bench, engine = self.bench, self.bench.engine(node)
        for _ in range(QUICK.join_after):  # from now on it is in pub, if it is no subscriber
            bench.publish(node, topic)
        self._until(self._whole)
        self._until(self._suspended_rightly)
        bench.mislead(NOBODY if bench.subscribers(topic) else LISTENING, node, topic=topic)
        bench.publish(node, topic)
        self._until(self._suspended_rightly)
        subscribers = {each for each, wanted in self.wanted if matches(wanted, topic) and each in bench.engines}
        suspended, scatters = engine.counts["publish.suspended"], bench.sent()["Scatter"]
        body = bench.publish(node, topic, reliable=True)
        bench.wait(4 * STEP_S)
        assert bench.arrived[body] == {each: 1 for each in subscribers if each != node}, (node, topic)
        if not subscribers:
            assert engine.counts["publish.suspended"] == suspended + 1, (node, topic)
            assert bench.sent()["Scatter"] == scatters, (node, topic)


@pytest.mark.parametrize("seed", range(SEEDS))
@pytest.mark.parametrize("overlay", ["suzaku", "skipgraph"])
def test_after_faults_suspend_state_is_right_and_publications_arrive_once(overlay, seed):
    Schedule(overlay, seed).run()


def test_the_schedules_are_worth_running():
    """Among them are faults, topics with subscribers and without, publishers that were suspended, and repairs."""
    runs = [Schedule("suzaku", seed) for seed in range(SEEDS)]
    for run in runs:
        run.run()
    heard = [{wanted for _, wanted in run.wanted if matches(wanted, topic)} for run in runs for topic in TOPICS]
    assert any(len(wanted) > 1 for wanted in heard)
    assert any(not wanted for wanted in heard)
    assert sum(len(run.plan.faults) for run in runs) > SEEDS
    for what in ("suspended", "resumed", "repaired.i", "repaired.ii"):
        assert sum(run.bench.counts(what) for run in runs) > 0, what
