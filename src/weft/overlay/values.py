"""Reduction: how many answers, or many nodes' attributes, become one (SELECT §3.3; overlay §4).

A reducer is named, never sent: associative, commutative, with the empty value None, so that a tree may combine in any
order and an empty sub-range costs nothing. Attributes are labelled numbers, ``{"free:c1/edge1": 3}``; the part before the
colon names the reducer, a label without one is summed.
"""

from collections.abc import Callable, Mapping
from typing import Any

from weft.core.errors import Violation

Attributes = Mapping[str, float]

UNION_MAX = 4_096
"""Most members of a ``union`` answer; past it the answer says so by the mark ``"…"``."""

LABELS_MAX = 256
"""Most labels that one virtual node may announce, or one table entry hold."""


def _union(left: tuple[Any, ...], right: tuple[Any, ...]) -> tuple[Any, ...]:
    members = sorted({*left, *right}, key=repr)
    return (*members[:UNION_MAX], "…") if len(members) > UNION_MAX else tuple(members)


def _first(left: Any, right: Any) -> Any:
    return min(left, right, key=repr)


REDUCERS: dict[str, Callable[[Any, Any], Any]] = {
    "count": lambda left, right: left + right,
    "sum": lambda left, right: left + right,
    "min": min,
    "max": max,
    "union": _union,
    "first": _first,
}


def reduce(reducer: str, left: Any, right: Any) -> Any:
    """``left`` and ``right`` combined; None is the empty answer. A peer that sends what cannot be combined violates."""
    if left is None:
        return right
    if right is None:
        return left
    try:
        return REDUCERS[reducer](left, right)
    except (LookupError, TypeError, ValueError, ArithmeticError) as error:
        raise Violation(f"cannot reduce by {reducer}") from error


def merge(left: Attributes, right: Attributes) -> dict[str, float]:
    """Two nodes' attributes as one, label by label."""
    merged = dict(left)
    for label, value in right.items():
        if label in merged:
            reducer = label.partition(":")[0]
            combine = REDUCERS[reducer] if reducer in ("min", "max") else REDUCERS["sum"]
            merged[label] = combine(merged[label], value)
        elif len(merged) < LABELS_MAX:
            merged[label] = value
    return merged


def select(attributes: Attributes, labels: tuple[str, ...] | None) -> dict[str, float]:
    """Only the labels that a query can use: the rest need not travel (SELECT §6)."""
    if labels is None:
        return dict(attributes)
    return {label: attributes[label] for label in labels if label in attributes}
