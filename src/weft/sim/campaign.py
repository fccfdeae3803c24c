"""Many schedules, and what they came to.

A campaign is a range of seeds and the bounds they are drawn within. It is cut into chunks that know nothing of each other, so
whoever drives it may spread them over processes; the sum does not depend on how. A violation names its seed and the command
that replays it.
"""

from collections import Counter
from collections.abc import Iterable, Sequence

import msgspec

from weft.sim.explore import Case, Explored, Explorer, cases
from weft.sim.invariants import Broken
from weft.sim.schedule import Bounds, Outcome, Schedule

VIOLATIONS_MAX = 100
"""Violations listed in one campaign; the rest are counted."""


class Violation(msgspec.Struct, frozen=True):
    seed: int
    rule: str
    replay: str


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

    def violate(self, seed: int, rule: str, replay: str) -> None:
        self.schedules += 1
        self.violated += 1
        if len(self.violations) < VIOLATIONS_MAX:
            self.violations.append(Violation(seed, rule, replay))

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
    if bounds.overlays != usual.overlays:
        words.append(f"--overlay {','.join(bounds.overlays)}")
    return " ".join(words)


def run_seeds(seeds: Sequence[int], bounds: Bounds) -> Tally:
    """One chunk. A machine that raises is a violation like any other: nothing a schedule does may make it raise."""
    tally = Tally()
    for seed in seeds:
        try:
            tally.count(Schedule(seed, bounds).run())
        except Broken as broken:
            tally.violate(seed, str(broken), replay_command(seed, bounds))
        except Exception as error:  # noqa: BLE001  a bug in a machine, whatever it raises, must not end the campaign
            tally.violate(seed, f"{type(error).__name__}: {error}", replay_command(seed, bounds))
    return tally


def chunks(first: int, count: int, size: int) -> Iterable[range]:
    """``count`` seeds from ``first`` on, ``size`` at a time."""
    for start in range(first, first + count, size):
        yield range(start, min(start + size, first + count))


def exhaustive_cases(nodes: int) -> list[Case]:
    """All orders for rings of up to ``nodes``: bare, with timers, with one message lost, with one doubled; widest first."""
    found: list[Case] = []
    for count in range(2, nodes + 1):
        for extra in ((0, 0, 0), (14, 0, 0), (12, 1, 0), (0, 0, 1)):
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
    except AssertionError as error:
        return Explored(str(case), 0, 0, 0, 0, "\n".join([str(error), *getattr(error, "__notes__", [])]))
    except RecursionError:
        return Explored(str(case), 0, 0, 0, 0, "messages that cause each other for ever")
