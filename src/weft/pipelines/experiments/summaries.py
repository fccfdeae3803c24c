"""What is made of rows, said as data: ``transforms/statistics.py`` turns each into a DataFrame → DataFrame function.

Rows have the point's parameters, ``seed`` and the model's columns. ``where`` is a condition in SQL on those. The tables that
come out have the columns ``by`` and those named below.
"""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Mean:
    """``n``; for each column c of ``of``: c (the mean), c_low and c_high (95 %, Student's t), c_min, c_max."""

    by: tuple[str, ...]
    of: tuple[str, ...]
    where: str = ""


@dataclass(frozen=True, slots=True)
class Total:
    """``n``; for each column its sum."""

    by: tuple[str, ...]
    of: tuple[str, ...]
    where: str = ""


@dataclass(frozen=True, slots=True)
class Cdf:
    """``value``, ``count`` and ``share``: the part of all that is not above it. A row counts ``weight`` times, if named."""

    by: tuple[str, ...]
    of: str
    weight: str = ""
    where: str = ""


@dataclass(frozen=True, slots=True)
class Quantiles:
    """``n``; for each q of ``at`` a column qNN (0.5 → q50, 0.999 → q99_9), and ``most``. Exact."""

    by: tuple[str, ...]
    of: str
    at: tuple[float, ...] = (0.5, 0.95, 0.99)
    where: str = ""


@dataclass(frozen=True, slots=True)
class Correlation:
    """Pearson's: ``n``, ``r``, ``low`` and ``high`` (95 %, Fisher's z)."""

    by: tuple[str, ...]
    x: str
    y: str
    where: str = ""


Summary = Mean | Total | Cdf | Quantiles | Correlation
