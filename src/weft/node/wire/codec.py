"""A message to bytes and back: its number, then its fields in MessagePack, without their names.

The overlay's structs know nothing of this. Each has a *twin* here, the same fields as an array and with bounds, made once;
msgspec converts between the two and from and to bytes, all of it in C.

Bounds: a message of ``MESSAGE_BYTES_MAX``; sequences and tables of ``LIST_MAX``; messages inside messages ``NEST_MAX`` deep.
What a field of type ``Any`` holds (payloads, answers) is plain data: None, bool, int, float, str, bytes, tuples, and dicts
with text as keys, ``PLAIN_DEPTH_MAX`` deep, ``PLAIN_ITEMS_MAX`` in number. Whatever else a peer sends is a ``Violation``.
Whether what fits makes sense is for the handlers to say.
"""

from collections.abc import Mapping
from functools import cache
from types import NoneType, UnionType
from typing import Annotated, Any, NamedTuple, Union, get_args, get_origin, get_type_hints

import msgspec

from weft.core.errors import Misuse, Violation
from weft.core.machine import Message

MESSAGE_BYTES_MAX = 4 << 20
"""A packet of the broker's default packet_bytes_max, its key ranges, and room."""

LIST_MAX = 4_096
"""Members of a sequence or table: the largest bound that a handler has (spread's PARTS_MAX and RANGES_MAX)."""

NEST_MAX = 3
"""A hop's body, and the job that may be in it."""

PLAIN_DEPTH_MAX = 8
PLAIN_ITEMS_MAX = 65_536
"""``union`` answers have at most values.UNION_MAX members."""

NUMBER_BYTES = 1
_INT64 = msgspec.Meta(ge=-(1 << 63), le=(1 << 63) - 1)
_LIST = msgspec.Meta(max_length=LIST_MAX)
_PLAIN = (NoneType, bool, int, float, str, bytes)

_REFUSED = (msgspec.MsgspecError, ValueError, TypeError, OverflowError, RecursionError)
"""What msgspec raises for values and bytes that do not fit; Unicode errors are ValueErrors."""


class _Field(NamedTuple):
    name: str
    kind: Any
    """Of the original."""
    is_message: bool


class _Form:
    """How one class of messages travels."""

    __slots__ = ("decoder", "fields", "kind", "loose", "nested", "number", "twin")

    def __init__(self, number: int, kind: type[Message], twins: "_Twins") -> None:
        self.number = number
        self.kind = kind
        self.twin = twins.of(kind)
        self.decoder = msgspec.msgpack.Decoder(self.twin)
        hints = get_type_hints(kind)
        self.fields = [_Field(name, hints[name], _is_message(hints[name])) for name in kind.__struct_fields__]
        self.nested = [field.name for field in self.fields if field.is_message]
        self.loose = twins.holds_plain(kind)


class _Twins:
    """Struct classes → array-like ones with bounds. A field that holds any message holds its bytes."""

    def __init__(self) -> None:
        self._made: dict[type, type[msgspec.Struct]] = {}

    def of(self, kind: type[msgspec.Struct]) -> type[msgspec.Struct]:
        if kind not in self._made:
            hints = get_type_hints(kind)
            fields: list[Any] = []
            for field in msgspec.structs.fields(kind):
                own = self._kind(hints[field.name])
                default = () if field.default is msgspec.NODEFAULT else (field.default,)
                fields.append((field.name, own, *default))
            self._made[kind] = msgspec.defstruct(kind.__name__, fields, array_like=True)
        return self._made[kind]

    def _kind(self, kind: Any) -> Any:
        """The type of a twin's field."""
        origin, args = get_origin(kind), get_args(kind)
        if kind is Message:
            return bytes
        if isinstance(kind, type) and issubclass(kind, msgspec.Struct):
            return self.of(kind)
        supertype = getattr(kind, "__supertype__", kind)  # NodeId is an int
        if supertype is int:
            return Annotated[int, _INT64]
        if origin in (Union, UnionType):
            return Union[tuple(self._kind(arg) for arg in args)]  # noqa: UP007 - of types known only now
        if origin is tuple:
            assert args[1:] == (Ellipsis,), "a sequence of one kind, or a NamedTuple"
            return Annotated[tuple.__class_getitem__((self._kind(args[0]), ...)), _LIST]
        if origin is dict:
            return Annotated[kind, _LIST]
        return kind

    def holds_plain(self, kind: type[msgspec.Struct]) -> dict[str, Any]:
        """Fields of type ``Any``: name → None; and those that have such fields: name → theirs."""
        found: dict[str, Any] = {}
        for name, hint in get_type_hints(kind).items():
            if hint is Any:
                found[name] = None
            elif isinstance(hint, type) and issubclass(hint, msgspec.Struct) and hint is not Message:
                within = self.holds_plain(hint)
                if within:
                    found[name] = within
        return found


