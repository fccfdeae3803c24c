"""Rewrite rules: what they catch, what they make, what they leave alone."""

import pytest

from weft.broker.rewrite import RULES_MAX, Rewriter, Rule, check
from weft.core.errors import Misuse

RULES = [
    Rule("old/+/temp", "site/$1/temperature"),
    Rule("old/#", "site/$#"),
    Rule("+/swap/+", "$2/swapped-$1"),
    Rule("in/#", "out/$#", subscribe=False),
    Rule("seen/#", "shown/$#", publish=False),
    Rule("site/#", "elsewhere/$#"),
]


@pytest.mark.parametrize(
    ("topic", "made"),
    [
        ("old/7/temp", "site/7/temperature"),  # the first rule, and not the last one on top of it
        ("old/7/temp/x", "site/7/temp/x"),
        ("old", "site"),  # "#" is also its parent level
        ("old/", "site/"),
        ("a/swap/b", "b/swapped-a"),
        ("$SYS/swap/b", "$SYS/swap/b"),  # [MQTT-4.7.2-1]
        ("in/x", "out/x"),
        ("seen/x", "seen/x"),
        ("none/of/them", "none/of/them"),
        ("/old/7", "/old/7"),
    ],
)
def test_a_published_topic(topic: str, made: str) -> None:
    assert Rewriter(RULES).published(topic) == made


@pytest.mark.parametrize(
    ("given", "made"),
    [
        ("old/7/temp", "site/7/temperature"),
        ("old/+/temp", "site/+/temperature"),
        ("old/#", "site/#"),
        ("old/+/+/#", "site/+/+/#"),
        ("#", "#"),
        ("+/7/temp", "+/7/temp"),  # matches more than the rule covers
        ("+/swap/b", "+/swap/b"),  # "swapped-+" would be no filter
        ("a/swap/+", "+/swapped-a"),
        ("in/x", "in/x"),
        ("seen/+", "shown/+"),
    ],
)
def test_a_filter_subscribed_to(given: str, made: str) -> None:
    assert Rewriter(RULES).subscribed(given) == made


@pytest.mark.parametrize(
    "rule",
    [
        Rule("", "a"),
        Rule("a", ""),
        Rule("a\0", "a"),
        Rule("a/#/b", "a"),
        Rule("a+", "a"),
        Rule("a/+", "b/$2"),
        Rule("a/+", "b/$0"),
        Rule("a/+", "b/+"),
        Rule("a/+", "b/x#"),
        Rule("a/+", "b/$#"),
        Rule("a/#", "b/x$#"),
        Rule("a/#", "$#/b"),
        Rule("/".join("a" * 200), "b"),
    ],
)
def test_a_rule_that_means_nothing_is_refused(rule: Rule) -> None:
    with pytest.raises(Misuse):
        check(rule)


def test_no_rules_are_false_and_too_many_are_refused() -> None:
    assert not Rewriter()
    assert Rewriter().published("a/b") == "a/b"
    with pytest.raises(Misuse):
        Rewriter([Rule("a", "b")] * (RULES_MAX + 1))
