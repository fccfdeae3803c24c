"""beyond-wildcards: filters with wildcards as keys: by shapes, against literal prefixes and flooding."""

from collections.abc import Callable, Sequence
from typing import Any

from weft.core.limits import TTL_HOPS
from weft.pipelines.experiments.beyond.filters import SHAPES, WORDS
from weft.pipelines.experiments.beyond.publishing import COLUMNS, published
from weft.pipelines.experiments.claims import Claim
from weft.pipelines.experiments.experiment import Experiment, Point, Scale, Tables, points
from weft.pipelines.experiments.summaries import Mean
from weft.pipelines.experiments.table import Table

TITLES = {"shapes": "by shapes", "prefixes": "by literal prefixes", "flooding": "flooding"}
LIVE = (1, 2, 4, 8, 16)

POSSIBLE = sum(2**level for level in range(len(WORDS) + 1)) + 2 ** len(WORDS)
"""Shapes that a topic of so many levels fits: who knew nothing of the live ones would ask for each of them. Each level, or each
before a ``#`` (which matches its parent, too), is a literal or ``+``.
"""


def _grid(scale: Scale) -> Sequence[Point]:
    if scale is Scale.SMALL:
        return points(keys=(300, 3_000), shapes=(1, 4, 16))
    if scale is Scale.PAPER:
        return points(keys=(1_000, 10_000, 100_000), shapes=LIVE)
    return points(keys=(1_000, 10_000, 100_000, 1_000_000), shapes=LIVE)


def _memory_mb(point: Point) -> float:
    """Two Skip Graphs of about log2 n levels, one at a time, and the orders of the keys."""
    return 220.0 + float(point["keys"]) * 800 / 1e6


# What is claimed


def _largest(tables: Tables) -> dict[str, int]:
    """The point with most keys and most live shapes."""
    costs = tables["costs"]
    return {"keys": int(costs["keys"].max()), "shapes": int(costs["shapes"].max())}


def _ratio(of: str, to: str, column: str, **point: int) -> Callable[[Tables], float]:
    def ours(tables: Tables) -> float:
        at = {**_largest(tables), **point}
        return tables["costs"].one(column, scheme=of, **at) / tables["costs"].one(column, scheme=to, **at)

    return ours


def _worst(scheme: str, worse: Callable[[Table], Any]) -> Callable[[Tables], float]:
    return lambda tables: float(worse(tables["costs"].where(scheme=scheme)).max())


CLAIMS = (
    Claim(
        what="deliveries by shapes to filters that do not match, per publication, at most",
        source="ADR 0003",
        paper="none",
        ours=_worst("shapes", lambda rows: rows["false_max"]),
        holds=lambda false: false == 0,
    ),
    Claim(
        what="multicasts for a publication by shapes, per live shape",
        source="ADR 0003",
        paper="one exact segment multicast for each live shape",
        ours=_worst("shapes", lambda rows: abs(rows["queries"] / rows["shapes"] - 1.0) + 1.0),
        holds=lambda queries: queries == 1.0,
    ),
    Claim(
        what="deliveries by literal prefixes to filters that do not match, per publication, most keys and shapes",
        source="ADR 0003",
        paper="a prefix scheme delivers false positives",
        ours=lambda tables: tables["costs"].one("false", scheme="prefixes", **_largest(tables)),
        holds=lambda false: false > 0,
    ),
    Claim(
        what="shapes that a topic fits: multicasts for a publication without a catalogue of the live ones",
        source="ADR 0003",
        paper=None,
        ours=lambda tables: float(POSSIBLE),
        why="computed, not run: what the catalogue saves",
    ),
    *(
        Claim(
            what=f"matches that the hop limit cuts off, by {scheme}, per publication, in the worst run",
            source="overlay §5",
            paper=None,
            ours=_worst(scheme, lambda rows: rows["cut_max"]),
            why=f"a copy is dropped after {TTL_HOPS} messages; in a few of the largest overlays the deepest way is longer",
        )
        for scheme in ("shapes", "prefixes", "flooding")
    ),
    *(
        Claim(what=what, source="beyond", paper=None, ours=ours, why="the question is ours")
        for what, ours in (
            (
                "messages by prefixes over those by shapes, most keys, 16 live shapes",
                _ratio("prefixes", "shapes", "messages"),
            ),
            (
                "messages by prefixes over those by shapes, most keys, 4 live shapes",
                _ratio("prefixes", "shapes", "messages", shapes=4),
            ),
            (
                "messages by flooding over those by shapes, most keys, 16 live shapes",
                _ratio("flooding", "shapes", "messages"),
            ),
            (
                "relays by shapes over relays by prefixes, most keys, 16 live shapes",
                _ratio("shapes", "prefixes", "relays"),
            ),
            (
                "messages to brokers without a key in the range, per multicast by shapes, most keys, 16 live shapes",
                lambda tables: (
                    tables["costs"].one("relays", scheme="shapes", **_largest(tables)) / _largest(tables)["shapes"]
                ),
            ),
        )
    ),
)


