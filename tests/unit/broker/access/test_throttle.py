"""Throttling: free failures, waits that double, forgiveness, bounds."""

import pytest

from weft.broker.access.settings import ThrottleSettings
from weft.broker.access.throttle import Table, Throttle, network

SETTINGS = ThrottleSettings(
    address_failures=3, user_failures=5, forgive_s=10.0, wait_s=1.0, wait_max_s=8.0, entries_max=4
)


def table() -> Table:
    return Table(SETTINGS, 3)


def test_the_first_failures_are_free_then_waits_double_up_to_a_bound():
    one, now, waits = table(), 0.0, []
    for _ in range(9):
        one.charge(now, "k")
        waits.append(one.wait_s(now, "k"))
        now += waits[-1]
    assert waits == [0, 0, 0, 1, 2, 4, 8, 8, 8]


def test_failures_are_forgiven_one_by_one():
    one = table()
    for _ in range(3):
        one.charge(0.0, "k")
    one.charge(10.0, "k")  # one was forgiven
    assert one.wait_s(10.0, "k") == 0
    one.charge(10.0, "k")
    assert one.wait_s(10.0, "k") == 1.0
    one.charge(1_000.0, "k")  # all were, and the doubling with them
    assert one.wait_s(1_000.0, "k") == 0


def test_a_refund_undoes_a_charge():
    one = table()
    for _ in range(100):
        one.charge(0.0, "k")
        one.refund(0.0, "k")
    assert one.wait_s(0.0, "k") == 0
    assert len(one) == 0
    for _ in range(4):
        one.charge(0.0, "k")
    assert one.wait_s(0.0, "k") == 1.0
    one.refund(0.0, "k")
    assert one.wait_s(0.0, "k") == 0
    one.refund(0.0, "unknown")


def test_the_table_is_bounded():
    one = table()
    for number in range(100):
        one.charge(0.0, str(number))
    assert len(one) == SETTINGS.entries_max


def test_addresses_and_users_are_counted_apart():
    one = Throttle(SETTINGS)
    for number in range(4):
        one.charge(0.0, "192.0.2.1", f"user{number}")
    assert one.wait_s(0.0, "192.0.2.1", "fresh") == 1.0
    assert one.wait_s(0.0, "192.0.2.2", "user0") == 0
    for number in range(6):
        one.charge(0.0, f"198.51.100.{number}", "alice")
    assert one.wait_s(0.0, "192.0.2.2", "alice") == 1.0


def test_without_an_address_only_the_user_counts():
    one = Throttle(SETTINGS)
    for number in range(50):
        one.charge(0.0, "", f"user{number}")
    assert one.wait_s(0.0, "", "fresh") == 0


def test_it_can_be_switched_off():
    one = Throttle(ThrottleSettings(enabled=False, address_failures=1))
    for _ in range(50):
        one.charge(0.0, "192.0.2.1", "alice")
    assert one.wait_s(0.0, "192.0.2.1", "alice") == 0
    assert len(one) == 0


@pytest.mark.parametrize(
    ("address", "whole"),
    [
        ("192.0.2.1", "192.0.2.1"),
        ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"),
        ("2001:db8:1:2::1%eth0", "2001:db8:1:2::/64"),
        ("::ffff:192.0.2.1", "192.0.2.1"),
        ("not an address:", "not an address:"),
        ("", ""),
    ],
)
def test_a_guesser_has_a_whole_network_of_ipv6(address, whole):
    assert network(address) == whole
