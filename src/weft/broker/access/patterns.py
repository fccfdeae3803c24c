"""Topic patterns against names and filters: does one hold all of the other, or any of it?

A rule's pattern and a client's filter are the same language (§4.7): ``+`` is one level, ``#`` is the parent and
everything below, and a wildcard in front matches no topic that begins with ``$`` [MQTT-4.7.2-1]. A name is a filter
without wildcards, so both questions need no second version for PUBLISH. tests/property holds both answers to what they
mean, topic by topic.
"""

from collections.abc import Sequence

Levels = Sequence[str]

LEVELS_MAX = 128
BYTES_MAX = 65_535


def split(text: str) -> list[str]:
    return text.split("/")


def covers(pattern: Levels, filter_: Levels) -> bool:
    """Is every topic that ``filter_`` matches one that ``pattern`` matches?"""
    if _dollar_apart(pattern, filter_):
        return False
    if filter_[0] == "#":  # a topic has a level at least, so "+/#" is everything that "#" is
        return pattern[0] == "#" or (len(pattern) == 2 and pattern[0] == "+" and pattern[1] == "#")
    for index, level in enumerate(pattern):
        if level == "#":
            return True
        if index == len(filter_):
            return False
        asked = filter_[index]
        if asked == "#":
            return False
        if level not in ("+", asked):  # "+" in the filter is covered by "+" alone
            return False
    return len(pattern) == len(filter_)


def overlaps(pattern: Levels, filter_: Levels) -> bool:
    """Is there a topic that both match?"""
    if _dollar_apart(pattern, filter_) or _dollar_apart(filter_, pattern):
        return False
    for index, (level, asked) in enumerate(zip(pattern, filter_, strict=False)):
        if level == "#" or asked == "#":
            return True
        if level not in (asked, "+") and asked != "+":
            return False
        if index == len(pattern) - 1 or index == len(filter_) - 1:
            break
    if len(pattern) == len(filter_):
        return True
    longer, shorter = (pattern, filter_) if len(pattern) > len(filter_) else (filter_, pattern)
    return len(longer) == len(shorter) + 1 and longer[-1] == "#"  # "a/#" matches "a" (§4.7.1.2)


def wrong(pattern: str) -> str:
    """Why ``pattern`` is no topic filter; empty if it is one (§4.7.1, §4.7.3)."""
    if not pattern:
        return "an empty pattern"
    if "\0" in pattern or len(pattern.encode(errors="replace")) > BYTES_MAX:
        return "a pattern with a NUL, or longer than a topic can be"
    levels = split(pattern)
    if len(levels) > LEVELS_MAX:
        return f"a pattern of more than {LEVELS_MAX} levels"
    if any("#" in level and (level != "#" or index < len(levels) - 1) for index, level in enumerate(levels)):
        return "'#' stands alone in the last level, nowhere else"
    if any("+" in level and level != "+" for level in levels):
        return "'+' stands alone in its level"
    return ""


def unshared(filter_: str) -> str:
    """The filter of a shared subscription without ``$share`` and its group (§4.8.2)."""
    if filter_.startswith("$share/"):
        _, _, rest = filter_.removeprefix("$share/").partition("/")
        return rest
    return filter_


def _dollar_apart(pattern: Levels, filter_: Levels) -> bool:
    """Does ``pattern`` begin with a wildcard and ``filter_`` with ``$``?"""
    return pattern[0] in ("+", "#") and filter_[0].startswith("$")
