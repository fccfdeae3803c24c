"""What came of a run: rows for people and for ``--json``, and the tree of each multicast, read from the trace."""

from collections import defaultdict
from collections.abc import Iterator
from typing import TypeGuard

import msgspec

from weft.core.ids import NodeId
from weft.overlay.api import Received
from weft.overlay.hops import Hop
from weft.sim.des.trace import Step, Trace
from weft.sim.scenario.names import key_name


class Branch(msgspec.Struct):
    """A hand-over: ``source`` gave the message to ``broker``; ``keys`` of it were reached by that."""

    source: NodeId | None
    broker: NodeId
    time: float
    links: int
    message: str
    keys: list[str]
    branches: list["Branch"]

    def walk(self) -> Iterator["Branch"]:
        yield self
        for branch in self.branches:
            yield from branch.walk()


class Spread(msgspec.Struct):
    """One multicast or anycast. ``late`` are keys reached outside the tree, by a repetition."""

    line: int
    what: str
    text: str
    broker: NodeId
    step: int
    tree: Branch
    reached: list[str]
    late: list[str]
    hand_overs: int
    between_clusters: int
    links: int
    answered: bool = False
    value: object = None
    missing: int = 0


class Member(msgspec.Struct, frozen=True):
    key: str
    broker: NodeId
    cluster: str


class Traffic(msgspec.Struct, frozen=True):
    sent: int
    delivered: int
    dropped: int
    links: int


class Outcome(msgspec.Struct, frozen=True):
    """``failures``: one line for each expectation that does not hold, ``file:line: what``; ``held``: how many do."""

    title: str
    overlay: str
    seed: int
    time: float
    events: int
    trace_hash: str
    ring: list[Member]
    spreads: list[Spread]
    messages: dict[str, Traffic]
    links: dict[str, int]
    held: int
    failures: list[str]


def grow(trace: Trace, root: int, payload: object) -> Branch:
    """The tree of hand-overs that led from step ``root`` to each ``Received`` of ``payload``."""
    children: dict[int, list[Step]] = defaultdict(list)
    for step in trace.steps():
        if step.id > root:
            children[step.cause].append(step)
    first = trace.get(root)
    assert first is not None, "the caller has made sure that the root is kept"
    return _branch(first, children, payload)


def _branch(first: Step, children: dict[int, list[Step]], payload: object) -> Branch:
    """Without recursion, because a chain of causes may be as long as a run."""
    made: dict[int, Branch] = {}
    order: list[Step] = []
    stack = [first]
    while stack:
        step = stack.pop()
        order.append(step)
        stack += children[step.id]
    for step in reversed(order):
        branches = [made[child.id] for child in children[step.id] if child.id in made]
        keys = [key_name(note.subject.key) for note in step.notes if is_of(note.subject, payload)]
        if step is first or keys or branches:
            what = step.what.body if isinstance(step.what, Hop) else step.what
            name = step.kind if what is None or isinstance(what, str) else type(what).__name__
            broker = step.node or NodeId(0)
            made[step.id] = Branch(step.source, broker, step.time, step.links, name, keys, branches)
    return made[first.id]


def is_of(event: object, payload: object) -> TypeGuard[Received]:
    """Is ``event`` the arrival of ``payload``?"""
    return isinstance(event, Received) and event.payload == payload
