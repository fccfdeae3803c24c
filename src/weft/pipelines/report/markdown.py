"""Blocks as Markdown."""

from collections.abc import Iterable
from typing import assert_never

from weft.pipelines.report.blocks import Block, Command, Grid, Heading, Picture, Text


def markdown(blocks: Iterable[Block]) -> str:
    return "\n\n".join(_written(block) for block in blocks) + "\n"


def _written(block: Block) -> str:
    match block:
        case Heading(level, text, anchor):
            line = f"{'#' * level} {text}"
            return f'<a id="{anchor}"></a>\n\n{line}' if anchor else line
        case Text(text):
            return text.strip()
        case Command(text):
            return f"```sh\n{text}\n```"
        case Picture(caption, name):
            return f"![{caption}]({name}.svg)\n\n*{caption}* ([PNG]({name}.png))"
        case Grid():
            rule = ["---:" if at in block.numbers else "---" for at in range(len(block.head))]
            lines = [block.head, tuple(rule), *(tuple(cell.replace("|", "\\|") for cell in row) for row in block.rows)]
            return "\n".join(f"| {' | '.join(line)} |" for line in lines)
        case _:
            assert_never(block)
