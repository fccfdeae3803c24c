"""Where the brokers of a scenario stand: a topology by name, or from a file of its own."""

from pathlib import Path

import msgspec

from weft.core.errors import Misuse
from weft.core.ids import NodeId
from weft.core.strict import Where, load
from weft.sim.des.shapes import fat_tree, line, ring, star, tree
from weft.sim.des.topology import Link, Topology
from weft.sim.scenario.model import Scenario, TopologyPart


class Drawn(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A topology file: names of switches and hosts, [[link]] tables, and where brokers stand (the hosts, else anywhere)."""

    switches: list[str]
    hosts: list[str] = []
    places: list[str] | None = None
    link: list[Link] = []


def draw(path: Path) -> Topology:
    """The topology in the file at ``path``."""
    document = load(path, Drawn)
    drawn = document.value
    try:
        return Topology(drawn.switches, drawn.hosts, drawn.link, drawn.places)
    except Misuse as error:
        raise document.wrong(_culprit(drawn), str(error)) from error


def _culprit(drawn: Drawn) -> Where:
    """Which link is it? None of them, if it goes wrong without any."""
    for count in range(len(drawn.link) + 1):
        try:
            Topology(drawn.switches, drawn.hosts, drawn.link[:count])
        except Misuse:
            return ("link", count - 1) if count else ("switches",)
    return ("places",)


def build(scenario: Scenario, folder: Path) -> Topology:
    """The scenario's topology, its brokers placed; ``folder`` is where a file's name starts from."""
    part = scenario.topology
    assert part is not None
    topology = _shape(part, folder)
    nodes = [NodeId(number) for number in range(1, scenario.overlay.brokers + 1)]
    if part.place == "in-turn":
        topology.place_in_turn(nodes)
        return topology
    clusters = len(scenario.overlay.cluster_names)
    for node in nodes:
        topology.place(node, topology.places[(node - 1) % clusters % len(topology.places)])
    return topology


def _shape(part: TopologyPart, folder: Path) -> Topology:
    rest = (part.hosts_each, part.delay_ms, part.bandwidth_mbps)
    if (part.kind == "file") != (part.file is not None):
        raise Misuse('kind = "file" needs file = "…", and no other kind has one')
    if part.kind == "file":
        assert part.file is not None
        return draw(folder / part.file)
    if part.kind == "tree":
        return tree(part.height, part.fan_out, *rest)
    if part.kind == "fat-tree":
        return fat_tree(part.k, *rest)
    return {"line": line, "ring": ring, "star": star}[part.kind](part.switches, *rest)
