"""Every counter has a name, a help text and a start; every bound that refuses has one of its own."""

import pytest

from weft.broker.settings import Limits
from weft.telemetry.counters import LIMITS, TABLE, Counters, hit


def test_all_start_at_zero_and_nothing_else_can_be_counted():
    counters = Counters()
    assert set(counters.values()) == {0}
    with pytest.raises(KeyError):
        counters["weft_unheard_of_total"] += 1


def test_every_family_is_in_the_table():
    assert {name.partition("{")[0] for name in Counters()} == set(TABLE)


def test_bounds_are_counted_under_their_names_in_the_configuration():
    assert set(LIMITS) <= set(Limits.__struct_fields__)
    assert hit("qos_max") in Counters()
