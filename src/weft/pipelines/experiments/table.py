"""A small table of results in memory, column by column: what summaries come to, for claims and plots to read."""

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt


class Missing(LookupError):
    """A result that was not run: at this scale, or not yet."""


PARTIAL = (LookupError, ValueError, ZeroDivisionError)
"""What reading tables comes to if some of their rows are not there: no such row, the least of nothing, a sum of none."""


class Table:
    def __init__(self, columns: Mapping[str, Any]) -> None:
        self.columns: dict[str, npt.NDArray[Any]] = {name: np.asarray(values) for name, values in columns.items()}
        if len({len(values) for values in self.columns.values()}) > 1:
            raise ValueError("columns of different lengths")

    def __len__(self) -> int:
        return len(next(iter(self.columns.values()), ()))

    def __getitem__(self, name: str) -> npt.NDArray[Any]:
        return self.columns[name]

    def where(self, **wanted: Any) -> "Table":
        """The rows whose columns equal ``wanted``; a tuple, list or set: are one of."""
        keep = np.ones(len(self), bool)
        for name, value in wanted.items():
            among = list(value) if isinstance(value, tuple | list | set | frozenset | range) else [value]
            keep &= np.isin(self.columns[name], among)
        return self._taken(keep)

    def ordered(self, *by: str) -> "Table":
        return self._taken(np.lexsort([self.columns[name] for name in reversed(by)]))

    def split(self, by: str) -> Iterator[tuple[Any, "Table"]]:
        """The different values of a column, ascending, and the rows of each."""
        for value in np.unique(self.columns[by]):
            yield value.item(), self.where(**{by: value})

    def one(self, name: str, **wanted: Any) -> float:
        """The number in the one row that ``wanted`` names."""
        found = self.where(**wanted)[name]
        if len(found) != 1:
            chosen = ", ".join(f"{key}={value}" for key, value in wanted.items())
            raise Missing(f"{len(found)} rows with {chosen}, not one")
        return float(found[0])

    def _taken(self, which: npt.NDArray[Any]) -> "Table":
        return Table({name: values[which] for name, values in self.columns.items()})
