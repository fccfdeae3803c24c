"""A configuration as TOML text: every setting, in the order of its struct, tables after values."""

import json
from typing import Any

import msgspec


def to_toml(config: msgspec.Struct) -> str:
    """Text that reads back as ``config``; what is missing (None) stands as a comment."""
    lines: list[str] = []
    _table(lines, "", msgspec.to_builtins(config))
    return "\n".join(lines).strip()


def _table(lines: list[str], name: str, table: dict[str, Any]) -> None:
    plain = {key: value for key, value in table.items() if not _is_section(value)}
    if name and (plain or not table):
        lines += ["", f"[{name}]"]
    for key, value in plain.items():
        lines.append(f"# {_key(key)} =" if value is None else f"{_key(key)} = {literal(value)}")
    for key, value in table.items():
        path = f"{name}.{_key(key)}" if name else _key(key)
        if isinstance(value, dict) and _is_section(value):
            _table(lines, path, value)
        elif _is_section(value):
            for each in value:
                lines += ["", f"[[{path}]]"]
                lines += [f"# {_key(k)} =" if v is None else f"{_key(k)} = {literal(v)}" for k, v in each.items()]


def _is_section(value: Any) -> bool:
    """A table of its own: one that is not empty, or a list of such."""
    if isinstance(value, dict):
        return bool(value)
    return isinstance(value, list) and bool(value) and isinstance(value[0], dict)


def _key(key: str) -> str:
    return key if key and all(sign.isascii() and (sign.isalnum() or sign in "-_") for sign in key) else json.dumps(key)


def literal(value: Any) -> str:
    """One value on one line."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return repr(value)
    if isinstance(value, list):
        return "[" + ", ".join(map(literal, value)) + "]"
    if isinstance(value, dict):
        inner = ", ".join(f"{_key(key)} = {literal(each)}" for key, each in value.items() if each is not None)
        return f"{{ {inner} }}" if inner else "{}"
    return json.dumps(str(value), ensure_ascii=False).replace("\x7f", "\\u007f")
