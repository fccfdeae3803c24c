"""Values as bytes that are the same in every process: for the trace hash and for message sizes.

Sets and dicts are written in sorted order, so ``PYTHONHASHSEED`` changes nothing. What msgspec cannot sort or hold (keys
that are no strings, integers past 64 bits) takes a slower way to bytes that are as stable.
"""

from typing import Any

import msgspec

from weft.core.errors import Misuse


def _hook(value: object) -> object:
    if isinstance(value, type):
        return value.__qualname__
    raise Misuse(f"a message holds a {type(value).__name__}, which is no value: it has no stable bytes")


_encoder = msgspec.msgpack.Encoder(order="deterministic", enc_hook=_hook)


def append(buffer: bytearray, value: object) -> None:
    """Add ``value``'s bytes to ``buffer``."""
    length = len(buffer)
    try:
        _encoder.encode_into(value, buffer, -1)
    except (TypeError, OverflowError):
        del buffer[length:]
        _encoder.encode_into(_plain(value), buffer, -1)


def size_of(value: object) -> int:
    """How many bytes ``value`` takes."""
    try:
        return len(_encoder.encode(value))
    except (TypeError, OverflowError):
        return len(_encoder.encode(_plain(value)))


def _plain(value: Any) -> Any:
    """``value`` as nested lists of what msgspec sorts and holds."""
    if isinstance(value, msgspec.Struct):
        return [type(value).__name__, *(_plain(getattr(value, name)) for name in value.__struct_fields__)]
    if isinstance(value, dict):
        return sorted(([_plain(key), _plain(item)] for key, item in value.items()), key=_encoder.encode)
    if isinstance(value, set | frozenset):
        return sorted((_plain(item) for item in value), key=_encoder.encode)
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if isinstance(value, int) and not -(1 << 63) <= value < 1 << 64:
        return f"int {value}"
    return value
