"""How ``weft ctl`` writes numbers, times and names."""

import pytest

from weft.cli.admin_tables import duration, plain, show_rows, size, version


@pytest.mark.parametrize(
    ("value", "expected"),
    [(0, "0 s"), (59.6, "1 min"), (90_061, "1 d 1 h 1 min 1 s"), (None, "-"), (2**32 - 1, "for ever")],
)
def test_durations(value, expected):
    assert duration(value) == expected


@pytest.mark.parametrize(
    ("value", "expected"),
    [(0, "0 B"), (1023, "1023 B"), (1536, "1.5 KiB"), (5 * 2**30, "5.0 GiB"), (2**50, "1024.0 TiB")],
)
def test_sizes(value, expected):
    assert size(value) == expected


@pytest.mark.parametrize(
    ("value", "expected"),
    [(None, "-"), (True, "yes"), (False, "no"), ("grüß", "grüß"), ("a\x1b[1m\nb", r"a\x1b[1m\nb")],
)
def test_plain_text_has_no_control_characters(value, expected):
    assert plain(value) == expected


def test_versions_have_names():
    assert [version(level) for level in (3, 4, 5, 9)] == ["3.1", "3.1.1", "5", "9"]


def test_an_empty_table_says_so(capsys):
    show_rows([], {"a": plain}, "nobody is here")
    assert capsys.readouterr().out == "nobody is here\n"
