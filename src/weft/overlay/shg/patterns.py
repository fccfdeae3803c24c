"""Content: attributes, predicates over them, and patterns, which are conjunctions of predicates.

A pattern's predicates are sorted and each stands once, so that one pattern is one value: a node that knows it knows it under
whatever order it was written in. An attribute that is absent satisfies nothing; text and numbers do not compare.
"""

from collections.abc import Callable, Mapping
from math import isnan

import msgspec

from weft.core.errors import Misuse, Violation

Value = str | int | float
Attributes = Mapping[str, Value]

PREDICATES_MAX = 64
ATTRIBUTES_MAX = 256
TEXT_MAX = 4_096


class Predicate(msgspec.Struct, frozen=True, gc=False, order=True):
    """``attribute`` ``op`` ``value``."""

    attribute: str
    op: str
    value: Value


class Pattern(msgspec.Struct, frozen=True, gc=False):
    """All of ``predicates``; none: everything. Made by ``pattern``."""

    predicates: tuple[Predicate, ...]


def _prefix(one: Value, other: Value) -> bool:
    return isinstance(one, str) and isinstance(other, str) and one.startswith(other)


OPS: dict[str, Callable[[Value, Value], bool]] = {
    "=": lambda one, other: one == other,
    "!=": lambda one, other: one != other,
    "<": lambda one, other: one < other,  # type: ignore[operator]
    "<=": lambda one, other: one <= other,  # type: ignore[operator]
    ">": lambda one, other: one > other,  # type: ignore[operator]
    ">=": lambda one, other: one >= other,  # type: ignore[operator]
    "prefix": _prefix,
}


def pattern(*predicates: Predicate) -> Pattern:
    """The pattern of ``predicates``."""
    made = Pattern(tuple(sorted(set(predicates), key=_order)))
    wrong = _wrong(made)
    if wrong:
        raise Misuse(wrong)
    return made


def heard(received: Pattern) -> None:
    """A pattern of a peer's."""
    wrong = _wrong(received)
    if wrong:
        raise Violation(wrong)
    if list(received.predicates) != sorted(set(received.predicates), key=_order):
        raise Violation("a pattern out of order")


def matches(wanted: Pattern, attributes: Attributes) -> bool:
    """Does an event with ``attributes`` satisfy every predicate?"""
    for predicate in wanted.predicates:
        value = attributes.get(predicate.attribute)
        if value is None or isinstance(value, str) != isinstance(predicate.value, str):
            return False
        if not OPS[predicate.op](value, predicate.value):
            return False
    return True


def wrong_attributes(attributes: object) -> str:
    """Why these are no attributes, or nothing."""
    if not isinstance(attributes, Mapping) or len(attributes) > ATTRIBUTES_MAX:
        return f"an event has at most {ATTRIBUTES_MAX} attributes"
    if not all(_is_text(name) and _is_value(value) for name, value in attributes.items()):
        return f"an attribute is a name and a number or text, of at most {TEXT_MAX} characters"
    return ""


def _wrong(made: Pattern) -> str:
    if len(made.predicates) > PREDICATES_MAX:
        return f"a pattern has at most {PREDICATES_MAX} predicates"
    for predicate in made.predicates:
        if predicate.op not in OPS:
            return f"unknown comparison {predicate.op!r}; known: {', '.join(OPS)}"
        if not _is_text(predicate.attribute) or not _is_value(predicate.value):
            return f"a predicate has a name and a number or text, of at most {TEXT_MAX} characters"
    return ""


def _is_text(value: object) -> bool:
    return isinstance(value, str) and len(value) <= TEXT_MAX


def _is_value(value: object) -> bool:
    if isinstance(value, float):
        return not isnan(value)  # which does not even equal itself
    return isinstance(value, int) or _is_text(value)


def _order(predicate: Predicate) -> tuple[str, str, bool, Value]:
    return predicate.attribute, predicate.op, isinstance(predicate.value, str), predicate.value
