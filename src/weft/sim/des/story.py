"""Why did this happen, and what came of it: a step's ancestors and descendants as readable lines."""

from collections import defaultdict

from weft.sim.des.brief import Brief, brief
from weft.sim.des.trace import Step, Trace

LINES_MAX = 200
"""A story of more descendants than this is cut, and says so."""


def line(step: Step, special: Brief | None = None) -> str:
    """One step on one line."""
    what = step.what if isinstance(step.what, str) else brief(step.what, special) if step.what is not None else ""
    if step.kind == "message":
        links = "" if step.links == 1 else f"  [{step.links} links]"
        return f"#{step.id} {step.time:.6f}  {step.source} → {step.node}  {what}{links}"
    who = "" if step.node is None else f"  {step.node}"
    return f"#{step.id} {step.time:.6f}{who}  {step.kind}{' ' + what if what else ''}"


def story(trace: Trace, id_: int, special: Brief | None = None) -> list[str]:
    """The ancestors of step ``id_``, the oldest first, the step itself (marked), and its descendants, indented."""
    step = trace.get(id_)
    if step is None:
        kept = trace.steps()
        held = f"steps {kept[0].id}…{kept[-1].id}" if kept else "no steps (it needs a full trace)"
        return [f"step {id_} is not kept: the trace holds {held}"]
    ancestors: list[Step] = []
    cause = step.cause
    while (ancestor := trace.get(cause)) is not None:
        ancestors.append(ancestor)
        cause = ancestor.cause
    lines = [f"… caused by #{cause}, which is no longer kept"] if cause else []
    for ancestor in reversed(ancestors):
        lines += _entry(ancestor, "  ", special)
    lines += _entry(step, "> ", special)
    return lines + _descendants(trace, id_, special)


def _descendants(trace: Trace, id_: int, special: Brief | None) -> list[str]:
    children: dict[int, list[Step]] = defaultdict(list)
    for other in trace.steps():
        if other.id > id_:
            children[other.cause].append(other)
    lines: list[str] = []
    stack = [(child, 1) for child in reversed(children[id_])]
    while stack:
        step, depth = stack.pop()
        if len(lines) >= LINES_MAX:
            return [*lines, f"… and more: only {LINES_MAX} lines are shown"]
        lines += _entry(step, "  " * (depth + 1), special)
        stack += [(child, depth + 1) for child in reversed(children[step.id])]
    return lines


def _entry(step: Step, indent: str, special: Brief | None) -> list[str]:
    lines = [indent + line(step, special)]
    for note in step.notes:
        detail = "" if note.detail is None else f" ({brief(note.detail, special)})"
        lines.append(f"{' ' * len(indent)}  · {note.kind}: {brief(note.subject, special)}{detail}")
    return lines
