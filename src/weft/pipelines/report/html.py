"""Blocks as one HTML page without scripts; its pictures stand beside it."""

import re
from collections.abc import Iterable
from html import escape
from typing import assert_never

from weft.pipelines.report.blocks import Block, Command, Grid, Heading, Picture, Text

STYLE = """
body { font: 15px/1.5 system-ui, sans-serif; max-width: 62rem; margin: 2rem auto; padding: 0 1rem; color: #222; }
h1, h2, h3 { line-height: 1.2; } h2 { margin-top: 3rem; border-bottom: 1px solid #ddd; padding-bottom: .3rem; }
table { border-collapse: collapse; font-size: 13px; display: block; overflow-x: auto; }
td, th { border-bottom: 1px solid #ddd; padding: .3rem .6rem; text-align: left; vertical-align: top; }
td.number, th.number { text-align: right; white-space: nowrap; }
td.good { color: #00694b; } td.bad { color: #b34700; font-weight: 600; }
code, pre { background: #f4f4f4; font-size: 13px; } pre { padding: .6rem; overflow-x: auto; }
figure { margin: 1.5rem 0; } figcaption { font-size: 13px; color: #555; } img { max-width: 100%; height: auto; }
@media print { h2 { break-before: page; } }
"""
CLASSES = {"agrees": "good", "holds": "good", "differs": "bad", "does not hold": "bad"}


def html(title: str, blocks: Iterable[Block]) -> str:
    body = "\n".join(_written(block) for block in blocks)
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{escape(title)}</title>\n<style>{STYLE}</style>\n</head>\n<body>\n{body}\n</body>\n</html>\n"
    )


def inline(text: str) -> str:
    """Code, bold, emphasis and links."""
    pieces = re.split(r"(`[^`]+`)", text)
    return "".join(
        f"<code>{escape(piece[1:-1])}</code>" if piece.startswith("`") and len(piece) > 1 else _marked(escape(piece))
        for piece in pieces
    )


def _marked(text: str) -> str:
    text = re.sub(r"\[([^\]]+)\]\(([^)\s]+)\)", r'<a href="\2">\1</a>', text)
    text = re.sub(r"\*\*([^*]+)\*\*", r"<strong>\1</strong>", text)
    return re.sub(r"\*([^*\s][^*]*)\*", r"<em>\1</em>", text)


def _written(block: Block) -> str:
    match block:
        case Heading(level, text, anchor):
            name = f' id="{escape(anchor)}"' if anchor else ""
            return f"<h{level}{name}>{inline(text)}</h{level}>"
        case Text(text):
            return _paragraphs(text)
        case Command(text):
            return f"<pre>{escape(text)}</pre>"
        case Picture(caption, name):
            picture = f'<img src="{escape(name)}.svg" alt="{escape(caption)}">'
            link = f'<a href="{escape(name)}.png">PNG</a>'
            return f"<figure>{picture}<figcaption>{inline(caption)} ({link})</figcaption></figure>"
        case Grid():
            return _grid(block)
        case _:
            assert_never(block)


def _paragraphs(text: str) -> str:
    found = []
    for part in re.split(r"\n\s*\n", text.strip()):
        lines = part.splitlines()
        if all(line.startswith(("- ", "  ")) for line in lines):
            items = re.split(r"(?m)^- ", part)[1:]
            found.append("<ul>" + "".join(f"<li>{inline(' '.join(item.split()))}</li>" for item in items) + "</ul>")
        else:
            found.append(f"<p>{inline(' '.join(lines))}</p>")
    return "\n".join(found)


def _grid(block: Grid) -> str:
    def row(cells: tuple[str, ...], tag: str) -> str:
        made = []
        for at, cell in enumerate(cells):
            kind = "number" if at in block.numbers else CLASSES.get(cell, "")
            named = f' class="{kind}"' if kind else ""
            made.append(f"<{tag}{named}>{inline(cell)}</{tag}>")
        return f"<tr>{''.join(made)}</tr>"

    rows = "\n".join(row(cells, "td") for cells in block.rows)
    return f"<table>\n<thead>{row(block.head, 'th')}</thead>\n<tbody>\n{rows}\n</tbody>\n</table>"
