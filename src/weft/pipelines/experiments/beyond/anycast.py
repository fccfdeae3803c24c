"""Beyond SELECT: what memory, counting, a level filter, a TTL and a mixture with Multicast change (its §4.5–4.8, §6)."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

from weft.pipelines.experiments.beyond import remedies
from weft.pipelines.experiments.claims import Claim
from weft.pipelines.experiments.experiment import Experiment, Point, Scale, Tables, points
from weft.pipelines.experiments.select import trials
from weft.pipelines.experiments.summaries import Mean

WAITS = (0.0, 0.25, 0.5, 1.0, 2.0, 3.0)
"""SELECT §6 asks for 0 < Tw < T."""
MEMBERS = (16, 64)
METHODS = tuple(remedies.REMEDIES)
TOPICS = 3
NOTHING = "the paper leaves it for future work: no number to compare with"


def grid(scale: Scale) -> Sequence[Point]:
    brokers, members = (1_024, (*MEMBERS, 512)) if scale is Scale.HUGE else (trials.BROKERS, MEMBERS)
    return points(brokers=[brokers], members=members, wait=WAITS, method=METHODS, sweeps=[trials.APART])


def mean(tables: Tables, method: str, wait: float, column: str = "hops", members: int = 64) -> float:
    return tables["trials"].one(column, method=method, wait=wait, members=members)


def ratio(tables: Tables, method: str, wait: float, column: str = "hops") -> float:
    """Against Algorithm 1 to the letter, Nr = 64."""
    return mean(tables, method, wait, column) / mean(tables, "literal", wait, column)


def worst(tables: Tables, method: str, wait: float) -> float:
    """The mean of the request that takes the most hops on average."""
    return float(tables["requests"].where(method=method, wait=wait, members=64)["hops"].max())


def mixture(tables: Tables, wait: float) -> float:
    """Half and half against the better of the two alone."""
    return mean(tables, "half", wait) / min(mean(tables, "literal", wait), mean(tables, "multicast", wait))


def rate(tables: Tables, method: str, wait: float, members: int, prefixes: int) -> float:
    """All traffic of the overlay in KB/s: updates of all nodes, and a request each Tw in each of ``prefixes`` ranges."""
    brokers = float(np.max(tables["trials"]["brokers"]))
    updates = mean(tables, method, wait, "updates", members) * trials.NODES_EACH * brokers
    requests = (
        prefixes * mean(tables, method, wait, "messages", members) * trials.MESSAGE_BYTES / (wait * trials.INTERVAL_S)
    )
    return (updates + requests) / 1000


def all_prefixes(tables: Tables, method: str, wait: float, members: int) -> float:
    brokers = int(np.max(tables["trials"]["brokers"]))
    return rate(tables, method, wait, members, brokers // members * TOPICS)


def against_multicast(tables: Tables, wait: float) -> float:
    return all_prefixes(tables, "weft", wait, MEMBERS[0]) / all_prefixes(tables, "multicast", wait, MEMBERS[0])


def filter_saves(tables: Tables, members: int) -> float:
    """The part of what values add to the updates that the level filter takes away."""
    full, used, none = (mean(tables, method, 1.0, "updates", members) for method in ("literal", "filter", "multicast"))
    return (full - used) / (full - none)


def table_of(column: str, wait: float, unit: str) -> list[Claim]:
    return [
        Claim(
            what=f"{method}: {column} a request, Nr = 64, Tw = {wait:g} T",
            source="own",
            paper=None,
            ours=partial(mean, method=method, wait=wait, column=column),
            unit=unit,
            why=NOTHING,
        )
        for method in METHODS
    ]


def said(what: str, source: str, paper: str, ours: Callable[[Tables], float], bound: float, why: str = "") -> Claim:
    return Claim(what=what, source=source, paper=paper, ours=ours, holds=lambda found: found < bound, why=why)


CLAIMS = (
    said(
        "hops at Tw = 0, entries known to be occupied counted off, against Algorithm 1",
        "SELECT §4.5",
        "caching occupied elements reduces the number of hops",
        lambda tables: ratio(tables, "counting", 0.0),
        1,
        "read as: the sender, which hears who was reserved, counts them off its own table",
    ),
    said(
        "hops at Tw = 0, what a request found occupied remembered on its way, against Algorithm 1",
        "SELECT §4.5",
        "caching occupied elements reduces the number of hops",
        lambda tables: ratio(tables, "memory", 0.0),
        1,
        "the other reading, and what our machines do",
    ),
    said(
        "delay at Tw = 0, Anycast for the first half and Multicast for the second, against the better of the two",
        "SELECT §4.8",
        "switching on the remaining components may be efficient",
        lambda tables: mixture(tables, 0.0),
        1,
    ),
    said(
        "the same at Tw = T/4",
        "SELECT §4.8",
        "switching on the remaining components may be efficient",
        lambda tables: mixture(tables, 0.25),
        1,
    ),
    Claim(
        what="the same at Tw = T",
        source="own",
        paper=None,
        ours=partial(mixture, wait=1.0),
        why="with values as fresh as this Anycast alone is better to the end: when to switch depends on Tw",
    ),
    said(
        "mean of the worst request at Tw = 0 with a TTL of 32, against Algorithm 1",
        "SELECT §6",
        "past a TTL, switch to Multicast",
        lambda tables: worst(tables, "ttl", 0.0) / worst(tables, "literal", 0.0),
        1,
    ),
    said(
        "mean of the worst request at Tw = 0, memory and filter and TTL (our machines), against Algorithm 1",
        "SELECT §6",
        "past a TTL, switch to Multicast",
        lambda tables: worst(tables, "weft", 0.0) / worst(tables, "literal", 0.0),
        1,
    ),
    *(
        Claim(
            what=f"part of what values add to the updates that the level filter saves, Nr = {members}",
            source="SELECT §4.7",
            paper="skipping levels above log2 Nr reduces the traffic",
            ours=partial(filter_saves, members=members),
            holds=lambda part: part > 0,
        )
        for members in MEMBERS
    ),
    Claim(
        what="level filter: hops at Tw = 0 against Algorithm 1",
        source="own",
        paper=None,
        ours=partial(ratio, method="filter", wait=0.0),
        why="the paper takes those levels to be unused. By the letter the highest forward finger, which goes round the ring, "
        "is used when a walk begins again: without its values there is one way less to the nodes on the left",
    ),
    Claim(
        what="level filter: hops at Tw = T against Algorithm 1",
        source="own",
        paper=None,
        ours=partial(ratio, method="filter", wait=1.0),
        why=NOTHING,
    ),
    *(
        Claim(
            what=f"KB/s of the overlay, all prefixes, Nr = 16, Tw = {wait:g} T: our machines' rules against Multicast",
            source="SELECT §4.8",
            paper=None,
            ours=partial(against_multicast, wait=wait),
            why="with updates of 512 nodes at the paper's bytes and T = 60 s; " + NOTHING,
        )
        for wait in (0.5, 1.0, 3.0)
    ),
    *table_of("hops", 0.0, "hops"),
    *table_of("messages", 0.0, "messages"),
    *table_of("hops", 0.25, "hops"),
)


def draw_requests(wait: float) -> Callable[[Any, Tables], None]:
    def drawn(figure: Any, tables: Tables) -> None:
        axes = figure.subplots(1, 2, sharey=True)
        for axis, methods in zip(axes, (METHODS[:5], METHODS[5:]), strict=True):
            for method in methods:
                found = tables["requests"].where(method=method, wait=wait, members=64).ordered("request")
                if len(found):
                    axis.plot(found["request"], found["hops"], label=method)
            axis.set_yscale("log")
            axis.set_xlabel("request")
            axis.legend()
        axes[0].set_ylabel("hops")

    return drawn


def draw_against(column: str, unit: str) -> Callable[[Any, Tables], None]:
    def drawn(figure: Any, tables: Tables) -> None:
        axis = figure.subplots()
        for at, method in enumerate(METHODS):
            found = tables["trials"].where(method=method, members=64).ordered("wait")
            style = "-" if at < len(METHODS) // 2 else "--"
            axis.plot(found["wait"], found[column], style, marker="o", label=method)
        axis.set_yscale("log")
        axis.set_xlabel("$T_w$ (T)")
        axis.set_ylabel(unit)
        axis.legend(ncols=2)

    return drawn


def draw_rates(figure: Any, tables: Tables) -> None:
    axis = figure.subplots()
    waits = [wait for wait in WAITS if wait]
    for at, method in enumerate(("literal", "filter", "weft", "half", "combined", "multicast")):
        line = [all_prefixes(tables, method, wait, MEMBERS[0]) for wait in waits]
        axis.plot(waits, line, "-" if at < 3 else "--", marker="o", label=method)
    axis.set_xlabel("$T_w$ (T)")
    axis.set_ylabel("KB/s, whole overlay")
    axis.legend()


EXPERIMENT = Experiment(
    name="beyond-anycast",
    paper="beyond",
    title="What SELECT's Anycast gains from memory, filters, a TTL and Multicast",
    says="Which of the extensions that SELECT names for future work are worth it, in delay and in traffic, above all for "
    "0 < Tw < T?",
    setting="SELECT's trial with Close, 128 brokers, Nr = 16 and 64, 50 trials, sweeps apart. The ten methods are named "
    "in the model; a request that Anycast gives up goes on by Multicast, and both its parts count. Updates take the paper's "
    "25.56 B/s a node, and what its 6.20 KB come to for a label and value, times the labels that a sweep carries here.",
    grid=grid,
    repeats={Scale.SMALL: 2, Scale.PAPER: 50, Scale.HUGE: 20},
    model=remedies.trial,
    columns={"request": int, "hops": int, "messages": int, "asked": int, "updates": float},
    summaries={
        "requests": Mean(("members", "wait", "method", "request"), ("hops",)),
        "trials": Mean(("brokers", "members", "wait", "method"), ("hops", "messages", "asked", "updates")),
    },
    claims=CLAIMS,
    plots={
        "Hops of each request, Nr = 64, Tw = 0": draw_requests(0.0),
        "Hops of each request, Nr = 64, Tw = T/4": draw_requests(0.25),
        "Hops per request against the interval, Nr = 64": draw_against("hops", "hops per request"),
        "Messages per request against the interval, Nr = 64": draw_against("messages", "messages per request"),
        "All traffic, all prefixes in use, Nr = 16": draw_rates,
    },
    per_task=300,
    memory_mb=lambda point: trials.MEMORY_MB,
)
