"""Exhaustive exploration: every order of messages, every moment of a crash, for small rings (overlay §2: n ≤ 4).

Small rings hold the surprises. A *case* gives each of n nodes a role: stay, leave, join or crash. All leaves and joins are
called at once; then, from each state, each message under way may be the next to arrive, and each doomed node may crash. When
nothing is under way the earliest timer fires, ``timers`` times in all, so that the orders of a repair are explored too; then
the ring is let alone and must become whole. I1–I5 are checked in each state as far as the case allows, and what was seen is
not entered again, so the search ends.

A machine is a fold of its inputs: a branch is copied by playing its inputs again on a fresh machine, once per different
history (a *life*), however many states share it. Nothing here depends on how machines keep their state.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from enum import Enum
from itertools import product
from types import BuiltinMethodType, FunctionType, MethodType
from typing import Any

import msgspec
from msgspec.structs import replace

from weft.core.ids import NodeId
from weft.core.machine import Message, Outbox, Send
from weft.overlay.api import Ref
from weft.overlay.keys import number_key
from weft.overlay.peer import Peer
from weft.overlay.settings import Settings
from weft.sim.des.brief import brief
from weft.sim.invariants import Broken, RingCheck, no_violations, short

ROLES = ("stay", "leave", "join", "crash")
HEAL_S = 90.0
"""How long a ring may take to be whole again after the last order explored: detection, repair, and a refused join's waits."""

SETTINGS = Settings(ping_interval_s=5.0, join_tries=20, lost_interval_s=10.0)

Make = Callable[[NodeId], Peer]


class Case(msgspec.Struct, frozen=True):
    """Who does what, and how many timer firings are explored after the first quiet moment."""

    roles: tuple[str, ...]
    timers: int = 0
    losses: int = 0
    """How many messages may be lost, each at every place."""
    doubles: int = 0
    """How many messages may arrive twice, each at every place."""

    def __str__(self) -> str:
        extra = ((self.timers, "t"), (self.losses, "lost"), (self.doubles, "twice"))
        return "-".join(self.roles) + "".join(f"+{count}{what}" for count, what in extra if count)


def cases(nodes: int, timers: int = 0, losses: int = 0, doubles: int = 0) -> Iterator[Case]:
    """Every assignment of roles in which the first node stays: all that leave somebody, up to rotation of the ring."""
    for rest in product(ROLES, repeat=nodes - 1):
        yield Case(("stay", *rest), timers, losses, doubles)


class Explored(msgspec.Struct, frozen=True):
    """What a case came to. ``orders`` counts the different complete orders over the graph of states."""

    case: str
    states: int
    lives: int
    ends: int
    orders: int
    violation: str = ""


class Flight(msgspec.Struct, frozen=True):
    source: int
    to: int
    message: Message


@dataclass(slots=True)
class Life:
    """One history of one node: the machine it leads to (never fed again), what its last input sent, and what may follow."""

    machine: Peer
    inputs: tuple[Any, ...]
    print: int
    sent: tuple[int, ...]
    after: dict[Any, "Life"] = field(default_factory=dict)


class State(msgspec.Struct, frozen=True):
    """Lives (None: crashed), the messages under way (ids, sorted), the time; timer firings, losses, doubles left."""

    lives: tuple[Any, ...]
    flying: tuple[int, ...]
    now: float
    timers: int = 0
    losses: int = 0
    doubles: int = 0


