"""TOML files that are what they say, or are refused with file and line.

``load`` converts a file to a ``msgspec.Struct`` that forbids unknown fields; what is wrong comes out as one line,
``file:line: what, where; what is known``. The TOML reader keeps no line numbers, so they are found here: a scan for the
headers and keys of each table, which knows strings, comments and brackets and nothing else of TOML, because the reader
proper has accepted the file by then.
"""

import re
import tomllib
from pathlib import Path
from typing import Any, Generic, TypeVar

import msgspec
from msgspec import inspect

from weft.core.errors import Misuse

T = TypeVar("T", bound=msgspec.Struct)
Where = tuple[str | int, ...]
"""The way to a value from the top of the file: keys, and positions in lists."""

_BAD_SYNTAX = re.compile(r"^(.*) \(at line (\d+), column \d+\)$")
_CONVERSION = re.compile(r"^(.*?)(?: - at `(?:key in )?\$(.*)`)?$")
_STEP = re.compile(r"\.([^.\[]+)|\[(\d+)\]|\[\.\.\.\]")
_TEXT = re.compile(r'"""(?:\\.|[^\\])*?"""|\'\'\'.*?\'\'\'|"(?:\\.|[^"\\\n])*"|\'[^\'\n]*\'|#[^\n]*', re.DOTALL)
_KEY = re.compile(
    r'\s*((?:[A-Za-z0-9_-]+|"[^"\n]*"|\'[^\'\n]*\')(?:\s*\.\s*(?:[A-Za-z0-9_-]+|"[^"\n]*"|\'[^\'\n]*\'))*)\s*='
)
_HEADER = re.compile(r"\s*(\[\[?)\s*([^\]]+?)\s*\]\]?\s*$")


class Document(Generic[T]):
    """A file that was read: ``value``, and ``wrong`` for whoever finds later that something in it cannot be."""

    def __init__(self, path: str, value: T, lines: dict[Where, int]) -> None:
        self.path = path
        self.value = value
        self._lines = lines

    def wrong(self, where: Where, text: str) -> Misuse:
        """The error that says so, with the line of ``where``, or of the nearest thing around it that has one."""
        return _wrong(self.path, self._lines, where, text)

    def line(self, where: Where) -> int:
        return _line(self._lines, where)


def load(path: Path, kind: type[T]) -> Document[T]:
    """The file at ``path`` as a ``kind``."""
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8"
        raise Misuse(f"{path}: cannot be read: {reason}") from error
    return parse(text, kind, str(path))


def parse(text: str, kind: type[T], path: str = "<text>") -> Document[T]:
    """``text`` as a ``kind``; ``path`` is what errors call it."""
    try:
        data = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        found = _BAD_SYNTAX.match(str(error))
        what, line = found.groups() if found else (str(error), str(text.count("\n") + 1))
        raise Misuse(f"{path}:{line}: {what[0].lower()}{what[1:]}") from error
    lines = find_lines(text)
    try:
        return Document(path, msgspec.convert(data, kind), lines)
    except msgspec.ValidationError as error:
        where, said = _explain(str(error), kind, data)
        raise _wrong(path, lines, where, said) from error


def _line(lines: dict[Where, int], where: Where) -> int:
    while where and where not in lines:
        where = where[:-1]
    return lines.get(where, 1)


def _wrong(path: str, lines: dict[Where, int], where: Where, text: str) -> Misuse:
    return Misuse(f"{path}:{_line(lines, where)}: {text}")


# ------------------------------------------------------------------------------------------------- line numbers


def find_lines(text: str) -> dict[Where, int]:
    """The line of each header and each key; what stands inside a value has the value's line."""
    lines: dict[Where, int] = {}
    counts: dict[Where, int] = {}
    table: Where = ()
    depth = 0
    blanked = _TEXT.sub(_blank, text).split("\n")
    for number, (line, original) in enumerate(zip(blanked, text.split("\n"), strict=True), 1):
        header = None if depth else _HEADER.match(line)
        key = None if depth or header else _KEY.match(line)
        if header is not None:
            table = _enter(_parts(original[slice(*header.span(2))]), header.group(1) == "[[", counts)
            lines.setdefault(table, number)
            continue
        if key is not None:
            lines[table + _parts(original[slice(*key.span(1))])] = number
        value = line[key.end() :] if key is not None else line
        depth = max(0, depth + len(re.findall(r"[\[{]", value)) - len(re.findall(r"[\]}]", value)))
    return lines


def _blank(found: re.Match[str]) -> str:
    """A comment as spaces, a string as a string of as many x, over as many lines: brackets in it no longer count."""
    text = found.group()
    if text.startswith("#"):
        return " " * len(text)
    inner = "".join(letter if letter == "\n" else "x" for letter in text[1:-1])
    return f'"{inner}"'


