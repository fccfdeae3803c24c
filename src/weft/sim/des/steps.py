"""How one event is handled: the machine's step, its effects in order, its deadline.

The hot path of the simulator, hence the inlined branches of ``_finish``; ``engine`` adds the driving around it.

Invariants: the effects of a step happen in the order of its outbox, and an application on top (``on_deliver``) adds to
that same outbox; ``timeout`` is called only when the machine's deadline has passed by its own clock; a message to oneself
takes no time, crosses no link, and no fault touches it.
"""

from collections.abc import Callable
from typing import Protocol

from weft.core.errors import Misuse
from weft.core.ids import NodeId
from weft.core.machine import Deliver, Effect, Event, Machine, Message, Outbox, Persist, Record, Send
from weft.core.machine import Trace as Fact
from weft.sim.des.agenda import COMMAND, HOP, MESSAGE, TIMER, Agenda
from weft.sim.des.host import Host
from weft.sim.des.network import Network, Passage, Transit
from weft.sim.des.tally import Tallies
from weft.sim.des.trace import Level, Trace

SPINS_MAX = 10_000
"""Timeouts of one machine at one instant before it counts as stuck."""

Call = Callable[[Machine, float, Outbox], object]
Action = Callable[[], object]
Flight = tuple[NodeId, NodeId, Message, int, int]
"""(source, to, message, cause, links crossed)"""


class Stuck(RuntimeError):
    """A machine wants its timeout at the same instant for ever."""


class Fates(Protocol):
    """Who decides what becomes of a message; asked only while ``active``: some fault on links is on."""

    active: bool

    def fates(self, source: NodeId, to: NodeId) -> tuple[tuple[float, ...], str]:
        """The extra delay of each copy that leaves (none: dropped), and the name of the fault, if one struck."""
        ...


