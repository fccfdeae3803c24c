"""Blocks as Markdown."""

from weft.pipelines.report.blocks import Command, Grid, Heading, Picture, Text
from weft.pipelines.report.markdown import markdown


def test_each_block():
    blocks = [
        Heading(2, "Title", "here"),
        Text("Words.\n"),
        Command("make demo"),
        Picture("A plot", "trial-1"),
        Grid(("a", "b"), (("x|y", "1"),), frozenset({1})),
    ]
    assert markdown(blocks) == (
        '<a id="here"></a>\n\n## Title\n\nWords.\n\n```sh\nmake demo\n```\n\n'
        "![A plot](trial-1.svg)\n\n*A plot* ([PNG](trial-1.png))\n\n"
        "| a | b |\n| --- | ---: |\n| x\\|y | 1 |\n"
    )
