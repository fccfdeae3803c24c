"""Topics: names, filters and shares (§4.7, §4.8.2): what is valid, how deep it is, what matches.

``matches`` is also the model that the broker's tries are tested against.
"""

from weft.mqtt.codec.names import check_filter, check_name, has_wildcards, split_share

__all__ = ["check_filter", "check_name", "has_wildcards", "levels", "matches", "split_share"]


def levels(topic: str) -> int:
    """How many levels a name or filter has; an empty level counts (§4.7.1.1)."""
    return topic.count("/") + 1


def matches(pattern: str, topic: str) -> bool:
    """Whether a valid filter, shared or not, matches a valid name."""
    pattern = split_share(pattern)[1]
    if topic[:1] == "$" and pattern[:1] in ("+", "#"):  # [MQTT-4.7.2-1], [MQTT-4.7.2-1 (3.1.1)]
        return False
    names = topic.split("/")
    for at, wanted in enumerate(pattern.split("/")):
        if wanted == "#":  # also the parent level: "sport/#" matches "sport" (§4.7.1.2)
            return True
        if at >= len(names) or (wanted not in ("+", names[at])):
            return False
    return len(names) == pattern.count("/") + 1
