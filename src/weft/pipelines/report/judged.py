"""An experiment with what came of it: all that a page needs to know."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from weft.pipelines.experiments.claims import ABSENT, AGREES, ALONE, DIFFERS, FAILS, HOLDS, Verdict
from weft.pipelines.experiments.experiment import Experiment, Scale
from weft.pipelines.experiments.table import Table

GOOD, BAD, OPEN = (AGREES, HOLDS), (DIFFERS, FAILS), (ALONE, ABSENT)


@dataclass(frozen=True, slots=True)
class Cost:
    """Runs that are there, of those planned; what they took together, and the most that one took."""

    planned: int
    runs: int
    failed: int
    error: str
    cpu_s: float
    peak_mb: float
    seconds: float
    """By the clock, of the sweeps that made them, with ``cores`` tasks at once; NaN if one of those was killed."""
    cores: int

    @property
    def complete(self) -> bool:
        return self.runs == self.planned


@dataclass(frozen=True, slots=True)
class Judged:
    experiment: Experiment
    scale: Scale
    tables: Mapping[str, Table]
    cost: Cost

    @property
    def verdicts(self) -> list[Verdict]:
        return [claim.judge(self.tables, whole=self.cost.complete) for claim in self.experiment.claims]

    def counted(self) -> tuple[int, int, int]:
        """Verdicts that are as the paper says, that are not, and that nothing can be said of."""
        found = Counter(verdict.verdict for verdict in self.verdicts)
        good, bad, free = (sum(found[each] for each in kinds) for kinds in (GOOD, BAD, OPEN))
        return good, bad, free
