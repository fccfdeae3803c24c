"""Topologies by name: line, star, tree, fat-tree, ring.

Switches are s1, s2, …; hosts, if any are asked for, h1, h2, …, each on a link of its own to its switch. Without hosts the
brokers stand at the switches themselves: every switch of a line or a ring, the leaves of a star or a tree, the edge
switches of a fat-tree.
"""

from collections.abc import Sequence
from itertools import pairwise

from weft.core.errors import Misuse
from weft.sim.des.topology import Link, Topology


class _Plan:
    """Switches and links under construction; every link has the same delay and bandwidth."""

    def __init__(self, delay_ms: float, bandwidth_mbps: float | None) -> None:
        self._delay_ms = delay_ms
        self._bandwidth_mbps = bandwidth_mbps
        self.links: list[Link] = []

    def join(self, a: str, b: str) -> None:
        self.links.append(Link(a, b, self._delay_ms, self._bandwidth_mbps))

    def finish(self, switches: Sequence[str], edge: Sequence[str], hosts_each: int) -> Topology:
        if hosts_each < 0:
            raise Misuse(f"hosts per switch: 0 or more, not {hosts_each}")
        hosts: list[str] = []
        for switch in edge:
            for _ in range(hosts_each):
                hosts.append(f"h{len(hosts) + 1}")
                self.join(switch, hosts[-1])
        return Topology(switches, hosts, self.links, hosts or edge)


def _switches(count: int, least: int) -> list[str]:
    if count < least:
        raise Misuse(f"this topology has {least} switches or more, not {count}")
    return [f"s{number}" for number in range(1, count + 1)]


def line(switches: int, hosts_each: int = 0, delay_ms: float = 1.0, bandwidth_mbps: float | None = None) -> Topology:
    """s1 – s2 – … in a row."""
    names = _switches(switches, 1)
    plan = _Plan(delay_ms, bandwidth_mbps)
    for a, b in pairwise(names):
        plan.join(a, b)
    return plan.finish(names, names, hosts_each)


def ring(switches: int, hosts_each: int = 0, delay_ms: float = 1.0, bandwidth_mbps: float | None = None) -> Topology:
    """A line whose ends are joined."""
    names = _switches(switches, 3)
    plan = _Plan(delay_ms, bandwidth_mbps)
    for a, b in zip(names, [*names[1:], names[0]], strict=True):
        plan.join(a, b)
    return plan.finish(names, names, hosts_each)


def star(switches: int, hosts_each: int = 0, delay_ms: float = 1.0, bandwidth_mbps: float | None = None) -> Topology:
    """s1 in the middle, the others around it."""
    names = _switches(switches, 2)
    plan = _Plan(delay_ms, bandwidth_mbps)
    for leaf in names[1:]:
        plan.join(names[0], leaf)
    return plan.finish(names, names[1:], hosts_each)


def tree(
    height: int, fan_out: int, hosts_each: int = 0, delay_ms: float = 1.0, bandwidth_mbps: float | None = None
) -> Topology:
    """s1 is the root; ``height`` rows of links below it, ``fan_out`` children each; numbered row by row."""
    if height < 1 or fan_out < 1:
        raise Misuse(f"a tree has a height and a fan-out of 1 or more, not {height} and {fan_out}")
    plan = _Plan(delay_ms, bandwidth_mbps)
    names = ["s1"]
    row = names[:]
    for _ in range(height):
        children: list[str] = []
        for parent in row:
            for _ in range(fan_out):
                children.append(f"s{len(names) + 1}")
                names.append(children[-1])
                plan.join(parent, children[-1])
        row = children
    return plan.finish(names, row, hosts_each)


def fat_tree(k: int, hosts_each: int = 0, delay_ms: float = 1.0, bandwidth_mbps: float | None = None) -> Topology:
    """k pods of k/2 edge and k/2 aggregation switches under (k/2)² cores (Al-Fares 2008; hosts_each = k/2 there)."""
    if k < 2 or k % 2:
        raise Misuse(f"a fat-tree's k is even, 2 or more, not {k}")
    half = k // 2
    plan = _Plan(delay_ms, bandwidth_mbps)
    cores = [f"core{number}" for number in range(1, half * half + 1)]
    switches, edge = cores[:], []
    for pod in range(1, k + 1):
        upper = [f"agg{pod}.{number}" for number in range(1, half + 1)]
        lower = [f"edge{pod}.{number}" for number in range(1, half + 1)]
        for number, switch in enumerate(upper):
            for core in cores[number * half : (number + 1) * half]:
                plan.join(core, switch)
            for below in lower:
                plan.join(switch, below)
        switches += upper + lower
        edge += lower
    return plan.finish(switches, edge, hosts_each)
