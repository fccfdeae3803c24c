"""What a paper says, what we found, and a verdict that is computed from the two.

Three kinds. A *number* was published: it agrees within a relative tolerance that is stated beforehand, or it differs. A
*statement* was published: it holds, or it does not. *Nothing to compare*: the figure is lost, or the question is ours.
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from weft.pipelines.experiments.table import PARTIAL, Missing, Table

AGREES, DIFFERS, HOLDS, FAILS = "agrees", "differs", "holds", "does not hold"
ALONE, ABSENT = "nothing to compare", "not run"


class Verdict(NamedTuple):
    """A row of the report; ``ratio`` is NaN where none makes sense."""

    what: str
    source: str
    paper: str
    ours: float
    unit: str
    ratio: float
    verdict: str
    why: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    what: str
    source: str
    """Paper, section, figure or table."""
    paper: float | str | None
    """The number; or the statement, in words; or None."""
    ours: Callable[[Mapping[str, Table]], float]
    """Raises ``Missing`` if it was not run."""
    within: float = 0.1
    """Of a number: how far ours may be off, relative to it (to 1, if it is 0)."""
    holds: Callable[[float], bool] | None = None
    """Of a statement: what has to be true of ours."""
    unit: str = ""
    why: str = ""
    """What could explain a difference; why there is nothing to compare."""

    def judge(self, tables: Mapping[str, Table], *, whole: bool = True) -> Verdict:
        """Unless the tables are ``whole``, what cannot be read off them is not judged; else that is an error of ours."""
        ratio = math.nan
        lacking = (Missing, KeyError) if whole else PARTIAL
        try:
            ours = self.ours(tables)
        except lacking:
            ours, verdict = math.nan, ABSENT
        else:
            verdict = ABSENT if math.isnan(ours) and not whole else self._verdict(ours)
            if isinstance(self.paper, int | float) and self.paper:
                ratio = ours / self.paper
        paper = "–" if self.paper is None else self.paper if isinstance(self.paper, str) else f"{self.paper:g}"
        return Verdict(self.what, self.source, paper, ours, self.unit, ratio, verdict, self.why)

    def _verdict(self, ours: float) -> str:
        if self.paper is None:
            return ALONE
        if isinstance(self.paper, str):
            if self.holds is None:
                return ALONE
            return HOLDS if self.holds(ours) else FAILS
        near = abs(ours - self.paper) <= self.within * (abs(self.paper) or 1.0)
        return AGREES if near else DIFFERS
