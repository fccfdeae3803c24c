"""Numbers as a reader wants them."""

import math

import pytest

from weft.pipelines.experiments.claims import Verdict
from weft.pipelines.report.values import compared, number, tenths


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0, "0"),
        (7.0, "7"),
        (1234.5678, "1,235"),
        (12.3456, "12.35"),
        (0.98765, "0.9877"),
        (0.00012345, "0.000123"),
        (123456789.5, "1.23e+08"),
        (-3.25, "-3.250"),
        (math.nan, "–"),
    ],
)
def test_numbers_have_four_digits(value, text):
    assert number(value) == text


def test_a_unit_stands_at_numbers_only():
    verdict = Verdict("Hops", "a paper", "16", 15.98, "hops", 0.99875, "agrees", "")
    assert compared(verdict) == ("Hops", "a paper", "16 hops", "15.98 hops", "0.9988", "agrees")
    said = verdict._replace(paper="under ten", ours=math.nan, ratio=math.nan, verdict="not run")
    assert compared(said) == ("Hops", "a paper", "under ten", "–", "–", "not run")


def test_seconds_have_a_tenth():
    assert [tenths(value) for value in (0.04, 3.25, 1234.56, math.nan)] == ["0.0", "3.2", "1,234.6", "–"]
