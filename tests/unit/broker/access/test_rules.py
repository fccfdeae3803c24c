"""The rule file: who is meant by a section, what a rule says, and lines that are refused."""

import pytest

from weft.broker.access import rules
from weft.broker.access.rules import Rules, fill, parse
from weft.core.errors import Misuse

FILE = b"""# comments and empty lines

all
    allow read   public/#
    deny  write  public/frozen
anonymous
    allow subscribe lobby
authenticated
    allow write  inbox/%u qos<=1
user alice
    allow readwrite home/#
    deny  will,retain home/door
    deny  publish home/alarm qos>=2
user sensor-*-x
    allow publish sensors/with space/%u
role ops
    allow all #
    allow all $SYS/#
client dev-*
    allow write devices/%c/up
client dev-bad
    deny all #
"""


@pytest.fixture
def may():
    """Ask the file above."""
    known = Rules(parse(FILE, "acl"), default_allow=False)

    def ask(action, topic, user=None, client="c", roles=(), qos=0):
        return known.view(user, tuple(roles), client).may(action, topic, qos)

    return ask


def test_a_section_is_for_those_whom_it_names(may):
    assert may("subscribe", "public/x")
    assert may("subscribe", "lobby")
    assert not may("subscribe", "lobby", user="alice")
    assert may("publish", "home/x", user="alice")
    assert not may("publish", "home/x", user="bob")
    assert not may("publish", "home/x")
    assert may("publish", "inbox/bob", user="bob")
    assert not may("publish", "inbox/bob", user="alice")
    assert may("publish", "anything", user="eve", roles=["ops"])
    assert may("publish", "sensors/with space/sensor-1-x", user="sensor-1-x")
    assert not may("publish", "sensors/with space/sensor-1", user="sensor-1")
    assert may("publish", "devices/dev-1/up", client="dev-1")
    assert not may("publish", "devices/dev-1/up", client="dev-2")


def test_a_deny_goes_before_every_allow(may):
    assert not may("publish", "public/frozen", user="eve", roles=["ops"])
    assert not may("publish", "anything", client="dev-bad", roles=["ops"])
    assert not may("subscribe", "public/x", client="dev-bad")


def test_actions_are_separate(may):
    assert may("publish", "home/door", user="alice")
    assert not may("will", "home/door", user="alice")
    assert not may("retain", "home/door", user="alice")
    assert may("share", "home/door", user="alice")
    assert not may("publish", "lobby")


def test_bounds_of_qos(may):
    assert may("publish", "inbox/bob", user="bob", qos=1)
    assert not may("publish", "inbox/bob", user="bob", qos=2)
    assert may("publish", "home/alarm", user="alice", qos=1)
    assert not may("publish", "home/alarm", user="alice", qos=2)


def test_a_subscription_is_about_every_topic_in_it(may):
    assert may("subscribe", "public/+/x")
    assert not may("subscribe", "+/x")
    assert not may("subscribe", "#", user="alice")
    assert may("subscribe", "#", roles=["ops"])
    assert may("subscribe", "$share/g/public/#")
    assert not may("subscribe", "$share/g/#")
    assert not may("subscribe", "#", roles=["ops"], client="dev-bad")


def test_a_subscription_that_touches_what_is_denied_is_refused():
    known = Rules(parse(b"all\nallow all #\ndeny read secret/#\n", "acl"), default_allow=True).view(None, (), "c")
    assert not known.may("subscribe", "#", 0)
    assert not known.may("subscribe", "+/x", 0)
    assert not known.may("subscribe", "secret", 0)
    assert known.may("subscribe", "open/#", 0)
    assert known.may("publish", "secret/x", 0)


def test_without_a_rule_the_default_holds_but_nobody_writes_below_dollar():
    allow, deny = (Rules([], each).view("u", (), "c") for each in (True, False))
    assert allow.may("publish", "x", 0)
    assert allow.may("subscribe", "$SYS/#", 0)
    assert not allow.may("publish", "$SYS/x", 0)
    assert not allow.may("will", "$x", 0)
    assert not deny.may("publish", "x", 0)


def test_wildcards_in_front_do_not_reach_below_dollar(may):
    """[MQTT-4.7.2-1]"""
    known = Rules(parse(b"all\nallow all #\n", "acl"), default_allow=False).view(None, (), "c")
    assert not known.may("subscribe", "$SYS/x", 0)
    assert may("subscribe", "$SYS/x", roles=["ops"])


