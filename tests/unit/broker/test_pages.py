"""Pages: each item once, in bounded steps, from a list that changes meanwhile."""

from itertools import count

import pytest
from hypothesis import given
from hypothesis import strategies as st

from weft.broker import pages
from weft.broker.pages import Pages
from weft.core.errors import Misuse


def read_all(book, table, limit, what="things"):
    """(items, pages) of the whole list."""
    items, cursor, turns = [], "", 0
    while cursor is not None:
        page, cursor = book.read(0.0, what, cursor, limit, lambda: list(table), lambda key: table.get(key, ()))
        assert len(page) <= limit
        items += page
        turns += 1
    return items, turns


@given(st.dictionaries(st.text(max_size=3), st.lists(st.integers(), max_size=7), max_size=20), st.integers(1, 9))
def test_all_pages_together_are_the_list(table, limit):
    items, _ = read_all(Pages(), table, limit)
    assert items == [item for key in sorted(table) for item in table[key]]


def test_a_page_looks_at_a_bounded_number_of_keys(monkeypatch):
    monkeypatch.setattr(pages, "SCANNED_MAX", 10)
    table = {f"{number:03}": () for number in range(95)} | {"last": (1,)}
    assert read_all(Pages(), table, 5) == ([1], 10)


def test_long_lists_are_not_sorted(monkeypatch):
    monkeypatch.setattr(pages, "SORTED_MAX", 3)
    table = dict.fromkeys("dcba", ("x",)) | {"d": ("d",)}
    assert read_all(Pages(), table, 10)[0] == ["d", "x", "x", "x"]


def test_what_goes_and_comes_between_pages():
    book, table = Pages(), {"a": [1], "b": [2], "c": [3], "d": [4]}
    rows = lambda key: table.get(key, ())  # noqa: E731
    first, cursor = book.read(0.0, "things", "", 2, lambda: list(table), rows)
    del table["c"]
    table["aa"] = [5]
    second, end = book.read(1.0, "things", cursor, 2, lambda: list(table), rows)
    assert (first, second, end) == ([1, 2], [4], None)


@pytest.mark.parametrize("cursor", ["1", "1.2", "x.1.1", "1.1.-1", "²1.0.0", "9.0.0", "1.1.1.1", "9" * 400 + ".0.0"])
def test_a_cursor_that_we_never_gave_is_refused(cursor):
    with pytest.raises(Misuse):
        Pages().read(0.0, "things", cursor, 1, list, lambda key: ())


def test_a_cursor_is_of_one_list():
    book = Pages()
    _, cursor = book.read(0.0, "things", "", 1, lambda: ["a", "b"], lambda key: (key,))
    with pytest.raises(Misuse, match="another list"):
        book.read(0.0, "others", cursor, 1, lambda: ["a", "b"], lambda key: (key,))


def test_a_cursor_expires_unless_it_is_used():
    book = Pages()
    _, cursor = book.read(0.0, "things", "", 1, lambda: ["a", "b", "c"], lambda key: (key,))
    _, cursor = book.read(100.0, "things", cursor, 1, list, lambda key: (key,))
    page, _ = book.read(200.0, "things", cursor, 1, list, lambda key: (key,))
    assert page == ["c"]
    _, cursor = book.read(200.0, "things", "", 1, lambda: ["a", "b", "c"], lambda key: (key,))
    with pytest.raises(Misuse, match="expired"):
        book.read(200.0 + pages.READING_S, "things", cursor, 1, list, lambda key: (key,))


def test_a_page_may_be_asked_for_again():
    book = Pages()
    _, cursor = book.read(0.0, "things", "", 2, lambda: "abcdef", lambda key: (key,))
    assert book.read(1.0, "things", cursor, 2, list, lambda key: (key,))[0] == ["c", "d"]
    assert book.read(2.0, "things", cursor, 2, list, lambda key: (key,))[0] == ["c", "d"]
    with pytest.raises(Misuse):
        book.read(3.0, "things", "1.7.0", 2, list, lambda key: (key,))


def test_a_long_source_is_read_only_as_far_as_it_is_asked_for(monkeypatch):
    monkeypatch.setattr(pages, "SORTED_MAX", 5)
    taken = []

    def keys():
        for number in range(1_000):
            taken.append(number)
            yield str(number)

    page, cursor = Pages().read(0.0, "things", "", 10, keys, lambda key: (key,))
    assert page == [str(number) for number in range(10)]
    assert cursor is not None
    assert len(taken) == 11


def test_only_so_many_lists_are_read_at_once():
    book = Pages()
    cursors = []
    for number in count():
        _, cursor = book.read(number, "things", "", 1, lambda: ["a", "b"], lambda key: (key,))
        cursors.append(cursor)
        assert len(book._readings) <= pages.READINGS_MAX
        if number > 2 * pages.READINGS_MAX:
            break
    with pytest.raises(Misuse):
        book.read(number, "things", cursors[0], 1, list, lambda key: (key,))
    assert book.read(number, "things", cursors[-1], 1, list, lambda key: (key,)) == (["b"], None)