def _parts(dotted: str) -> Where:
    parts = re.findall(r'"[^"]*"|\'[^\']*\'|[A-Za-z0-9_-]+', dotted)
    return tuple(part[1:-1] if part[0] in "\"'" else part for part in parts)


def _enter(parts: Where, is_list: bool, counts: dict[Where, int]) -> Where:
    """Where a header leads: inside a list of tables, to its last element."""
    where: Where = ()
    for position, part in enumerate(parts):
        where = (*where, part)
        if is_list and position == len(parts) - 1:
            counts[where] = counts.get(where, 0) + 1
        if where in counts:
            where = (*where, counts[where] - 1)
    return where


# ---------------------------------------------------------------------------------------------- what went wrong


def _explain(error: str, kind: type[msgspec.Struct], data: Any) -> tuple[Where, str]:
    """(where, in words) of a conversion error."""
    found = _CONVERSION.match(error)
    assert found is not None
    what, way = found.group(1), found.group(2) or ""
    where: Where = tuple(int(index) if index else name for name, index in _STEP.findall(way) if index or name)
    place = _place(where)
    if what.startswith("Object contains unknown field"):
        field = what.split("`")[1]
        known = ", ".join(sorted(_fields(_at(inspect.type_info(kind), where, data))))
        return (*where, field), f"unknown field '{field}'{place}; known: {known}"
    if what.startswith("Object missing required field"):
        return where, f"field '{what.split('`')[1]}' is missing{place}"
    if what.startswith("Invalid"):
        wrong = what.split("'")[1] if "'" in what else str(_value(data, where))
        known = ", ".join(_choices(_at(inspect.type_info(kind), where[:-1], data, union=True), where[-1]))
        return where, f"'{wrong}' is no {where[-1]}{_place(where[:-1])}" + (f"; known: {known}" if known else "")
    names = {
        "`array`": "a list",
        "`object`": "a table",
        "`str`": "text",
        "`float`": "a number",
        "`int`": "a whole number",
    }
    for name, word in names.items():
        what = what.replace(name, word)
    return where, f"{what[0].lower()}{what[1:]}".replace("`", "'") + (f" for '{where[-1]}'" if where else "")


def _place(where: Where) -> str:
    names = [str(part) for part in where if isinstance(part, str)]
    if not names:
        return ""
    is_list = isinstance(where[-1], int)
    return f" in [[{'.'.join(names)}]]" if is_list else f" in [{'.'.join(names)}]"


def _value(data: Any, where: Where) -> Any:
    for part in where:
        data = data[part]
    return data


def _at(kind: inspect.Type, where: Where, data: Any, union: bool = False) -> inspect.Type:
    """The type at ``where``; of a tagged union the member that ``data`` names, unless ``union`` and it is the end."""
    if isinstance(kind, inspect.UnionType) and not (union and not where):
        kind = _member(kind, data)
    if not where:
        return kind
    inner = data[where[0]] if not isinstance(data, dict) or where[0] in data else None
    if isinstance(kind, inspect.StructType):
        field = next(field for field in kind.fields if field.encode_name == where[0])
        return _at(field.type, where[1:], inner, union)
    if isinstance(kind, inspect.ListType | inspect.VarTupleType):
        return _at(kind.item_type, where[1:], inner, union)
    return kind


def _member(kind: inspect.UnionType, data: Any) -> inspect.Type:
    for member in kind.types:
        if isinstance(member, inspect.StructType):
            if not member.tag_field or (isinstance(data, dict) and data.get(member.tag_field) == member.tag):
                return member
        elif isinstance(member, inspect.ListType | inspect.VarTupleType) and isinstance(data, list):
            return member
    return kind


def _fields(kind: inspect.Type) -> list[str]:
    if not isinstance(kind, inspect.StructType):
        return []
    return [field.encode_name for field in kind.fields] + ([kind.tag_field] if kind.tag_field else [])


def _choices(kind: inspect.Type, name: str | int) -> list[str]:
    """The values that field ``name`` of ``kind`` may have, as far as they can be listed."""
    members = kind.types if isinstance(kind, inspect.UnionType) else (kind,)
    structs = [member for member in members if isinstance(member, inspect.StructType)]
    tags = [str(member.tag) for member in structs if member.tag_field == name]
    literals = [
        str(value)
        for member in structs
        for field in member.fields
        if field.encode_name == name
        for option in (field.type.types if isinstance(field.type, inspect.UnionType) else (field.type,))
        if isinstance(option, inspect.LiteralType)
        for value in option.values
    ]
    return tags or literals
