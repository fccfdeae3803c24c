"""Patterns against filters: the cases that the standard names. tests/property has all the others."""

import pytest

from weft.broker.access.patterns import covers, overlaps, split, unshared, wrong


@pytest.mark.parametrize(
    ("pattern", "filter_", "all_of_it", "any_of_it"),
    [
        ("a/b", "a/b", True, True),
        ("a/+", "a/b", True, True),
        ("a/b", "a/+", False, True),
        ("a/#", "a", True, True),
        ("a/#", "a/+/#", True, True),
        ("a/+", "a/#", False, True),
        ("a/+/#", "a/#", False, True),
        ("+/#", "#", True, True),
        ("+", "#", False, True),
        ("#", "#", True, True),
        ("#", "$SYS/#", False, False),
        ("+/info", "$SYS/info", False, False),
        ("$SYS/#", "#", False, False),
        ("$SYS/#", "$SYS/broker/+", True, True),
        ("a/b/#", "+/c", False, False),
        ("a/b/#", "+/+", False, True),
        ("a//b", "a/+/b", False, True),
        ("/#", "+/a", False, True),
        ("a", "b", False, False),
        ("a", "a/b", False, False),
    ],
)
def test_named_cases(pattern, filter_, all_of_it, any_of_it):
    """[MQTT-4.7.2-1], §4.7.1.2, §4.7.1.3."""
    assert covers(split(pattern), split(filter_)) is all_of_it
    assert overlaps(split(pattern), split(filter_)) is any_of_it
    assert overlaps(split(filter_), split(pattern)) is any_of_it


@pytest.mark.parametrize("pattern", ["a", "/", "+", "#", "a/+/#", "+/+", "$SYS/#", "a b/c"])
def test_filters_are_patterns(pattern):
    assert not wrong(pattern)


@pytest.mark.parametrize("pattern", ["", "a/#/b", "a#", "#a", "a+", "+a/b", "a/b+", "a\0b", "x" * 65_536, "/" * 128])
def test_what_is_no_filter_is_no_pattern(pattern):
    assert wrong(pattern)


def test_a_share_is_taken_off():
    """§4.8.2."""
    assert unshared("$share/group/a/+") == "a/+"
    assert unshared("a/$share/b") == "a/$share/b"
    assert unshared("$shared/a") == "$shared/a"