class Steps:
    """State and handlers of single events; each handler takes (now, entry of its lane)."""

    def __init__(self, network: Network, trace: Trace, fates: Fates | None) -> None:
        self.now = 0.0
        self.steps = 0
        self.node: NodeId | None = None
        self.disk: dict[NodeId, list[Record]] = {}
        self.upward: list[tuple[float, NodeId, Event]] = []
        self.on_deliver: Callable[[float, NodeId, Event, Outbox], None] | None = None
        self.commands_lost = 0
        self.network = network
        self.trace = trace
        self._depart = network.depart
        self._traced = trace.level is not Level.OFF
        self._fates = fates
        self._hosts: dict[NodeId, Host] = {}
        self._agenda = Agenda()
        self._tallies = Tallies()
        self._out = Outbox()
        self._cause = 0

    # ------------------------------------------------------------------------------------- one handler per lane

    def _deliver(self, now: float, flight: Flight) -> None:
        source, to, message, cause, links = flight
        host = self._hosts.get(to)
        if host is None:
            self._lose(flight, "nobody there")
            return
        if host.paused:
            host.backlog.append((MESSAGE, flight))
            return
        self._cause = self.steps = step = self.steps + 1
        self.node = to
        tally = self._tallies[type(message)]
        tally.delivered += 1
        tally.links += links
        if self._traced:
            self.trace.message(step, cause, now, source, to, message, links)
        host.receive(now if host.clock is None else host.clock.local(now), source, message, self._out)
        self._finish(now, host)

    def _fire(self, now: float, entry: tuple[Host, float]) -> None:
        host, armed = entry
        if host.armed != armed:
            return
        host.armed = None
        if host.paused:
            return
        local = host.local(now)
        deadline = host.machine.deadline
        if deadline is None or deadline > local:
            self._watch(host)
            return
        self._begin(now, host.cause, "timer", host.node)
        host.spins = host.spins + 1 if host.fired_at == now else 0
        host.fired_at = now
        if host.spins > SPINS_MAX:
            raise Stuck(f"node {host.node} wants a timeout at {deadline} again and again, and it is {local}")
        host.deadline = None
        host.machine.timeout(local, self._out)
        self._finish(now, host)

    def _command(self, now: float, entry: tuple[NodeId, Call, int]) -> None:
        node, call, cause = entry
        host = self._hosts.get(node)
        if host is None:
            self.commands_lost += 1
            return
        if host.paused:
            host.backlog.append((COMMAND, entry))
            return
        self._begin(now, cause, "command", node)
        call(host.machine, host.local(now), self._out)
        self._finish(now, host)

    def _act(self, now: float, entry: tuple[Action, str, int]) -> None:
        action, label, cause = entry
        self._begin(now, cause, "action", None, label)
        action()

    def _hop(self, now: float, entry: tuple[Flight, Transit | None]) -> None:
        flight, transit = entry
        if transit is None:
            source, to, message, _, _ = flight
            self._travel(flight, self._depart(now, source, to, message))
        else:
            self._travel(flight, self.network.onward(now, transit))

    def _begin(self, now: float, cause: int, kind: str, node: NodeId | None, label: str | None = None) -> None:
        self._cause = self.steps = self.steps + 1
        self.node = node
        if self._traced:
            self.trace.other(self.steps, cause, now, kind, node, label)

    # ------------------------------------------------------------------------------------------------- effects

    def _finish(self, now: float, host: Host) -> None:
        """Carry out the outbox in order, while it may still grow; then look at the deadline."""
        node, step = host.node, self._cause
        effects = self._out.effects
        for effect in effects:
            if type(effect) is not Send:
                self._other(now, host, effect)
                continue
            to, message = effect.to, effect.message
            self._tallies[type(message)].sent += 1
            if to == node:
                self._agenda.push(now, MESSAGE, (node, to, message, step, 0))
            elif self._fates is not None and self._fates.active:
                self._risk(now, (node, to, message, step, 0))
            else:
                at, links, transit = self._depart(now, node, to, message)
                if transit is None:
                    self._agenda.push(at, MESSAGE, (node, to, message, step, links))
                else:
                    self._agenda.push(at, HOP, ((node, to, message, step, links), transit))
        effects.clear()
        deadline = host.machine.deadline
        if deadline != host.deadline:
            self._set(host, deadline)

    def _other(self, now: float, host: Host, effect: Effect) -> None:
        """Any effect but Send."""
        if isinstance(effect, Deliver):
            event = effect.event
            self.upward.append((now, host.node, event))
            self._note("delivered", event)
            if self.on_deliver is not None:
                self.on_deliver(host.local(now), host.node, event, self._out)
        elif isinstance(effect, Persist):
            self.disk[host.node].append(effect.record)
            self._note("persisted", effect.record)
        elif isinstance(effect, Fact):
            self._note(effect.kind, effect.subject, effect.detail)
        else:
            raise Misuse(f"node {host.node} put a {type(effect).__name__} into its outbox, which is no effect")

    def _note(self, kind: str, subject: object, detail: object = None) -> None:
        if self.trace.keeps:
            self.trace.note(self._cause, kind, subject, detail)

    def _risk(self, now: float, flight: Flight) -> None:
        """Let the active faults decide over a message that is about to leave."""
        assert self._fates is not None
        source, to, message, _, _ = flight
        extras, fault = self._fates.fates(source, to)
        if not extras:
            self._lose(flight, fault)
            return
        if fault:
            self._note(fault, message, to)
        self._tallies[type(message)].doubled += len(extras) - 1
        for extra in extras:
            if extra:
                self._agenda.push(now + extra, HOP, (flight, None))
            else:
                self._travel(flight, self._depart(now, source, to, message))

    def _travel(self, flight: Flight, passage: Passage) -> None:
        at, links, transit = passage
        arriving = (*flight[:4], links)
        if transit is None:
            self._agenda.push(at, MESSAGE, arriving)
        else:
            self._agenda.push(at, HOP, (arriving, transit))

    def _lose(self, flight: Flight, reason: str) -> None:
        source, to, message, cause, _ = flight
        self._tallies[type(message)].dropped += 1
        if self._traced:
            self.trace.dropped(self.now, source, to, message)
            self.trace.note(cause, "dropped", message, f"to {to}: {reason}")

    # -------------------------------------------------------------------------------------------------- timers

    def _watch(self, host: Host) -> None:
        """Read the machine's deadline and see to it that a timer event is there in time."""
        self._set(host, host.machine.deadline)

    def _set(self, host: Host, deadline: float | None) -> None:
        if deadline != host.deadline:
            host.deadline = deadline
            host.cause = self._cause
        if deadline is None or host.paused:
            return
        at = max(self.now, host.when(deadline))
        if host.armed is None or at < host.armed:
            host.armed = at
            self._agenda.push(at, TIMER, (host, at))
