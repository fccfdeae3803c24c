"""Topic rewrite rules: what a client calls ``old/7/temp`` the broker calls ``site/7/temperature``.

A rule is a filter whose wildcards capture, and a template that uses what they caught: ``$1``, ``$2`` … are its ``+``
levels in order, ``$#`` (a whole last level) is what its ``#`` caught, nothing included. The first rule that matches
is applied, once: what a rule made is not looked at again, so rules cannot loop.

A subscription's filter is rewritten if the rule covers it level for level: a wildcard in it must meet a wildcard of the rule
and is caught like a name. Where a template would put a caught wildcard beside other text in a level, the rule does not apply,
for no filter says that. Topics that start with ``$`` are not met by a rule that starts with a wildcard [MQTT-4.7.2-1].
"""

import re
from collections.abc import Sequence

import msgspec

from weft.core.errors import Misuse

RULES_MAX = 1_000
LEVELS_MAX = 128

_REFERENCE = re.compile(r"\$(\d{1,3}|#)")


class Rule(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """``filter`` → ``to``; for topics that are published (wills too), for filters that are subscribed to, or both."""

    filter: str  # with wildcards, each of which catches something
    to: str  # with $1, $2, … for what + caught, and $# for what # caught
    publish: bool = True  # whether it applies to what is published
    subscribe: bool = True  # whether it applies to what is subscribed to


class _Compiled:
    """A rule, checked and split. ``parts``: for each level of the template, its pieces: text, or the number of a capture."""

    __slots__ = ("levels", "parts", "rest")

    def __init__(self, rule: Rule) -> None:
        self.levels = _levels(rule.filter)
        self.rest = self.levels[-1] == "#"
        if self.rest:
            self.levels.pop()
        captures = self.levels.count("+")
        self.parts = [_pieces(level, captures) for level in rule.to.split("/")]
        if not rule.to or "\0" in rule.to:
            raise Misuse("the template of a rewrite rule is empty")
        for position, pieces in enumerate(self.parts):
            if "$#" in pieces and not (self.rest and position == len(self.parts) - 1 and len(pieces) == 1):
                raise Misuse(f"'{rule.to}': $# is a whole last level, and the filter must end in #")

    def apply(self, given: list[str]) -> str | None:
        """The rewritten name of ``given``, or None if the rule does not apply."""
        caught = self._match(given)
        if caught is None:
            return None
        made: list[str] = []
        for pieces in self.parts:
            if pieces == ["$#"]:
                made += given[len(self.levels) :]
                continue
            level = "".join(piece if isinstance(piece, str) else caught[piece - 1] for piece in pieces)
            if len(level) > 1 and ("+" in level or "#" in level):
                return None
            made.append(level)
        return "/".join(made) or None

    def _match(self, given: list[str]) -> list[str] | None:
        levels = self.levels
        if len(given) < len(levels) or (len(given) > len(levels) and not self.rest):
            return None
        if given[0].startswith("$") and (not levels or levels[0] == "+"):
            return None
        caught: list[str] = []
        for ours, theirs in zip(levels, given, strict=False):
            if ours == "+" and theirs != "#":
                caught.append(theirs)
            elif ours != theirs:
                return None
        return caught


class Rewriter:
    """All rules of a broker. Empty is quick: ``if rewriter`` tells."""

    __slots__ = ("_publish", "_subscribe")

    def __init__(self, rules: Sequence[Rule] = ()) -> None:
        if len(rules) > RULES_MAX:
            raise Misuse(f"more than {RULES_MAX} rewrite rules")
        compiled = [(rule, _Compiled(rule)) for rule in rules]
        self._publish = [each for rule, each in compiled if rule.publish]
        self._subscribe = [each for rule, each in compiled if rule.subscribe]

    def __bool__(self) -> bool:
        return bool(self._publish or self._subscribe)

    def published(self, topic: str) -> str:
        """The name under which a message to ``topic`` goes on."""
        return _first(self._publish, topic)

    def subscribed(self, filter_: str) -> str:
        """The filter that a subscription to ``filter_`` becomes; a share's name is not part of it."""
        return _first(self._subscribe, filter_)


def check(rule: Rule) -> None:
    """``Misuse`` if the rule means nothing."""
    _Compiled(rule)


def _first(rules: list[_Compiled], name: str) -> str:
    if rules:
        given = name.split("/")
        for rule in rules:
            made = rule.apply(given)
            if made is not None:
                return made
    return name


def _levels(filter_: str) -> list[str]:
    levels = filter_.split("/")
    if not filter_ or "\0" in filter_ or len(levels) > LEVELS_MAX:
        raise Misuse("the filter of a rewrite rule is empty or too long")
    for position, level in enumerate(levels):
        if (len(level) > 1 and ("+" in level or "#" in level)) or (level == "#" and position < len(levels) - 1):
            raise Misuse(f"'{filter_}' is no topic filter")
    return levels


def _pieces(level: str, captures: int) -> list[str | int]:
    """``a-$1`` → ["a-", 1]."""
    pieces: list[str | int] = []
    at = 0
    for found in _REFERENCE.finditer(level):
        if found.start() > at:
            pieces.append(level[at : found.start()])
        pieces.append("$#" if found.group(1) == "#" else int(found.group(1)))
        at = found.end()
    if at < len(level) or not level:
        pieces.append(level[at:])
    for piece in pieces:
        if isinstance(piece, int) and not 1 <= piece <= captures:
            raise Misuse(f"'{level}': the filter has {captures} captures")
        if isinstance(piece, str) and piece != "$#" and ("+" in piece or "#" in piece):
            raise Misuse(f"'{level}': a template has no wildcards")
    return pieces