class Explorer:
    """Depth-first over one case."""

    def __init__(self, case: Case, make: Make | None = None) -> None:
        self._case = case
        self._make = make or (lambda node: Peer(node, SETTINGS, seed=1))
        self._prints: dict[Any, int] = {}
        self._flights: list[Flight] = []
        self._flight_ids: dict[Flight, int] = {}
        self._orders: dict[Any, int] = {}
        self._lives = 0
        self._ends = 0
        self._path: list[tuple[str, Any]] = []

    def run(self) -> Explored:
        """Explore everything; raises ``Broken``, or what a machine raised, with the path to the first state that is wrong."""
        start = self._start()
        try:
            orders = self._explore(start)
        except Exception as error:
            error.add_note(f"case {self._case}, after:\n  " + "\n  ".join(self._told(*step) for step in self._path))
            raise
        return Explored(str(self._case), len(self._orders), self._lives, self._ends, orders)

    # Lives

    def _born(self, node: int) -> Life:
        return self._life(node, (), None)

    def _next(self, life: Life, item: Any, node: int) -> Life:
        """The life after one more input."""
        found = life.after.get(item)
        if found is None:
            found = life.after[item] = self._life(node, (*life.inputs, item), item)
            history = RingCheck()
            for machine in (life.machine, found.machine):
                history.always({NodeId(node): machine}, NodeId(node))
        return found

    def _life(self, node: int, inputs: tuple[Any, ...], last: Any) -> Life:
        machine = self._make(NodeId(node))
        sent: tuple[int, ...] = ()
        for item in inputs:
            out = Outbox()
            _feed(machine, item, out)
            if item is last:
                sends = [effect for effect in out.effects if isinstance(effect, Send)]
                sent = tuple(self._flight(Flight(node, effect.to, effect.message)) for effect in sends)
        self._lives += 1
        frozen = _freeze(machine, {})
        return Life(machine, inputs, self._prints.setdefault(frozen, len(self._prints)), sent)

    def _flight(self, flight: Flight) -> int:
        found = self._flight_ids.get(flight)
        if found is None:
            found = self._flight_ids[flight] = len(self._flights)
            self._flights.append(flight)
        return found

    # States

    def _start(self) -> State:
        """A whole ring of all that do not join; then everybody is told what to do."""
        roles = self._case.roles
        lives: list[Life | None] = [self._born(node) for node in range(1, len(roles) + 1)]
        state = State(tuple(lives), (), 0.0)
        for node, role in enumerate(roles, 1):
            if role != "join":
                state = self._settle(self._input(state, node, ("join", 0.0, None if node == 1 else 1)))
        for node, role in enumerate(roles, 1):
            if role in ("join", "leave"):
                state = self._input(state, node, (role, 0.0, 1))
        return replace(state, timers=self._case.timers, losses=self._case.losses, doubles=self._case.doubles)

    def _settle(self, state: State) -> State:
        """Deliver what is under way, first come first served."""
        while state.flying:
            state = self._deliver(state, state.flying[0])
        return state

    def _input(self, state: State, node: int, item: Any) -> State:
        life = state.lives[node - 1]
        if life is None:
            return state
        after = self._next(life, item, node)
        lives = (*state.lives[: node - 1], after, *state.lives[node:])
        return replace(state, lives=lives, flying=tuple(sorted((*state.flying, *after.sent))))

    def _deliver(self, state: State, number: int) -> State:
        flight = self._flights[number]
        return self._input(_without(state, number), flight.to, ("message", state.now, flight.source, flight.message))

    def _crash(self, state: State, node: int) -> State:
        lives = (*state.lives[: node - 1], None, *state.lives[node:])
        return replace(state, lives=lives, flying=tuple(n for n in state.flying if self._flights[n].to != node))

    def _fire(self, state: State) -> State | None:
        """The earliest timer, if one may still fire."""
        due = [
            (life.machine.deadline, node)
            for node, life in enumerate(state.lives, 1)
            if life is not None and life.machine.deadline is not None
        ]
        if not due or not state.timers:
            return None
        at, node = min(due)
        return self._input(replace(state, now=at, timers=state.timers - 1), node, ("timer", at))

    def _choices(self, state: State) -> Iterator[tuple[tuple[str, Any], State]]:
        """Every (step, state after it); a step is told only if it has led to something wrong."""
        for number in sorted(set(state.flying)):
            yield ("", number), self._deliver(state, number)
            if state.losses:
                yield ("lost: ", number), replace(_without(state, number), losses=state.losses - 1)
            if state.doubles:
                doubled = replace(state, doubles=state.doubles - 1, flying=tuple(sorted((*state.flying, number))))
                yield ("twice: ", number), self._deliver(doubled, number)
        for node, role in enumerate(self._case.roles, 1):
            if role == "crash" and state.lives[node - 1] is not None:
                yield ("crash", node), self._crash(state, node)
        if not state.flying:
            fired = self._fire(state)
            if fired is not None:
                yield ("timer", fired.now), fired

    def _told(self, what: str, detail: Any) -> str:
        if what in ("crash", "timer"):
            return f"{what} {detail}"
        flight = self._flights[detail]
        return f"{what}{flight.source}→{flight.to} {brief(flight.message, _name)}"

    def _explore(self, state: State) -> int:
        """The number of complete orders from here; each different state is entered once."""
        mark = (
            tuple(life.print if life else -1 for life in state.lives),
            state.flying,
            state.timers,
            state.losses,
            state.doubles,
        )
        known = self._orders.get(mark)
        if known is not None:
            return known
        self._check(state)
        orders = 0
        for what, following in self._choices(state):
            self._path.append(what)
            orders += self._explore(following)
            self._path.pop()
        if orders == 0:
            self._ends += 1
            self._heal(state)
            orders = 1
        self._orders[mark] = orders
        return orders

    def _peers(self, state: State) -> list[Peer]:
        return [life.machine for life in state.lives if life is not None]

    def _check(self, state: State) -> None:
        peers = self._peers(state)
        no_violations(peers)
        check = RingCheck()
        alive = {peer.local.node: peer for peer in peers}
        if "crash" not in self._case.roles and not self._case.losses:
            # With a crash, who accepted a node may be gone, and with it the proof.
            for peer in peers:
                check.accepted(peer)
            for node in alive:
                check.always(alive, node)
            flying = [(NodeId(f.source), NodeId(f.to), f.message) for f in (self._flights[n] for n in state.flying)]
            check.unfailed(peers, flying)

    def _heal(self, state: State) -> None:
        """Let time run, messages in order, and see that the ring becomes whole with just whom it should hold."""
        peers: dict[int, Peer] = {}
        for node, life in enumerate(state.lives, 1):
            if life is not None:
                peers[node] = self._make(NodeId(node))
                for item in life.inputs:
                    _feed(peers[node], item, Outbox())
        run_quietly(peers, state.now, state.now + HEAL_S)
        RingCheck().at_rest(peers.values())
        wanted = {
            n
            for n, role in enumerate(self._case.roles, 1)
            if role in ("stay", "join") or (role == "crash" and n in peers)
        }
        found = {node for node, peer in peers.items() if peer.keys()}
        if found != wanted:
            raise Broken(f"in the ring: {sorted(found)}, wanted: {sorted(wanted)}")


