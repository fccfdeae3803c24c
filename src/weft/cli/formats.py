"""How ``weft sub`` prints a message: mosquitto's escapes, and JSON. Bytes in, bytes out: a payload is printed as it came.

    %t topic   %p payload   %x %X payload in hex   %l its length   %q QoS   %r retain flag   %m packet id
    %I time, ISO 8601   %U seconds since the epoch   @Y @m … as in strftime, @N nanoseconds, @@
    %j JSON, the payload as text   %J JSON, the payload as the JSON value that it is   %%
    %C content type   %D correlation data   %E expiry   %F payload format   %P user properties   %R response topic
    %S subscription identifiers   %A topic alias (always empty: aliases are resolved)
    \\n \\t \\r \\a \\e \\v \\0 \\\\

Between % and letter may stand a width, as in C: ``%10t`` right, ``%-10t`` left, ``%05l`` with zeros, ``%.8x`` cut.
"""

import base64
import re
from collections.abc import Callable
from datetime import datetime
from typing import Any, NamedTuple

import msgspec

from weft.core.errors import Misuse
from weft.mqtt.client.events import Message

WIDTH_MAX = 10_000
_SPEC = re.compile(r"%([-0]*)(\d*)(?:\.(\d+))?(.?)|@(.?)|\\(.?)", re.DOTALL)
_BACKSLASH = {"n": b"\n", "t": b"\t", "r": b"\r", "a": b"\a", "e": b"\x1b", "v": b"\v", "0": b"\0", "\\": b"\\"}


