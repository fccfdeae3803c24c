"""Strict TOML: what is wrong is refused with its line, wherever it stands."""

from pathlib import Path
from typing import Literal

import msgspec
import pytest

from weft.core.errors import Misuse
from weft.core.strict import find_lines, load, parse


class Inner(msgspec.Struct, forbid_unknown_fields=True):
    size: int = 1
    tags: list[str] = []
    table: dict[str, float] = {}


class Go(msgspec.Struct, tag_field="do", tag="go", forbid_unknown_fields=True):
    at: float
    to: Literal["north", "south"] = "north"


class Stop(msgspec.Struct, tag_field="do", tag="stop", forbid_unknown_fields=True):
    at: float
    inner: Inner = msgspec.field(default_factory=Inner)


class File(msgspec.Struct, forbid_unknown_fields=True):
    name: str
    inner: Inner = msgspec.field(default_factory=Inner)
    step: list[Go | Stop] = []


GOOD = '''\
# name = "not this one"
name = """
a text with [brackets], # and = signs
"""

[inner] # the table
tags = [
  "one = 1", # a comment with ]
  "two",
]
"size" = 3
table = { a = 1.5, "b.c" = 2 }

[[step]]
do = "go"
at = 1.0
to = 'south'

[[step]]
do = "stop"
at = 2
inner.size = 4

[[step]]
do = "stop"
at = 3
[step.inner]
size = 5
'''


def test_a_good_file_is_read_and_its_lines_are_known() -> None:
    document = parse(GOOD, File, "x.toml")
    assert document.value.inner == Inner(3, ["one = 1", "two"], {"a": 1.5, "b.c": 2.0})
    assert document.value.step == [Go(1.0, "south"), Stop(2.0, Inner(4)), Stop(3.0, Inner(5))]
    assert find_lines(GOOD) == {
        ("name",): 2,
        ("inner",): 6,
        ("inner", "tags"): 7,
        ("inner", "size"): 11,
        ("inner", "table"): 12,
        ("step", 0): 14,
        ("step", 0, "do"): 15,
        ("step", 0, "at"): 16,
        ("step", 0, "to"): 17,
        ("step", 1): 19,
        ("step", 1, "do"): 20,
        ("step", 1, "at"): 21,
        ("step", 1, "inner", "size"): 22,
        ("step", 2): 24,
        ("step", 2, "do"): 25,
        ("step", 2, "at"): 26,
        ("step", 2, "inner"): 27,
        ("step", 2, "inner", "size"): 28,
    }
    assert document.line(("inner", "tags", 1)) == 7
    assert str(document.wrong(("step", 2, "nothing"), "said")) == "x.toml:24: said"


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ('"size" = 3', "sise = 3", "x.toml:11: unknown field 'sise' in [inner]; known: size, table, tags"),
        (
            "inner.size = 4",
            "inner.sise = 4",
            "x.toml:22: unknown field 'sise' in [step.inner]; known: size, table, tags",
        ),
        ("size = 5", "sise = 5", "x.toml:28: unknown field 'sise' in [step.inner]; known: size, table, tags"),
        ("at = 2", "at = 2\nto = 3", "x.toml:22: unknown field 'to' in [[step]]; known: at, do, inner"),
        ("at = 1.0", "", "x.toml:14: field 'at' is missing in [[step]]"),
        ('do = "go"', "", "x.toml:14: field 'do' is missing in [[step]]"),
        ('do = "go"', 'do = "goo"', "x.toml:15: 'goo' is no do in [[step]]; known: go, stop"),
        ("'south'", "'east'", "x.toml:17: 'east' is no to in [[step]]; known: north, south"),
        ("at = 2", 'at = "2"', "x.toml:21: expected a number, got text for 'at'"),
        ('"size" = 3', '"size" = 3.5', "x.toml:11: expected a whole number, got a number for 'size'"),
        ('"two"', "2", "x.toml:7: expected text, got a whole number for '1'"),
        ("a = 1.5", "a = []", "x.toml:12: expected a number, got a list for 'table'"),
        ("[inner]", "[iner]", "x.toml:6: unknown field 'iner'; known: inner, name, step"),
        ("at = 2", "at = = 2", "x.toml:21: invalid value"),
        ('do = "go"', 'do = "go"\ndo = "go"', "x.toml:16: cannot overwrite a value"),
    ],
)
def test_what_is_wrong_is_refused_with_its_line(old: str, new: str, said: str) -> None:
    with pytest.raises(Misuse) as raised:
        parse(GOOD.replace(old, new, 1), File, "x.toml")
    assert str(raised.value) == said


def test_a_file_that_cannot_be_read_is_said(tmp_path: Path) -> None:
    with pytest.raises(Misuse, match=r"none\.toml: cannot be read: No such file"):
        load(tmp_path / "none.toml", File)
    binary = tmp_path / "binary.toml"
    binary.write_bytes(b"\xff\xfe")
    with pytest.raises(Misuse, match="not UTF-8"):
        load(binary, File)


def test_a_missing_field_at_the_top_is_of_line_1() -> None:
    with pytest.raises(Misuse) as raised:
        parse("", File, "x.toml")
    assert str(raised.value) == "x.toml:1: field 'name' is missing"
