"""``-D COMMAND NAME VALUE``."""

import pytest
import typer

from weft.cli.properties import NAMES, collect, fold
from weft.core.errors import Misuse
from weft.mqtt.codec.properties import Properties


def test_words_are_folded_and_the_rest_stays():
    args = ["-t", "x", "-D", "publish", "user-property", "a", "-b", "-D", "connect", "receive-maximum", "5", "-r"]
    folded = fold(args)
    assert folded == [
        "-t", "x", "-D", '["publish", "user-property", "a", "-b"]', "-D", '["connect", "receive-maximum", "5"]', "-r",
    ]  # fmt: skip
    given = [word for word in folded if word.startswith("[")]
    assert collect(given, 5) == {
        "publish": Properties(user=(("a", "-b"),)),
        "connect": Properties(receive_maximum=5),
    }


def test_after_two_dashes_nothing_is_an_option():
    assert fold(["--", "-D", "x"]) == ["--", "-D", "x"]


@pytest.mark.parametrize("args", [["-D"], ["-D", "publish", "content-type"], ["-D", "publish", "user-property", "a"]])
def test_words_that_are_missing_are_wrong_usage(args):
    with pytest.raises(typer.BadParameter, match="needs COMMAND NAME VALUE"):
        fold(args)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("publish receive-maximum 5", "unknown property; known: "),
        ("pub content-type x", "unknown command; known: connect"),
        ("publish message-expiry-interval -1", "'-1' is no number from 0 to 4294967295"),
        ("publish payload-format-indicator 2", "from 0 to 1"),
        ("subscribe subscription-identifier 0", "from 1 to"),
        ("connect receive-maximum ٣", "is no number"),
    ],
)
def test_what_cannot_be_is_said(words, said):
    with pytest.raises(Misuse, match=said):
        collect([word for word in fold(["-D", *words.split()]) if word != "-D"], 5)


def test_properties_need_version_5():
    with pytest.raises(Misuse, match="need MQTT 5"):
        collect(['["publish", "content-type", "x"]'], 4)


def test_a_property_that_may_come_once_comes_once():
    with pytest.raises(Misuse, match="given twice"):
        collect(['["publish", "content-type", "x"]'] * 2, 5)


def test_every_name_is_a_field():
    assert all(hasattr(Properties(), field) for field, _, _ in NAMES.values())
