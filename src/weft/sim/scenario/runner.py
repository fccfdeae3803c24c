"""Runs a scenario: its steps at their times, its faults, its expectations; one ``Outcome`` comes of it.

Each step is an action of the driver and gives commands to brokers; those of one step come in the order of its brokers,
``every_s`` apart. Expectations of multicasts, anycasts and lookups are looked at when the run is over, those of ``check``
at their time.
"""

from collections.abc import Callable
from typing import Any

from weft.core.ids import NodeId
from weft.core.machine import Machine, Outbox
from weft.overlay.api import Answered, Overlay, Query, Selected
from weft.overlay.api import Found as FoundEvent
from weft.sim.des import faults
from weft.sim.des.engine import Simulation
from weft.sim.des.injection import Injector
from weft.sim.des.network import Network, Uniform
from weft.sim.des.physical import Physical
from weft.sim.des.story import story
from weft.sim.des.trace import STEPS_MAX, Level, Trace
from weft.sim.des.transcript import transcript
from weft.sim.scenario import model
from weft.sim.scenario.brokers import Brokers, Verb
from weft.sim.scenario.expect import Verdicts
from weft.sim.scenario.load import Ready
from weft.sim.scenario.model import numbered
from weft.sim.scenario.names import key_name, short
from weft.sim.scenario.outcome import Member, Outcome, Spread, Traffic, grow


