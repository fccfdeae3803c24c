"""What came of a scenario, drawn for people: the ring, the tree of each multicast, counts, expectations.

Imported only when something is drawn, because rich is slow to load.
"""

from collections.abc import Callable

from rich.console import Console
from rich.markup import escape
from rich.table import Table
from rich.tree import Tree

from weft.cli.exits import one_line
from weft.core.ids import NodeId
from weft.sim.scenario.outcome import Branch, Outcome, Spread

BRANCHES_MAX = 200
"""A multicast of more hand-overs than this is shown without its tree."""

Cluster = Callable[[NodeId], str]


def show(outcome: Outcome, cluster: Cluster) -> None:
    """The whole outcome for people: ring, multicasts, messages, expectations, trace hash."""
    console = Console(highlight=False)
    console.print(f"[bold]{escape(outcome.title or 'scenario')}[/]  {outcome.overlay}, seed {outcome.seed}")
    console.print(f"{outcome.events} events in {outcome.time:g} simulated seconds\n")
    _show_ring(console, outcome)
    for spread in outcome.spreads:
        _show_spread(console, spread, cluster)
    _show_messages(console, outcome)
    _show_links(console, outcome)
    for failure in outcome.failures:
        console.print(f"[red]✗[/] {escape(one_line(failure))}", soft_wrap=True)
    total = outcome.held + len(outcome.failures)
    if total:
        mark = "[green]✓[/]" if not outcome.failures else "[red]✗[/]"
        console.print(f"{mark} {outcome.held} of {total} expectations hold")
    console.print(f"trace hash {outcome.trace_hash}")


def _show_ring(console: Console, outcome: Outcome) -> None:
    if not outcome.ring:
        console.print("nobody is in the ring\n")
        return
    console.print("[bold]the ring[/], in key order")
    line: list[str] = []
    cluster = None
    for member in outcome.ring:
        if member.cluster != cluster:
            cluster = member.cluster
            line.append(f"[cyan]{escape(cluster)}[/]")
        line.append(f"{member.broker}")
    console.print("  ↻ " + " ".join(line) + "\n")


def _show_spread(console: Console, spread: Spread, cluster: Cluster) -> None:
    text = f" “{escape(spread.text)}”" if spread.text else ""
    console.print(f"[bold]{spread.what}[/]{text} from broker {spread.broker}  (step {spread.step})")
    if spread.hand_overs <= BRANCHES_MAX:
        console.print(_tree(spread.tree, cluster))
    counts = f"{len(spread.reached)} keys reached, {spread.hand_overs} hand-overs"
    console.print(f"  {counts}, {spread.between_clusters} of them between clusters, {spread.links} links crossed")
    if spread.late:
        console.print(f"  reached by a repetition: {escape(', '.join(spread.late))}")
    if spread.answered:
        missing = f", {spread.missing} sub-ranges missing" if spread.missing else ""
        console.print(f"  answer: {escape(str(spread.value))}{missing}")
    console.print()


def _tree(root: Branch, cluster: Cluster) -> Tree:
    begun = root.time
    top = Tree(_label(root, cluster, begun), guide_style="dim")
    stack = [(top, root)]
    while stack:
        tree, branch = stack.pop()
        stack += [(tree.add(_label(inner, cluster, begun)), inner) for inner in branch.branches]
    return top


def _label(branch: Branch, cluster: Cluster, begun: float) -> str:
    mark = "[green]●[/] " if branch.keys else "○ "
    label = f"{mark}broker {branch.broker} [cyan]{escape(cluster(branch.broker))}[/]"
    if branch.source is None:
        return label if branch.message == "command" else f"{label} [dim]({branch.message})[/]"
    links = "link" if branch.links == 1 else "links"
    return f"{label}  [dim]{branch.links} {links}, +{(branch.time - begun) * 1000:.1f} ms[/]"


def _show_messages(console: Console, outcome: Outcome) -> None:
    table = Table("message", box=None, padding=(0, 2, 0, 0), header_style="bold")
    for name in ("sent", "delivered", "dropped", "links crossed"):
        table.add_column(name, justify="right")
    for name, traffic in outcome.messages.items():
        row = (traffic.sent, traffic.delivered, traffic.dropped, traffic.links)
        table.add_row(name, *(f"{number:,}" for number in row))
    console.print(table)
    console.print()


def _show_links(console: Console, outcome: Outcome) -> None:
    if not outcome.links:
        return
    busiest = sorted(outcome.links.items(), key=lambda item: (-item[1], item[0]))[:5]
    console.print("[bold]busiest links[/]  " + ", ".join(f"{name} {count:,}" for name, count in busiest) + "\n")
