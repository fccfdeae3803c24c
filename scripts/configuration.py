"""Writes docs/CONFIGURATION.md from the configuration's structs and the words beside their fields.

    .venv/bin/python scripts/configuration.py

A field's text is the docstring below it, or the comment at the end of its line, or its entry in the struct's docstring:
the name, two spaces or more, the text. tests/tidy holds the file up to date.
"""

import ast
import inspect
import re
import textwrap
from pathlib import Path
from typing import Any

import msgspec

from weft.node.config import Config
from weft.node.toml import literal

FILE = Path(__file__).parents[1] / "docs" / "CONFIGURATION.md"

HEAD = """\
# Configuration

`weft broker --config weft.toml` reads one TOML file. Everything has a default; without a file the broker listens on
mqtt://127.0.0.1:1883, lets in whoever comes over loopback, and keeps nothing across a restart. What is unknown or wrong is
refused with file and line; `weft config check FILE` says so without starting, `weft config show [FILE]` prints every
setting with its value, `weft config import FILE` translates a mosquitto.conf. File names are relative to the file.

SIGHUP (`systemctl reload weft`) reads it again: certificates, revocation lists, users, rules and tokens, `[broker]` with its
limits except `share_strategy` and `sys_interval_s`, `[log]`, `drain_timeout_s`. The log names what else has changed and needs a
restart. A file that is wrong leaves everything as it was.

Default ports: mqtt 1883, mqtts 8883, ws 8083, wss 8084. An example:

```toml
data_dir = "/var/lib/weft"

[[listener]]
url = "mqtt://127.0.0.1:1883"

[[listener]]
url = "mqtts://*:8883"
tls = { cert = "server.pem", key = "server.key" }

[access]
password_file = "users.pw" # weft passwd users.pw alice

[admin]
listen = "127.0.0.1:9883"
```

This page is generated from the source by `scripts/configuration.py`.
"""


def main() -> None:
    FILE.write_text(page(), encoding="utf-8")


def page() -> str:
    """The whole file."""
    return HEAD + "".join(_section(name, kind) for name, kind in _structs(Config, ""))


def _structs(kind: type[msgspec.Struct], name: str) -> list[tuple[str, type[msgspec.Struct]]]:
    """Every struct below ``kind`` with the header of its table, in order."""
    found = [(name, kind)]
    for field in msgspec.structs.fields(kind):
        inner, is_list = _inner(field.type)
        if inner is not None:
            path = f"{name.strip('[]')}.{field.encode_name}".strip(".")
            found += _structs(inner, f"[[{path}]]" if is_list else f"[{path}]")
    return found


def _inner(annotation: Any) -> tuple[type[msgspec.Struct] | None, bool]:
    """The struct that a field holds, and whether it is a list of them."""
    if isinstance(annotation, type) and issubclass(annotation, msgspec.Struct):
        return annotation, False
    is_list = getattr(annotation, "__origin__", None) is list
    for argument in getattr(annotation, "__args__", ()):
        inner, deeper = _inner(argument)
        if inner is not None:
            return inner, is_list or deeper
    return None, False


def _section(name: str, kind: type[msgspec.Struct]) -> str:
    texts, intro = _texts(kind)
    lines = ["", f"## {f'`{name}`' if name else 'Top of the file'}", "", *intro, ""]
    lines += ["| setting | type | default | meaning |", "|---|---|---|---|"]
    for field in msgspec.structs.fields(kind):
        if _inner(field.type)[0] is not None:
            continue
        text = texts.get(field.encode_name, "")
        if "://" not in text.partition(" ")[0]:
            text = f"{text[:1].upper()}{text[1:]}"
        text = text.replace("|", "\\|").replace("``", "`")
        lines.append(f"| `{field.encode_name}` | {_type(field.type)} | {_default(field)} | {text} |")
    return "\n".join(lines) + "\n"


def _default(field: msgspec.structs.FieldInfo) -> str:
    value = field.default
    if value is msgspec.NODEFAULT:
        if field.default_factory is msgspec.NODEFAULT:
            return "required"
        value = field.default_factory()
    if value is None:
        return "–"
    if field.encode_name == "mode":
        return f"`0o{value:o}`"
    return f"`{literal(value)}`" if value != "" else '`""`'


def _type(annotation: Any) -> str:
    """In words, with its bounds."""
    found = msgspec.inspect.type_info(annotation)
    return _word(found).replace("|", "\\|")


WORDS: dict[type[msgspec.inspect.Type], str] = {
    msgspec.inspect.DictType: "table",
    msgspec.inspect.BoolType: "true or false",
    msgspec.inspect.StrType: "text",
}


def _word(kind: msgspec.inspect.Type) -> str:
    inspected = msgspec.inspect
    match kind:
        case inspected.Metadata():
            return _word(kind.type)
        case inspected.UnionType():
            return " or ".join(_word(each) for each in kind.types if not isinstance(each, inspected.NoneType))
        case inspected.LiteralType():
            return " | ".join(f"`{value}`" for value in kind.values)
        case inspected.ListType():
            return f"list of {_word(kind.item_type)}"
        case inspected.IntType() | inspected.FloatType():
            return _number(kind)
    return WORDS.get(type(kind), "any")


def _number(kind: "msgspec.inspect.IntType | msgspec.inspect.FloatType") -> str:
    word = "whole number" if isinstance(kind, msgspec.inspect.IntType) else "number"
    if kind.gt is not None:
        return f"{word} > {kind.gt}"
    if kind.ge is not None and kind.le is not None:
        return f"{word}, {kind.ge} … {kind.le}"
    return word if kind.ge is None else f"{word} ≥ {kind.ge}"


def _texts(kind: type[msgspec.Struct]) -> tuple[dict[str, str], list[str]]:
    """Field → its text; and what the struct's docstring says besides."""
    source = textwrap.dedent(inspect.getsource(kind))
    lines = source.splitlines()
    body = ast.parse(source).body[0]
    assert isinstance(body, ast.ClassDef)
    texts, intro = _docstring(ast.get_docstring(body) or "", set(kind.__struct_fields__))
    for statement, after in zip(body.body, [*body.body[1:], None], strict=True):
        if not isinstance(statement, ast.AnnAssign) or not isinstance(statement.target, ast.Name):
            continue
        name = statement.target.id
        own = "\n".join(lines[statement.lineno - 1 : statement.end_lineno])
        comment = re.search(r"\s#\s(?!noqa|type:)(.*)$", own, re.MULTILINE)
        if isinstance(after, ast.Expr) and isinstance(after.value, ast.Constant) and isinstance(after.value.value, str):
            texts[name] = " ".join(after.value.value.split())
        elif comment is not None:
            texts[name] = comment.group(1)
    return texts, intro


def _docstring(text: str, names: set[str]) -> tuple[dict[str, str], list[str]]:
    """Entries of the form ``name  text``, over several lines if need be, and all other lines."""
    texts: dict[str, str] = {}
    intro: list[str] = []
    current = ""
    for line in text.splitlines():
        found = re.match(r"(\w+)\s{2,}(\S.*)$", line)
        if found and found.group(1) in names:
            current = found.group(1)
            texts[current] = found.group(2)
        elif current and line.startswith("  "):
            texts[current] += " " + line.strip()
        else:
            current = ""
            intro.append(line.replace("``", "`"))
    return texts, ["\n".join(intro).strip().replace("`[", "[").replace("]`", "]") if intro else ""]


if __name__ == "__main__":
    main()