def run_quietly(peers: dict[int, Peer], now: float, until: float) -> None:
    """Messages arrive at once and in order; timers fire when due."""
    flying: list[Flight] = []
    while True:
        out = Outbox()
        if flying:
            flight = flying.pop(0)
            if flight.to not in peers:
                continue
            node = flight.to
            peers[node].receive(now, NodeId(flight.source), flight.message, out)
        else:
            due = [(peer.deadline, node) for node, peer in peers.items() if peer.deadline is not None]
            if not due or min(due)[0] > until:
                return
            now, node = min(due)
            peers[node].timeout(now, out)
        flying += [Flight(node, effect.to, effect.message) for effect in out.effects if isinstance(effect, Send)]


def _name(thing: Any) -> str | None:
    return short(thing) if isinstance(thing, Ref) else None


def _without(state: State, number: int) -> State:
    at = state.flying.index(number)
    return replace(state, flying=(*state.flying[:at], *state.flying[at + 1 :]))


def _feed(machine: Peer, item: Any, out: Outbox) -> None:
    what, now, *rest = item
    node = machine.local.node
    if what == "message":
        machine.receive(now, rest[0], rest[1], out)
    elif what == "timer":
        machine.timeout(now, out)
    elif what == "join":
        machine.join(now, number_key(node, node), rest[0], out)
    else:
        machine.leave(now, number_key(node, node), out)


def _freeze(thing: Any, seen: dict[int, int]) -> Any:
    """A machine's whole state as a hashable value: every attribute of every part, code left out."""
    if thing is None or isinstance(thing, int | float | str | bytes | Enum | type):
        return thing
    if isinstance(thing, MethodType | FunctionType | BuiltinMethodType):
        return None
    if isinstance(thing, msgspec.Struct) and thing.__struct_config__.frozen:
        return thing
    if id(thing) in seen:
        return ("seen", seen[id(thing)])
    seen[id(thing)] = len(seen)
    if isinstance(thing, dict):
        return tuple((_freeze(key, seen), _freeze(value, seen)) for key, value in thing.items())
    if isinstance(thing, tuple | list):
        return tuple(_freeze(item, seen) for item in thing)
    names = getattr(type(thing), "__slots__", None) or vars(thing)
    return (type(thing).__name__, *(_freeze(getattr(thing, name), seen) for name in names))