@cache
def _forms(vocabulary: tuple[tuple[int, type[Message]], ...]) -> list[_Form]:
    """Made once in a process: 4 ms of classes and decoders, which a simulation of many brokers shares."""
    twins = _Twins()
    return [_Form(number, kind, twins) for number, kind in vocabulary]


class Codec:
    """In: messages of one vocabulary. Out: bytes, and back. ``Misuse`` for what cannot be sent, ``Violation`` for what came."""

    def __init__(self, vocabulary: Mapping[int, type[Message]], bytes_max: int = MESSAGE_BYTES_MAX) -> None:
        forms = _forms(tuple(vocabulary.items()))
        self.bytes_max = bytes_max
        self._by_kind = {form.kind: form for form in forms}
        self._by_number = {form.number: form for form in forms}
        self._encode = msgspec.msgpack.Encoder().encode

    def encode(self, message: Message) -> bytes:
        """``message`` as it travels."""
        form = self._by_kind.get(type(message))
        if form is None:
            raise Misuse(f"{type(message).__name__} is not in the vocabulary of peers")
        if form.nested:
            inner = {name: getattr(message, name) for name in form.nested}
            bodies = {name: self.encode(body) for name, body in inner.items() if body is not None}
            message = msgspec.structs.replace(message, **bodies)
        if form.loose:
            _check_loose(message, form.loose)
        try:
            data = self._encode(msgspec.convert(message, form.twin, from_attributes=True))
        except _REFUSED as error:
            raise Misuse(f"{form.kind.__name__} does not fit into a message: {error}") from error
        if len(data) + NUMBER_BYTES > self.bytes_max:
            raise Misuse(f"{form.kind.__name__} of {len(data)} bytes; a message has at most {self.bytes_max}")
        return form.number.to_bytes(NUMBER_BYTES, "big") + data

    def decode(self, data: bytes) -> Message:
        """The message in ``data``."""
        if len(data) > self.bytes_max:
            raise Violation("message too long")
        try:
            return self._decode(data, NEST_MAX)
        except _REFUSED as error:
            raise Violation(f"malformed message: {str(error)[:100]}") from error

    def _decode(self, data: bytes, deep: int) -> Message:
        if deep == 0:
            raise Violation("messages inside messages, too deep")
        form = self._by_number.get(data[0]) if data else None
        if form is None:
            raise Violation("a message of no known kind")
        twin = form.decoder.decode(memoryview(data)[NUMBER_BYTES:])
        if form.loose:
            _settle_loose(twin, form.loose)
        if not form.nested:
            return msgspec.convert(twin, form.kind, from_attributes=True)
        values: list[Any] = []
        for name, kind, is_message in form.fields:
            value = getattr(twin, name)
            if not is_message:
                value = msgspec.convert(value, kind, from_attributes=True)
            elif value is not None:
                value = self._decode(value, deep - 1)
            values.append(value)
        return form.kind(*values)


def _is_message(kind: Any) -> bool:
    """May a field of type ``kind`` hold any message?"""
    return kind is Message or (get_origin(kind) in (Union, UnionType) and Message in get_args(kind))


def _check_loose(value: Any, loose: dict[str, Any]) -> None:
    for name, within in loose.items():
        if within is not None:
            _check_loose(getattr(value, name), within)
            continue
        try:
            _Plain(tuple).take(getattr(value, name), PLAIN_DEPTH_MAX)
        except Violation as violation:
            raise Misuse(f"{name} is no plain data: {violation}") from violation


def _settle_loose(twin: Any, loose: dict[str, Any]) -> None:
    """What came as lists was tuples."""
    for name, within in loose.items():
        value = getattr(twin, name)
        if within is not None:
            _settle_loose(value, within)
        elif type(value) not in _PLAIN:
            setattr(twin, name, _Plain(list).take(value, PLAIN_DEPTH_MAX))


class _Plain:
    """Copies plain data, with tuples for ``sequence``, and refuses what is none."""

    def __init__(self, sequence: type[list[Any] | tuple[Any, ...]]) -> None:
        self._sequence = sequence
        self._items = 0

    def take(self, value: Any, deep: int) -> Any:
        self._items += 1
        if self._items > PLAIN_ITEMS_MAX:
            raise Violation("too many values")
        if type(value) in _PLAIN:
            return value
        if deep == 0:
            raise Violation("values too deep")
        if isinstance(value, self._sequence):
            return tuple([self.take(each, deep - 1) for each in value])
        if type(value) is dict:
            if not all(type(key) is str for key in value):
                raise Violation("a key that is no text")
            return {key: self.take(each, deep - 1) for key, each in value.items()}
        raise Violation(f"a value of kind {type(value).__name__}")