class Heard(NamedTuple):
    """A message and when it came, in nanoseconds since the epoch."""

    message: Message
    at_ns: int

    def local(self) -> datetime:
        return datetime.fromtimestamp(self.at_ns // 1_000_000_000).astimezone()


Field = Callable[[Heard], bytes]


def number(value: int | None) -> bytes:
    return b"" if value is None else b"%d" % value


def text(value: str | None) -> bytes:
    return (value or "").encode()


FIELDS: dict[str, Field] = {
    "t": lambda heard: heard.message.topic.encode(),
    "p": lambda heard: heard.message.payload,
    "x": lambda heard: heard.message.payload.hex().encode(),
    "X": lambda heard: heard.message.payload.hex().upper().encode(),
    "l": lambda heard: number(len(heard.message.payload)),
    "q": lambda heard: number(heard.message.qos),
    "r": lambda heard: number(heard.message.retain),
    "m": lambda heard: number(heard.message.packet_id),
    "I": lambda heard: heard.local().strftime("%Y-%m-%dT%H:%M:%S%z").encode(),
    "U": lambda heard: b"%d.%09d" % divmod(heard.at_ns, 1_000_000_000),
    "j": lambda heard: as_json(heard, quoted=True),
    "J": lambda heard: as_json(heard, quoted=False),
    "A": lambda _: b"",
    "C": lambda heard: text(heard.message.properties.content_type),
    "D": lambda heard: heard.message.properties.correlation_data or b"",
    "E": lambda heard: number(heard.message.properties.message_expiry_s),
    "F": lambda heard: number(heard.message.properties.payload_format),
    "P": lambda heard: " ".join(f"{name}:{value}" for name, value in heard.message.properties.user).encode(),
    "R": lambda heard: text(heard.message.properties.response_topic),
    "S": lambda heard: " ".join(map(str, heard.message.properties.subscription_ids)).encode(),
}


class Format:
    """A format string, checked once and used for each message."""

    def __init__(self, pattern: str) -> None:
        self._parts: list[Field] = []
        at = 0
        for found in _SPEC.finditer(pattern):
            self._literal(pattern[at : found.start()].encode())
            at = found.end()
            flags, width, precision, letter, time, escaped = found.groups()
            if letter is not None:
                self._percent(found.group(), flags, width, precision, letter)
            elif time is not None:
                self._time(time)
            elif escaped in _BACKSLASH:
                self._literal(_BACKSLASH[escaped])
            else:
                known = " ".join(f"\\{letter}" for letter in _BACKSLASH)
                raise Misuse(f"format: unknown escape '{found.group()}'; known: {known}")
        self._literal(pattern[at:].encode())

    def render(self, heard: Heard) -> bytes:
        return b"".join([part(heard) for part in self._parts])

    def _literal(self, data: bytes) -> None:
        if data:
            self._parts.append(lambda _: data)

    def _percent(self, spec: str, flags: str, width: str, precision: str | None, letter: str) -> None:
        if spec == "%%":
            self._literal(b"%")
            return
        field = FIELDS.get(letter)
        if field is None:
            raise Misuse(f"format: '{spec}' means nothing; known: {' '.join('%' + name for name in FIELDS)} %%")
        if max(int(width or 0), int(precision or 0)) > WIDTH_MAX:
            raise Misuse(f"format: '{spec}' is wider than {WIDTH_MAX}")
        self._parts.append(_fitted(field, flags, int(width or 0), None if precision is None else int(precision)))

    def _time(self, letter: str) -> None:
        if letter == "@":
            self._literal(b"@")
        elif letter == "N":
            self._parts.append(lambda heard: b"%09d" % (heard.at_ns % 1_000_000_000))
        elif letter.isalpha() and letter.isascii():
            self._parts.append(lambda heard: heard.local().strftime(f"%{letter}").encode())
        else:
            raise Misuse(f"format: '@{letter}' means nothing; a letter of strftime, N or @ may follow @")


def _fitted(field: Field, flags: str, width: int, precision: int | None) -> Field:
    if not width and precision is None:
        return field
    if "-" in flags:
        return lambda heard: field(heard)[:precision].ljust(width)
    fill = b"0" if "0" in flags else b" "
    return lambda heard: field(heard)[:precision].rjust(width, fill)


def as_json(heard: Heard, quoted: bool) -> bytes:
    """One object on one line. A payload that is neither text nor, for ``quoted=False``, JSON stands in ``payload_base64``."""
    message = heard.message
    document: dict[str, Any] = {
        "tst": _timestamp(heard),
        "topic": message.topic,
        "qos": message.qos,
        "retain": int(message.retain),
        "payloadlen": len(message.payload),
    }
    if message.qos:
        document["mid"] = message.packet_id
    properties = _properties(message)
    if properties:
        document["properties"] = properties
    if not quoted:
        try:
            document["payload"] = msgspec.Raw(message.payload) if _is_json(message.payload) else None
        except msgspec.DecodeError:
            document["payload"] = None
    if quoted or document["payload"] is None:
        try:
            document["payload"] = message.payload.decode()
        except UnicodeDecodeError:
            document.pop("payload", None)
            document["payload_base64"] = base64.b64encode(message.payload).decode()
    return msgspec.json.encode(document)


def _timestamp(heard: Heard) -> str:
    """As mosquitto_sub writes it: microseconds, and Z before the offset."""
    local = heard.local()
    return f"{local:%Y-%m-%dT%H:%M:%S}.{heard.at_ns // 1000 % 1_000_000:06d}{local:Z%z}"


def _is_json(payload: bytes) -> bool:
    msgspec.json.decode(payload)
    return b"\n" not in payload  # one line a message; JSON over several lines is printed as text


def _properties(message: Message) -> dict[str, Any]:
    """By mosquitto's names. User properties: an object; a name that comes several times has a list."""
    given = message.properties
    user: dict[str, Any] = {}
    for name, value in given.user:
        known = user.get(name)
        user[name] = value if known is None else [*(known if isinstance(known, list) else [known]), value]
    found = {
        "content-type": given.content_type,
        "user-properties": user or None,
        "response-topic": given.response_topic,
        "correlation-data": None if given.correlation_data is None else given.correlation_data.decode(errors="replace"),
        "payload-format-indicator": given.payload_format,
        "message-expiry-interval": given.message_expiry_s,
        "subscription-identifiers": list(given.subscription_ids) or None,
    }
    return {name: value for name, value in found.items() if value is not None}
