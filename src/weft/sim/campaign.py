"""Many schedules, and what they came to.

A campaign is a range of seeds and the bounds they are drawn within. It is cut into chunks that know nothing of each other, so
whoever drives it may spread them over processes; the sum does not depend on how. A violation names its seed, the command
that replays it, and the trace hash that the replay must show: a schedule that fails is run a second time for that.
"""

from collections import Counter
from collections.abc import Iterable, Sequence

import msgspec

from weft.sim.des.trace import Level
from weft.sim.explore import Case, Explored, Explorer, cases
from weft.sim.invariants import Broken
from weft.sim.schedule import Bounds, Outcome, Schedule

VIOLATIONS_MAX = 100
"""Violations listed in one campaign; the rest are counted."""


class Violation(msgspec.Struct, frozen=True):
    """``seed`` is None for a case of the explorer, whose ``rule`` tells the whole path; ``replay`` then finds it again."""

    seed: int | None
    rule: str
    replay: str
    trace_hash: str = ""


class Tally(msgspec.Struct):
    """Sums over some schedules; tallies of chunks add up."""

    schedules: int = 0
    events: int = 0
    messages: int = 0
    queries: int = 0
    overlays: Counter[str] = msgspec.field(default_factory=Counter)
    faults: Counter[str] = msgspec.field(default_factory=Counter)
    healed: Counter[int] = msgspec.field(default_factory=Counter)
    """Schedules by the (virtual) seconds, rounded up, that the ring took to be whole after the last fault."""
    converged: Counter[int] = msgspec.field(default_factory=Counter)
    violations: list[Violation] = []
    violated: int = 0

    def count(self, outcome: Outcome) -> None:
        self.schedules += 1
        self.events += outcome.events
        self.messages += outcome.messages
        self.queries += outcome.queries
        self.overlays[outcome.overlay] += 1
        self.faults.update(outcome.faults)
        self.healed[-int(-outcome.healed_after_s // 1)] += 1
        self.converged[-int(-outcome.converged_after_s // 1)] += 1

    def violate(self, violation: Violation) -> None:
        self.schedules += violation.seed is not None
        self.violated += 1
        if len(self.violations) < VIOLATIONS_MAX:
            self.violations.append(violation)

    def add(self, other: "Tally") -> None:
        self.schedules += other.schedules
        self.events += other.events
        self.messages += other.messages
        self.queries += other.queries
        self.overlays.update(other.overlays)
        self.faults.update(other.faults)
        self.healed.update(other.healed)
        self.converged.update(other.converged)
        self.violations = [*self.violations, *other.violations][:VIOLATIONS_MAX]
        self.violated += other.violated


def replay_command(seed: int, bounds: Bounds) -> str:
    """What to type to see schedule ``seed`` again."""
    usual = Bounds()
    words = [f"weft sim replay {seed}"]
    if bounds.nodes_max != usual.nodes_max:
        words.append(f"--nodes {bounds.nodes_max}")
    if bounds.faults != usual.faults:
        words.append(f"--faults {','.join(bounds.faults) or 'none'}")
    if bounds.down_share != usual.down_share:
        words.append(f"--down-share {bounds.down_share:g}")
    if bounds.overlays != usual.overlays:
        words.append(f"--overlay {','.join(bounds.overlays)}")
    return " ".join(words)


class Trial(msgspec.Struct, frozen=True):
    """A schedule after its run: what it came to, or the rule that it broke."""

    schedule: Schedule
    outcome: Outcome | None
    broken: str = ""


def trial(seed: int, bounds: Bounds, level: Level = Level.OFF) -> Trial:
    """Run schedule ``seed``. A machine that raises breaks a rule like any other: nothing a schedule does may make it raise."""
    schedule = Schedule(seed, bounds, level)
    try:
        return Trial(schedule, schedule.run())
    except Broken as broken:
        return Trial(schedule, None, str(broken))
    except Exception as error:  # noqa: BLE001  a bug in a machine, whatever it raises, must not end the campaign
        return Trial(schedule, None, f"{type(error).__name__}: {error}")


def run_seeds(seeds: Sequence[int], bounds: Bounds) -> Tally:
    """One chunk."""
    tally = Tally()
    for seed in seeds:
        first = trial(seed, bounds)
        if first.outcome is not None:
            tally.count(first.outcome)
            continue
        again = trial(seed, bounds, Level.DIGEST)
        rule = (
            first.broken if again.broken == first.broken else f"{first.broken} (but, run again: {again.broken or 'ok'})"
        )
        trace_hash = again.schedule.simulation.trace.hash()
        tally.violate(Violation(seed, rule, replay_command(seed, bounds), trace_hash))
    return tally


def chunks(first: int, count: int, size: int) -> Iterable[range]:
    """``count`` seeds from ``first`` on, ``size`` at a time."""
    for start in range(first, first + count, size):
        yield range(start, min(start + size, first + count))


EXTRAS = {
    2: ((0, 0, 0), (14, 0, 0), (12, 1, 0), (0, 0, 1)),
    3: ((0, 0, 0), (14, 0, 0), (12, 1, 0), (0, 0, 1)),
    4: ((0, 0, 0),),
}
"""By brokers: timer firings, lost and doubled messages that are explored too; with four those take hours and gigabytes."""


def exhaustive_cases(nodes: int) -> list[Case]:
    """All orders for rings of up to ``nodes``: bare, and as ``EXTRAS`` says; widest first."""
    found: list[Case] = []
    for count in range(2, nodes + 1):
        for extra in EXTRAS[count]:
            found += cases(count, *extra)
    return sorted(found, key=_width, reverse=True)


def _width(case: Case) -> tuple[int, int]:
    """A guess at how large a case is, so that the largest are not begun last."""
    moving = 2 * case.roles.count("join") + case.roles.count("leave") + case.roles.count("crash")
    return moving, case.losses + case.doubles


def explore(case: Case) -> Explored:
    """One case, whole; what is wrong with it, if anything, is told in the answer."""
    try:
        return Explorer(case).run()
    except RecursionError:
        return _wrong(case, "messages that cause each other for ever")
    except Exception as error:  # noqa: BLE001  as for a schedule: whatever a machine raises is what was looked for
        rule = str(error) if isinstance(error, Broken) else f"{type(error).__name__}: {error}"
        return _wrong(case, "\n".join([rule, *getattr(error, "__notes__", [])]))


def _wrong(case: Case, rule: str) -> Explored:
    return Explored(str(case), 0, 0, 0, 0, rule)
