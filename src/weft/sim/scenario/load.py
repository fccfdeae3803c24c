"""From a file to a scenario that can be run: everything that cannot be is refused here, with file and line."""

from pathlib import Path

import msgspec

from weft.core.errors import Misuse
from weft.core.ids import NodeId
from weft.core.strict import Document, Where, load
from weft.overlay.keys import ALM, Key, number_key, topic_key
from weft.overlay.spread.geometry import STRATEGIES
from weft.overlay.spread.messages import SELECTIONS
from weft.sim.des.faults import AnyFault, check
from weft.sim.des.topology import Topology
from weft.sim.overlays import OVERLAYS
from weft.sim.scenario.model import BROKERS_MAX, Anycast, AnyStep, Lookup, Multicast, Scenario, Who, numbered
from weft.sim.scenario.places import build

TIME_MAX = 1e9


class Ready(msgspec.Struct, frozen=True):
    """A scenario that has been checked, where it stands, and the topology it asks for, with its brokers placed."""

    document: Document[Scenario]
    topology: Topology | None

    @property
    def scenario(self) -> Scenario:
        return self.document.value


def read(path: Path) -> Ready:
    """The scenario at ``path``; ``Misuse`` says file, line and what is wrong."""
    document = load(path, Scenario)
    _check_overlay(document)
    scenario = document.value
    if not 0 < scenario.until < TIME_MAX:
        raise document.wrong(("until",), f"until is a time above 0, not {scenario.until:g}")
    if scenario.network is not None and scenario.topology is not None:
        raise document.wrong(("network",), "a scenario has a [network] or a [topology], not both")
    if scenario.network is not None and min(scenario.network.delay_ms, scenario.network.jitter_ms) < 0:
        raise document.wrong(("network",), "a delay is not below 0")
    for index, fault in enumerate(scenario.fault):
        _check_fault(document, ("fault", index), fault)
    for index, step in enumerate(scenario.step):
        _check_step(document, ("step", index), step)
    try:
        topology = None if scenario.topology is None else build(scenario, path.parent)
    except Misuse as error:
        raise document.wrong(("topology",), str(error)) from error
    return Ready(document, topology)


def brokers_keys(scenario: Scenario, broker: int) -> list[Key]:
    """The keys of ``broker``, in the order of the file's topics."""
    overlay = scenario.overlay
    names = overlay.cluster_names
    cluster = tuple(names[(broker - 1) % len(names)].split("/"))
    if overlay.keys == "number":
        return [number_key(broker, NodeId(broker), cluster)]
    return [topic_key(topic, ALM, NodeId(broker), cluster) for topic in overlay.topics]


def _check_overlay(document: Document[Scenario]) -> None:
    overlay = document.value.overlay
    if overlay.kind not in OVERLAYS:
        known = ", ".join(sorted(OVERLAYS))
        raise document.wrong(("overlay", "kind"), f"'{overlay.kind}' is no kind in [overlay]; known: {known}")
    if not 0 < overlay.brokers <= BROKERS_MAX:
        raise document.wrong(("overlay", "brokers"), f"brokers: 1…{BROKERS_MAX}, not {overlay.brokers}")
    names = overlay.cluster_names
    if not names or len(set(names)) < len(names) or not all(names):
        raise document.wrong(("overlay", "clusters"), "clusters: a number above 0, or a list of different names")
    if not overlay.topics or len(set(overlay.topics)) < len(overlay.topics):
        raise document.wrong(("overlay", "topics"), "topics: a list of different topics, at least one")
    try:
        for broker in range(1, len(names) + 1):
            brokers_keys(document.value, broker)
    except Misuse as error:
        raise document.wrong(("overlay",), str(error)) from error


def _check_fault(document: Document[Scenario], where: Where, fault: AnyFault) -> None:
    brokers = document.value.overlay.brokers
    try:
        check(fault)
    except Misuse as error:
        raise document.wrong(where, str(error)) from error
    for name in ("node", "nodes", "source", "to"):
        value = getattr(fault, name, ())
        if value:
            _check_who(document, (*where, name), value if isinstance(value, int) else list(value), brokers)


def _check_who(document: Document[Scenario], where: Where, who: Who, brokers: int) -> None:
    try:
        numbered(who, brokers)
    except Misuse as error:
        raise document.wrong(where, str(error)) from error


def _check_step(document: Document[Scenario], where: Where, step: AnyStep) -> None:
    scenario = document.value
    if not 0 <= step.at <= scenario.until:
        raise document.wrong(
            (*where, "at"), f"at: between 0 and the end of the run ({scenario.until:g}), not {step.at:g}"
        )
    for name in ("broker", "brokers", "via", "of", "source", "to"):
        who = getattr(step, name, None)
        if who is not None:
            _check_who(document, (*where, name), who, scenario.overlay.brokers)
    until = getattr(step, "until", None)
    if until is not None and until <= step.at:
        raise document.wrong((*where, "until"), f"until: after the beginning ({step.at:g}), not {until:g}")
    if getattr(step, "every_s", 0.0) < 0:
        raise document.wrong((*where, "every_s"), "every_s is not below 0")
    if isinstance(step, Multicast) and step.strategy not in STRATEGIES:
        known = ", ".join(STRATEGIES)
        raise document.wrong((*where, "strategy"), f"'{step.strategy}' is no strategy; known: {known}")
    if isinstance(step, Anycast) and step.selection not in SELECTIONS:
        known = ", ".join(SELECTIONS)
        raise document.wrong((*where, "selection"), f"'{step.selection}' is no selection; known: {known}")
    if isinstance(step, Multicast | Anycast):
        _check_range(document, where, step)
        if step.expect.reached is not None:
            _check_who(document, (*where, "expect", "reached"), step.expect.reached, scenario.overlay.brokers)
    if isinstance(step, Lookup) and step.expect.broker is not None:
        _check_who(document, (*where, "expect", "broker"), step.expect.broker, scenario.overlay.brokers)


def _check_range(document: Document[Scenario], where: Where, step: Multicast | Anycast) -> None:
    overlay = document.value.overlay
    if step.topic is not None and step.between is not None:
        raise document.wrong((*where, "between"), "a range is of a topic or between numbers, not both")
    if step.topic is not None and (overlay.keys != "topic" or step.topic not in overlay.topics):
        raise document.wrong((*where, "topic"), f"'{step.topic}' is none of the topics in [overlay]")
    if step.between is not None:
        if overlay.keys != "number":
            raise document.wrong(
                (*where, "between"), 'between numbers: the keys are topics; say keys = "number" in [overlay]'
            )
        if len(step.between) != 2 or step.between[0] > step.between[1]:
            raise document.wrong((*where, "between"), "between: two numbers, the lower first")
