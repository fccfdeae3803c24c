"""A run as text that stays the same: one line per delivered message.

    0.010000        1 → 2        Ping(n=3)

Made for golden files (``tests/scenario/*.txt``) and for eyes: no ids, no counters, nothing that another equally right
order of bookkeeping would change. Lines that say something else about the run start with ``--``.
"""

from weft.sim.des.brief import Brief, brief
from weft.sim.des.trace import Step, Trace


def transcript(trace: Trace, special: Brief | None = None, notes: tuple[str, ...] = ()) -> list[str]:
    """The lines of a full trace; ``notes`` names the kinds of notes that get a line (``delivered``, ``dropped``, …)."""
    lines: list[str] = []
    for step in trace.steps():
        lines += _lines(step, special, notes)
    kept = trace.steps()
    if kept and kept[0].id > 1:
        lines.insert(0, f"-- the first {kept[0].id - 1} steps are no longer kept")
    return lines


def _lines(step: Step, special: Brief | None, notes: tuple[str, ...]) -> list[str]:
    lines: list[str] = []
    if step.kind == "message":
        way = f"{step.source} → {step.node}"
        links = "" if step.links == 1 else f"  [{step.links} links]"
        lines.append(f"{step.time:<12.6f}  {way:<14}  {brief(step.what, special)}{links}")
    elif step.kind == "action":
        lines.append(f"-- {step.time:.6f} {step.what}")
    for note in step.notes:
        if note.kind in notes:
            detail = "" if note.detail is None else f" ({brief(note.detail, special)})"
            lines.append(f"-- {step.time:.6f} {step.node} {note.kind} {brief(note.subject, special)}{detail}")
    return lines
