"""Names, filters, shares: what is valid, and what matches."""

import pytest

from weft.mqtt.codec.reasons import Reason, Refused
from weft.mqtt.topics import check_filter, check_name, levels, matches, split_share

LONGEST = "ä" * 32_767 + "a"  # 65,535 bytes


@pytest.mark.parametrize(
    "name", ["a", "/", "//", "/finance", "a/b c/ö", "$SYS/uptime", " ", "ACCOUNTS/", "\U0010ffff", LONGEST]
)
def test_nearly_everything_is_a_name(name):
    check_name(name)
    check_filter(name)


@pytest.mark.parametrize("name", ["", "+", "#", "a/+", "a/#", "a+", "a#b", "a\0b", LONGEST + "a"])
def test_what_is_no_name_is_refused(name):
    """[MQTT-3.3.2-2] [MQTT-4.7.0-1] [MQTT-4.7.3-1] [MQTT-4.7.3-2] [MQTT-4.7.3-3]

    [MQTT-3.3.2-2 (3.1.1)] [MQTT-4.7.1-1 (3.1.1)] [MQTT-4.7.3-1 (3.1.1)] [MQTT-4.7.3-2 (3.1.1)] [MQTT-4.7.3-3 (3.1.1)]
    """
    with pytest.raises(Refused) as refused:
        check_name(name)
    assert refused.value.reason is Reason.TOPIC_NAME_INVALID


@pytest.mark.parametrize("pattern", [
    "#", "+", "sport/tennis/player1/#", "sport/#", "+/tennis/#", "sport/+/player1", "/+", "+/+", "+/+/+/+/#", "/#", "//#",
    "$share/consumer/sport/#", "$share/g//", "$share/g/$SYS/#", "$share", "$shared/+/a", "a/$share/+",
])  # fmt: skip
def test_wildcards_take_whole_levels(pattern):
    check_filter(pattern)


@pytest.mark.parametrize("pattern", [
    "", "sport/tennis#", "sport/tennis/#/ranking", "##", "#/", "#/#", "sport+", "+sport", "a/b+/c", "++", "a/++", "+#",
    "+/#/+", "a\0", LONGEST + "a",
])  # fmt: skip
def test_what_is_no_filter_is_refused(pattern):
    """[MQTT-4.7.1-1] [MQTT-4.7.1-2] [MQTT-4.7.3-1] [MQTT-4.7.3-2] [MQTT-4.7.3-3]

    [MQTT-4.7.1-2 (3.1.1)] [MQTT-4.7.1-3 (3.1.1)] [MQTT-4.7.3-1 (3.1.1)] [MQTT-4.7.3-2 (3.1.1)] [MQTT-4.7.3-3 (3.1.1)]
    """
    for one in (pattern, "$share/g/" + pattern):
        with pytest.raises(Refused) as refused:
            check_filter(one)
        assert refused.value.reason is Reason.TOPIC_FILTER_INVALID


@pytest.mark.parametrize(
    "pattern", ["$share/", "$share//a", "$share/g", "$share/g/", "$share/+/a", "$share/g#/a", "$share/#"]
)
def test_a_share_has_a_name_and_a_filter(pattern):
    """[MQTT-4.8.2-1] [MQTT-4.8.2-2]"""
    for check in (check_filter, split_share):
        with pytest.raises(Refused) as refused:
            check(pattern)
        assert refused.value.reason is Reason.TOPIC_FILTER_INVALID


def test_a_share_is_taken_apart():
    assert split_share("$share/consumer1//finance") == ("consumer1", "/finance")
    assert split_share("a/$share/b/c") == (None, "a/$share/b/c")


def test_empty_levels_count():
    assert [levels(name) for name in ("a", "a/", "/a", "a//b", "/")] == [1, 2, 2, 3, 2]


@pytest.mark.parametrize(("pattern", "yes", "no"), [
    ("a/b", ["a/b"], ["a", "a/b/", "A/b", "a/b/c", "/a/b"]),
    ("sport/tennis/player1/#", ["sport/tennis/player1", "sport/tennis/player1/ranking", "sport/tennis/player1/a/b"],
     ["sport/tennis/player2", "sport/tennis"]),
    ("sport/#", ["sport", "sport/", "sport/a"], ["sports", "a/sport"]),
    ("#", ["a", "/", "a/$SYS/b"], ["$SYS", "$SYS/a", "$"]),
    ("+", ["a", "a$"], ["/a", "a/", "$SYS"]),
    ("sport/tennis/+", ["sport/tennis/player1", "sport/tennis/"], ["sport/tennis", "sport/tennis/player1/ranking"]),
    ("sport/+", ["sport/"], ["sport"]),
    ("+/+", ["/finance", "a/b"], ["finance", "$SYS/a"]),
    ("/+", ["/finance", "/"], ["finance", "//"]),
    ("+/monitor/Clients", ["a/monitor/Clients"], ["$SYS/monitor/Clients"]),
    ("$SYS/#", ["$SYS", "$SYS/a/b"], ["a/$SYS"]),
    ("$SYS/monitor/+", ["$SYS/monitor/Clients"], ["$SYS/monitor"]),
    ("+/#", ["a", "a/b"], ["$SYS/a"]),
    ("$share/g/+/#", ["a", "a/b"], ["$SYS/a", "$share/g/a"]),
    ("ACCOUNTS", ["ACCOUNTS"], ["Accounts"]),
    ("A\u030a", ["A\u030a"], ["\u00c5"]),
])  # fmt: skip
def test_matching(pattern, yes, no):
    """No wildcard reaches ``$`` at the first level, and nothing is normalised.

    [MQTT-4.7.2-1] [MQTT-4.7.3-4] [MQTT-4.7.2-1 (3.1.1)] [MQTT-4.7.3-4 (3.1.1)]
    """
    assert [name for name in yes if not matches(pattern, name)] == []
    assert [name for name in no if matches(pattern, name)] == []