# Pictures


def _lines(column: str, label: str) -> Callable[[Any, Tables], None]:
    """Over live shapes, one axes for each number of keys."""

    def draw(figure: Any, tables: Tables) -> None:
        costs = tables["costs"]
        sizes = list(costs.split("keys"))
        axes = figure.subplots(1, len(sizes), sharey=True, squeeze=False)[0]
        for ax, (keys, rows) in zip(axes, sizes, strict=True):
            for scheme, title in TITLES.items():
                line = rows.where(scheme=scheme).ordered("shapes")
                ax.plot(line["shapes"], line[column], "o-", label=title)
                ax.fill_between(line["shapes"], line[f"{column}_low"], line[f"{column}_high"], alpha=0.2)
            ax.set_xscale("log", base=2)
            ax.set_xticks(list(LIVE), [str(live) for live in LIVE])
            ax.set_xlabel("live shapes")
            ax.annotate(f"{keys:,} filters", (0.03, 1.02), xycoords="axes fraction", fontsize="small")
        axes[0].set_yscale("symlog", linthresh=1.0)
        axes[0].set_ylim(bottom=0)
        axes[0].set_ylabel(label)
        figure.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=3)

    return draw


def _relays(figure: Any, tables: Tables) -> None:
    ax = figure.subplots()
    for number, (keys, rows) in enumerate(tables["costs"].split("keys")):
        for scheme, style in (("shapes", "o-"), ("prefixes", "s--")):
            line = rows.where(scheme=scheme).ordered("shapes")
            ax.plot(
                line["shapes"], line["relays"], style, color=f"C{number}", label=f"{TITLES[scheme]}, {keys:,} filters"
            )
    ax.set_xscale("log", base=2)
    ax.set_xticks(list(LIVE), [str(live) for live in LIVE])
    ax.set_xlabel("live shapes")
    ax.set_ylabel("messages to brokers without a key in the range")
    ax.legend()


EXPERIMENT = Experiment(
    name="beyond-wildcards",
    paper="beyond",
    title="Filters with wildcards as keys",
    says=(
        "A key begins with its filter's shape, so the filters of a shape that match a topic are one range, and a publication "
        "is one multicast for each shape that is alive. What does that cost with 1 to 16 live shapes, against a query for "
        "each literal prefix of the topic (with deliveries to filters that do not match), and against flooding?"
    ),
    setting=(
        f"Topics have {len(WORDS)} levels with {', '.join(map(str, WORDS))} words, drawn by Zipf's law (exponent 1), each by "
        "itself. A filter is a topic drawn the same way and blanked by a live shape, each as likely; they come to "
        f"life in this order (L: a literal level): {', '.join(f'`{shape}`' for shape in SHAPES)}. Each filter is the "
        "only key of a broker; a converged Skip "
        "Graph, strategy binary, the sender a random broker, as a rule outside the ranges. A publisher knows which shapes are "
        "alive (and which lengths of prefixes), not whether anybody is in a range: it also asks where nobody is, which "
        "RELAY's suspension would save. Prefixes keep filters without a wildcard apart. 100 publications a run; paths are "
        "those to filters that match. A message to a member of the range is a delivery; all others are relays."
    ),
    grid=_grid,
    repeats={Scale.SMALL: 2, Scale.PAPER: 10, Scale.HUGE: 10},
    model=published,
    columns=COLUMNS,
    summaries={"costs": Mean(("keys", "shapes", "scheme"), tuple(name for name in COLUMNS if name != "scheme"))},
    claims=CLAIMS,
    plots={
        "Messages for a publication": _lines("messages", "messages"),
        "Deliveries to filters that do not match": _lines("false", "false positives"),
        "The longest path to a filter that matches": _lines("longest", "hops"),
        "Messages that only lead to a range": _relays,
    },
    per_task=5,
    memory_mb=_memory_mb,
)
