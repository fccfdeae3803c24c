"""relay-fig9: messages that publishing causes as the subscribers go away (RELAY §6.1, figure 9)."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from weft.pipelines.experiments.claims import Claim
from weft.pipelines.experiments.experiment import Experiment, Point, Scale, Tables, points
from weft.pipelines.experiments.relay import messages
from weft.pipelines.experiments.relay.messages import PROPOSED, SCRIBE, SEEKING, UNSUSPENDED
from weft.pipelines.experiments.summaries import Mean
from weft.pipelines.experiments.table import Missing

PUBLISHERS = (100, 10)
PAPERS_NODES = 100_000
SOURCE = "RELAY §6.1, fig. 9"
A_DIGIT = (10**0.5, 10**1.5)
"""“Approximately one digit”: a factor whose logarithm rounds to 1."""


def _grid(scale: Scale) -> Sequence[Point]:
    return points(nodes=(10_000 if scale is Scale.SMALL else PAPERS_NODES,), publishers=PUBLISHERS)


def _sent(tables: Tables, method: str, subscribers: int) -> np.ndarray[Any, Any]:
    """Messages, for each number of publishers."""
    rows = tables["messages"].where(method=method, subscribers=subscribers).ordered("publishers")
    if not len(rows):
        raise Missing(method)
    return rows["messages"]


def _ratios(tables: Tables) -> np.ndarray[Any, Any]:
    """Scribe over proposed wherever somebody subscribes."""
    some = [left for left in messages.SUBSCRIBERS if left]
    if PAPERS_NODES not in tables["messages"]["nodes"]:
        raise Missing("the paper's size was not run")
    return np.concatenate([_sent(tables, SCRIBE, left) / _sent(tables, PROPOSED, left) for left in some])


def _least_step(tables: Tables) -> float:
    """The least factor by which messages rise when either publishers or subscribers do."""
    factors = []
    for method in (PROPOSED, SCRIBE):
        sent = np.array([_sent(tables, method, left) for left in messages.SUBSCRIBERS])
        factors += [(sent[:, 1] / np.maximum(sent[:, 0], 1e-9))[: -1 if method == PROPOSED else None].min()]
        factors += [(sent[:-1] / np.maximum(sent[1:], 1e-9)).min()]
    return float(min(factors))


def _draw(figure: Any, tables: Tables) -> None:
    axes = figure.subplots()
    places = np.arange(len(messages.SUBSCRIBERS))
    shown = [(method, publishers) for method in (PROPOSED, SCRIBE) for publishers in PUBLISHERS]
    for at, (method, publishers) in enumerate(shown):
        rows = tables["messages"].where(method=method, publishers=publishers).ordered("subscribers")
        sent = rows["messages"][::-1]
        across = places[: len(sent)] + (at - 1.5) * 0.2
        axes.bar(across, sent, width=0.18, label=f"{method}, {publishers} p/t")
        for x in across[sent == 0]:
            axes.annotate("0", (x, 1), ha="center", va="bottom")
    axes.set_yscale("log")
    axes.set_ylim(bottom=1)
    axes.set_xticks(places, [f"{left:,}" for left in messages.SUBSCRIBERS])
    axes.set_xlabel("subscribers of the topic")
    axes.set_ylabel("messages when each publisher publishes once")
    axes.legend()


EXPERIMENT = Experiment(
    name="relay-fig9",
    paper="RELAY",
    title="Messages that publishing causes, down to no subscriber at all",
    says="With no subscribers left the proposed method sends nothing, and Scribe still does; with 1,000, 100 or "
    "10 it sends about one digit less than Scribe; messages grow with publishers and subscribers.",
    setting="100,000 nodes, one topic with 100 or 10 publishers and 1,000 subscribers, of whom 1,000, 100, 10 and "
    "0 are left; every publisher publishes once, and all their messages are added; 5 overlays. Multicast by "
    "`binary`. In Scribe a publisher knows the root (RELAY §3.1: it can cache the address), so its way there is "
    "one message. The signal by which the rendezvous point silences the publishers is counted apart.",
    grid=_grid,
    repeats={Scale.SMALL: 2, Scale.PAPER: 5, Scale.HUGE: 20},
    model=messages.model,
    columns=messages.COLUMNS,
    summaries={
        "messages": Mean(by=("nodes", "publishers", "method", "subscribers"), of=("messages", "signals")),
    },
    per_task=5,
    memory_mb=lambda point: 220.0 + int(point["nodes"]) / 2_000,
    claims=(
        Claim(
            what="Messages of the proposed method without subscribers, the most",
            source=SOURCE,
            paper=0,
            within=0.0,
            ours=lambda tables: float(_sent(tables, PROPOSED, 0).max()),
            unit="messages",
        ),
        Claim(
            what="Messages of Scribe without subscribers, the fewest",
            source=SOURCE,
            paper="messages are forwarded even if the number of subscribers is 0",
            ours=lambda tables: float(_sent(tables, SCRIBE, 0).min()),
            holds=lambda least: least > 0,
            unit="messages",
        ),
        Claim(
            what="Scribe's messages over the proposed method's with 1,000, 100 and 10 subscribers, the least of six",
            source=SOURCE,
            paper="smaller by approximately one digit",
            ours=lambda tables: float(_ratios(tables).min()),
            holds=lambda least: least >= A_DIGIT[0],
            why="One digit: a factor whose logarithm rounds to 1, 3.2 to 31.6.",
        ),
        Claim(
            what="the same, the greatest of six",
            source=SOURCE,
            paper="smaller by approximately one digit",
            ours=lambda tables: float(_ratios(tables).max()),
            holds=lambda most: most <= A_DIGIT[1],
        ),
        Claim(
            what="Factor by which messages rise with publishers or subscribers, the least for either method",
            source=SOURCE,
            paper="the number of messages becomes large according to the number of publishers or subscribers",
            ours=_least_step,
            holds=lambda least: least > 1,
        ),
        Claim(
            what="Signals by which 100 publishers are silenced, once",
            source="RELAY §5.3.4",
            paper=None,
            ours=lambda tables: tables["messages"].one("signals", publishers=100, method=PROPOSED, subscribers=0),
            unit="messages",
            why="The figure does not count them: one multicast over the publishers' segment, when the last "
            "subscriber leaves.",
        ),
        Claim(
            what="Messages without subscribers if nobody silenced the 100 publishers",
            source="RELAY §5.3.6 (i)",
            paper=None,
            ours=lambda tables: float(_sent(tables, UNSUSPENDED, 0).max()),
            unit="messages",
            why="They run to the rendezvous point and end there; relay-free without strong would cost this each time.",
        ),
        Claim(
            what="Scribe's messages without subscribers if its 100 publishers seek the root each time",
            source="RELAY §3.1",
            paper=None,
            ours=lambda tables: float(_sent(tables, SEEKING, 0).max()),
            unit="messages",
            why="The other reading: no address is cached. It changes nothing where anybody subscribes.",
        ),
    ),
    plots={
        "RELAY figure 9. Messages on the overlay when each publisher (p/t: publishers per topic) publishes once, mean of the "
        "overlays.": _draw
    },
)
