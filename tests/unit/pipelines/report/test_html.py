"""Blocks as HTML: balanced, escaped, coloured."""

from html.parser import HTMLParser

from weft.pipelines.report.blocks import Command, Grid, Heading, Picture, Text
from weft.pipelines.report.html import html, inline

VOID = {"meta", "img"}


class Balanced(HTMLParser):
    def __init__(self):
        super().__init__()
        self.open: list[str] = []

    def handle_starttag(self, tag, attrs):
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


def test_marks_become_tags_and_everything_else_is_escaped():
    assert inline("a < b, **bold**, *this*, `x < 1 * 2 * 3`, [page](a.csv)") == (
        'a &lt; b, <strong>bold</strong>, <em>this</em>, <code>x &lt; 1 * 2 * 3</code>, <a href="a.csv">page</a>'
    )


def test_a_list_is_a_list():
    assert "<ul><li>one two</li><li>three</li></ul>" in html("t", [Text("- one\n  two\n- three")])


def test_verdicts_have_a_colour_and_numbers_stand_to_the_right():
    page = html("t", [Grid(("claim", "ours"), (("differs", "1"), ("agrees", "2")), frozenset({1}))])
    assert '<td class="bad">differs</td><td class="number">1</td>' in page
    assert '<td class="good">agrees</td>' in page


def test_a_page_is_whole_and_escaped():
    page = html("a & b", [Heading(2, "<h>", "x"), Text("p & q"), Command("a && b"), Picture('"c"', "n-1")])
    reader = Balanced()
    reader.feed(page)
    assert reader.open == []
    assert "<title>a &amp; b</title>" in page
    assert '<h2 id="x">&lt;h&gt;</h2>' in page
    assert "a &amp;&amp; b" in page
    assert 'alt="&quot;c&quot;"' in page
