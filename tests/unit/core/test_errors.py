"""Whose fault it was can be told from the type alone."""

from weft.core.errors import Misuse, Violation


def test_misuse_is_a_value_error_and_a_violation_is_not() -> None:
    assert issubclass(Misuse, ValueError)
    assert not issubclass(Violation, ValueError | AssertionError)
    assert not issubclass(Misuse, Violation)