@pytest.mark.parametrize("name", ["+", "#", "a/b", "a/#", "\0", "$SYS", "$SYS/x"])
def test_a_name_that_is_syntax_matches_no_allow(name):
    assert fill("%u/x", name, "c", widen=False) is None
    assert fill("%c", "u", name, widen=False) is None


def test_a_name_that_is_syntax_does_not_escape_a_deny():
    assert fill("locked/%c/door", "u", "a/b", widen=True) == ["locked", "#"]
    known = Rules(parse(b"all\nallow all #\ndeny all locked/%c\n", "acl"), default_allow=False)
    for client_id in ("a", "a/b", "+", "#"):
        assert not known.view(None, (), client_id).may(
            "publish", f"locked/{client_id}".replace("+", "x").replace("#", "x"), 0
        ) or (client_id in "+#")
    assert not known.view(None, (), "a/b").may("publish", "locked/zzz", 0)


def test_who_has_no_name_is_not_meant_by_a_rule_about_names():
    assert fill("private/%u", None, "c", widen=True) is None
    assert fill("private/%u", None, "c", widen=False) is None


def test_placeholders_are_filled_in_once():
    assert fill("a/%u-%c/100%%u", "%c", "x", widen=False) == ["a", "%c-x", "100%u"]


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("allow read a", "acl:1: a rule before the first section"),
        ("all\nallow", "acl:2: a rule is 'allow|deny ACTIONS PATTERN"),
        ("all\nallow read", "acl:2: a rule is"),
        ("all\nallow look a", "acl:2: 'look' is no action; known: publish, will"),
        ("all\nallow read,look a", "acl:2: 'look' is no action"),
        ("all\nallow read a/#/b", "acl:2: '#' stands alone"),
        ("all\nallow read a+", "acl:2: '+' stands alone"),
        ("all\nallow read %x", "acl:2: '%' is followed by u"),
        ("all\nallow read 100%", "acl:2: '%' is followed by u"),
        ("all\nallow read a qos<=3", "acl:2: the bound is"),
        ("all\nallow read a qos=1", "acl:2: the bound is"),
        ("all\nallow read a qos>=1", "acl:2: an allow takes 'qos<=N'"),
        ("all\ndeny read a qos<=1", "acl:2: an allow takes 'qos<=N', a deny 'qos>=N'"),
        ("all users", "acl:1: 'all' stands alone"),
        ("user", "acl:1: 'user' needs a name"),
        ("topic read a", "acl:1: 'topic' is neither a rule"),
        ("all\n\xff", "acl:2: '\xff' is neither"),
    ],
)
def test_a_bad_line_is_refused_with_its_place(line, said):
    with pytest.raises(Misuse) as wrong:
        parse(line.encode(), "acl")
    assert str(wrong.value).startswith(said)


def test_what_is_not_utf8_is_refused_with_its_place():
    with pytest.raises(Misuse, match="acl:3: not UTF-8"):
        parse(b"all\n\n\xff", "acl")


def test_tabs_and_carriage_returns_are_space():
    assert parse(b"all\r\n\tallow\tread\ta/b\r\n", "acl")[0].rules[0].pattern == "a/b"


@pytest.mark.parametrize(
    ("glob", "name", "fits"),
    [
        ("a*", "a", True), ("a*", "abc", True), ("*", "", True), ("a*c", "abc", True), ("a*c", "ac", True),
        ("ab*bc", "abc", False),
        ("a*b*c", "axxbyyc", True), ("a*b*c", "acb", False), ("a*b*b*c", "abc", False), ("*x*", "axb", True),
        ("a**b", "ab", True),        ("a*", "b", False), ("*\n*", "a\nb", True),
    ],
)  # fmt: skip
def test_stars_in_names(glob, name, fits):
    assert rules._fits(glob.split("*"), name) is fits


def test_memory_is_bounded(monkeypatch):
    monkeypatch.setattr(rules, "VIEWS_MAX", 3)
    monkeypatch.setattr(rules, "ANSWERS_MAX", 5)
    known = Rules(parse(b"all\nallow all #\n", "acl"), default_allow=False)
    for number in range(20):
        assert known.view(None, (), str(number)).may("publish", str(number), 0)
        assert known.view(None, (), str(number)).may("publish", "x" * 1_000, 0)
    assert len(known._views) == 3
    assert len(known._answers) <= 5
