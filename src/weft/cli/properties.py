"""``-D COMMAND NAME VALUE``: properties of MQTT 5 on the command line, as mosquitto has them.

Commands are packets: connect, will, publish, subscribe, unsubscribe, disconnect. ``-D publish user-property NAME VALUE`` has
one word more, which a command-line parser that counts words cannot know; so ``Command`` folds them into one before it parses.
"""

import json
from collections.abc import Iterable
from typing import Any

import msgspec
import typer
from typer.core import TyperCommand

from weft.core.errors import Misuse
from weft.mqtt.codec.properties import NONE, Properties

OPTIONS = ("-D", "--property")

# Name → (field, what it holds, the commands that take it).
NAMES: dict[str, tuple[str, str, tuple[str, ...]]] = {
    "authentication-data": ("authentication_data", "bytes", ("connect",)),
    "authentication-method": ("authentication_method", "text", ("connect",)),
    "content-type": ("content_type", "text", ("publish", "will")),
    "correlation-data": ("correlation_data", "bytes", ("publish", "will")),
    "maximum-packet-size": ("maximum_packet_bytes", "four", ("connect",)),
    "message-expiry-interval": ("message_expiry_s", "four", ("publish", "will")),
    "payload-format-indicator": ("payload_format", "flag", ("publish", "will")),
    "receive-maximum": ("receive_maximum", "two", ("connect",)),
    "request-problem-information": ("request_problem_information", "flag", ("connect",)),
    "request-response-information": ("request_response_information", "flag", ("connect",)),
    "response-topic": ("response_topic", "text", ("publish", "will")),
    "session-expiry-interval": ("session_expiry_s", "four", ("connect", "disconnect")),
    "subscription-identifier": ("subscription_ids", "identifier", ("subscribe",)),
    "topic-alias-maximum": ("topic_alias_maximum", "two", ("connect",)),
    "user-property": ("user", "pair", ("connect", "disconnect", "publish", "subscribe", "unsubscribe", "will")),
    "will-delay-interval": ("will_delay_s", "four", ("will",)),
}
_BOUNDS = {"flag": (0, 1), "two": (0, 65_535), "four": (0, 0xFFFF_FFFF), "identifier": (1, 268_435_455)}
COMMANDS = ("connect", "will", "publish", "subscribe", "unsubscribe", "disconnect")


class Command(TyperCommand):
    """Folds the words after ``-D`` into one."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        return super().parse_args(ctx, fold(args))


def fold(args: list[str]) -> list[str]:
    """``-D publish content-type text/plain`` becomes ``-D '["publish", "content-type", "text/plain"]'``."""
    folded: list[str] = []
    at = 0
    while at < len(args):
        folded.append(args[at])
        at += 1
        if folded[-1] == "--":
            return folded + args[at:]
        if folded[-1] in OPTIONS:
            count = 4 if args[at + 1 : at + 2] == ["user-property"] else 3
            words = args[at : at + count]
            if len(words) < count:
                raise typer.BadParameter(f"{folded[-1]} needs COMMAND NAME VALUE (two values for user-property)")
            folded.append(json.dumps(words))
            at += count
    return folded


def collect(given: Iterable[str], version: int) -> dict[str, Properties]:
    """The folded words, as properties for each command."""
    values: dict[str, dict[str, Any]] = {}
    for entry in given:
        command, name, *words = json.loads(entry)
        if version < 5:
            raise Misuse(f"-D {command} {name}: properties need MQTT 5 (-V 5)")
        if command not in COMMANDS:
            raise Misuse(f"-D {command}: unknown command; known: {', '.join(COMMANDS)}")
        known = {key: entry for key, entry in NAMES.items() if command in entry[2]}
        if name not in known:
            raise Misuse(f"-D {command} {name}: unknown property; known: {', '.join(known)}")
        field, kind, _ = known[name]
        mine = values.setdefault(command, {})
        if kind == "pair":
            mine[field] = (*mine.get(field, ()), (words[0], words[1]))
        elif field in mine:
            raise Misuse(f"-D {command} {name}: given twice")
        else:
            mine[field] = _value(f"-D {command} {name}", kind, words[0])
    return {command: msgspec.structs.replace(NONE, **found) for command, found in values.items()}


def _value(where: str, kind: str, word: str) -> Any:
    if kind == "text":
        return word
    if kind == "bytes":
        return word.encode("utf-8", "surrogateescape")
    low, high = _BOUNDS[kind]
    if not word.isascii() or not word.isdigit() or not low <= int(word) <= high:
        raise Misuse(f"{where}: '{word}' is no number from {low} to {high}")
    return (int(word),) if kind == "identifier" else int(word)
