"""Values as short, stable text, for stories and transcripts. Told to people, never parsed."""

from collections.abc import Callable
from enum import Enum
from typing import Any

import msgspec

TEXT_MAX = 160
"""A longer rendering of one value is cut, with an ellipsis."""

Brief = Callable[[Any], str | None]


def brief(value: Any, special: Brief | None = None) -> str:
    """``value`` in a few words; ``special`` may render what it knows better, or answer None."""
    text = _render(value, special)
    return text if len(text) <= TEXT_MAX else text[: TEXT_MAX - 1] + "…"


def _render(value: Any, special: Brief | None) -> str:
    if special is not None and (text := special(value)) is not None:
        return text
    if isinstance(value, msgspec.Struct):
        return _struct(value, special)
    if isinstance(value, Enum):
        return value.name.lower()
    if isinstance(value, dict):
        pairs = sorted(f"{_render(key, special)}: {_render(item, special)}" for key, item in value.items())
        return "{" + ", ".join(pairs) + "}"
    if isinstance(value, set | frozenset):
        return "{" + ", ".join(sorted(_render(item, special) for item in value)) + "}"
    if isinstance(value, list | tuple):
        items = ", ".join(_render(item, special) for item in value)
        name = type(value).__name__ if hasattr(value, "_fields") else ""
        return f"{name}({items})" if isinstance(value, tuple) else f"[{items}]"
    if isinstance(value, float):
        return f"{value:.6g}"
    return str(value) if isinstance(value, str) else repr(value)


def _struct(value: msgspec.Struct, special: Brief | None) -> str:
    """``Name(field=…)``; fields that have their default value go without saying."""
    names, defaults = value.__struct_fields__, value.__struct_defaults__
    usual = dict(zip(names[len(names) - len(defaults) :], defaults, strict=True))
    told = [
        f"{name}={_render(content, special)}"
        for name in names
        if (content := getattr(value, name)) != usual.get(name, msgspec.UNSET)
    ]
    return f"{type(value).__name__}({', '.join(told)})"
