"""Measures by which a statement about a curve or a table is judged; each is one number, with its bound at the claim."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from weft.pipelines.experiments.table import Missing

Z_99 = 2.5758293035489004
"""The normal distribution's 99.5 %: table 3 is at the 99 % level."""

Numbers = npt.NDArray[Any] | Sequence[float]


def exponent(x: Numbers, y: Numbers) -> float:
    """p of the power x^p that fits best; what is left of y / law(x) tells whether y grows faster than its law."""
    if len(x) < 2:
        raise Missing("a curve has two points at least")
    return float(np.polyfit(np.log(x), np.log(y), 1)[0])


def straightness(x: Numbers, y: Numbers) -> float:
    """R² of the straight line through the points."""
    if len(x) < 3:
        raise Missing("two points are always on a line")
    return float(np.corrcoef(x, y)[0, 1] ** 2)


def interval_99(r: float, n: float) -> tuple[float, float]:
    """Fisher's, at the level that RELAY's table 3 has; the summaries are at 95 %."""
    half = Z_99 / math.sqrt(n - 3)
    return math.tanh(math.atanh(r) - half), math.tanh(math.atanh(r) + half)


def apart(values: Numbers, shares: Numbers, other_values: Numbers, other_shares: Numbers) -> float:
    """The largest distance between two cumulative distributions, each given by its steps."""
    at = np.union1d(values, other_values)
    return float(np.abs(_stepped(at, values, shares) - _stepped(at, other_values, other_shares)).max())


def quantile(values: Numbers, shares: Numbers, q: float) -> float:
    """The least value whose share is q."""
    return float(np.asarray(values)[int(np.searchsorted(np.asarray(shares), q))])


def _stepped(at: npt.NDArray[Any], values: Numbers, shares: Numbers) -> npt.NDArray[Any]:
    return np.concatenate(([0.0], np.asarray(shares)))[np.searchsorted(np.asarray(values), at, side="right")]