class Runner:
    """``run`` it once; ``simulation`` is there to be looked at afterwards."""

    def __init__(self, ready: Ready, level: Level = Level.FULL, steps_max: int = STEPS_MAX) -> None:
        scenario = self._scenario = ready.scenario
        self._ready = ready
        plan = faults.FaultPlan(scenario.seed, tuple(scenario.fault))
        self._injector = Injector(plan, self._next_life, self._join_again, self._join_again)
        trace = Trace(level, steps_max)
        self.simulation = Simulation(scenario.seed, self._network(), self._injector, trace)
        self.brokers = Brokers(ready, self.simulation)
        self.verdicts = Verdicts(ready)
        self._vias: dict[NodeId, NodeId] = {}
        self._asked: dict[int, tuple[int, NodeId, int]] = {}
        self._handlers: dict[type[Any], Callable[[int, Any], None]] = {
            model.Join: self._on_join,
            model.Leave: self._on_leave,
            model.Multicast: self._on_multicast,
            model.Anycast: self._on_anycast,
            model.Lookup: self._on_lookup,
            model.Aggregate: self._on_aggregate,
            model.Crash: self._on_crash,
            model.Restart: self._on_restart,
            model.Pause: self._on_pause,
            model.Partition: self._on_partition,
            model.Heal: self._on_heal,
            model.Check: self._on_check,
        }

    def _network(self) -> Network:
        if self._ready.topology is not None:
            return Physical(self._ready.topology)
        part = self._scenario.network or model.NetworkPart()
        return Uniform(part.delay_ms / 1000, part.jitter_ms / 1000)

    def run(self) -> Outcome:
        """From the first step to ``until``, then the expectations that wait for the end."""
        scenario = self._scenario
        for number in range(1, scenario.overlay.brokers + 1):
            self.brokers.start(NodeId(number))
        for index, step in enumerate(scenario.step):
            label = str(type(step).__struct_config__.tag)
            self.simulation.at(step.at, self._action(index, step), label)
        self.simulation.run(until=scenario.until)
        spreads = [spread for index, step in enumerate(scenario.step) if (spread := self._judge(index, step))]
        return self._outcome(spreads)

    def _action(self, index: int, step: model.AnyStep) -> Callable[[], None]:
        return lambda: self._handlers[type(step)](index, step)

    # -------------------------------------------------------------------------------------------------- steps

    def _each(self, index: int, step: Any, verb: Callable[[NodeId], Verb]) -> None:
        """``verb(node)`` at each of the step's brokers, ``every_s`` apart."""
        for number, node in enumerate(self._named(step.brokers)):
            at = step.at + number * getattr(step, "every_s", 0.0)
            label = f"{type(step).__struct_config__.tag} of {node}"
            self.simulation.at(at, self._telling(index, node, verb(node)), label)

    def _telling(self, index: int, node: NodeId, verb: Verb) -> Callable[[], None]:
        return lambda: self._tell(index, node, verb)

    def _tell(self, index: int, node: NodeId, verb: Verb) -> None:
        self.brokers.tell(node, verb, lambda text: self._ready.document.wrong(("step", index), text))

    def _named(self, who: model.Who) -> list[NodeId]:
        return numbered(who, self._scenario.overlay.brokers)

    def _on_join(self, index: int, step: model.Join) -> None:
        for node in self._named(step.brokers):
            self._vias[node] = NodeId(step.via)
        self._each(index, step, lambda node: self.brokers.join(node, NodeId(step.via)))

    def _on_leave(self, index: int, step: model.Leave) -> None:
        self._each(index, step, self.brokers.leave)

    def _on_aggregate(self, index: int, step: model.Aggregate) -> None:
        self._each(index, step, lambda node: self.brokers.aggregate(node, step.values))

    def _on_multicast(self, index: int, step: model.Multicast) -> None:
        payload = (step.text, index)
        if step.reduce in ("union", "first"):
            self.brokers.collects.add(payload)
        query = Query(self.brokers.range_of(step), payload, step.reduce, step.strategy, step.reliable, step.condition)
        self._ask(index, NodeId(step.broker), lambda machine, now, out: machine.multicast(now, query, out))

    def _on_anycast(self, index: int, step: model.Anycast) -> None:
        query = Query(self.brokers.range_of(step), (step.text, index), "first", condition=step.condition)
        ask = step.selection
        self._ask(index, NodeId(step.broker), lambda machine, now, out: machine.anycast(now, query, ask, out))

    def _on_lookup(self, index: int, step: model.Lookup) -> None:
        key = self.brokers.keys[NodeId(step.of)][0]
        self._ask(index, NodeId(step.broker), lambda machine, now, out: machine.lookup(now, key, out))

    def _ask(self, index: int, node: NodeId, ask: Callable[[Overlay, float, Outbox], int]) -> None:
        def verb(machine: Overlay, now: float, out: Outbox) -> None:
            self._asked[index] = self.simulation.steps, node, ask(machine, now, out)

        self._tell(index, node, verb)

    def _on_crash(self, _: int, step: model.Crash) -> None:
        for node in self._named(step.brokers):
            self.brokers.crash(node)

    def _on_restart(self, index: int, step: model.Restart) -> None:
        for node in self._named(step.brokers):
            self.brokers.restart(node)
            self._tell(index, node, self.brokers.join(node, NodeId(step.via)))

    def _on_pause(self, _: int, step: model.Pause) -> None:
        for node in self._named(step.brokers):
            self._injector.schedule(faults.Pause(step.at, step.until, node=node))

    def _on_partition(self, _: int, step: model.Partition) -> None:
        source, to = tuple(self._named(step.source)), tuple(self._named(step.to))
        self._injector.schedule(faults.Partition(step.at, step.until, source=source, to=to))
        if step.both_ways:
            self._injector.schedule(faults.Partition(step.at, step.until, source=to, to=source))

    def _on_heal(self, _: int, __: model.Heal) -> None:
        self._injector.heal()

    def _on_check(self, index: int, step: model.Check) -> None:
        self.brokers.forget_dead()
        dropped = self.simulation.dropped.total()
        members = len(self.brokers.joined)
        in_flight = len(self.simulation.in_flight)
        self.verdicts.check(index, step.expect, self.brokers.gaps(), members, dropped, in_flight)

    # ------------------------------------------------------------------------------------ lives by the fault plan

    def _next_life(self, node: NodeId, _: int) -> Machine:
        return self.brokers.next_life(node)

    def _join_again(self, machine: Machine, now: float, out: Outbox) -> None:
        """What a broker does that was restarted by the fault plan, or that a join storm takes along."""
        node = self.simulation.node
        assert node is not None
        self.brokers.forget_dead()
        overlay = self.brokers.machines[node]
        assert overlay is machine
        others = sorted({key.broker for key in self.brokers.joined if key.broker != node})
        if not overlay.keys() and others:
            via = self._vias.get(node)
            self.brokers.join(node, via if via in others else others[0])(overlay, now, out)

    # ------------------------------------------------------------------------------------------------ the outcome

    def _judge(self, index: int, step: model.AnyStep) -> Spread | None:
        if isinstance(step, model.Multicast | model.Anycast):
            spread = self._spread(index, step) if index in self._asked else None
            self.verdicts.spread(index, step.expect, spread, self._arrivals(index, step))
            return spread
        if isinstance(step, model.Lookup):
            asked = self._asked.get(index)
            found = None if asked is None else self.brokers.answers.get(asked[1:])
            self.verdicts.lookup(index, step.expect, found if isinstance(found, FoundEvent) else None)
        return None

    def _arrivals(self, index: int, step: model.Multicast | model.Anycast) -> list[Any]:
        return self.brokers.arrivals.get((step.text, index), [])

    def _spread(self, index: int, step: model.Multicast | model.Anycast) -> Spread:
        asked, node, request = self._asked[index]
        if self.simulation.trace.get(asked) is None:
            most = f"{self.simulation.trace.steps_max:,}"
            raise self._ready.document.wrong(
                ("step", index), f"more than {most} events follow: its tree is no longer known"
            )
        tree = grow(self.simulation.trace, asked, (step.text, index))
        reached = [key_name(key) for key in self._arrivals(index, step)]
        branches = list(tree.walk())
        in_tree = [key for branch in branches for key in branch.keys]
        hand_overs = [branch for branch in branches if branch.source is not None]
        spread = Spread(
            line=self._ready.document.line(("step", index)),
            what=str(type(step).__struct_config__.tag),
            text=step.text,
            broker=node,
            step=asked,
            tree=tree,
            reached=reached,
            late=[key for key in reached if key not in in_tree],
            hand_overs=len(hand_overs),
            between_clusters=sum(self._is_between(branch.source, branch.broker) for branch in hand_overs),
            links=sum(branch.links for branch in hand_overs),
        )
        answer = self.brokers.answers.get((node, request))
        if isinstance(answer, Answered):
            spread.answered, spread.value, spread.missing = True, answer.value, len(answer.missing)
        elif isinstance(answer, Selected):
            spread.answered, spread.value = True, answer.value
        return spread

    def _is_between(self, source: NodeId | None, to: NodeId) -> bool:
        return source is not None and self.cluster(source) != self.cluster(to)

    def story(self, step: int) -> list[str]:
        """Step ``step``, what led to it and what came of it, with keys by their short names."""
        return story(self.simulation.trace, step, short)

    def transcript(self) -> list[str]:
        """The run as text: each delivered message, and what was lost or delivered upward."""
        return transcript(self.simulation.trace, short, ("delivered", "dropped"))

    def cluster(self, node: NodeId) -> str:
        return "/".join(self.brokers.keys[node][0].cluster)

    def _outcome(self, spreads: list[Spread]) -> Outcome:
        simulation = self.simulation
        self.brokers.forget_dead()
        network = simulation.network
        links = network.traffic() if isinstance(network, Physical) else {}
        counts = [simulation.sent, simulation.delivered, simulation.dropped, simulation.links_crossed]
        names = sorted({name for count in counts for name in count})
        return Outcome(
            title=self._scenario.title,
            overlay=self._scenario.overlay.kind,
            seed=self._scenario.seed,
            time=simulation.now,
            events=simulation.steps,
            trace_hash=simulation.trace.hash(),
            ring=[Member(key_name(key), key.broker, "/".join(key.cluster)) for key in self.brokers.ring()],
            spreads=spreads,
            messages={name: Traffic(*(count[name] for count in counts)) for name in names},
            links={f"{a} → {b}": traffic.messages for (a, b), traffic in links.items()},
            held=self.verdicts.held,
            failures=self.verdicts.failures,
        )
