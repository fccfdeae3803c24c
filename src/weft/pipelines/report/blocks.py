"""What pages are made of; ``markdown`` and ``html`` write the same blocks. Texts are Markdown: code, bold, links, lists."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Heading:
    level: int
    text: str
    anchor: str = ""


@dataclass(frozen=True, slots=True)
class Text:
    text: str


@dataclass(frozen=True, slots=True)
class Command:
    text: str


@dataclass(frozen=True, slots=True)
class Grid:
    """A table; ``numbers`` are the columns that stand to the right."""

    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    numbers: frozenset[int] = frozenset()


@dataclass(frozen=True, slots=True)
class Picture:
    """``name`` without its ending; there is an SVG and a PNG."""

    caption: str
    name: str


Block = Heading | Text | Command | Grid | Picture
